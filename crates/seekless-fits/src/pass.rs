//! One pass over a file: copies some of its bytes, and hands the image's pixels to the work.

use super::feed::{Feed, Stretch, Visit};
use super::hdu::Source;
use super::write::Sink;
use crate::error::{Error, ErrorKind, Result};
use seekless_read::Records;
use std::ops::Range;

/// Bytes of the input that are copied to the output unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub(super) input: Range<u64>,
    pub(super) output: u64,
}

/// Processes the pixels of an image.
pub(super) trait Work {
    /// Takes whole records (pixels, say) that start at byte `at` of the image's data, in any order.
    fn records(&mut self, at: u64, bytes: &[u8], sink: &mut Sink) -> Result<()>;
    /// Forgets all records, because the pass starts again.
    fn restart(&mut self) {}
}

/// Does nothing with the pixels, for a pass that only copies.
pub(super) struct Nothing;

impl Work for Nothing {
    fn records(&mut self, _at: u64, _bytes: &[u8], _sink: &mut Sink) -> Result<()> {
        Ok(())
    }
}

/// Copies `segments`, and hands the range `unit` to `work` in records of `record_bytes`, counted
/// from its start.
///
/// # Errors
/// The file cannot be read or was not read whole, or the output or the work fails.
pub(super) fn pass(
    feed: &mut dyn Feed,
    source: &Source,
    segments: &[Segment],
    sink: &mut Sink,
    (unit, record_bytes): (Range<u64>, u64),
    work: &mut dyn Work,
) -> Result<()> {
    let from = segments.first().map_or(unit.start, |first| first.input.start.min(unit.start));
    // Records span the whole file, not only the image. If they began at the image, the reader would
    // hold everything before it in memory as one record.
    let records = Records::Fixed { origin: unit.start % record_bytes, bytes: record_bytes };
    let wanted =
        segments.iter().map(|segment| segment.input.end - segment.input.start).sum::<u64>()
            + (unit.end - unit.start);
    let mut visitor = Pass { segments, sink, unit, work, wanted, seen: 0 };
    feed.pass(Stretch { source, from, records }, &mut visitor)?;
    match visitor.seen == wanted {
        true => Ok(()),
        false => {
            let what =
                format!("only {} of {wanted} bytes came: it changed meanwhile", visitor.seen);
            Err(Error::new(
                ErrorKind::Differs,
                format!("{}: {what}; run this again", source.path.display()),
            ))
        }
    }
}

struct Pass<'a> {
    segments: &'a [Segment],
    sink: &'a mut Sink,
    unit: Range<u64>,
    work: &'a mut dyn Work,
    /// Bytes to copy and bytes to process; `seen` is how many of both have come.
    wanted: u64,
    seen: u64,
}

/// The intersection of two ranges, if it is not empty.
fn shared(one: &Range<u64>, other: &Range<u64>) -> Option<Range<u64>> {
    let both = one.start.max(other.start)..one.end.min(other.end);
    (!both.is_empty()).then_some(both)
}

impl Visit for Pass<'_> {
    fn piece(&mut self, offset: u64, bytes: &[u8]) -> Result<()> {
        let piece = offset..offset + bytes.len() as u64;
        let part = |range: &Range<u64>| {
            &bytes[(range.start - offset) as usize..(range.end - offset) as usize]
        };
        for segment in self.segments {
            if let Some(both) = shared(&segment.input, &piece) {
                self.sink
                    .write(segment.output + (both.start - segment.input.start), part(&both))?;
                self.seen += both.end - both.start;
            }
        }
        if let Some(both) = shared(&self.unit, &piece) {
            self.work.records(both.start - self.unit.start, part(&both), self.sink)?;
            self.seen += both.end - both.start;
        }
        Ok(())
    }

    fn restart(&mut self) {
        self.seen = 0;
        self.work.restart();
    }

    fn is_complete(&self) -> bool {
        self.seen == self.wanted
    }
}
