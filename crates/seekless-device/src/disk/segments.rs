//! The disk's memory: segments of equal size, each with the last bytes of one sequence of reads.

/// A contiguous range that the disk holds.
#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    start: u64,
    end: u64,
    /// Larger for one that was used later.
    used: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Segments {
    segments: Vec<Segment>,
    bytes: u64,
    clock: u64,
}

impl Segments {
    pub(super) fn new(count: u32, bytes: u64) -> Self {
        Segments { segments: vec![Segment::default(); count as usize], bytes, clock: 0 }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The segment with `byte`, or which ends just before it, and the end of what it holds. Of
    /// several, the one that reaches furthest.
    pub(super) fn find(&self, byte: u64) -> Option<(usize, u64)> {
        let mut found = None;
        for (number, segment) in self.segments.iter().enumerate() {
            let reaches = found.is_none_or(|(_, end)| segment.end > end);
            if segment.start <= byte && byte <= segment.end && segment.end > 0 && reaches {
                found = Some((number, segment.end));
            }
        }
        found
    }

    pub(super) fn start(&self, number: usize) -> u64 {
        self.segments[number].start
    }

    /// Notes that a segment was used.
    pub(super) fn touch(&mut self, number: usize) {
        self.clock += 1;
        self.segments[number].used = self.clock;
    }

    /// Empties the segment that was not used for longest, for what is read from byte `from` on.
    /// `None` when the disk keeps nothing.
    pub(super) fn replace(&mut self, from: u64) -> Option<usize> {
        let oldest = (0..self.segments.len()).min_by_key(|&number| self.segments[number].used)?;
        self.segments[oldest] = Segment { start: from, end: from, used: 0 };
        Some(oldest)
    }

    /// Lets a segment hold what was read up to `end`, and drops its first bytes if they are too
    /// many.
    pub(super) fn extend(&mut self, number: usize, end: u64) {
        let segment = &mut self.segments[number];
        segment.end = segment.end.max(end);
        segment.start = segment.start.max(segment.end.saturating_sub(self.bytes));
    }

    /// Drops all segments with a byte of the range.
    pub(super) fn forget(&mut self, from: u64, to: u64) {
        for segment in &mut self.segments {
            if segment.start < to && from < segment.end {
                *segment = Segment::default();
            }
        }
    }
}
