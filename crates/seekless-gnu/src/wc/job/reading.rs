//! Reads the inputs, and counts what comes.

use super::{CHUNK, CHUNK_LEAST, Counting, Input, Job, Outcome, PENDING_MAX, Run, Statistics};
use super::{Size, standard_input};
use crate::wc::Counts;
use crate::wc::pieces::Pieces;
use crate::words::words;
use seekless_read::{Event, Options, Reader, Records};
use seekless_sys::inherited::is_closed;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

impl Run<'_> {
    /// Counts the only file from its first byte to its last.
    pub(super) fn whole(&mut self, path: &Path) -> io::Result<()> {
        let index = self.add(Input::Path(path.to_owned()));
        let outcome = match File::open(path) {
            Ok(file) => {
                let mut pieces = Pieces::default();
                let read = each_piece(file, |offset, bytes| {
                    pieces.add(offset, bytes, self.job.wanted, self.charset);
                });
                let counts = pieces.counts();
                match read {
                    Ok(()) => Outcome::Counted { counts, skipped: 0, unknown: false },
                    Err(error) => {
                        let message = self.complaint(index, &words(&error));
                        Outcome::Failed { message, counted: Some(counts) }
                    }
                }
            }
            Err(error) => {
                Outcome::Failed { message: self.complaint(index, &words(&error)), counted: None }
            }
        };
        self.end(index, outcome)
    }

    pub(super) fn by_reading(
        &mut self,
        inputs: &mut dyn Iterator<Item = Input>,
        sizes: &[Size],
        progress: &mut dyn FnMut(u64, u64),
    ) -> io::Result<()> {
        let mut reader = self.reader(sizes);
        let mut counting = Counting::new();
        let bytes = |size: &Size| if let Size::Bytes(bytes) = size { *bytes } else { 0 };
        let all = sizes.iter().map(bytes).fold(0, u64::saturating_add);
        let (mut standard, mut more, mut done) = (false, true, 0u64);
        loop {
            while more && self.pending.len() < PENDING_MAX {
                match inputs.next() {
                    Some(input) => {
                        let index = self.add(input);
                        if let Some(file) = self.open(index, &mut reader, &mut standard) {
                            counting.insert(file, (index, Pieces::default()));
                        }
                    }
                    None => more = false,
                }
            }
            self.print_ended()?;
            let event = match reader.next() {
                Some(event) => event,
                None if more => continue,
                None => break,
            };
            let bytes = self.take(event, &mut counting)?;
            if bytes > 0 {
                done = done.saturating_add(bytes);
                progress(done, all);
            }
        }
        let statistics = reader.statistics();
        self.report.statistics = Statistics {
            bytes: statistics.bytes,
            resident_bytes: statistics.resident_bytes,
            held_bytes: statistics.held_bytes,
        };
        Ok(())
    }

    /// The reader for inputs of these sizes.
    fn reader(&self, sizes: &[Size]) -> Reader {
        let Job { plan, reach, hold_bytes, aligned, .. } = *self.job;
        let chunk_bytes = if aligned { chunk_bytes(sizes) } else { CHUNK as usize };
        Reader::new(Options {
            records: Records::None,
            plan,
            reach,
            chunk_bytes,
            hold_bytes,
            holes: true,
            ..Options::default()
        })
    }

    /// Counts what the reader hands out. Returns how many bytes that is.
    fn take(&mut self, event: Event<'_>, counting: &mut Counting) -> io::Result<u64> {
        let wanted = self.job.wanted;
        match event {
            Event::Chunk(chunk) => {
                if let Some((_, pieces)) = counting.get_mut(&chunk.file) {
                    pieces.add(chunk.offset, chunk.bytes, wanted, self.charset);
                }
                return Ok(chunk.bytes.len() as u64);
            }
            Event::Hole { file, offset, bytes, .. } => {
                if let Some((_, pieces)) = counting.get_mut(&file) {
                    pieces.add_zeros(offset, bytes, wanted, self.charset);
                }
                return Ok(bytes);
            }
            Event::Restart { file } => {
                if let Some((_, pieces)) = counting.get_mut(&file) {
                    *pieces = Pieces::default();
                }
            }
            Event::End { file, skipped, unknown, .. } => {
                let Some((index, counted)) = counting.remove(&file) else { return Ok(0) };
                let outcome = match counted.whole() || skipped > 0 {
                    true => Outcome::Counted { counts: counted.counts(), skipped, unknown },
                    false => {
                        let what = "bytes are missing in the middle: count it again with --linear";
                        Outcome::Failed { message: self.complaint(index, what), counted: None }
                    }
                };
                self.end(index, outcome)?;
            }
            Event::Failed { file, error } => {
                let Some((index, pieces)) = counting.remove(&file) else { return Ok(0) };
                let what = error.io_error().map_or_else(|| error.reason().to_owned(), words);
                let counted = (!error.kind().is_at_opening()).then(|| pieces.counts());
                let message = self.complaint(index, &what);
                self.end(index, Outcome::Failed { message, counted })?;
            }
        }
        Ok(0)
    }

    /// Gives an input to the reader and returns the reader's number. If there is nothing to read,
    /// records the outcome and returns `None`.
    pub(super) fn open(
        &mut self,
        index: usize,
        reader: &mut Reader,
        standard: &mut bool,
    ) -> Option<usize> {
        match &self.pending[index - self.printed].input {
            Input::Path(path) => Some(reader.add_path(path)),
            Input::Standard { .. } => match standard_input() {
                // Standard input was read to its end already. A second read finds nothing, or fails
                // again.
                Ok(mut file) if *standard => {
                    let counts = Counts::default();
                    let fails = file.metadata().is_ok_and(|data| data.is_dir())
                        || is_closed(rustix::stdio::raw_stdin());
                    let outcome = match if fails { file.read(&mut [0]) } else { Ok(0) } {
                        Ok(_) => Outcome::Counted { counts, skipped: 0, unknown: false },
                        Err(error) => {
                            let message = self.complaint(index, &words(&error));
                            Outcome::Failed { message, counted: Some(counts) }
                        }
                    };
                    self.pending[index - self.printed].outcome = Some(outcome);
                    None
                }
                Ok(file) => {
                    *standard = true;
                    Some(reader.add_file(Path::new("standard input"), file))
                }
                Err(error) => {
                    let message = self.complaint(index, &words(&error));
                    let outcome = Outcome::Failed { message, counted: Some(Counts::default()) };
                    self.pending[index - self.printed].outcome = Some(outcome);
                    None
                }
            },
            Input::Wrong(_) | Input::Unlisted(_) => None,
        }
    }
}

/// Calls `with` for each piece of a file, from its first byte on.
fn each_piece(mut file: File, mut with: impl FnMut(u64, &[u8])) -> io::Result<()> {
    let mut buffer = [0; 32 << 10];
    let mut offset = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                with(offset, &buffer[..read]);
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The chunk size: enough for the largest file and its end, but no more than fits in the
/// processor's cache.
fn chunk_bytes(sizes: &[Size]) -> usize {
    let largest = sizes.iter().map(|size| match size {
        Size::Bytes(bytes) => bytes.saturating_add(1),
        Size::Unknown => CHUNK,
        Size::Failed => 0,
    });
    largest.max().unwrap_or(0).clamp(CHUNK_LEAST, CHUNK) as usize
}
