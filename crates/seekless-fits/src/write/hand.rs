//! Writes runs of the output: whole pages with O_DIRECT, and pages that two runs share through the
//! cache. One thread writes all runs in turn, so that the last write of a page counts.

use rustix::fs::{Advice, OFlags, fadvise};
use seekless_engine::{ALIGNMENT, AlignedBuf};
use std::fs::{File, OpenOptions};
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

/// The most bytes of a run.
pub(super) const BUFFER_BYTES: usize = 1 << 20;
/// The most runs that wait to be written.
const RUNS: usize = 2;
/// Output that cannot be written past the cache is synced and dropped from it after this many
/// bytes.
const BEHIND_BYTES: u64 = 8 << 20;

/// Consecutive bytes of the file.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) buffer: AlignedBuf,
    /// The offset in the file of the buffer's first byte, a multiple of the page size.
    pub(super) base: u64,
    /// How many bytes at the start of the buffer do not belong to the run.
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

    /// The offset in the file after the run.
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
    /// Not at all: writes use this second descriptor, opened with O_DIRECT.
    Direct(File),
    /// Written through it, then dropped from it.
    Behind,
    /// Written through it and left there, as most programs do.
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
    /// Writes past the page cache if the file system supports it, else drops written pages from it.
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

    /// Syncs what was written, since only clean pages can be dropped, and drops it from the cache.
    fn drop_behind(&mut self) -> io::Result<()> {
        self.unsynced = 0;
        self.file.sync_data()?;
        let _ = fadvise(&self.file, 0, None, Advice::DontNeed); // only advice
        Ok(())
    }

    /// Sets the file's length, and drops the file from the cache unless it is written plainly.
    pub(super) fn finish(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        match self.way {
            Way::Plain => Ok(()),
            _ => self.drop_behind(),
        }
    }
}

/// Opens the same file again with O_DIRECT. It may have no name, so it is opened by descriptor.
fn direct(file: &File) -> Option<File> {
    let flags = OFlags::DIRECT.bits().try_into().ok()?;
    let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
    let direct = OpenOptions::new().write(true).custom_flags(flags).open(by_descriptor).ok()?;
    // Some file systems accept the flag but fail the first write, so this tries one. The header
    // overwrites this page later.
    direct.write_all_at(&buffer()[..ALIGNMENT], 0).ok()?;
    Some(direct)
}

/// What writes the runs: the caller, or a thread.
#[derive(Debug)]
pub(super) enum Hand {
    Own(Writer),
    Thread(Thread),
    /// The thread has failed, and its error was returned.
    Ended,
}

#[derive(Debug)]
pub(super) struct Thread {
    runs: SyncSender<Run>,
    /// Buffers whose runs have been written.
    free: Receiver<AlignedBuf>,
    thread: JoinHandle<io::Result<Writer>>,
}

impl Hand {
    /// Starts a thread that writes, or lets the caller write if no thread can be started.
    pub(super) fn start(writer: Writer) -> Self {
        let (runs, to_write) = sync_channel(RUNS);
        let (written, free) = channel();
        for _ in 0..RUNS {
            let _ = written.send(buffer()); // the receiver exists, so this cannot fail
        }
        let Ok(file) = writer.file.try_clone() else { return Hand::Own(writer) };
        let spawned = Builder::new()
            .name("seekless-write".to_owned())
            .spawn(move || work(writer, &to_write, &written));
        match spawned {
            Ok(thread) => Hand::Thread(Thread { runs, free, thread }),
            Err(_) => Hand::Own(Writer::past_cache(file)),
        }
    }

    /// Writes a run, or hands it to the thread. Afterwards `run` has a buffer that may be filled.
    ///
    /// # Errors
    /// This run or an earlier one could not be written.
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

    /// Waits until all runs are written.
    ///
    /// # Errors
    /// A run could not be written.
    pub(super) fn finish(self) -> io::Result<Writer> {
        match self {
            Hand::Own(writer) => Ok(writer),
            Hand::Ended => Err(ended()),
            Hand::Thread(Thread { runs, free, thread }) => {
                drop((runs, free));
                thread.join().unwrap_or_else(|_| {
                    Err(io::Error::other("the thread that writes has panicked"))
                })
            }
        }
    }
}

fn ended() -> io::Error {
    io::Error::other("the thread that writes has ended")
}

/// Writes runs until the sender is dropped; stops at the first failure.
fn work(
    mut writer: Writer,
    runs: &Receiver<Run>,
    written: &Sender<AlignedBuf>,
) -> io::Result<Writer> {
    for run in runs {
        writer.write(&run)?;
        let _ = written.send(run.buffer); // at the end no receiver is left
    }
    Ok(writer)
}
