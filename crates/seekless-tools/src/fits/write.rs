//! Writes the output in pieces that come in any order, past the page cache: what a cache holds of the input, the output
//! must not push out. Whole pages go by O_DIRECT; the page in which two runs of pieces meet is written through the cache.

use crate::error::{Error, ErrorKind, Result};
use crate::output::Output;
use rustix::fs::{Advice, OFlags, fadvise};
use seekless_engine::{ALIGNMENT, AlignedBuf};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

const BUFFER_BYTES: usize = 1 << 20;
/// Where the output cannot be written past the cache, it is synced and dropped from it after so many bytes.
const BEHIND_BYTES: u64 = 8 << 20;

/// How the output treats the page cache.
#[derive(Debug)]
enum Way {
    /// Past it, through this second descriptor.
    Direct(File),
    /// Through it, and dropped behind.
    Behind,
    /// As any program does.
    Plain,
}

/// The output on its way. Pieces may come again; the last word counts.
#[derive(Debug)]
pub(super) struct Sink {
    output: Output,
    way: Way,
    /// A run of pieces that follow each other, from `base` on; of its first page `head` bytes are not ours.
    buffer: AlignedBuf,
    base: u64,
    head: usize,
    filled: usize,
    /// Bytes taken in since the output was synced.
    unsynced: u64,
    /// Bytes taken in.
    pub(super) written: u64,
}

impl Sink {
    /// A sink for what will stand at `path`; `plain` writes through the page cache as other programs do.
    ///
    /// # Errors
    /// When nothing can be written there, or a file stands there and `force` is not said.
    pub(super) fn create(path: &Path, force: bool, plain: bool) -> Result<Self> {
        let output = Output::create(path, force)?;
        let way = match plain {
            true => Way::Plain,
            false => direct(output.file()).map_or(Way::Behind, Way::Direct),
        };
        let mut buffer = AlignedBuf::with_capacity(BUFFER_BYTES);
        buffer.set_len(BUFFER_BYTES);
        Ok(Sink { output, way, buffer, base: 0, head: 0, filled: 0, unsynced: 0, written: 0 })
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    /// When the disk is full, say.
    pub(super) fn write(&mut self, offset: u64, mut bytes: &[u8]) -> Result<()> {
        if offset != self.base + self.filled as u64 {
            self.flush()?;
            self.begin(offset);
        }
        self.written += bytes.len() as u64;
        while !bytes.is_empty() {
            let taken = bytes.len().min(BUFFER_BYTES - self.filled);
            self.buffer.whole_mut()[self.filled..self.filled + taken].copy_from_slice(&bytes[..taken]);
            self.filled += taken;
            bytes = &bytes[taken..];
            if self.filled == BUFFER_BYTES {
                let next = self.base + BUFFER_BYTES as u64;
                self.flush()?;
                self.begin(next);
            }
        }
        Ok(())
    }

    fn begin(&mut self, offset: u64) {
        self.base = offset / ALIGNMENT as u64 * ALIGNMENT as u64;
        self.head = (offset - self.base) as usize;
        self.filled = self.head;
    }

    /// Hands the kernel what is in the buffer.
    fn flush(&mut self) -> Result<()> {
        let result = self.write_run();
        self.head = self.filled; // nothing is left that could be written
        result.map_err(|error| {
            Error::because(ErrorKind::Io, format!("cannot write {}", self.output.path().display()), error)
        })
    }

    fn write_run(&mut self) -> io::Result<()> {
        let (head, filled) = (self.head, self.filled);
        if head == filled {
            return Ok(());
        }
        let first = head.next_multiple_of(ALIGNMENT).min(filled);
        let last = (filled / ALIGNMENT * ALIGNMENT).max(first);
        if let Way::Direct(direct) = &self.way {
            match direct.write_all_at(&self.buffer[first..last], self.base + first as u64) {
                // Some file systems take the flag and refuse the first write.
                Err(error) if error.kind() == io::ErrorKind::InvalidInput => self.way = Way::Behind,
                Err(error) => return Err(error),
                Ok(()) => {
                    self.write_buffered(head, first)?;
                    return self.write_buffered(last, filled);
                }
            }
        }
        self.write_buffered(head, filled)?;
        self.unsynced += (filled - head) as u64;
        match self.way {
            Way::Behind if self.unsynced >= BEHIND_BYTES => self.drop_behind(),
            _ => Ok(()),
        }
    }

    fn write_buffered(&self, start: usize, end: usize) -> io::Result<()> {
        self.output.file().write_all_at(&self.buffer[start..end], self.base + start as u64)
    }

    /// Pages must be clean to be dropped.
    fn drop_behind(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        self.output.file().sync_data()?;
        let _ = fadvise(self.output.file(), 0, None, Advice::DontNeed); // only advice
        Ok(())
    }

    /// Gives the file its length, with zeros where nothing was written, and its name.
    ///
    /// # Errors
    /// When it cannot be written to the end, or somebody has put a file there meanwhile.
    pub(super) fn publish(mut self, bytes: u64) -> Result<()> {
        self.flush()?;
        let failed = |error| {
            Error::because(ErrorKind::Io, format!("cannot write {}", self.output.path().display()), error)
        };
        self.output.file().set_len(bytes).map_err(failed)?;
        if !matches!(self.way, Way::Plain) {
            self.output.file().sync_data().map_err(failed)?;
            let _ = fadvise(self.output.file(), 0, None, Advice::DontNeed);
        }
        self.output.publish()
    }
}

/// The same file once more, for writing past the cache; it may have no name to open it by.
fn direct(file: &File) -> Option<File> {
    let flags = OFlags::DIRECT.bits().try_into().ok()?;
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().write(true).custom_flags(flags).open(by_descriptor).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn folder_is_direct(folder: &Path) -> bool {
        direct(&tempfile::tempfile_in(folder).expect("a file")).is_some()
    }

    /// Pieces that cover `bytes`, in the order given by `order`, some of them twice.
    fn write(bytes: &[u8], cuts: &[usize], order: &[usize], way: Option<Way>) -> Vec<u8> {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let path = folder.path().join("out");
        let mut sink = Sink::create(&path, false, false).expect("a sink");
        sink.way = way.unwrap_or(sink.way);
        let mut edges: Vec<usize> = cuts.iter().map(|cut| cut % bytes.len()).collect();
        edges.extend([0, bytes.len()]);
        edges.sort_unstable();
        let mut pieces: Vec<_> = edges.windows(2).map(|edge| edge[0]..edge[1]).collect();
        for (at, place) in order.iter().enumerate() {
            let count = pieces.len();
            pieces.swap(at % count, place % count);
        }
        for piece in &pieces {
            sink.write(piece.start as u64, &bytes[piece.clone()]).expect("room");
        }
        sink.write(0, &bytes[..1]).expect("room");
        sink.publish(bytes.len() as u64 + 3).expect("published");
        std::fs::read(path).expect("readable")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]
        #[test]
        fn pieces_in_any_order_make_the_file(
            length in 1_usize..3_000_000,
            cuts in prop::collection::vec(any::<usize>(), 0..12),
            order in prop::collection::vec(any::<usize>(), 0..12),
            behind: bool,
        ) {
            let bytes: Vec<u8> = (0..length).map(|at| (at * 31 % 251) as u8).collect();
            let mut expected = bytes.clone();
            expected.extend([0; 3]);
            let made = write(&bytes, &cuts, &order, behind.then_some(Way::Behind));
            prop_assert!(made == expected);
        }
    }

    #[test]
    fn the_output_stays_out_of_the_cache() {
        use std::os::fd::AsFd;
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let resident = |plain: bool| {
            let path = folder.path().join(if plain { "plain" } else { "past" });
            let mut sink = Sink::create(&path, false, plain).expect("a sink");
            sink.write(100, &vec![7; 5 << 20]).expect("room");
            sink.publish(6 << 20).expect("published");
            let file = File::open(&path).expect("there");
            seekless_sys::residency::resident_bytes(file.as_fd()).ok().flatten()
        };
        match resident(true) {
            Some(kept) if kept >= 4 << 20 && folder_is_direct(folder.path()) => {}
            kept => {
                eprintln!("skipped: of a file written through the page cache, {kept:?} bytes stay here");
                return;
            }
        }
        let kept = resident(false).expect("as before");
        assert!(kept <= 64 << 10, "{kept} bytes of the output are cached");
    }
}
