//! Brings what programs will read into the page cache, before they start: the names that recorded
//! runs looked up, and only the ranges that they needed, joined where one larger read costs less
//! than two small ones.

pub(crate) mod bring;
mod listed;
mod names;
pub(crate) mod plan;
pub(crate) mod wave;

use bring::{Opened, open};
use plan::{Plan, Wanted, plan};
use seekless_device::Costs;
use seekless_job::roots::Roots;
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::layout::extents::Extent;
use seekless_sled::Surveyor;
use seekless_sys::descriptor::allow_descriptors;
use seekless_sys::locked::{self, Locked};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use wave::Waves;

/// Files that are opened and asked for at once. Opening a cold file waits for its folder and inode.
const THREADS: usize = 8;

/// What to bring in, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where recorded trees lie now.
    pub roots: Roots,
    /// Only files below one of these folders; all files if there are none.
    pub within: Vec<PathBuf>,
    /// At most this many bytes, those needed first.
    pub budget_bytes: Option<u64>,
    /// What the device charges. `None`: as `seekless probe` measured it, else assumed.
    pub costs: Option<Costs>,
    /// Bring nothing in; say what would be.
    pub dry_run: bool,
    /// Lock what is brought in, so that it stays in memory while [`Held`] lives.
    pub lock: bool,
    /// Stops the job when it is set.
    pub cancel: Arc<AtomicBool>,
}

/// What was brought in, or would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Warmed {
    /// Names that the runs asked for, which are looked up with their inodes. Those of files below
    /// listed folders are not counted.
    pub names: u64,
    /// Files with needed ranges.
    pub files: u64,
    /// Bytes that the runs needed of them.
    pub needed_bytes: u64,
    /// Bytes that were asked for: what is needed, with the gaps that cost less than a request.
    pub asked_bytes: u64,
    /// Of these, bytes that were in the page cache already. `None` if the kernel does not say.
    pub cached_bytes: Option<u64>,
    /// Bytes that are locked in memory.
    pub locked_bytes: u64,
    /// Why not more is locked, if so.
    pub not_locked: Option<String>,
    /// Requested ranges that were not wholly cached.
    pub requests: u64,
    /// How long the device would take for them, in seconds, one at a time.
    pub expected_s: f64,
    /// How long it took, in seconds; 0 for a dry run.
    pub seconds: f64,
    /// Whether the costs of the device are assumed.
    pub assumed: bool,
    /// Files that were left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// What [`Options::lock`] locked; it stays in memory until this is dropped.
#[derive(Debug, Default)]
pub struct Held {
    ranges: Mutex<Vec<Locked>>,
}

/// Brings in what the runs of `sources` needed. A source is a trace in any format that can be
/// imported, a profile, or a list of files and folders, which are wanted whole (see
/// [`Listing`](seekless_trace::Listing)). `progress` is called with the files done and all files.
///
/// # Errors
/// A source cannot be read, names no file that is here, or the caller asked to stop. A single file
/// that cannot be opened is no error: it is counted.
pub fn warm(
    sources: &[PathBuf],
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Warmed, Held)> {
    let Plan { files: wanted, left_out, names, only_lists } = plan(sources, options)?;
    let started = Instant::now();
    allow_descriptors(2 * wave::READS_MAX as u64);
    if !options.dry_run {
        names.look_up(options)?;
    }
    let seconds = || if options.dry_run { 0.0 } else { started.elapsed().as_secs_f64() };
    let names = names.count();
    let Some(first) = wanted.first() else {
        // A list may well be empty, as that of what has changed since; and a program may only have
        // looked at names.
        let no_file = Warmed {
            names,
            left_out,
            cached_bytes: Some(0),
            seconds: seconds(),
            ..Warmed::default()
        };
        let found = only_lists || names > 0;
        return if found { Ok((no_file, Held::default())) } else { Err(nothing(sources)) };
    };
    let (costs, assumed) = costs(options.costs, &first.path);
    let (next, done) = (AtomicUsize::new(0), AtomicU64::new(0));
    let held = Held::default();
    if options.lock {
        locked::raise_limit();
    }
    let (waves, gathered) = (Waves::new(), Mutex::default());
    let job = Job { wanted: &wanted, waves, gathered, costs, options, held: &held, next, done };
    let mut warmed = job.run(progress)?;
    warmed.add(&Warmed { names, left_out, cached_bytes: Some(0), ..Warmed::default() });
    warmed.assumed = assumed;
    warmed.seconds = seconds();
    Ok((warmed, held))
}

fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupted, "bringing files in was interrupted")
}

fn nothing(sources: &[PathBuf]) -> Error {
    let names: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
    let message = format!(
        "{} names nothing to bring in: no reads, faults or loads of files below the folders given",
        names.join(", ")
    );
    Error::new(ErrorKind::Missing, message)
}

/// The costs of the device that holds most likely all files: that of the first. `given` stands over
/// what is known of it. Says whether they are assumed.
pub(crate) fn costs(given: Option<Costs>, first: &Path) -> (Costs, bool) {
    let known = || Surveyor::new().ok()?.costs(first).ok()?;
    match given.or_else(known) {
        Some(costs) => (costs, false),
        None => (Costs::ASSUMED, true),
    }
}

struct Job<'a> {
    wanted: &'a [Wanted],
    waves: Waves,
    /// Ranges for the next wave.
    gathered: Mutex<Vec<(Arc<Opened>, Extent)>>,
    costs: Costs,
    options: &'a Options,
    held: &'a Held,
    next: AtomicUsize,
    done: AtomicU64,
}

impl Job<'_> {
    fn run(&self, progress: &mut dyn FnMut(u64, u64)) -> Result<Warmed> {
        let all = self.wanted.len() as u64;
        let (sender, parts) = std::sync::mpsc::channel();
        let mut warmed = Warmed { cached_bytes: Some(0), ..Warmed::default() };
        std::thread::scope(|scope| -> Result<()> {
            seekless_job::crew::start(scope, THREADS.min(self.wanted.len()), move || {
                while let Some(part) = self.next() {
                    let _ = sender.send(part); // the receiver outlives all threads
                }
                self.make_wave(1);
            })?;
            for part in parts {
                warmed.add(&part);
                progress(self.done.load(Ordering::Relaxed), all);
            }
            Ok(())
        })?;
        match self.options.cancel.load(Ordering::Relaxed) {
            true => Err(interrupted()),
            false => Ok(warmed),
        }
    }

    /// Brings in one more file.
    fn next(&self) -> Option<Warmed> {
        let wanted = self.wanted.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        if self.options.cancel.load(Ordering::Relaxed) {
            return None;
        }
        let part = match open(&wanted.path, &wanted.recorded, &self.options.within) {
            Ok(opened) => self.bring(wanted, &Arc::new(opened)),
            Err(why) => {
                Warmed { left_out: [(why, 1)].into(), cached_bytes: Some(0), ..Warmed::default() }
            }
        };
        self.done.fetch_add(1, Ordering::Relaxed);
        Some(part)
    }

    fn bring(&self, wanted: &Wanted, opened: &Arc<Opened>) -> Warmed {
        let mut part = Warmed { files: 1, cached_bytes: Some(0), ..Warmed::default() };
        let mut missing = Vec::new();
        part.needed_bytes = wanted.needed_bytes(opened.bytes);
        let joined = wanted.joined(opened.bytes, &self.costs);
        for &extent in &joined {
            let cached = opened.cached(extent);
            part.asked_bytes += extent.bytes;
            part.cached_bytes = part.cached_bytes.zip(cached).map(|(sum, bytes)| sum + bytes);
            let absent = extent.bytes - cached.unwrap_or(0).min(extent.bytes);
            if absent > 0 {
                part.requests += 1;
                part.expected_s += seconds(absent, &self.costs);
                missing.push(extent);
            }
        }
        if !self.options.dry_run {
            self.bring_in(opened, missing);
        }
        if self.options.lock && !self.options.dry_run {
            self.lock(opened, &joined, &mut part);
        }
        part
    }
}

impl Job<'_> {
    /// Brings ranges in: what is to be locked at once, else with others in a wave.
    fn bring_in(&self, opened: &Arc<Opened>, missing: Vec<Extent>) {
        if self.options.lock {
            return opened.bring_in(&missing, &self.options.cancel);
        }
        let ranges = missing.into_iter().map(|extent| (Arc::clone(opened), extent));
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner).extend(ranges);
        self.make_wave(wave::READS_MAX / 2);
    }

    /// Makes a wave of what is gathered, if that is at least so many ranges, or many bytes.
    fn make_wave(&self, least: usize) {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: u64 = gathered.iter().map(|(_, extent)| extent.bytes).sum();
        if gathered.len() < least && bytes < wave::BYTES_MAX {
            return;
        }
        let reads = std::mem::take(&mut *gathered);
        drop(gathered);
        if !self.is_cancelled() {
            self.waves.begin(reads.into_iter()).wait();
        }
    }

    fn is_cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed)
    }

    /// Locks what was brought in, as far as the user may.
    fn lock(&self, opened: &Opened, extents: &[Extent], part: &mut Warmed) {
        for extent in extents {
            match Locked::new(&opened.file, extent.offset, extent.bytes) {
                Ok(locked) => {
                    part.locked_bytes += locked.bytes();
                    self.held.ranges.lock().unwrap_or_else(PoisonError::into_inner).push(locked);
                }
                Err(error) => {
                    part.not_locked = Some(why_not_locked(&error));
                    return;
                }
            }
        }
    }
}

fn why_not_locked(error: &std::io::Error) -> String {
    let limited = [std::io::ErrorKind::PermissionDenied, std::io::ErrorKind::OutOfMemory]
        .contains(&error.kind())
        || error.kind() == std::io::ErrorKind::WouldBlock;
    match (limited, locked::raise_limit()) {
        (true, Some(bytes)) => format!(
            "this user may lock {bytes} bytes: raise it (`ulimit -l`, LimitMEMLOCK= of a systemd unit, \
             --ulimit memlock of a container)"
        ),
        _ => seekless_sys::reason(error),
    }
}

fn seconds(bytes: u64, costs: &Costs) -> f64 {
    costs.request_ns as f64 / 1e9 + bytes as f64 / costs.bytes_per_second.max(1) as f64
}

impl Warmed {
    fn add(&mut self, part: &Warmed) {
        self.names += part.names;
        self.files += part.files;
        self.needed_bytes += part.needed_bytes;
        self.asked_bytes += part.asked_bytes;
        self.cached_bytes = self.cached_bytes.zip(part.cached_bytes).map(|(sum, more)| sum + more);
        self.locked_bytes += part.locked_bytes;
        self.not_locked = self.not_locked.take().or_else(|| part.not_locked.clone());
        self.requests += part.requests;
        self.expected_s += part.expected_s;
        for (why, count) in &part.left_out {
            *self.left_out.entry(why).or_default() += count;
        }
    }
}

#[cfg(test)]
mod tests;
