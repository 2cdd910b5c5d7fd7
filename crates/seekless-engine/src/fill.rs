//! One read on its way: how far it has got, and what a call's result means for it. Shared by the
//! ring and the thread pool.

use crate::progress::{Next, Progress, is_direct};
use crate::tally::Tally;
use crate::{ALIGNMENT, AlignedBuf, BufferAndResult, Completion, Done, Read};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// Bytes asked for in one call; the kernel refuses to read 2 GiB at once.
const CALL_BYTES_MAX: usize = 1 << 30;

/// A read that was submitted, and its progress.
#[derive(Debug)]
pub(crate) struct Fill {
    filling: Filling,
    tag: u64,
    done: Done,
}

/// A buffer that is being filled.
#[derive(Debug)]
struct Filling {
    file: Arc<File>,
    offset: u64,
    buffer: AlignedBuf,
    progress: Progress,
}

impl Fill {
    /// A batch of reads before their first call. Neighbours in a batch mostly share a file, so its
    /// flags are asked for once.
    pub(crate) fn batch(reads: Vec<Read>) -> impl Iterator<Item = Fill> {
        let mut last = None;
        reads.into_iter().map(move |read| {
            let file = Arc::as_ptr(&read.file);
            let direct = match last {
                Some((known, direct)) if known == file => direct,
                _ => is_direct(&read.file),
            };
            last = Some((file, direct));
            let Read { file, offset, buffer, tag, done } = read;
            Fill { filling: Filling::new(file, offset, buffer, direct), tag, done }
        })
    }

    /// What the next call reads: the file, the offset, and the bytes to write to.
    pub(crate) fn target(&mut self) -> (&File, u64, &mut [MaybeUninit<u8>]) {
        self.filling.target()
    }

    /// Takes the result of a call that read into [`Fill::target`].
    ///
    /// # Safety
    /// On `Ok(n)` the first `n` bytes of the target have been written.
    pub(crate) unsafe fn called(&mut self, result: Result<usize, Errno>, tally: &Tally) -> Next {
        // SAFETY: the caller's promise.
        unsafe { self.filling.called(result, tally) }
    }

    /// Reads on the calling thread until the buffer is full, the file ends, or a call fails, and
    /// sends the completion.
    pub(crate) fn run(mut self, tally: &Tally) {
        let result = self.filling.run(tally);
        self.complete(result);
    }

    /// Makes one read on the calling thread. No completion is sent: a channel of its own would take
    /// a tenth as long as the read of a fast device.
    pub(crate) fn now(
        file: Arc<File>,
        offset: u64,
        buffer: AlignedBuf,
        tally: &Tally,
    ) -> BufferAndResult {
        let direct = is_direct(&file);
        let mut filling = Filling::new(file, offset, buffer, direct);
        let result = filling.run(tally);
        (filling.end(&result), result)
    }

    /// Sends the completion.
    pub(crate) fn complete(self, result: io::Result<usize>) {
        let Fill { filling, tag, done } = self;
        let buffer = filling.end(&result);
        // The receiver may be gone, which is no error: the caller has lost interest.
        done.send(Completion { tag, buffer, result, cached: false });
    }

    /// Completes a read whose buffer the kernel may still write to: the buffer is leaked rather
    /// than freed under it.
    pub(crate) fn abandon(mut self, error: io::Error) {
        std::mem::forget(std::mem::take(&mut self.filling.buffer));
        self.complete(Err(error));
    }
}

impl Filling {
    fn new(file: Arc<File>, offset: u64, buffer: AlignedBuf, direct: bool) -> Self {
        Self { file, offset, buffer, progress: Progress::new(direct) }
    }

    /// As [`Fill::target`].
    fn target(&mut self) -> (&File, u64, &mut [MaybeUninit<u8>]) {
        let offset = self.end_so_far();
        let target = self.buffer.unfilled(self.progress.bytes);
        let bytes = target.len().min(CALL_BYTES_MAX);
        (&self.file, offset, &mut target[..bytes])
    }

    /// As [`Fill::called`].
    ///
    /// # Safety
    /// As there.
    unsafe fn called(&mut self, result: Result<usize, Errno>, tally: &Tally) -> Next {
        let bytes = match self.progress.called(result, tally) {
            Ok(bytes) => bytes,
            Err(next) => return next,
        };
        let filled = self.progress.bytes;
        // SAFETY: the caller's promise, for this call and those before it.
        unsafe { self.buffer.assume_initialised(filled) };
        if bytes == 0 || filled == self.buffer.capacity() || self.direct_end() {
            return Next::Done(Ok(filled));
        }
        if self.progress.direct && !filled.is_multiple_of(ALIGNMENT) {
            // A short direct read inside the file.
            self.progress.align();
            return self.progress.again();
        }
        Next::More
    }

    /// The offset of the first byte that is not yet read.
    fn end_so_far(&self) -> u64 {
        self.offset.saturating_add(self.progress.bytes as u64)
    }

    /// Whether a short direct read ended at the end of the file, where a further call would be
    /// misaligned.
    fn direct_end(&self) -> bool {
        let end = self.end_so_far();
        self.progress.direct && self.file.metadata().is_ok_and(|file| end >= file.len())
    }

    /// Reads on the calling thread until the buffer is full, the file ends, or a call fails.
    fn run(&mut self, tally: &Tally) -> io::Result<usize> {
        loop {
            let (file, offset, target) = self.target();
            let result = rustix::io::pread(file, target, offset).map(|(read, _)| read.len());
            // SAFETY: `pread` has written as many bytes of the target as it says.
            match unsafe { self.called(result, tally) } {
                Next::More => {}
                Next::Done(result) => return result,
            }
        }
    }

    /// The buffer, with as many bytes as were read.
    fn end(mut self, result: &io::Result<usize>) -> AlignedBuf {
        self.buffer.set_len(*result.as_ref().unwrap_or(&0));
        self.buffer
    }
}
