//! How many streams are active, without a clock.

use super::stream::Stream;

/// An era lasts this many reads for each stream that is seen in it: a stream that is read as often
/// as the others is seen in nearly every era.
const READS_A_STREAM: u32 = 4;
/// An era has room for at least this many streams.
const STREAMS_MIN: u32 = 16;

/// Counts the streams that were read lately.
#[derive(Debug, Default)]
pub(super) struct Crowd {
    era: u32,
    reads: u32,
    seen: u32,
    seen_before: u32,
}

impl Crowd {
    /// A read of a stream.
    pub(super) fn read(&mut self, stream: &mut Stream) {
        if self.reads >= READS_A_STREAM * self.seen.max(STREAMS_MIN) {
            self.era = self.era.wrapping_add(1);
            (self.seen_before, self.seen, self.reads) = (self.seen, 0, 0);
        }
        self.reads += 1;
        if stream.era != self.era.wrapping_add(1) {
            stream.era = self.era.wrapping_add(1);
            self.seen += 1;
        }
    }

    /// The streams seen in this era or in the last one, whichever were more.
    pub(super) fn active(&self) -> u32 {
        self.seen.max(self.seen_before).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readahead::streams::span::Span;

    #[test]
    fn streams_that_are_no_longer_read_stop_counting() {
        let mut crowd = Crowd::default();
        let mut streams = vec![Stream::begin(1, Span::of_page(0), None); 1000];
        (0..5).for_each(|_| streams.iter_mut().for_each(|stream| crowd.read(stream)));
        assert_eq!(crowd.active(), 1000);
        (0..2000).for_each(|_| streams[..3].iter_mut().for_each(|stream| crowd.read(stream)));
        assert_eq!(crowd.active(), 3);
    }
}
