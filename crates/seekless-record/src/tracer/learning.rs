//! A program of which only first needs are recorded, without a look at each of its calls. Its
//! first thread is attached for its signals, as where calls are reported.

use super::{Traced, Tracer};
use crate::needed::Seen;
use seekless_sys::awaited::Awaited;
use seekless_sys::signals::{self, Forwarding};
use seekless_watch::first_needs::FirstNeeds;
use std::io;
use std::time::Duration;

/// How long records may wait in the ring. There are few, and a look for them takes as long as
/// dozens of them.
const PATIENCE: Duration = Duration::from_millis(10);

/// After so much processor time of the program without anything new, names are no longer looked
/// for. By the clock a program that has to wait would be taken for one that has all.
const QUIET_NS: u64 = 30_000_000;
/// Then they are looked for again, for as long, after this much.
const BETWEEN_NS: u64 = 1_000_000_000;

/// When names are looked for: as long as there are new ones, or new files. A program that asks for
/// the same names again and again, or for none, pays for it now and then only.
#[derive(Debug, Default)]
struct Attention {
    /// The processor time when there was anything new, or when a look began.
    begun_ns: u64,
}

impl Attention {
    /// Whether to look for names until the next call. `None`: the processor time is not known.
    fn is_due(&mut self, is_new: bool, cpu_ns: Option<u64>) -> bool {
        let Some(cpu_ns) = cpu_ns else { return true };
        let quiet_ns = cpu_ns.saturating_sub(self.begun_ns);
        if is_new || quiet_ns >= QUIET_NS + BETWEEN_NS {
            self.begun_ns = cpu_ns;
        }
        cpu_ns.saturating_sub(self.begun_ns) < QUIET_NS
    }
}

/// The processor time of a process' first thread.
fn cpu_ns(pid: i32) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
    text.split(' ').next()?.parse().ok()
}

impl Tracer {
    /// Follows the program until it and all its descendants have ended.
    ///
    /// # Errors
    /// As [`Tracer::run`].
    pub(crate) fn run_learning(
        mut self,
        needs: &mut FirstNeeds,
        awaited: &Awaited,
        seen: &mut Seen,
    ) -> io::Result<Traced> {
        let mut attention = Attention::default();
        loop {
            self.take_stops(|tracer| tracer.live = true)?;
            // Asked before its reports are taken: then nothing comes after that.
            let is_over = self.status.is_some() && !needs.has_any();
            needs.take(|event| seen.note(event));
            if is_over {
                return Ok(self.traced());
            }
            if attention.is_due(seen.take_new(), cpu_ns(self.main)) {
                seen.is_blind = needs.resume().is_err();
            } else {
                needs.pause();
                seen.is_blind = true;
            }
            if let Some(signal) = self.forwarding.as_ref().and_then(Forwarding::undelivered) {
                needs.processes().into_iter().for_each(|pid| drop(signals::send(pid, signal)));
            }
            let _ = awaited.wait(PATIENCE);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_while_there_are_new_ones_and_now_and_then() {
        const MS: u64 = 1_000_000;
        let mut attention = Attention::default();
        assert!((0..100).all(|at| attention.is_due(true, Some(10 * at * MS))));
        assert!(attention.is_due(false, Some(1010 * MS)));
        assert!(attention.is_due(false, Some(1010 * MS)), "it only waits");
        assert!(!attention.is_due(false, Some(1030 * MS)));
        assert!(!attention.is_due(false, Some(2000 * MS)));
        assert!(attention.is_due(false, Some(2030 * MS)), "now and then");
        assert!(!attention.is_due(false, Some(2060 * MS)));
        assert!(attention.is_due(true, Some(2060 * MS)), "something new was seen");
        assert!(attention.is_due(false, None));
    }
}
