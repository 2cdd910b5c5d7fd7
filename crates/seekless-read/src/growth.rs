//! Whether the page cache keeps what is read into it: then the count of a file's cached bytes grows
//! as fast. Where a cache is full of other programs' pages, only a trial shows whether they give
//! way.

/// The cache counts as full after this many steps in a row that kept less than half of the bytes
/// read.
const STRIKES: u8 = 2;

/// Bytes read into the cache, and the bytes of the file that were cached before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Growth {
    cached_bytes: u64,
    /// Read in this step.
    read_bytes: u64,
    strikes: u8,
}

impl Growth {
    /// Starts with the bytes of the file that are cached now.
    pub(crate) fn from(cached_bytes: u64) -> Self {
        Growth { cached_bytes, read_bytes: 0, strikes: 0 }
    }

    /// Continues with another file, with this many cached bytes. The count of steps stays.
    pub(crate) fn with(self, cached_bytes: u64) -> Self {
        Growth { cached_bytes, read_bytes: 0, ..self }
    }

    /// Counts bytes that were read, and at the end of each step asks how many are cached now
    /// (`None` if unknown). True once the cache keeps no more. Reads in flight count as cached
    /// already, so a step must be long in comparison.
    pub(crate) fn is_over(
        &mut self,
        read_bytes: u64,
        step_bytes: u64,
        cached: impl FnOnce() -> Option<u64>,
    ) -> bool {
        self.read_bytes += read_bytes;
        if self.read_bytes < step_bytes {
            return false;
        }
        let Some(now) = cached() else { return true };
        let kept = now.saturating_sub(self.cached_bytes);
        self.strikes = if 2 * kept < self.read_bytes { self.strikes + 1 } else { 0 };
        (self.cached_bytes, self.read_bytes) = (now, 0);
        self.strikes >= STRIKES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_that_keep_less_than_half_are_the_end_and_one_that_keeps_more_forgets_them() {
        let mut growth = Growth::from(100);
        assert!(!growth.is_over(5, 10, || unreachable!()));
        assert!(!growth.is_over(5, 10, || Some(104)), "a strike");
        assert!(!growth.is_over(10, 10, || Some(109)), "and forgotten");
        assert!(!growth.is_over(10, 10, || Some(113)));
        let mut growth = growth.with(7);
        assert!(growth.is_over(10, 10, || Some(7)), "in another file, the second");
        assert!(Growth::from(0).is_over(10, 10, || None));
    }
}
