//! The hand that writes runs of the output: whole pages by O_DIRECT, the pages in which two runs meet through the cache. One thread
//! writes all, one after the other, so that the last word on a page is the last.

use rustix::fs::{Advice, OFlags, fadvise};
use seekless_engine::{ALIGNMENT, AlignedBuf};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// Bytes of a run, at most.
pub(super) const BUFFER_BYTES: usize = 1 << 20;
/// Runs that wait to be written.
const RUNS: usize = 2;
/// Where the output cannot be written past the cache, it is synced and dropped from it after so many bytes.
const BEHIND_BYTES: u64 = 8 << 20;

/// Bytes that follow each other in the file.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) buffer: AlignedBuf,
    /// The place in the file of the buffer's first byte; whole pages.
    pub(super) base: u64,
    /// Of the first page so many bytes are not ours.
    pub(super) head: usize,
    pub(super) filled: usize,
}

impl Run {
    /// An empty run at the file's start.
    pub(super) fn new() -> Self {
        Run { buffer: buffer(), base: 0, head: 0, filled: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.head == self.filled
    }

    /// Where the next byte would stand in the file.
    pub(super) fn end(&self) -> u64 {
        self.base + self.filled as u64
    }
}

fn buffer() -> AlignedBuf {
    let mut buffer = AlignedBuf::with_capacity(BUFFER_BYTES);
    buffer.set_len(BUFFER_BYTES);
    buffer
}

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

/// Writes runs.
#[derive(Debug)]
pub(super) struct Writer {
    file: File,
    way: Way,
    /// Bytes written through the cache since the last sync.
    unsynced: u64,
}

impl Writer {
    /// Past the page cache if the file system can, else dropped from it behind.
    pub(super) fn past_cache(file: File) -> Self {
        let way = direct(&file).map_or(Way::Behind, Way::Direct);
        Writer { file, way, unsynced: 0 }
    }

    #[cfg(test)]
    pub(super) fn behind(file: File) -> Self {
        Writer { file, way: Way::Behind, unsynced: 0 }
    }

    #[cfg(test)]
    pub(super) fn is_direct(&self) -> bool {
        matches!(self.way, Way::Direct(_))
    }

    pub(super) fn plain(file: File) -> Self {
        Writer { file, way: Way::Plain, unsynced: 0 }
    }

    fn write(&mut self, run: &Run) -> io::Result<()> {
        let buffered = |start: usize, end: usize| {
            self.file.write_all_at(&run.buffer[start..end], run.base + start as u64)
        };
        if let Way::Direct(direct) = &self.way {
            let first = run.head.next_multiple_of(ALIGNMENT).min(run.filled);
            let last = (run.filled / ALIGNMENT * ALIGNMENT).max(first);
            direct.write_all_at(&run.buffer[first..last], run.base + first as u64)?;
            buffered(run.head, first)?;
            return buffered(last, run.filled);
        }
        buffered(run.head, run.filled)?;
        self.unsynced += (run.filled - run.head) as u64;
        match self.way {
            Way::Behind if self.unsynced >= BEHIND_BYTES => self.drop_behind(),
            _ => Ok(()),
        }
    }

    /// Pages must be clean to be dropped.
    fn drop_behind(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        self.file.sync_data()?;
        let _ = fadvise(&self.file, 0, None, Advice::DontNeed); // only advice
        Ok(())
    }

    /// Gives the file its length, and leaves nothing of it in the cache.
    pub(super) fn finish(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        match self.way {
            Way::Plain => Ok(()),
            _ => self.drop_behind(),
        }
    }
}

/// The same file once more, for writing past the cache; it may have no name to open it by.
fn direct(file: &File) -> Option<File> {
    let flags = OFlags::DIRECT.bits().try_into().ok()?;
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = OpenOptions::new().write(true).custom_flags(flags).open(by_descriptor).ok()?;
    // Some file systems take the flag and refuse the first write. The page will be written over: a header stands there.
    direct.write_all_at(&buffer()[..ALIGNMENT], 0).ok()?;
    Some(direct)
}

/// Who writes: the caller itself, or a thread that runs behind it.
#[derive(Debug)]
pub(super) enum Hand {
    Own(Writer),
    Thread(Thread),
    /// The thread has failed, and that was told.
    Ended,
}

#[derive(Debug)]
pub(super) struct Thread {
    runs: SyncSender<Run>,
    /// Buffers that have been written.
    free: Receiver<AlignedBuf>,
    thread: JoinHandle<io::Result<Writer>>,
}

impl Hand {
    /// A thread that writes, or the caller itself where there can be no thread.
    pub(super) fn start(writer: Writer) -> Self {
        let (runs, to_write) = sync_channel(RUNS);
        let (written, free) = channel();
        for _ in 0..RUNS {
            let _ = written.send(buffer()); // the other end is at hand
        }
        let Ok(file) = writer.file.try_clone() else { return Hand::Own(writer) };
        let spawned =
            Builder::new().name("seekless-write".to_owned()).spawn(move || work(writer, &to_write, &written));
        match spawned {
            Ok(thread) => Hand::Thread(Thread { runs, free, thread }),
            Err(_) => Hand::Own(Writer::past_cache(file)),
        }
    }

    /// Writes a run, or has it written; the buffer is free then, or another is in its place.
    ///
    /// # Errors
    /// When this or an earlier run could not be written.
    pub(super) fn write(&mut self, run: &mut Run) -> io::Result<()> {
        let thread = match self {
            Hand::Own(writer) => return writer.write(run),
            Hand::Thread(thread) => thread,
            Hand::Ended => return Err(ended()),
        };
        let Ok(free) = thread.free.recv() else { return self.why() };
        let next = Run { buffer: free, base: run.base, head: run.filled, filled: run.filled };
        match thread.runs.send(mem::replace(run, next)) {
            Ok(()) => Ok(()),
            Err(_) => self.why(),
        }
    }

    /// The error that ended the thread.
    fn why(&mut self) -> io::Result<()> {
        Err(mem::replace(self, Hand::Ended).finish().err().unwrap_or_else(ended))
    }

    /// Waits until all is written.
    ///
    /// # Errors
    /// When a run could not be.
    pub(super) fn finish(self) -> io::Result<Writer> {
        match self {
            Hand::Own(writer) => Ok(writer),
            Hand::Ended => Err(ended()),
            Hand::Thread(Thread { runs, free, thread }) => {
                drop((runs, free));
                thread.join().unwrap_or_else(|_| Err(io::Error::other("the thread that writes has panicked")))
            }
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("the thread that writes has ended")
}

/// Writes until no more comes; ends at the first failure.
fn work(mut writer: Writer, runs: &Receiver<Run>, written: &Sender<AlignedBuf>) -> io::Result<Writer> {
    for run in runs {
        writer.write(&run)?;
        let _ = written.send(run.buffer); // nobody waits for it at the end
    }
    Ok(writer)
}
