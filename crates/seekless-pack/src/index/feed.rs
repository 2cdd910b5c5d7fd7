//! The directory, from its first byte to its last, without having all of it in memory.

use super::end::{End, Tail, room};
use super::header::BYTES_MAX;
use crate::error::Result;
use crate::read_at::ReadAt;

/// What is read at once: the directory of some 100,000 files. The memory for it is taken beside
/// that of the names. Of a directory that is read at once, it is given back before the table of
/// names is made, which is as large.
const READ_BYTES: u64 = 8 << 20;

/// Hands out the directory in its order.
pub(super) struct Feed<'a, R: ?Sized> {
    source: &'a R,
    tail: &'a Tail,
    /// What was read and not yet skipped is `bytes[taken..filled]`.
    bytes: Vec<u8>,
    taken: usize,
    filled: usize,
    /// Where the next read begins, and where the directory ends.
    next: u64,
    end: u64,
    read_bytes: u64,
}

impl<'a, R: ReadAt + ?Sized> Feed<'a, R> {
    pub(super) fn new(source: &'a R, tail: &'a Tail, end: &End) -> Result<Self> {
        Self::with_reads(source, tail, end, READ_BYTES)
    }

    pub(super) fn with_reads(
        source: &'a R,
        tail: &'a Tail,
        end: &End,
        read_bytes: u64,
    ) -> Result<Self> {
        // A read begins only when less is left than one header may need.
        let most = end.directory_bytes.min(read_bytes + BYTES_MAX as u64);
        Ok(Self {
            source,
            tail,
            bytes: room(most, "the directory")?,
            taken: 0,
            filled: 0,
            next: end.directory_offset,
            end: end.directory_offset + end.directory_bytes,
            read_bytes,
        })
    }

    /// Whether the whole directory comes in several reads. To be asked before the first.
    pub(super) fn is_long(&self) -> bool {
        self.end - self.next > self.read_bytes
    }

    /// What follows: at least as much as the longest header, or all that is left.
    #[inline]
    pub(super) fn rest(&mut self) -> Result<&[u8]> {
        if self.filled - self.taken < BYTES_MAX && self.next < self.end {
            self.read()?;
        }
        Ok(&self.bytes[self.taken..self.filled])
    }

    #[cold]
    fn read(&mut self) -> Result<()> {
        while self.filled - self.taken < BYTES_MAX && self.next < self.end {
            self.bytes.copy_within(self.taken..self.filled, 0);
            (self.taken, self.filled) = (0, self.filled - self.taken);
            let length = (self.end - self.next).min(self.read_bytes) as usize;
            let room = &mut self.bytes[self.filled..][..length];
            let length = self.tail.fill(self.source, self.next, room)?;
            self.filled += length;
            self.next += length as u64;
        }
        Ok(())
    }

    /// The first `bytes` of [`rest`](Self::rest) were used.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.taken += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Codec, PackWriter, prepare};

    #[test]
    fn pieces_are_the_directory_whatever_is_read_at_once() {
        let mut pack = PackWriter::new(Vec::new());
        for number in 0..3000 {
            let about = About::named(format!("folder/{number}"));
            pack.add(prepare(about, Vec::new(), Codec::Auto).unwrap()).unwrap();
        }
        let archive = pack.finish().unwrap().0;
        let tail = Tail::read(&archive, archive.len() as u64).unwrap();
        let end = End::find(&tail, &archive, false).unwrap();
        let directory = &archive[end.directory_offset as usize..][..end.directory_bytes as usize];
        assert!(end.directory_bytes > 2 * 68 * 1024, "the tail holds but a part");
        for (read_bytes, step) in [(1000, 999), (1000, 3000), (70_000, 65), (1 << 20, 4096)] {
            let feed = Feed::with_reads(&archive, &tail, &end, read_bytes);
            let (mut feed, mut seen) = (feed.unwrap(), Vec::new());
            loop {
                let rest = feed.rest().unwrap();
                let used = rest.len().min(step);
                seen.extend_from_slice(&rest[..used]);
                feed.skip(used);
                if used < step {
                    break;
                }
            }
            assert!(seen == directory, "{read_bytes} bytes at once, steps of {step}");
        }
    }
}
