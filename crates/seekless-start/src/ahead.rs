//! Reads ahead for an unchanged program: the program is watched while it reads, and what its
//! streams will need next is brought into the page cache (Wu 2010, for every program).
//!
//! Programs in the kernel (eBPF) report the program's reads, and which pages had to come from a
//! device. A readahead of `seekless-policy` decides what to fetch, and the kernel is advised to
//! fetch it. The kernel's own readahead goes on beside that. What it cannot foresee is what is
//! gained: backward and strided streams, many streams at once, and windows as large as the device
//! deserves.
//!
//! The parts:
//! - `follower` takes the reports, and stops them while they gain nothing;
//! - `files` knows the files that the program has open;
//! - `pages` knows which pages were fetched ahead, and answers the readahead;
//! - `price` learns what the device charges from reads that waited for it.
//!
//! While nothing comes from a device, calls are not reported, and cost nothing.

mod files;
mod follower;
mod pages;
mod price;

use crate::{Error, ErrorKind, Result};
use follower::Follower;
use seekless_device::Costs;
use seekless_policy::readahead;
use seekless_sys::beside;
use seekless_watch::call_events::{CallEvents, RING_READ, Rule, Scope};
use serde::Serialize;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The most that is fetched by one decision, unless the options say otherwise.
pub const WINDOW_BYTES: u64 = 8 << 20;
/// Room for the reports of some milliseconds.
const RING_BYTES: u32 = 4 << 20;
/// The program is not held back longer than this.
const PATIENCE: Duration = Duration::from_secs(2);

/// How to read ahead.
#[derive(Clone, Debug)]
pub struct Options {
    /// The readahead, by its name in [`READAHEADS`](readahead::READAHEADS).
    pub readahead: String,
    /// What the devices charge. `None`: as `seekless probe` measured it, else learned from the
    /// program's own reads.
    pub costs: Option<Costs>,
    /// The most that one decision fetches.
    pub window_bytes: u64,
}

impl Options {
    /// The readahead of this name, with the default limits.
    ///
    /// # Errors
    /// No readahead has that name.
    pub fn new(readahead: &str) -> Result<Self> {
        readahead::check_name(readahead).map_err(no_such)?;
        Ok(Options { readahead: readahead.to_owned(), costs: None, window_bytes: WINDOW_BYTES })
    }
}

/// What was seen and done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Reads that were looked at: those of files that are not wholly cached.
    pub reads: u64,
    /// Bytes that came from a device in the program's own calls, with the kernel's readahead.
    pub missed_bytes: u64,
    /// Bytes that were fetched ahead.
    pub fetched_bytes: u64,
    /// Of these, bytes that the program read.
    pub used_bytes: u64,
    /// Of these, bytes that the program had to wait for.
    pub late_bytes: u64,
    /// Bytes fetched ahead that left the page cache before they were read.
    pub wasted_bytes: u64,
    /// How often the reports of calls were stopped, since they gained nothing.
    pub pauses: u64,
    /// Reports that had no room.
    pub lost: u64,
}

/// Has a helper beside this process read ahead for it, and for the program that takes its place.
/// The helper is ready some 50 ms later: the program does not wait for it.
///
/// Call it while this process has one thread.
///
/// # Errors
/// This process may not watch programs: this is for root, or CAP_BPF and CAP_PERFMON. Where the
/// kernel lacks something else, nothing is read ahead.
pub fn beside(options: &Options) -> Result<()> {
    CallEvents::may_load().map_err(refused)?;
    let held = beside::start(|beside| {
        let pid = beside.pid();
        beside.release();
        let followed = Follower::load(options).and_then(|mut follower| {
            follower.follow(pid)?;
            Ok(follower)
        });
        if let Ok(mut follower) = followed {
            follower.run(|| false);
        }
    });
    let no_helper = |error| Error::because(ErrorKind::Io, "no helper can be started", error);
    let _ = held.map_err(no_helper)?.wait_within(PATIENCE);
    Ok(())
}

/// Reads ahead for a program that runs, and for all that it starts from now on, until it has ended
/// or `cancel` is set. The program is not touched.
///
/// # Errors
/// As [`beside()`], or there is no such process.
pub fn follow(pid: i32, options: &Options, cancel: &AtomicBool) -> Result<Report> {
    if !std::path::Path::new(&format!("/proc/{pid}")).exists() {
        let why = format!("there is no process {pid}: `pgrep -a NAME` lists them");
        return Err(Error::new(ErrorKind::Missing, why));
    }
    let mut follower = Follower::load(options)?;
    follower.follow(pid)?;
    follower.run(|| cancel.load(Ordering::Relaxed));
    Ok(follower.report())
}

fn no_such(error: seekless_policy::Error) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string())
}

/// Loads the programs that report reads, once they are resumed.
fn events() -> Result<CallEvents> {
    let events =
        CallEvents::load_paused(&rules(), RING_BYTES, Scope::Followed, true).map_err(refused)?;
    match events.sees_fetches() {
        Ok(()) => Ok(events),
        Err(why) => {
            let why = format!("pages that come into the page cache are not reported: {why}");
            Err(refused(io::Error::other(why)))
        }
    }
}

fn refused(error: io::Error) -> Error {
    let why = match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => "this is for root, or CAP_BPF and CAP_PERFMON",
        _ => "this kernel or container lacks something",
    };
    let why = format!("the reads of a program cannot be watched: {why}");
    Error::because(ErrorKind::Record, why, error)
}

/// The calls that read, each with its file and the file's position.
fn rules() -> Vec<Rule> {
    let rule = |number| Rule {
        number: number as u32,
        files: [Some(0), None],
        end: true,
        ..Rule::default()
    };
    CALLS.iter().map(|(number, _)| rule(*number)).collect()
}

/// Where a call says its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Offset {
    /// In the file's position.
    Position,
    /// In its fourth argument.
    Argument,
    /// There, or in the position if that is −1.
    Either,
}

const CALLS: [(libc::c_long, Offset); 5] = [
    (libc::SYS_read, Offset::Position),
    (libc::SYS_readv, Offset::Position),
    (libc::SYS_pread64, Offset::Argument),
    (libc::SYS_preadv, Offset::Argument),
    (libc::SYS_preadv2, Offset::Either),
];

/// Where the call of this number begins to read; `None` if it is no read.
fn offset_of(call: &seekless_watch::call_events::Call) -> Option<u64> {
    let kind = match call.number {
        RING_READ => Offset::Either,
        number => CALLS.iter().find(|(known, _)| *known as u32 == number && !call.foreign)?.1,
    };
    let before = call.position.checked_sub(call.result.unsigned_abs());
    match (kind, call.arguments[3]) {
        (Offset::Position, _) | (Offset::Either, u64::MAX) => before,
        (_, offset) => Some(offset),
    }
}
