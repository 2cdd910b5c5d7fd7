//! One write on its way: pages that lie apart in memory go to one place of a file in one call.

use crate::progress::{Next, Progress, is_direct};
use crate::tally::Tally;
use crate::{ALIGNMENT, AlignedBuf, Completion, Done, Page};
use rustix::io::Errno;
use std::fs::File;
use std::io::{self, IoSlice};
use std::sync::Arc;

/// Pages of one call: the kernel takes no more pieces.
const CALL_PAGES_MAX: usize = 1024;

/// One write to be made: pages that nothing changes meanwhile.
#[derive(Debug)]
pub struct Write {
    /// The file to write to. Opened with O_DIRECT, `offset` and `bytes` must be aligned as the file
    /// demands.
    pub file: Arc<File>,
    /// The first byte to be written.
    pub offset: u64,
    /// What is written, one page behind the other.
    pub pages: Vec<Page>,
    /// How many bytes of them: all, or fewer of the last one.
    pub bytes: usize,
    /// The caller's name for this write, handed back with it.
    pub tag: u64,
    /// Where the completion is sent, with an empty buffer: its result is `bytes` or an error. Of a
    /// write that failed, any part may have been written.
    pub done: Done,
}

impl Write {
    /// Makes it on the calling thread, and sends the completion: for engines of tests.
    pub fn run(self) {
        Drain::new(self).run(&Tally::default());
    }
}

/// A write that was submitted, and its progress.
#[derive(Debug)]
pub(crate) struct Drain {
    write: Write,
    progress: Progress,
    /// What the ring's next call writes. Points into the pages.
    pieces: Vec<libc::iovec>,
}

// SAFETY: the pieces point into the pages, which this value holds itself, and are only read.
unsafe impl Send for Drain {}

impl Drain {
    pub(crate) fn new(write: Write) -> Self {
        let progress = Progress::new(is_direct(&write.file));
        Self { write, progress, pieces: Vec::new() }
    }

    /// What is left of each page, as far as one call goes.
    fn rest(&self) -> impl Iterator<Item = &[u8]> {
        let written = self.progress.bytes;
        let first = written / ALIGNMENT;
        let left = self.write.pages.iter().enumerate().skip(first).take(CALL_PAGES_MAX);
        left.map(move |(number, page)| {
            let start = number * ALIGNMENT;
            let end = self.write.bytes.saturating_sub(start).min(ALIGNMENT);
            &page[written.max(start) - start..end]
        })
    }

    fn offset(&self) -> u64 {
        self.write.offset + self.progress.bytes as u64
    }

    /// What the ring's next call writes: the file, the offset, and the pieces, which stay where
    /// they are until the next such question.
    pub(crate) fn target(&mut self) -> (&File, u64, &[libc::iovec]) {
        let piece = |bytes: &[u8]| libc::iovec {
            iov_base: bytes.as_ptr().cast_mut().cast(),
            iov_len: bytes.len(),
        };
        let pieces = self.rest().map(piece).collect();
        self.pieces = pieces;
        (&self.write.file, self.offset(), &self.pieces)
    }

    /// Takes the result of a call that wrote what is left.
    pub(crate) fn called(&mut self, result: Result<usize, Errno>, tally: &Tally) -> Next {
        let bytes = match self.progress.called(result, tally) {
            Ok(bytes) => bytes,
            Err(next) => return next,
        };
        if self.progress.bytes >= self.write.bytes {
            return Next::Done(Ok(self.write.bytes));
        }
        if self.progress.direct {
            self.progress.align();
        }
        if bytes < ALIGNMENT {
            return self.progress.again();
        }
        Next::More
    }

    /// Writes on the calling thread until all is written or a call fails.
    fn write_all(&mut self, tally: &Tally) -> io::Result<usize> {
        loop {
            let pieces: Vec<IoSlice<'_>> = self.rest().map(IoSlice::new).collect();
            let result = rustix::io::pwritev(&*self.write.file, &pieces, self.offset());
            match self.called(result, tally) {
                Next::More => {}
                Next::Done(result) => return result,
            }
        }
    }

    /// As [`write_all`](Self::write_all), and sends the completion.
    pub(crate) fn run(mut self, tally: &Tally) {
        let result = self.write_all(tally);
        self.complete(result);
    }

    /// Sends the completion.
    pub(crate) fn complete(self, result: io::Result<usize>) {
        let Write { tag, done, .. } = self.write;
        // The receiver may be gone, which is no error.
        done.send(Completion { tag, buffer: AlignedBuf::default(), result, cached: false });
    }

    /// Completes a write whose pages the kernel may still read: they are leaked rather than lent to
    /// another owner.
    pub(crate) fn abandon(mut self, error: io::Error) {
        std::mem::forget(std::mem::take(&mut self.write.pages));
        std::mem::forget(std::mem::take(&mut self.pieces));
        self.complete(Err(error));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, DrivenRing, Engine, Ring, Threads};
    use std::os::unix::fs::FileExt;
    use std::sync::mpsc::channel;

    fn engines() -> Vec<Box<dyn Engine>> {
        let mut engines: Vec<Box<dyn Engine>> = vec![Box::new(Threads::new())];
        match (Ring::new(), DrivenRing::new()) {
            (Ok(ring), Ok(driven)) => {
                engines.push(Box::new(ring));
                engines.push(Box::new(driven));
            }
            _ => eprintln!("skipped: io_uring is refused here"),
        }
        engines
    }

    fn page(arena: &Arena, byte: u8) -> Page {
        let mut buffer = arena.take(1).unwrap();
        buffer.whole_mut().fill(byte);
        buffer.into_pages().unwrap().next().unwrap()
    }

    #[test]
    fn pages_that_lie_apart_are_written_side_by_side() {
        for engine in engines() {
            let file = Arc::new(tempfile::tempfile().unwrap());
            let arena = Arena::new(2000);
            let mut pages: Vec<Page> = (0..1500).map(|byte| page(&arena, byte as u8)).collect();
            pages.reverse();
            let (done, ended) = channel();
            let bytes = pages.len() * ALIGNMENT - 100;
            let first =
                Write { file: file.clone(), offset: 0, pages, bytes, tag: 7, done: done.into() };
            engine.write(vec![first]);
            let completion = loop {
                engine.drive(true);
                match ended.try_recv() {
                    Ok(completion) => break completion,
                    Err(_) => std::thread::yield_now(),
                }
            };
            assert_eq!((completion.tag, completion.result.unwrap()), (7, bytes));
            assert_eq!(file.metadata().unwrap().len(), bytes as u64, "{}", engine.name());
            for number in 0..1500u64 {
                let mut byte = [0];
                file.read_exact_at(&mut byte, number * ALIGNMENT as u64).unwrap();
                assert_eq!(byte[0], (1499 - number) as u8, "{} page {number}", engine.name());
            }
            assert_eq!(engine.counters().bytes, bytes as u64);
            assert_eq!(arena.idle(), 2000, "the pages went back");
        }
    }

    #[test]
    fn a_write_that_fails_says_so_and_an_engine_that_goes_away_completes_it() {
        for engine in engines() {
            let file = Arc::new(File::open("/dev/null").unwrap());
            let arena = Arena::new(1);
            let (done, ended) = channel();
            let pages = vec![page(&arena, 1)];
            engine.write(vec![Write {
                file,
                offset: 0,
                pages,
                bytes: 4096,
                tag: 1,
                done: done.into(),
            }]);
            drop(engine);
            let completions: Vec<_> = ended.iter().collect();
            assert!(completions.len() == 1 && completions[0].result.is_err());
        }
    }
}
