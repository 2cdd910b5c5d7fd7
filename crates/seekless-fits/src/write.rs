//! Writes the output, in pieces that come in any order, past the page cache. Otherwise the output
//! would evict cached pages of the input.
//!
//! Adjacent pieces are joined into runs here. A thread (`hand`) writes the runs, while the next
//! pieces are being read.

mod hand;

use crate::error::{Error, ErrorKind, Result};
use hand::{BUFFER_BYTES, Hand, Run, Writer};
use seekless_engine::ALIGNMENT;
use seekless_sys::output::{Content, Destination, Output};
use std::io;
use std::path::Path;

/// The output while it is being written. If a piece is written twice, the last one counts.
#[derive(Debug)]
pub(super) struct Sink {
    output: Output,
    hand: Hand,
    /// The adjacent pieces that are gathered now.
    run: Run,
}

impl Sink {
    /// Starts the output for `path`. With `plain` it is written through the page cache.
    ///
    /// # Errors
    /// The file cannot be written, or it exists and `force` is not set.
    pub(super) fn create(path: &Path, force: bool, plain: bool) -> Result<Self> {
        let output = Destination::new(path).replacing(force).create(Content::Binary)?;
        let file = output.file().try_clone().map_err(|error| unwritable(path, error))?;
        let hand = if plain {
            Hand::Own(Writer::plain(file))
        } else {
            Hand::start(Writer::past_cache(file))
        };
        Ok(Sink { output, hand, run: Run::new() })
    }

    /// Writes `bytes` at `offset`.
    ///
    /// # Errors
    /// This piece or an earlier one could not be written, for example because the disk is full.
    pub(super) fn write(&mut self, offset: u64, mut bytes: &[u8]) -> Result<()> {
        if offset != self.run.end() {
            self.flush(offset)?;
        }
        while !bytes.is_empty() {
            let taken = bytes.len().min(BUFFER_BYTES - self.run.filled);
            let free = self.run.filled..self.run.filled + taken;
            self.run.buffer[free].copy_from_slice(&bytes[..taken]);
            self.run.filled += taken;
            bytes = &bytes[taken..];
            if self.run.filled == BUFFER_BYTES {
                self.flush(self.run.end())?;
            }
        }
        Ok(())
    }

    /// Hands the run over to be written, and starts the next one at `next`.
    fn flush(&mut self, next: u64) -> Result<()> {
        let path = self.output.path();
        if !self.run.is_empty() {
            self.hand.write(&mut self.run).map_err(|error| unwritable(path, error))?;
        }
        self.run.base = next / ALIGNMENT as u64 * ALIGNMENT as u64;
        self.run.head = (next - self.run.base) as usize;
        self.run.filled = self.run.head;
        Ok(())
    }

    /// Sets the file's length, with zeros where nothing was written, and gives it its name.
    ///
    /// # Errors
    /// The file cannot be written, or another file has appeared at its path.
    pub(super) fn publish(mut self, bytes: u64) -> Result<()> {
        self.flush(0)?;
        let path = self.output.path();
        let finished = self.hand.finish().and_then(|mut writer| writer.finish(bytes));
        finished.map_err(|error| unwritable(path, error))?;
        Ok(self.output.publish()?)
    }
}

fn unwritable(path: &Path, error: io::Error) -> Error {
    Error::because(ErrorKind::Io, format!("cannot write {}", path.display()), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::fs::File;

    fn folder_is_direct(folder: &Path) -> bool {
        Writer::past_cache(tempfile::tempfile_in(folder).expect("a file")).is_direct()
    }

    /// Pieces that cover `bytes`, in the order given by `order`, some of them twice.
    fn write(bytes: &[u8], cuts: &[usize], order: &[usize], behind: bool) -> Vec<u8> {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let path = folder.path().join("out");
        let mut sink = Sink::create(&path, false, false).expect("a sink");
        if behind {
            sink.hand =
                Hand::start(Writer::behind(sink.output.file().try_clone().expect("another")));
        }
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
            let made = write(&bytes, &cuts, &order, behind);
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
                eprintln!(
                    "skipped: of a file written through the page cache, {kept:?} bytes stay here"
                );
                return;
            }
        }
        let kept = resident(false).expect("as before");
        assert!(kept <= 64 << 10, "{kept} bytes of the output are cached");
    }

    #[test]
    fn a_failure_of_the_thread_is_told() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        let path = folder.path().join("out");
        let mut sink = Sink::create(&path, false, false).expect("a sink");
        let unwritable = File::open("/dev/null").expect("it is there");
        sink.hand = Hand::start(Writer::behind(unwritable));
        let failed = (0..64).find_map(|at| sink.write(at << 20, &vec![1; 1 << 20]).err());
        let error = failed.expect("a file that is open for reading cannot be written");
        assert!(error.to_string().contains("cannot write"), "{error}");
        drop(sink);
        assert!(!path.exists());
    }
}
