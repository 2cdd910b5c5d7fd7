//! Reads a file in pieces, the cheapest first. Tests hand out the pieces shuffled instead.

use super::hdu::Source;
use crate::error::{Error, ErrorKind, Result};
use seekless_read::{Event, Options, Plan, Reader, Records};
use serde::Serialize;
use std::io::{Seek, SeekFrom};
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes passes over one file.
pub(super) trait Feed {
    /// Hands the stretch to `visit`, in whole records.
    ///
    /// # Errors
    /// The file cannot be read, or the visitor fails.
    fn pass(&mut self, stretch: Stretch<'_>, visit: &mut dyn Visit) -> Result<()>;
}

/// The bytes that a pass reads: all of a file from one offset on.
pub(super) struct Stretch<'a> {
    pub(super) source: &'a Source,
    pub(super) from: u64,
    /// Counted from byte 0 of the file.
    pub(super) records: Records,
}

/// Takes the pieces of a pass.
pub(super) trait Visit {
    /// Takes the next piece, which starts at `offset` of the file.
    fn piece(&mut self, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Forgets all pieces, because the pass starts again.
    fn restart(&mut self);
    /// Whether all needed pieces have come.
    fn is_complete(&self) -> bool;
}

/// How much was read for a job, and from where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reading {
    /// Passes over the file, or over its image.
    pub passes: u32,
    /// Bytes handed out in all passes.
    pub bytes: u64,
    /// Of those, bytes that were in memory when residency was first checked. A linear pass does not
    /// check it.
    pub resident_bytes: u64,
    /// Bytes that were not cached.
    pub device_bytes: u64,
    /// Of those, bytes read past the page cache.
    pub bypassed_bytes: u64,
    /// How often a pass started again because the file changed.
    pub restarts: u64,
}

/// Reads the file itself.
pub(super) struct Live<'a> {
    plan: Plan,
    cancel: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u64, u64),
    /// About how many bytes all passes will hand out.
    total: u64,
    pub(super) reading: Reading,
}

impl<'a> Live<'a> {
    pub(super) fn new(
        plan: Plan,
        cancel: &'a AtomicBool,
        progress: &'a mut dyn FnMut(u64, u64),
    ) -> Self {
        Live { plan, cancel, progress, total: 0, reading: Reading::default() }
    }

    fn note(&mut self, reader: &Reader) {
        let statistics = reader.statistics();
        self.reading.passes += 1;
        self.reading.bytes += statistics.bytes;
        self.reading.resident_bytes += statistics.resident_bytes;
        self.reading.device_bytes += statistics.device_bytes;
        self.reading.bypassed_bytes += statistics.bypassed_bytes;
        self.reading.restarts += statistics.restarts;
    }
}

impl Feed for Live<'_> {
    fn pass(&mut self, stretch: Stretch<'_>, visit: &mut dyn Visit) -> Result<()> {
        let Stretch { source, from, records } = stretch;
        let failed = |error| {
            Error::because(ErrorKind::Io, format!("cannot read {}", source.path.display()), error)
        };
        let mut file = seekless_sys::open_seekable(&source.path).map_err(failed)?;
        file.seek(SeekFrom::Start(from)).map_err(failed)?;
        let records = counted_from(records, from);
        let mut reader = Reader::new(Options { records, plan: self.plan, ..Options::default() });
        let number = reader.add_file(&source.path, file);
        let mut done = self.reading.bytes;
        self.total = self.total.max(done + (source.bytes - from.min(source.bytes)));
        while let Some(event) = reader.next() {
            match event {
                Event::Chunk(chunk) => {
                    visit.piece(from + chunk.offset, chunk.bytes)?;
                    done += chunk.bytes.len() as u64;
                }
                Event::Restart { .. } => visit.restart(),
                Event::Hole { .. } | Event::End { .. } => {}
                Event::Failed { error, .. } => {
                    let what = format!("cannot read {} to its end", source.path.display());
                    return Err(Error::because(ErrorKind::Io, what, error));
                }
            }
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Error::new(
                    ErrorKind::Interrupted,
                    "interrupted; nothing was left behind",
                ));
            }
            (self.progress)(done, self.total);
            if visit.is_complete() {
                reader.finish_file(number);
            }
        }
        self.note(&reader);
        Ok(())
    }
}

/// Converts records that count from byte 0 of the file for a reader that starts at `from`.
fn counted_from(records: Records, from: u64) -> Records {
    match records {
        Records::Fixed { origin, bytes } => {
            let bytes = bytes.max(1);
            let origin = (origin % bytes + (bytes - from % bytes)) % bytes;
            Records::Fixed { origin, bytes }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_start_at_the_same_bytes_wherever_the_reader_does() {
        for (origin, bytes, from, expected) in
            [(2880, 8, 2880, 0), (2880, 7000, 2880, 0), (5760, 7000, 2880, 2880), (0, 100, 30, 70)]
        {
            let records = counted_from(Records::Fixed { origin, bytes }, from);
            assert_eq!(
                records,
                Records::Fixed { origin: expected, bytes },
                "{origin} {bytes} {from}"
            );
        }
    }
}
