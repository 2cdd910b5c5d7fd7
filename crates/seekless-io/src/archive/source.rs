//! An archive as its index reads it: through the engine. A long directory comes in pieces, of which
//! the next are on their way while one is looked at.

use super::{DIRECTORY_READ_BYTES, fetch};
use seekless_engine::{AlignedBuf, Completion, Engine, Read};
use seekless_pack::ReadAt;
use seekless_policy::layout::extents::Extent;
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, mpsc};

/// The archive.
pub(super) struct Source<'a> {
    engine: &'a dyn Engine,
    file: &'a Arc<File>,
    alignment: u64,
    bytes: u64,
    /// What was read last at once, and where it lies; the index's next small read is often in it,
    /// and the end of its long ones.
    last: Mutex<(u64, AlignedBuf)>,
    pieces: Mutex<Pieces>,
    ahead: Ahead,
}

/// How a long read is made.
#[derive(Clone, Copy)]
struct Ahead {
    /// The size of a piece if it takes as long to come as its request to begin, within these.
    piece_bytes_min: u64,
    piece_bytes_max: u64,
    /// Bytes that are under way at once, or have come and were not asked for yet.
    bytes: u64,
}

/// The index reads a long directory in such reads, so a piece costs no request more.
const OF_FILE: Ahead =
    Ahead { piece_bytes_min: 8 << 20, piece_bytes_max: 8 << 20, bytes: 16 << 20 };

/// Many requests are under way at once.
const OF_OBJECT: Ahead =
    Ahead { piece_bytes_min: 256 << 10, piece_bytes_max: 8 << 20, bytes: 48 << 20 };

impl<'a> Source<'a> {
    /// A file, read in whole blocks of `alignment` bytes.
    pub(super) fn of_file(
        engine: &'a dyn Engine,
        file: &'a Arc<File>,
        bytes: u64,
        alignment: u64,
    ) -> Self {
        let (last, pieces) = Default::default();
        Self { engine, file, alignment, bytes, last, pieces, ahead: OF_FILE }
    }

    /// An object, of which the last bytes are here.
    pub(super) fn of_object(
        engine: &'a dyn Engine,
        file: &'a Arc<File>,
        bytes: u64,
        tail: AlignedBuf,
    ) -> Self {
        let last = Mutex::new((bytes - tail.len() as u64, tail));
        let pieces = Mutex::default();
        Self { engine, file, alignment: 1, bytes, last, pieces, ahead: OF_OBJECT }
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

    /// A power of two, so that it seldom changes with what is known of the device.
    fn piece_bytes(&self) -> u64 {
        let Ahead { piece_bytes_min, piece_bytes_max, .. } = self.ahead;
        let bytes = self.engine.costs().gap_bytes().clamp(piece_bytes_min, piece_bytes_max);
        bytes.next_power_of_two()
    }
}

impl ReadAt for Source<'_> {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let end = offset.saturating_add(buffer.len() as u64);
        if end > self.bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (mut last, mut pieces) = (crate::lock(&self.last), crate::lock(&self.pieces));
        let held = last.0..last.0 + last.1.len() as u64;
        let (mut buffer, mut offset) = (buffer, offset);
        if offset < held.start || end > held.end {
            // Up to what is here already, if that reaches as far as this.
            let is_up_to_held = offset < held.start && end > held.start && end <= held.end;
            let until = if is_up_to_held { held.start } else { end };
            if !pieces.has(offset) && until - offset < self.piece_bytes() {
                *last = self.fetch(Extent { offset, bytes: end - offset })?;
            } else {
                let limit = held.start.max(until);
                let (room, rest) = buffer.split_at_mut((until - offset) as usize);
                pieces.read(self, offset, room, limit)?;
                (buffer, offset) = (rest, until);
            }
        }
        if buffer.is_empty() {
            return Ok(());
        }
        let start = (offset - last.0) as usize;
        let found = last.1.get(start..start + buffer.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(found);
        Ok(())
    }
}

/// Long reads, one behind the other. What follows is on its way before it is asked for.
#[derive(Default)]
struct Pieces {
    /// The first byte that was not handed over.
    at: u64,
    /// Where the next piece begins.
    next: u64,
    under_way: VecDeque<mpsc::Receiver<Completion>>,
    /// The piece that holds `at`, as far as it has come, and where it begins.
    here: (u64, AlignedBuf),
    /// The memory of pieces that were handed over.
    spare: Vec<AlignedBuf>,
}

impl Pieces {
    /// Whether the byte at `offset` is on its way, and the next to be handed over.
    fn has(&self, offset: u64) -> bool {
        self.at == offset && self.next > offset
    }

    /// Nothing from `limit` on is asked for.
    fn read(
        &mut self,
        source: &Source<'_>,
        offset: u64,
        buffer: &mut [u8],
        limit: u64,
    ) -> io::Result<()> {
        if self.at != offset {
            let next = offset / source.alignment * source.alignment;
            *self = Self { at: offset, next, ..Self::default() };
        }
        let end = offset + buffer.len() as u64;
        while self.at < end {
            self.ask(source, limit)?;
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
    fn ask(&mut self, source: &Source<'_>, limit: u64) -> io::Result<()> {
        let mut reads = Vec::new();
        while self.next < limit.min(self.at.saturating_add(source.ahead.bytes)) {
            let rest = (limit - self.next).next_multiple_of(source.alignment);
            let bytes = source.piece_bytes().min(rest);
            let (done, ended) = mpsc::channel();
            let buffer = self.room(bytes as usize)?;
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

    /// A buffer for a piece.
    fn room(&mut self, bytes: usize) -> io::Result<AlignedBuf> {
        match self.spare.pop().filter(|spare| spare.capacity() == bytes) {
            Some(spare) => Ok(spare),
            None => AlignedBuf::try_with_capacity(bytes),
        }
    }

    /// Waits for the next piece.
    fn take(&mut self) -> io::Result<()> {
        let next = self.under_way.pop_front().ok_or(io::ErrorKind::UnexpectedEof)?;
        let ended = next.recv().map_err(|_| io::Error::other("the engine dropped a read"))?;
        ended.result?;
        // The piece before may have ended early.
        let came = ended.tag..ended.tag + ended.buffer.len() as u64;
        if !came.contains(&self.at) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let (_, before) = std::mem::replace(&mut self.here, (ended.tag, ended.buffer));
        self.spare.push(before);
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

    #[test]
    fn no_byte_of_a_long_directory_is_read_twice() {
        const PIECE: usize = 8 << 20;
        let content: Vec<u8> = (0..21_000_192u32).map(|at| (at / 5 % 251) as u8).collect();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&content).unwrap();
        let (file, engine) = (Arc::new(file), automatic());
        let source = Source::of_file(&*engine, &file, content.len() as u64, 4096);
        assert!(!source.refused());
        let mut buffer = vec![0; PIECE];
        let (mut at, end) = (5000, content.len() - 70_000);
        while at < end {
            let room = &mut buffer[..PIECE.min(end - at)];
            source.read_exact_at(room, at as u64).unwrap();
            assert!(room == &content[at..][..room.len()], "{} bytes at {at}", room.len());
            at += room.len();
        }
        // But for the first page, each byte once.
        assert_eq!(engine.counters().bytes, content.len() as u64 - 4096);
    }
}
