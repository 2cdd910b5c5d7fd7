//! An archive as its index reads it: through the engine, and of an object in pieces of which many
//! are under way at once.

use super::{DIRECTORY_READ_BYTES, fetch};
use seekless_engine::{AlignedBuf, Completion, Engine, Read};
use seekless_pack::ReadAt;
use seekless_policy::layout::extents::Extent;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, mpsc};

/// Bytes of a long read that are under way at once, or have come and were not asked for yet.
const AHEAD_BYTES: u64 = 48 << 20;
/// The smallest piece of a long read, and the largest.
const PIECE_BYTES_MIN: u64 = 256 << 10;
const PIECE_BYTES_MAX: u64 = 8 << 20;

/// The archive.
pub(super) struct Source<'a> {
    engine: &'a dyn Engine,
    file: &'a Arc<File>,
    alignment: u64,
    bytes: u64,
    /// What was read last, and where it lies; the index's next small read is often in it.
    last: Mutex<(u64, AlignedBuf)>,
    /// How a long read is made; `None`: at once.
    pieces: Option<Mutex<Pieces>>,
}

impl<'a> Source<'a> {
    /// A file, read in whole blocks of `alignment` bytes.
    pub(super) fn of_file(
        engine: &'a dyn Engine,
        file: &'a Arc<File>,
        bytes: u64,
        alignment: u64,
    ) -> Self {
        Self { engine, file, alignment, bytes, last: Mutex::default(), pieces: None }
    }

    /// An object, of which the last bytes are here.
    pub(super) fn of_object(
        engine: &'a dyn Engine,
        file: &'a Arc<File>,
        bytes: u64,
        tail: AlignedBuf,
    ) -> Self {
        let tail_from = bytes - tail.len() as u64;
        let pieces = Some(Mutex::new(Pieces::up_to(tail_from)));
        Self { engine, file, alignment: 1, bytes, last: Mutex::new((tail_from, tail)), pieces }
    }

    /// Whether a first read, of what the index will ask for anyway, is refused as misaligned: some
    /// file systems accept O_DIRECT and cannot do it.
    pub(super) fn refused(&self) -> bool {
        let tail = DIRECTORY_READ_BYTES.min(self.bytes);
        match self.fetch(Extent { offset: self.bytes - tail, bytes: tail }) {
            Ok(read) => {
                *crate::lock(&self.last) = read;
                false
            }
            Err(error) => error.kind() == io::ErrorKind::InvalidInput,
        }
    }

    fn fetch(&self, extent: Extent) -> io::Result<(u64, AlignedBuf)> {
        let Extent { offset, bytes } = extent.aligned(self.alignment);
        let buffer = AlignedBuf::try_with_capacity(bytes as usize)?;
        Ok((offset, fetch(self.engine, self.file, offset, buffer)?))
    }

    /// A piece takes as long to come as its request to begin.
    fn piece_bytes(&self) -> u64 {
        self.engine.costs().gap_bytes().clamp(PIECE_BYTES_MIN, PIECE_BYTES_MAX)
    }
}

impl ReadAt for Source<'_> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        if end > self.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut last = crate::lock(&self.last);
        let held = last.0..last.0 + last.1.len() as u64;
        if offset < held.start || end > held.end {
            if let Some(pieces) = &self.pieces
                && buffer.len() as u64 > self.piece_bytes()
            {
                return crate::lock(pieces).read(self, offset, buffer);
            }
            *last = self.fetch(Extent { offset, bytes: buffer.len() as u64 })?;
        }
        let start = (offset - last.0) as usize;
        let found = last.1.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }
}

/// Long reads, one behind the other. What follows is on its way before it is asked for.
struct Pieces {
    /// The first byte that was not handed over.
    at: u64,
    /// Where the next piece begins.
    next: u64,
    /// Nothing behind it is read ahead.
    limit: u64,
    under_way: VecDeque<mpsc::Receiver<Completion>>,
    /// The piece that holds `at`, as far as it has come, and where it begins.
    here: (u64, AlignedBuf),
}

impl Pieces {
    fn up_to(limit: u64) -> Self {
        let under_way = VecDeque::new();
        Self { at: 0, next: 0, limit, under_way, here: (0, AlignedBuf::default()) }
    }

    fn read(&mut self, source: &Source<'_>, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        if self.at != offset {
            *self = Self { at: offset, next: offset, ..Self::up_to(self.limit) };
        }
        let end = offset + buffer.len() as u64;
        while self.at < end {
            self.ask(source, end.max(self.limit))?;
            let filled = (self.at - offset) as usize;
            let here = (self.at - self.here.0) as usize;
            let Some(found) = self.here.1.get(here..).filter(|found| !found.is_empty()) else {
                self.take()?;
                continue;
            };
            let count = found.len().min(buffer.len() - filled);
            buffer[filled..][..count].copy_from_slice(&found[..count]);
            self.at += count as u64;
        }
        Ok(())
    }

    /// Asks for as much as may be under way.
    fn ask(&mut self, source: &Source<'_>, end: u64) -> io::Result<()> {
        let mut reads = Vec::new();
        while self.next < end.min(self.at.saturating_add(AHEAD_BYTES)) {
            let bytes = source.piece_bytes().min(end - self.next);
            let (done, ended) = mpsc::channel();
            let buffer = AlignedBuf::try_with_capacity(bytes as usize)?;
            let (file, offset) = (source.file.clone(), self.next);
            reads.push(Read { file, offset, buffer, tag: self.next, done: done.into() });
            self.under_way.push_back(ended);
            self.next += bytes;
        }
        if !reads.is_empty() {
            source.engine.submit(reads);
        }
        Ok(())
    }

    /// Waits for the next piece.
    fn take(&mut self) -> io::Result<()> {
        let next = self.under_way.pop_front().ok_or(io::ErrorKind::UnexpectedEof)?;
        let ended = next.recv().map_err(|_| io::Error::other("the engine dropped a read"))?;
        ended.result?;
        // The piece before may have ended early.
        if ended.buffer.is_empty() || ended.tag != self.at {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        self.here = (ended.tag, ended.buffer);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_engine::automatic;
    use std::io::Write as _;

    #[test]
    fn long_reads_of_an_object_are_its_bytes_wherever_they_begin() {
        let content: Vec<u8> = (0..3_000_000u32).map(|at| (at / 7 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        let (file, engine) = (Arc::new(file), automatic());
        let mut tail = AlignedBuf::try_with_capacity(1000).unwrap();
        tail = fetch(&*engine, &file, content.len() as u64 - 1000, tail).unwrap();
        let source = Source::of_object(&*engine, &file, content.len() as u64, tail);
        let mut buffer = vec![0; 700_000];
        // On and on, back, over a gap, a short one between, and up to the very end.
        for (offset, bytes) in [
            (10, 700_000),
            (700_010, 700_000),
            (5, 600_000),
            (1_000_000, 600_000),
            (77, 100),
            (1_600_000, 700_000),
            (2_300_000, 700_000),
            (2_999_500, 500),
        ] {
            let room = &mut buffer[..bytes];
            source.read_exact_at(room, offset).unwrap();
            assert!(room == &content[offset as usize..][..bytes], "{bytes} bytes at {offset}");
        }
        let error = source.read_exact_at(&mut buffer, 2_300_001).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}
