//! Records a live store: which files the program loads, when, and when it releases them. The
//! store's own reads are of no use for that: they are the store's choice, and a recorder of system
//! calls does not see those of io_uring.
//!
//! The log is a trace as it is: CSV with a header that every command which takes traces knows.
//! `seekless trace import` makes it Parquet, without loss.
//!
//! A thread notes its events in its own stripe, without a lock that others want. One thread of the
//! recording writes them every [`EVERY`], or sooner if a stripe fills. If the program is killed, at
//! most the events since then are missing. A stripe that is full loses events, and the log says how
//! many.

mod row;

use crate::buffer::Buffer;
use crate::cached::{Names, own_number};
use crate::event_stripe::{Event, Stripe};
use crate::{Error, Result, Store, lock};
use seekless_policy::eviction::Id;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const STRIPES: usize = 16;

/// How often events are written.
const EVERY: Duration = Duration::from_millis(250);

/// Where the threads of a store note their events, while a recording runs.
pub(crate) struct Recorder {
    on: AtomicBool,
    opened: Instant,
    stripes: [Arc<Stripe>; STRIPES],
    /// The number of the last recording, and whether it still runs.
    last: Mutex<(u64, bool)>,
}

impl Recorder {
    pub(crate) fn new() -> Self {
        let opened = Instant::now();
        Self {
            on: AtomicBool::new(false),
            opened,
            stripes: std::array::from_fn(|_| Arc::new(Stripe::new(opened))),
            last: Mutex::default(),
        }
    }

    /// The time at which a load begins, if a recording runs.
    #[inline]
    pub(crate) fn begin(&self) -> Option<u64> {
        self.on.load(Ordering::Relaxed).then(|| self.opened.elapsed().as_nanos() as u64)
    }

    /// A load that began at `began` hands out `buffer`. If it is recorded, the end of the last
    /// clone of the result is recorded too.
    #[inline]
    pub(crate) fn loaded(&self, began: Option<u64>, id: Id, buffer: Buffer) -> Buffer {
        match began {
            None => buffer,
            Some(time_ns) => self.noted(time_ns, id, buffer),
        }
    }

    #[cold]
    fn noted(&self, time_ns: u64, id: Id, buffer: Buffer) -> Buffer {
        let stripe = &self.stripes[own_number() % STRIPES];
        match stripe.loaded(time_ns, id) {
            Some(held) => buffer.with_end(Arc::new(held)),
            None => buffer,
        }
    }

    /// Begins a recording; false if one runs.
    fn start(&self, writer: &std::thread::Thread) -> bool {
        let mut last = lock(&self.last);
        if last.1 {
            return false;
        }
        *last = (last.0 + 1, true);
        self.stripes.iter().for_each(|stripe| stripe.start(last.0, writer));
        self.on.store(true, Ordering::Relaxed);
        true
    }

    /// No event is noted any more; those noted so far can still be taken.
    fn fall_silent(&self) {
        self.on.store(false, Ordering::Relaxed);
        self.stripes.iter().for_each(|stripe| stripe.stop());
    }

    /// The recording has ended: another may begin.
    fn stop(&self) {
        self.fall_silent();
        lock(&self.last).1 = false;
    }

    /// All events since the last call, by time, and how many were lost.
    fn take(&self, events: &mut Vec<Event>) -> u64 {
        let lost = self.stripes.iter().map(|stripe| stripe.take(events)).sum();
        events.sort_by_key(|event| event.time_ns); // stable: a load stands before its release
        lost
    }
}

/// What a recording wrote.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// Loads.
    pub loads: u64,
    /// Loads whose buffer the program has dropped.
    pub releases: u64,
    /// Loads and releases that came too fast to be written. The log has their number too.
    pub lost: u64,
}

/// A recording that runs; made by [`Store::record`]. It ends when this is dropped.
/// [`Recording::finish`] also says how that went.
#[derive(Debug)]
#[must_use = "the recording ends when this is dropped"]
pub struct Recording {
    store: Store,
    path: PathBuf,
    stop: Arc<AtomicBool>,
    writer: Option<JoinHandle<std::io::Result<Recorded>>>,
}

impl Store {
    /// Records all loads from now on in a new file at `path`, as a trace: which file, when the load
    /// began, how large the file is, and when the program released it (the last clone of the buffer
    /// was dropped). Loads that fail are left out.
    ///
    /// The file is CSV: `seekless pack --trace`, `order` and `sim` take it as it is, and `seekless
    /// trace import` makes it Parquet. It grows while the program runs, four times a second. If the
    /// program is killed, what is in the file is a trace. At most 6 MB of memory are used.
    ///
    /// # Errors
    /// [`Record`](crate::ErrorKind::Record): the file exists or cannot be made, a thread cannot be
    /// started, or this store is being recorded already.
    pub fn record(&self, path: impl AsRef<Path>) -> Result<Recording> {
        Recording::start(self.clone(), path.as_ref())
    }
}

impl Recording {
    fn start(store: Store, path: &Path) -> Result<Self> {
        let fail = |error: std::io::Error| Error::record(path, error);
        let mut file = File::create_new(path).map_err(fail)?;
        file.write_all(row::HEADER.as_bytes()).map_err(fail)?;
        let (stop, writing) = (Arc::new(AtomicBool::new(false)), store.clone());
        let stopped = stop.clone();
        let thread = std::thread::Builder::new().name("seekless-record".to_owned());
        let writer = thread.spawn(move || write(&writing, &mut file, &stopped)).map_err(fail)?;
        let started = store.shared().recorder.start(writer.thread());
        let recording = Self { store, path: path.to_owned(), stop, writer: Some(writer) };
        if started {
            return Ok(recording);
        }
        let message = "this store is being recorded already; end that recording first";
        let error = Err(Error::record(path, std::io::Error::other(message)));
        recording.abandon();
        error
    }

    /// The file of another recording stays as it is; this one's is removed.
    fn abandon(mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(writer) = self.writer.take() {
            writer.thread().unpark();
            let _ = writer.join();
        }
        let _ = std::fs::remove_file(&self.path);
    }

    /// Ends the recording, and sees to it that the file is on the device.
    ///
    /// # Errors
    /// [`Record`](crate::ErrorKind::Record): the file could not be written to its end.
    pub fn finish(mut self) -> Result<Recorded> {
        self.end().unwrap_or_else(|| Ok(Recorded::default()))
    }

    fn end(&mut self) -> Option<Result<Recorded>> {
        let writer = self.writer.take()?;
        let recorder = &self.store.shared().recorder;
        recorder.fall_silent();
        self.stop.store(true, Ordering::Release);
        writer.thread().unpark();
        let ended = writer.join();
        recorder.stop();
        let ended = ended.unwrap_or_else(|_| Err(std::io::Error::other("it panicked")));
        Some(ended.map_err(|error| Error::record(&self.path, error)))
    }
}

impl Drop for Recording {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// The writer: until it is stopped or the file cannot be written.
fn write(store: &Store, file: &mut File, stopped: &AtomicBool) -> std::io::Result<Recorded> {
    let shared = store.shared();
    let (mut recorded, mut events, mut text) = (Recorded::default(), Vec::new(), Vec::new());
    loop {
        std::thread::park_timeout(EVERY);
        let is_last = stopped.load(Ordering::Acquire);
        let mut lost = shared.recorder.take(&mut events);
        recorded.lost += lost;
        text.clear();
        for event in events.drain(..) {
            recorded.loads += u64::from(!event.released);
            recorded.releases += u64::from(event.released);
            let name = shared.sources.name(event.id);
            let bytes = shared.sources.bytes(event.id);
            row::write(&mut text, &event, std::mem::take(&mut lost), name, bytes);
        }
        let written = file.write_all(&text);
        if written.is_err() {
            shared.recorder.fall_silent();
        }
        written?;
        if is_last {
            file.sync_data()?;
            return Ok(recorded);
        }
    }
}
