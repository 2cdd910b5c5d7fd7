//! The directory, from its first byte to its last, without having all of it in memory.

use super::end::{End, Tail};
use crate::error::Result;
use crate::read_at::ReadAt;

/// What is read at once: the directory of some 200,000 files.
const READ_BYTES: u64 = 16 << 20;

/// Hands out the directory in its order.
pub(super) struct Feed<'a, R: ?Sized> {
    source: &'a R,
    tail: &'a Tail,
    /// What was read and not yet skipped is `bytes[taken..]`.
    bytes: Vec<u8>,
    taken: usize,
    /// Where the next read begins, and where the directory ends.
    next: u64,
    end: u64,
    read_bytes: u64,
}

impl<'a, R: ReadAt + ?Sized> Feed<'a, R> {
    pub(super) fn new(source: &'a R, tail: &'a Tail, end: &End) -> Self {
        let (next, directory_end) =
            (end.directory_offset, end.directory_offset + end.directory_bytes);
        let (bytes, end, read_bytes) = (Vec::new(), directory_end, READ_BYTES);
        Self { source, tail, bytes, taken: 0, next, end, read_bytes }
    }

    /// What follows: at least `least` bytes, or all that is left.
    pub(super) fn rest(&mut self, least: usize) -> Result<&[u8]> {
        while self.bytes.len() - self.taken < least && self.next < self.end {
            self.bytes.drain(..self.taken);
            self.taken = 0;
            let length = (self.end - self.next).min(self.read_bytes);
            let length = self.tail.append(self.source, self.next, length, &mut self.bytes)?;
            self.next += length;
        }
        Ok(&self.bytes[self.taken..])
    }

    /// So many bytes, which `rest` has shown, were used.
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
        let end = End::find(&tail, &archive).unwrap();
        let directory = &archive[end.directory_offset as usize..][..end.directory_bytes as usize];
        assert!(end.directory_bytes > 2 * 68 * 1024, "the tail holds but a part");
        for (read_bytes, step) in [(1000, 999), (1000, 3000), (70_000, 65), (1 << 20, 4096)] {
            let (mut feed, mut seen) = (Feed::new(&archive, &tail, &end), Vec::new());
            feed.read_bytes = read_bytes;
            loop {
                let rest = feed.rest(step).unwrap();
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
