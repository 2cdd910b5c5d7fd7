//! What is found out about a program's files, in figures. Times are in seconds, sizes in bytes.

use crate::advise::advice::{DeviceFigures, Folder, Image, Measure, Part, WaitOfFile};
use crate::advise::readahead::Windows;
use crate::advise::searches::Search;
use crate::advise::traced::Basis;
use crate::advise::traced::cache::CacheAdvice;
use serde::Serialize;

/// What the newest run of the traces would wait, and what would help.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FilesAdvice {
    /// The traces, the newest last.
    pub traces: Vec<String>,
    /// What they were made from.
    pub basis: Basis,
    /// The program and its arguments, as far as the trace says.
    pub command: Vec<String>,
    /// Always true: no program was run, and the wait is that of a device model.
    pub estimated: bool,
    /// Runs in all traces.
    pub runs: u64,
    /// Whether what helps was made from other runs than the one that judges it.
    pub held_out: bool,
    /// The device.
    pub device: DeviceFigures,
    /// What the run waits if nothing is cached.
    pub wait_s: f64,
    /// Requests that the device then serves.
    pub requests: u64,
    /// Bytes that it serves.
    pub device_bytes: u64,
    /// Files of which the run needs something.
    pub needed_files: u64,
    /// Bytes that it needs of them.
    pub needed_bytes: u64,
    /// What was recorded of the run's time.
    pub recorded: Option<Recorded>,
    /// The wait by cause, the longest first. The parts add up to the wait. Calls are requests.
    pub parts: Vec<Part>,
    /// The wait by folder, the longest first.
    pub folders: Vec<Folder>,
    /// The files that are waited for longest. Calls are requests.
    pub files: Vec<WaitOfFile>,
    /// Search paths on which names are found late, the longest expected wait first.
    pub searches: Vec<Search>,
    /// What another readahead of the device would bring, beside Linux's.
    pub readahead: Windows,
    /// What would help, best first; empty if nothing does. The whole start is the wait and the
    /// run's own time, as far as that was recorded.
    pub measures: Vec<Measure>,
    /// What would not help, with the wait that is left.
    pub useless: Vec<(String, f64)>,
    /// What a container image would bring; `None` where it is not worth it.
    pub image: Option<Image>,
    /// Memory that the page cache can have here; `None` if it is not known.
    pub memory_free_bytes: Option<u64>,
    /// What a larger page cache or another policy would bring for what is read again; `None` if
    /// all that is needed fits.
    pub page_cache: Option<Box<CacheAdvice>>,
}

/// The time that a run took when it was recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Recorded {
    /// From its start to its end.
    pub duration_s: Option<f64>,
    /// In calls on files; what was cached then is not known.
    pub in_calls_s: Option<f64>,
    /// That time by cause, the longest first.
    pub parts: Vec<Part>,
}

impl Recorded {
    /// The time outside of calls.
    #[must_use]
    pub fn own_s(&self) -> Option<f64> {
        Some((self.duration_s? - self.in_calls_s?).max(0.0))
    }
}
