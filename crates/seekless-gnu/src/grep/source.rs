//! Reads parts of a file again that were searched before.

use super::ordered::lines_back;
use super::{Listing, Options};
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;
use seekless_read::QuietFile;
use std::fs::File;
use std::io::{self, BufReader};
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// How many bytes are read at first when looking for the lines before a place.
const STEP_BACK_BYTES: u64 = 16 << 10;
/// How many bytes are read at first when reading a part again.
const STEP_BYTES: u64 = 256 << 10;
/// How many bytes GNU grep reads at a time.
const GNU_BUFFER_BYTES: u64 = 96 << 10;
/// How many bytes of a pipe are read at a time if nobody needs them: what a pipe holds.
const DRAIN_BYTES: usize = 64 << 10;

/// A file, which is opened when a part of it must be read again.
pub(super) enum Source {
    Path {
        path: PathBuf,
        /// The device and inode of the file that was searched. The path may name another file by
        /// now.
        identity: Option<(u64, u64)>,
        again: Option<QuietFile>,
    },
    /// Standard input, and its position when the search began.
    Standard { file: File, start: u64, regular: bool, again: Option<QuietFile> },
}

impl Source {
    pub(super) fn of_path(path: PathBuf) -> Self {
        Source::Path { path, identity: None, again: None }
    }

    /// Makes sure that a later read gets the same file. Keeps the file open if `may` is set;
    /// otherwise stores its inode. Returns whether it was kept open by this call.
    pub(super) fn remember(&mut self, open: Option<&File>, may: bool) -> bool {
        let (Source::Path { identity, again, .. }, Some(open)) = (self, open) else { return false };
        if again.is_some() || identity.is_some() {
            return false;
        }
        *identity = open.metadata().ok().map(|data| (data.dev(), data.ino()));
        *again = if may { QuietFile::again(open).ok() } else { None };
        again.is_some()
    }

    fn open(&mut self) -> io::Result<(&QuietFile, u64)> {
        Ok(match self {
            Source::Standard { start, again: Some(again), .. } => (again, *start),
            Source::Standard { file, start, again, .. } => {
                (again.insert(QuietFile::again(file)?), *start)
            }
            Source::Path { again: Some(again), .. } => (again, 0),
            Source::Path { path, identity, again } => {
                let open = QuietFile::open(path)?;
                let data = std::fs::metadata(path)?;
                if identity.is_some_and(|identity| identity != (data.dev(), data.ino())) {
                    return Err(io::Error::other("was replaced while it was searched"));
                }
                (again.insert(open), 0)
            }
        })
    }

    /// The width of numbers with `-T`: the digits of the file's size, or of the largest size if it
    /// has none.
    pub(super) fn width(&self) -> usize {
        let bytes = match self {
            Source::Standard { regular: false, .. } => None,
            Source::Standard { file, .. } => file.metadata().ok(),
            Source::Path { path, .. } => {
                std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)
            }
        };
        bytes.map_or(i64::MAX as u64, |data| data.len()).to_string().len()
    }

    /// Reads a piece that was searched before. The result is shorter if the file has been cut short
    /// since.
    pub(super) fn read(&mut self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let (file, start) = self.open()?;
        loop {
            let there = bytes.min(file.bytes()?.saturating_sub(start + offset));
            let mut buffer =
                vec![0; usize::try_from(there).map_err(|_| io::ErrorKind::OutOfMemory)?];
            match file.read_exact_at(&mut buffer, start + offset) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                read => return read.map(|()| buffer),
            }
        }
    }

    /// Reads whole lines from the start of a part that was searched before, at most `most` bytes.
    /// Returns the whole part if it is short, or if the file ends in it by now.
    pub(super) fn read_lines(
        &mut self,
        offset: u64,
        bytes: u64,
        most: usize,
        options: &Options,
    ) -> io::Result<Vec<u8>> {
        let mut step = STEP_BYTES;
        loop {
            let wanted = bytes.min(step);
            let mut text = self.read(offset, wanted)?;
            if text.len() as u64 == bytes || (text.len() as u64) < wanted {
                return Ok(text);
            }
            // The line may have been changed since the first search, so that it has no end.
            let cut = options
                .records()
                .last_cut(&text, offset)
                .or((step >= most as u64).then_some(text.len()));
            if let Some(cut) = cut {
                text.truncate(cut);
                return Ok(text);
            }
            step *= 4;
        }
    }

    /// The lines before `position`, as many as the context needs. Fewer if they cannot be read.
    pub(super) fn lines_before(&mut self, position: u64, options: &Options) -> Vec<u8> {
        let mut bytes = STEP_BACK_BYTES.min(position);
        loop {
            let text = self.read(position - bytes, bytes).unwrap_or_default();
            if (text.len() as u64) < bytes {
                return Vec::new();
            }
            let (first, found) =
                lines_back(&text, 0, text.len(), options.before, options.terminator());
            // The first of these lines may be cut off at the edge.
            if bytes == position || (found == options.before && first > 0) {
                return text[first..].to_vec();
            }
            bytes = (bytes * 4).min(position);
        }
    }

    /// Leaves standard input as GNU does after `-q`: behind the buffer that holds the end of the
    /// line that decided.
    pub(super) fn leave_decided(&self, line_end: u64) {
        let Source::Standard { file, start, regular: true, .. } = self else { return };
        let size = file.metadata().map_or(u64::MAX, |data| data.len());
        let read = line_end.div_ceil(GNU_BUFFER_BYTES).saturating_mul(GNU_BUFFER_BYTES);
        let place = start.saturating_add(read).min(size.max(*start));
        // If the position cannot be set, the next program that reads it finds out.
        let _ = seek(file, SeekFrom::Start(place));
    }

    /// Leaves standard input as GNU does: after the last selected line if `-m` stopped the search
    /// there, otherwise at its end. If its search was stopped early, a pipe is read to its end:
    /// otherwise its writer would fail. GNU does not care where it stops for `-l`, `-L` and `-q`.
    ///
    /// # Errors
    ///
    /// A pipe cannot be read.
    pub(super) fn leave(&self, ending: Ending, options: &Options) -> io::Result<()> {
        let Source::Standard { file, start, regular, .. } = self else { return Ok(()) };
        let lists = options.listing != Listing::None && !options.discard && !options.quiet;
        let decided = options.quiet && ending.selected > 0;
        let full = options.max_count == Some(ending.selected) && !lists;
        if *regular && decided {
            return Ok(()); // see `leave_decided`
        }
        if *regular {
            let place = match full {
                true => SeekFrom::Start(start + ending.selected_to),
                false => SeekFrom::End(0),
            };
            // If the position cannot be set, the next program that reads it finds out.
            let _ = seek(file, place);
            return Ok(());
        }
        if ending.stopped && !full && !lists && !decided && is_stream(file) {
            io::copy(&mut BufReader::with_capacity(DRAIN_BYTES, file), &mut io::sink())?;
        }
        Ok(())
    }
}

/// How the search of a file ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ending {
    /// The number of selected lines.
    pub selected: u64,
    /// Where the last of them ends, if the search stopped there.
    pub selected_to: u64,
    /// The search stopped before the file's end.
    pub stopped: bool,
}

/// Whether a file has no position, so that only reading reaches its end. (GNU takes files of
/// `/proc` that refuse a position for files that have one.)
fn is_stream(file: &File) -> bool {
    !matches!(seek(file, SeekFrom::End(0)), Ok(_) | Err(Errno::INVAL))
}
