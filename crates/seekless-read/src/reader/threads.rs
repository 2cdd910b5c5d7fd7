//! A few threads that read from the device, so that it is not idle while the caller computes.

use super::kernel::Kernel;
use super::opened::DIRECT_BYTES;
use crate::bypass::Way;
use seekless_engine::AlignedBuf;
use seekless_sys::guarded::GuardedMap;
use seekless_sys::reads::{Caching, fill_by};
use std::collections::VecDeque;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

/// A range to be read.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) file: usize,
    /// The file's life when the job began. A job of an earlier life is dropped.
    pub(super) life: u32,
    pub(super) range: Range<u64>,
    /// How it is read past the page cache; `None` if it is read into the cache, to be kept there.
    pub(super) way: Option<Way>,
    /// Whether it fills a sliver. Such a job says nothing about the way past the cache.
    pub(super) sliver: bool,
    /// Whether the range is a whole folio, or the last part of one that the file has, which may
    /// come into the cache in one piece.
    pub(super) folio: bool,
    /// Whether no other job is to be read at the same time, because the kernel's readahead follows
    /// one reader better than several.
    pub(super) in_turn: bool,
    pub(super) buffered: Arc<File>,
    pub(super) direct: Option<Arc<File>>,
    pub(super) buffer: AlignedBuf,
}

/// A job that has ended.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) job: Job,
    pub(super) result: io::Result<Delivered>,
}

/// Where the bytes of a job lie.
#[derive(Debug)]
pub(super) enum Delivered {
    /// In this range of its buffer. They are fewer than asked for only at the end of the file.
    Read(Range<usize>),
    /// All of them, in the page cache.
    Mapped(GuardedMap),
}

/// The threads. Jobs come back in the order in which they were handed in.
#[derive(Debug)]
pub(super) struct Threads {
    kernel: Arc<dyn Kernel>,
    jobs: Option<Sender<(u64, Job)>>,
    queue: Arc<Mutex<Receiver<(u64, Job)>>>,
    done_sender: Sender<(u64, Done)>,
    done: Receiver<(u64, Done)>,
    /// Jobs that ended before their turn.
    early: VecDeque<(u64, Done)>,
    next_in: u64,
    next_out: u64,
    threads: Vec<JoinHandle<()>>,
}

impl Threads {
    pub(super) fn new(kernel: Arc<dyn Kernel>) -> Self {
        let (jobs, queue) = mpsc::channel();
        let (done_sender, done) = mpsc::channel();
        let queue = Arc::new(Mutex::new(queue));
        let early = VecDeque::new();
        Threads {
            kernel,
            jobs: Some(jobs),
            queue,
            done_sender,
            done,
            early,
            next_in: 0,
            next_out: 0,
            threads: Vec::new(),
        }
    }

    /// The jobs handed in and not yet taken out.
    pub(super) fn in_flight(&self) -> usize {
        (self.next_in - self.next_out) as usize
    }

    /// Starts a read.
    pub(super) fn submit(&mut self, job: Job) {
        let busy = if job.in_turn { 0 } else { self.in_flight() };
        if self.threads.len() <= busy {
            let (kernel, queue, done) =
                (Arc::clone(&self.kernel), Arc::clone(&self.queue), self.done_sender.clone());
            let started = std::thread::Builder::new()
                .name("seekless-read".to_owned())
                .stack_size(64 << 10)
                .spawn(move || work(&*kernel, &queue, &done));
            self.threads.extend(started);
        }
        let number = self.next_in;
        self.next_in += 1;
        match &self.jobs {
            Some(jobs) if !self.threads.is_empty() => {
                let _ = jobs.send((number, job)); // the receiver is ours and lives
            }
            _ => self.early.push_back((number, perform(&*self.kernel, job))), // no thread can be had: read it here
        }
    }

    /// The oldest job, if it has ended.
    pub(super) fn ready(&mut self) -> Option<Done> {
        while let Ok(done) = self.done.try_recv() {
            self.early.push_back(done);
        }
        let at = self.early.iter().position(|(number, _)| *number == self.next_out)?;
        self.next_out += 1;
        self.early.remove(at).map(|(_, done)| done)
    }

    /// The oldest job, as soon as it has ended; `None` if no job is in flight.
    pub(super) fn wait(&mut self) -> Option<Done> {
        loop {
            if let Some(done) = self.ready() {
                return Some(done);
            }
            if self.in_flight() == 0 {
                return None;
            }
            self.early.push_back(self.done.recv().ok()?);
        }
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        // Jobs under way end with their call. The drop does not wait for them: a program that has
        // its answer is about to exit.
        self.jobs = None;
        while self.queue.try_lock().is_ok_and(|queue| queue.try_recv().is_ok()) {}
    }
}

fn work(kernel: &dyn Kernel, queue: &Mutex<Receiver<(u64, Job)>>, done: &Sender<(u64, Done)>) {
    loop {
        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((number, job)) = next else { return };
        if done.send((number, perform(kernel, job))).is_err() {
            return;
        }
    }
}

/// Reads a job's range, in the next plainer way where one is not supported here. The job then says
/// which way it was.
fn perform(kernel: &dyn Kernel, mut job: Job) -> Done {
    if let Some(map) =
        job.folio.then(|| kernel.bring_in(&job.buffered, job.range.clone())).flatten()
    {
        return Done { job, result: Ok(Delivered::Mapped(map)) };
    }
    let wanted = (job.range.end - job.range.start + 2 * DIRECT_BYTES) as usize;
    if job.buffer.capacity() < wanted {
        job.buffer = AlignedBuf::with_capacity(wanted);
    }
    loop {
        let result = match (job.way, job.direct.clone()) {
            (Some(Way::Direct), Some(direct)) => read_direct(kernel, &direct, &mut job),
            (Some(Way::Direct), None) => Err(io::ErrorKind::Unsupported.into()),
            (way, _) => read_range(kernel, &mut job, way.map_or(Caching::Usual, Way::caching)),
        };
        let plainer = result.as_ref().err().and_then(|error| job.way?.plainer(error));
        if plainer.is_none() {
            // What fills a sliver is to stay.
            if job.way == Some(Way::Exact) && !job.sliver {
                kernel.drop_range(&job.buffered, job.range.clone());
            }
            return Done { job, result: result.map(Delivered::Read) };
        }
        job.way = plainer;
    }
}

fn read_range(kernel: &dyn Kernel, job: &mut Job, caching: Caching) -> io::Result<Range<usize>> {
    let wanted = (job.range.end - job.range.start) as usize;
    let file = Arc::clone(&job.buffered);
    let buffer = &mut job.buffer.whole_mut()[..wanted];
    let read =
        fill_by(buffer, job.range.start, 1, |rest, at| kernel.read_at(&file, rest, at, caching))?;
    job.buffer.set_len(read);
    Ok(0..read)
}

/// Reads the pages around the range.
fn read_direct(kernel: &dyn Kernel, file: &File, job: &mut Job) -> io::Result<Range<usize>> {
    let start = job.range.start / DIRECT_BYTES * DIRECT_BYTES;
    let wanted = (job.range.end.div_ceil(DIRECT_BYTES) * DIRECT_BYTES - start) as usize;
    let before = (job.range.start - start) as usize;
    let buffer = &mut job.buffer.whole_mut()[..wanted];
    let read = fill_by(buffer, start, DIRECT_BYTES, |rest, at| {
        kernel.read_at(file, rest, at, Caching::Usual)
    })?;
    let end = read.min(before + (job.range.end - job.range.start) as usize);
    job.buffer.set_len(end);
    Ok(before.min(end)..end)
}
