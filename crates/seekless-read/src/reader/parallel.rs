//! How many reads are under way at once. A network needs many small ones to be busy while each
//! waits for its round trip; a drive with an arm needs one, since several make the arm go to and
//! fro. Where reads are slow this is tried out. The bytes under way stay the same, so no choice
//! takes memory from the page cache.

use std::time::{Duration, Instant};

/// One read from the device, usually.
pub(super) const READ_BYTES: u64 = 1 << 20;
/// A device that delivers this much is left as it is.
const FAST_BYTES_PER_SECOND: f64 = 100e6;
/// The numbers of reads that are tried beside one and the usual.
const MANY: usize = 8;
const MOST: usize = 32;
/// A number of reads is better if it delivers this many times as much.
const BETTER: f64 = 1.2;
/// The least read.
const LEAST_BYTES: u64 = 64 << 10;
/// How many times the bytes under way are read one by one before more is tried.
const ONE_BY_ONE: u64 = 8;

#[derive(Debug)]
pub(super) struct Parallel {
    /// The bytes under way.
    bytes: u64,
    /// The usual number of reads.
    usual: usize,
    reads: usize,
    /// Whether the kernel cuts reads into small requests, those of several reads among each other.
    is_cut: bool,
    /// Whether more reads than usual are tried: not where they must be large.
    tries_many: bool,
    /// The best number so far, and what it delivered; `None` before the first is known.
    best: Option<(usize, f64)>,
    /// Bytes to come before the measurement begins: they were asked for otherwise.
    skipped: u64,
    since: Option<Instant>,
    measured: u64,
    is_settled: bool,
}

impl Parallel {
    pub(super) fn new(usual: usize) -> Self {
        Parallel {
            bytes: usual as u64 * READ_BYTES,
            usual,
            reads: usual,
            is_cut: false,
            tries_many: true,
            best: None,
            skipped: 0,
            since: None,
            measured: 0,
            is_settled: false,
        }
    }

    /// Of reads into the cache, which come by whole folios: one, or the usual number.
    pub(super) fn of_folios(usual: usize) -> Self {
        Parallel { tries_many: false, ..Parallel::new(usual) }
    }

    /// How many reads may be under way.
    pub(super) fn reads(&self) -> usize {
        self.reads
    }

    /// The bytes of one read.
    pub(super) fn read_bytes(&self) -> u64 {
        (self.bytes / self.reads as u64).clamp(LEAST_BYTES, READ_BYTES)
    }

    /// The usual number is another from now on.
    pub(super) fn set_usual(&mut self, usual: usize) {
        if self.usual != usual {
            let Self { is_cut, tries_many, .. } = *self;
            let reads = if is_cut { 1 } else { usual };
            *self = Parallel { is_cut, tries_many, reads, ..Parallel::new(usual) };
        }
    }

    /// The kernel cuts reads: several at once would make an arm go to and fro, so begin with one.
    pub(super) fn set_cut(&mut self) {
        if !self.is_cut {
            *self = Parallel { is_cut: true, reads: 1, ..Parallel::new(self.usual) };
        }
    }

    /// A read has ended. `idle` is true if no other is under way: unless reads are made one by one,
    /// the time until the next is the caller's.
    pub(super) fn ended(&mut self, bytes: u64, idle: bool, now: Instant) {
        if self.is_settled {
            return;
        }
        if idle && self.reads > 1 {
            (self.since, self.measured) = (None, 0);
            return;
        }
        if self.skipped > 0 {
            self.skipped = self.skipped.saturating_sub(bytes);
            return;
        }
        let Some(since) = self.since else {
            self.since = Some(now);
            return;
        };
        self.measured += bytes;
        let seconds = (now - since).max(Duration::from_nanos(1)).as_secs_f64();
        let window = match (self.best, self.reads) {
            (None, 1) => ONE_BY_ONE * self.bytes,
            _ => self.bytes,
        };
        // One that is slower already is not better at the end.
        let slower = self.best.is_some_and(|(_, best)| seconds * best > window as f64);
        if self.measured >= window || slower {
            self.decide(self.measured as f64 / seconds);
        }
    }

    /// Takes what the present number delivers, and goes on to the next.
    fn decide(&mut self, rate: f64) {
        let tried = self.reads;
        let better = self.best.is_none_or(|(_, best)| rate >= BETTER * best);
        let first = self.best.is_none();
        if better {
            self.best = Some((tried, rate));
        }
        let next = match tried {
            _ if first && rate >= FAST_BYTES_PER_SECOND => {
                self.best = Some((self.usual, rate));
                None
            }
            1 if first => Some(self.usual),
            _ if first && !self.tries_many => Some(1),
            MANY if better => Some(MOST),
            1 if !self.tries_many => None,
            MANY if !self.is_cut => Some(1),
            usual if better && usual == self.usual => Some(MANY),
            _ => None,
        };
        let skipped = self.reads as u64 * self.read_bytes();
        match (next, self.best) {
            (Some(next), _) => {
                (self.skipped, self.since, self.measured) = (skipped, None, 0);
                self.reads = next;
            }
            (None, best) => {
                self.is_settled = true;
                self.reads = best.map_or(self.usual, |(reads, _)| reads);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of reads after much was read from a device that delivers so many bytes a second
    /// with so many reads under way.
    fn settled(mut parallel: Parallel, rate: fn(usize) -> f64) -> usize {
        let (usual, mut now) = (parallel.usual, Instant::now());
        for _ in 0..2000 {
            let bytes = parallel.read_bytes();
            assert!(parallel.reads() as u64 * bytes <= usual as u64 * READ_BYTES);
            now += Duration::from_secs_f64(bytes as f64 / rate(parallel.reads()));
            parallel.ended(bytes, false, now);
        }
        parallel.reads()
    }

    #[test]
    fn a_network_gets_many_an_arm_one_and_a_throttle_or_a_fast_device_the_usual() {
        for usual in [2, 4] {
            assert_eq!(settled(Parallel::new(usual), |reads| 3e6 * reads as f64), MOST);
            assert_eq!(settled(Parallel::new(usual), |reads| 3e6 * reads.min(8) as f64), MANY);
            assert_eq!(settled(Parallel::new(usual), |reads| 30e6 / reads as f64), 1);
            assert_eq!(settled(Parallel::new(usual), |_| 50e6), usual);
            assert_eq!(settled(Parallel::new(usual), |reads| 200e6 * reads as f64), usual);
        }
    }

    #[test]
    fn large_reads_are_made_one_by_one_or_as_usual() {
        let folios = || Parallel::of_folios(4);
        assert_eq!(settled(folios(), |reads| 30e6 / reads as f64), 1);
        assert_eq!(settled(folios(), |reads| 3e6 * reads as f64), 4);
        assert_eq!(settled(folios(), |_| 3e6), 4);
    }

    #[test]
    fn where_reads_are_cut_one_comes_first_and_more_only_if_that_helps() {
        let cut = || {
            let mut parallel = Parallel::new(2);
            parallel.set_cut();
            parallel.set_usual(4);
            assert_eq!(parallel.reads(), 1, "a larger cache leaves the arm as it is");
            parallel.set_usual(2);
            parallel
        };
        assert_eq!(settled(cut(), |reads| 30e6 / reads as f64), 1);
        assert_eq!(settled(cut(), |_| 30e6), 1);
        assert_eq!(settled(cut(), |reads| 30e6 * reads.min(2) as f64), 2);
        assert_eq!(settled(cut(), |reads| 3e6 * reads as f64), MOST);
        assert_eq!(settled(cut(), |_| 300e6), 2);
    }

    #[test]
    fn time_in_which_nothing_is_read_counts_for_nothing() {
        let (mut parallel, mut now) = (Parallel::new(2), Instant::now());
        for read in 0..100 {
            now += Duration::from_millis(5);
            parallel.ended(READ_BYTES, false, now);
            if read % 2 == 1 {
                now += Duration::from_secs(1);
                parallel.ended(READ_BYTES, true, now);
            }
        }
        assert_eq!(parallel.reads(), 2);
    }
}
