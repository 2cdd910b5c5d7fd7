//! What the device's reads really cost. The device table learns from it, and so do the next SLEDs.

use std::time::{Duration, Instant};

/// The average of fewer reads says little about the device.
const READS_MIN: u32 = 16;

/// The time of reads past the cache, with as many in flight as the reader keeps there.
#[derive(Debug, Default)]
pub(super) struct Learned {
    busy_since: Option<Instant>,
    busy: Duration,
    bytes: u64,
    reads: u32,
}

/// What one read cost on average.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadCost {
    pub(super) bytes: u64,
    pub(super) elapsed_ns: u64,
}

impl Learned {
    /// A read starts.
    pub(super) fn starts(&mut self) {
        self.busy_since.get_or_insert_with(Instant::now);
    }

    /// A read has ended; `bytes` is its size if it went past the cache, and `idle` is true if no
    /// read is left in flight.
    pub(super) fn ended(&mut self, bytes: Option<u64>, idle: bool) {
        if let Some(bytes) = bytes {
            self.bytes += bytes;
            self.reads += 1;
        }
        if idle && let Some(since) = self.busy_since.take() {
            self.busy += since.elapsed();
        }
    }

    /// The average, if there were enough reads.
    pub(super) fn cost(&self) -> Option<ReadCost> {
        let reads = u64::from(self.reads);
        let elapsed_ns = u64::try_from(self.busy.as_nanos()).ok()? / reads.max(1);
        (self.reads >= READS_MIN)
            .then_some(ReadCost { bytes: self.bytes / reads.max(1), elapsed_ns })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_reads_teach_nothing_and_many_their_average() {
        let mut learned = Learned::default();
        for read in 0..READS_MIN {
            assert_eq!(learned.cost(), None, "after {read} reads");
            learned.starts();
            learned.ended(Some(1 << 20), true);
        }
        learned.starts();
        learned.ended(None, true);
        assert_eq!(learned.cost().map(|cost| cost.bytes), Some(1 << 20));
    }
}
