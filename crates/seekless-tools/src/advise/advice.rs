//! What [`advise`](super::advise) finds out, in figures. Times are in seconds, sizes in bytes.

use super::readahead::Windows;
use super::searches::Search;
use seekless_trace::summary::CallKind;
use serde::Serialize;

/// Where the wait of a cold start goes, and what would help.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Advice {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// The name that its profile of `seekless run` has.
    pub profile: String,
    /// The starts that were timed.
    pub starts: Starts,
    /// The wait of the cold start: the median of the cold starts less that of the cached ones.
    pub wait_s: f64,
    /// What the recorded start looked up and read.
    pub learned: Learned,
    /// The device of most of its files.
    pub device: DeviceFigures,
    /// What `seekless run` itself takes to start and decide when it is cold too, in seconds; every
    /// measure has it.
    pub own_s: f64,
    /// The wait by cause, the longest first. The parts add up to the wait.
    pub parts: Vec<Part>,
    /// The wait in calls by folder, the longest first. `FOLDER/*` is what lies in it beside others
    /// that are listed.
    pub folders: Vec<Folder>,
    /// The files that were waited for longest.
    pub files: Vec<WaitOfFile>,
    /// Folders in which names were looked for that are not there, with how many, most first.
    pub searched: Vec<(String, u64)>,
    /// Search paths on which names are found late, the longest expected wait first.
    pub searches: Vec<Search>,
    /// What another readahead of the device would bring; `None` if the start reads nothing.
    pub readahead: Option<Windows>,
    /// What would help, best first; empty if nothing does.
    pub measures: Vec<Measure>,
    /// What would not help, with its expected start in seconds.
    pub useless: Vec<(String, f64)>,
    /// What a container image would bring; `None` where it is not worth it.
    pub image: Option<Image>,
    /// What measures gained when they were carried out; empty if that was not asked for.
    pub verified: Vec<Verified>,
    /// Memory that the page cache can have; `None` if it is not known.
    pub memory_free_bytes: Option<u64>,
    /// What the recorded cold start did when; for pictures, and not in the JSON.
    #[serde(skip)]
    pub timeline: Timeline,
}

/// What a recorded start did when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timeline {
    /// The paths of the files.
    pub files: Vec<String>,
    /// How many threads there were.
    pub threads: u32,
    /// Calls and touches, by the time at which they began.
    pub moments: Vec<Moment>,
    /// Later ones, of which there were too many.
    pub left_out: u64,
}

/// A call, or a touch of a mapped file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// Of which file.
    pub file: u32,
    /// By which thread.
    pub thread: u32,
    /// When it began, in seconds from the start on.
    pub start_s: f64,
    /// How long it took; 0 for a touch, which is not timed.
    pub seconds: f64,
    /// The bytes read, written or touched.
    pub bytes: u64,
    /// What it was.
    pub what: When,
}

/// What a moment was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A read that waited for the device.
    WaitingRead,
    /// A read of what was cached.
    CachedRead,
    /// A look-up that waited.
    WaitingName,
    /// A look-up of what was known.
    KnownName,
    /// A first touch of a mapped file.
    Touch,
    /// A write or sync.
    Written,
}

/// Starts of the program, in seconds.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Starts {
    /// Each cold start.
    pub cold_s: Vec<f64>,
    /// Each start with its files cached.
    pub cached_s: Vec<f64>,
    /// The median of the cold ones.
    pub cold_median_s: f64,
    /// The median of the cached ones.
    pub cached_median_s: f64,
    /// Processor time of a cold start: the median.
    pub cold_cpu_s: f64,
    /// Processor time of a cached start: the median.
    pub cached_cpu_s: f64,
    /// Touches of mapped pages that waited for the device, in a cold start: the median.
    pub major_faults: u64,
    /// Requests that the device of most files served in a cold start, also to other programs: the
    /// median. `None` if it is no block device.
    pub requests: Option<u64>,
    /// Bytes that it served then.
    pub device_bytes: Option<u64>,
    /// How cold the files were made.
    pub coldness: String,
    /// Whether names and inodes were cold too, which takes root.
    pub names_cold: bool,
    /// The exit status of the recorded start.
    pub exit_status: i32,
    /// Why fewer starts were made than asked for.
    pub cut_short: Option<String>,
}

/// What a start looks up and reads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Learned {
    /// Names that it looks up.
    pub names: u64,
    /// Of these, names that are not there.
    pub names_missing: u64,
    /// Files of which it reads or touches something.
    pub files: u64,
    /// Bytes that it needs of them, in whole pages.
    pub needed_bytes: u64,
    /// How its calls were seen.
    pub method: String,
    /// Whether something was not seen, in words.
    pub blind: Option<String>,
}

/// What the device of most files costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DeviceFigures {
    /// Its file system and name: `ext4 on vda`.
    pub name: String,
    /// What a request costs, in nanoseconds.
    pub request_ns: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
    /// Requests that it serves at once, as far as was tried.
    pub at_once: u32,
    /// Where the costs come from.
    pub source: Source,
}

/// Where the costs of a device come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The user gave them.
    Given,
    /// Reads of the program's files, just now.
    Measured,
    /// Nothing is known.
    #[default]
    Assumed,
}

/// Why a program waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// Names and inodes that are there.
    Names,
    /// Names that are not there.
    MissingNames,
    /// Reads of small files.
    SmallFiles,
    /// Reads of large files.
    LargeFiles,
    /// Touches of mapped files.
    Mapped,
    /// Reads of what was read before.
    ReadAgain,
    /// Writes and syncs.
    Written,
    /// The kernel's work for what has to come from the device.
    Kernel,
    /// What none of these explains.
    Unexplained,
}

/// A part of the wait.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Part {
    /// Why.
    pub cause: Cause,
    /// How long.
    pub wait_s: f64,
    /// Calls, or touches.
    pub calls: u64,
    /// Bytes that the calls returned.
    pub bytes: u64,
}

/// What was waited for below a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Folder {
    /// Its path.
    pub path: String,
    /// Waiting in calls.
    pub wait_s: f64,
    /// Files used.
    pub files: u64,
    /// Bytes needed.
    pub needed_bytes: u64,
}

/// What was waited for at a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct WaitOfFile {
    /// Its path.
    pub path: String,
    /// Waiting in calls.
    pub wait_s: f64,
    /// Calls.
    pub calls: u64,
    /// Bytes needed.
    pub needed_bytes: u64,
    /// When it was first used, from the start on.
    pub first_s: f64,
}

/// Something that would help.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measure {
    /// What it is, in words.
    pub what: String,
    /// The wait that is left.
    pub wait_s: f64,
    /// The whole start.
    pub start_s: f64,
    /// The wait is expected within this much of the figure.
    pub error_s: f64,
    /// The commands that do it.
    pub commands: Vec<String>,
    /// How the figures were found.
    pub found: Found,
}

/// How a figure was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Found {
    /// By the code that would do it, with the costs of the device.
    Simulated,
    /// By doing it.
    Measured,
}

/// What is expected of the start if a container image held its files, on the same device.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Image {
    /// The wait that is left with a layer in the order of need.
    pub layer_wait_s: f64,
    /// The wait that is left with a layer as it is, of which the list of this start is known.
    pub listed_wait_s: f64,
    /// The commands that make the layer and the list.
    pub commands: Vec<String>,
}

/// What a measure gained when it was carried out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verified {
    /// Which measure.
    pub what: String,
    /// Cold starts of the program alone, in turn with those below.
    pub plain_s: Vec<f64>,
    /// Cold starts with the measure.
    pub with_s: Vec<f64>,
    /// The start that was expected with the measure.
    pub expected_start_s: f64,
    /// The median of `with_s`, less that of the cached starts.
    pub wait_s: f64,
}

impl From<CallKind> for Cause {
    fn from(kind: CallKind) -> Self {
        match kind {
            CallKind::Names => Cause::Names,
            CallKind::MissingNames => Cause::MissingNames,
            CallKind::SmallFiles => Cause::SmallFiles,
            CallKind::LargeFiles => Cause::LargeFiles,
            CallKind::ReadAgain => Cause::ReadAgain,
            CallKind::Written => Cause::Written,
            CallKind::Maps => Cause::Mapped,
        }
    }
}

impl Cause {
    /// It in words.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Cause::Names => "names and inodes looked up",
            Cause::MissingNames => "names looked up that are not there",
            Cause::SmallFiles => "small files read one by one",
            Cause::LargeFiles => "reads of large files",
            Cause::Mapped => "touches of mapped files",
            Cause::ReadAgain => "bytes read again",
            Cause::Written => "writes and syncs",
            Cause::Kernel => "the kernel's work to bring it in",
            Cause::Unexplained => "not explained",
        }
    }
}

/// The median; 0 of nothing.
pub(super) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match (sorted.len(), sorted.len() / 2) {
        (0, _) => 0.0,
        (count, half) if count % 2 == 1 => sorted[half],
        (_, half) => f64::midpoint(sorted[half - 1], sorted[half]),
    }
}

/// How far a median may be off: half the range of the values.
pub(super) fn spread(values: &[f64]) -> f64 {
    let longest = values.iter().copied().fold(0.0, f64::max);
    let shortest = values.iter().copied().fold(f64::MAX, f64::min);
    ((longest - shortest) / 2.0).max(0.0)
}
