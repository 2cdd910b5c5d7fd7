//! Where a file's text comes from when a part of it is wanted again.

use super::ordered::lines_back;
use super::{Listing, Options};
use seekless_read::QuietFile;
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// How far back is read at once in search of the lines before.
const STEP_BACK_BYTES: u64 = 16 << 10;
/// How much is read at once in the file's order.
const STEP_BYTES: u64 = 256 << 10;

/// A file, opened when it is wanted again.
pub(super) enum Source {
    Path {
        path: PathBuf,
        /// Device and inode of the file that is searched: by the time it is wanted again its name may stand for another.
        identity: Option<(u64, u64)>,
        again: Option<QuietFile>,
    },
    /// Standard input, and where it stood.
    Standard { file: File, start: u64, regular: bool, again: Option<QuietFile> },
}

impl Source {
    pub(super) fn of_path(path: PathBuf) -> Self {
        Source::Path { path, identity: None, again: None }
    }

    /// Makes sure that what is wanted again will be of this file: keeps it open if it `may`, else knows it by its inode. Says
    /// whether it is kept open from now on.
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
            Source::Standard { file, start, again, .. } => (again.insert(QuietFile::again(file)?), *start),
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

    /// How wide numbers are with -T: as the file's size, or as any size where there is none.
    pub(super) fn width(&self) -> usize {
        let bytes = match self {
            Source::Standard { regular: false, .. } => None,
            Source::Standard { file, .. } => file.metadata().ok(),
            Source::Path { path, .. } => std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file),
        };
        bytes.map_or(i64::MAX as u64, |data| data.len()).to_string().len()
    }

    /// A piece that was searched before; shorter if the file ends in it by now.
    pub(super) fn read(&mut self, offset: u64, bytes: u64) -> io::Result<Vec<u8>> {
        let (file, start) = self.open()?;
        loop {
            let there = bytes.min(file.bytes()?.saturating_sub(start + offset));
            let mut buffer = vec![0; usize::try_from(there).map_err(|_| io::ErrorKind::OutOfMemory)?];
            match file.read_exact_at(&mut buffer, start + offset) {
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {}
                read => return read.map(|()| buffer),
            }
        }
    }

    /// As much of a part that was searched before as has whole lines, and at most `most` bytes; all of it if it is short, or the file
    /// ends in it by now.
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
            // A line that was no line when it was searched first may have no end now.
            let cut =
                options.records().last_cut(&text, offset).or((step >= most as u64).then_some(text.len()));
            if let Some(cut) = cut {
                text.truncate(cut);
                return Ok(text);
            }
            step *= 4;
        }
    }

    /// The lines before a place, as many as the context may want; fewer if they cannot be had.
    pub(super) fn lines_before(&mut self, position: u64, options: &Options) -> Vec<u8> {
        let mut bytes = STEP_BACK_BYTES.min(position);
        loop {
            let text = self.read(position - bytes, bytes).unwrap_or_default();
            if (text.len() as u64) < bytes {
                return Vec::new();
            }
            let (first, found) = lines_back(&text, 0, text.len(), options.before, options.terminator());
            // The first of them may be cut off by the edge.
            if bytes == position || (found == options.before && first > 0) {
                return text[first..].to_vec();
            }
            bytes = (bytes * 4).min(position);
        }
    }

    /// Leaves standard input where GNU does: behind the last selected line if no more were wanted, at its end otherwise.
    pub(super) fn leave(&self, selected: u64, selected_to: u64, options: &Options) {
        let Source::Standard { file, start, regular: true, .. } = self else { return };
        let place = match options.max_count == Some(selected) && options.listing == Listing::None {
            true => rustix::fs::SeekFrom::Start(start + selected_to),
            false => rustix::fs::SeekFrom::End(0),
        };
        // A place that cannot be had is the next reader's to find out.
        let _ = rustix::fs::seek(file, place);
    }
}
