//! The waits between tries of one request: random, so that many that failed together do not come
//! back together, and doubling, so that a busy server is left alone.

use crate::Settings;
use seekless_device::SplitMix64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The waits of one read.
#[derive(Debug)]
pub(crate) struct Pauses {
    random: SplitMix64,
    next: Duration,
    longest: Duration,
}

impl Pauses {
    pub(crate) fn new(settings: &Settings) -> Self {
        /// Two reads at one time draw different waits.
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seed = time.as_nanos() as u64 ^ COUNT.fetch_add(1, Ordering::Relaxed) << 48;
        let (next, longest) = (settings.pause_min, settings.pause_max);
        Self { random: SplitMix64::new(seed), next, longest }
    }

    /// How long to wait before the next try.
    pub(crate) fn next(&mut self) -> Duration {
        let most = self.next.min(self.longest);
        self.next = most.saturating_mul(2);
        let share = (self.random.bits() >> 32) as u32;
        most.mul_f64(f64::from(share) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limit_and_differ() {
        let settings = Settings {
            pause_min: Duration::from_millis(10),
            pause_max: Duration::from_millis(80),
            ..Settings::default()
        };
        let mut pauses: Vec<Pauses> = (0..100).map(|_| Pauses::new(&settings)).collect();
        for most_ms in [10, 20, 40, 80, 80] {
            let waits: Vec<Duration> = pauses.iter_mut().map(Pauses::next).collect();
            let most = Duration::from_millis(most_ms);
            assert!(waits.iter().all(|wait| *wait <= most), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait > most / 2), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait < most / 2), "{waits:?}");
        }
    }
}
