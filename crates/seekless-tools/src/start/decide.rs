//! What a start is expected to wait for, and what to bring in beside it.

use super::Options;
use super::devices::{Devices, Known};
use crate::profiles::{self, Key};
use crate::warm::bring::{Opened, Recorded, open};
use seekless_device::Costs;
use seekless_policy::extents::Extent;
use seekless_policy::start::{self, Device, Need, Wait};
use seekless_sys::memory;
use seekless_sys::residency;
use seekless_trace::{Profile, unescape_path};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Files that are opened before the program starts, those with the most needs. The others are
/// taken to be cached and changed as these are, until their turn comes.
const EXAMINED: usize = 64;
const THREADS: usize = 8;
/// Of a run whose processor time is not known, so much of the time is taken to be the program's.
const BUSY_SHARE: f64 = 0.5;

/// What is expected of a start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    /// The program and the shape of its arguments.
    pub start: String,
    /// Where the profile lies, or will lie.
    pub profile: PathBuf,
    /// Runs that the profile was learned from; 0 if there is none.
    pub runs: u64,
    /// Files that most of these runs needed.
    pub files: u64,
    /// Bytes that most of these runs needed.
    pub needed_bytes: u64,
    /// Of the bytes of files that were looked at, how many are cached.
    pub cached_bytes: u64,
    /// Files that would not come sooner for being brought in.
    pub files_that_do_not_pay: u64,
    /// Files that are left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Share of the bytes looked at that lie in files that are no longer the same.
    pub changed_share: f64,
    /// What a request costs, in nanoseconds.
    pub request_ns: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
    /// Requests that the device serves at once, as far as that is known.
    pub at_once: u32,
    /// How far the kernel reads around a touch, in bytes.
    pub readahead_bytes: u64,
    /// Whether the costs are assumed.
    pub assumed: bool,
    /// Waiting for the files that pay, if the program starts alone.
    pub plain: Waits,
    /// Waiting for them if they are brought in.
    pub warmed: Waits,
    /// How long the program is held back, so that it does not overtake, in seconds.
    pub head_start_s: f64,
    /// Whether they are brought in.
    pub warms: bool,
    /// Whether this start is recorded, and why, in words.
    pub recording: String,
}

/// Requests, bytes and seconds of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// Requests to the device.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Seconds, without the program's own time.
    pub seconds: f64,
}

impl Decision {
    fn tell(&mut self, known: &Known) {
        let Costs { request_ns, bytes_per_second, depth } = known.device.costs;
        (self.request_ns, self.bytes_per_second, self.at_once) =
            (request_ns, bytes_per_second, depth);
        self.readahead_bytes = known.device.readahead_bytes;
        self.assumed = known.assumed;
    }
}

impl From<Wait> for Waits {
    fn from(Wait { requests, bytes, seconds }: Wait) -> Self {
        Self { requests, bytes, seconds }
    }
}

/// What to bring in.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) files: Vec<PlannedFile>,
    /// In the order of need.
    pub(super) reads: Vec<PlannedRead>,
    /// The program may start once this many reads are done.
    pub(super) first_reads: usize,
    /// How many reads to have under way.
    pub(super) at_once: usize,
    /// No link may lead out of these folders, if there are some.
    pub(super) within: Vec<PathBuf>,
    /// All that the profile's runs needed of mapped files, by the file's escaped name.
    pub(super) expected: Vec<(String, Vec<Extent>)>,
}

#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) path: PathBuf,
    pub(super) recorded: Recorded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedRead {
    pub(super) file: usize,
    pub(super) extent: Extent,
    /// On the program's own time.
    pub(super) needed_ns: u64,
}

/// A file of the profile, with what is needed of it.
struct Candidate {
    path: PathBuf,
    recorded: Recorded,
    needs: Vec<Need>,
}

impl Candidate {
    fn needed_bytes(&self) -> u64 {
        self.needs.iter().fold(0, |sum, need| sum.saturating_add(need.extent.bytes))
    }

    fn bytes(&self) -> u64 {
        let end = self.needs.iter().map(|need| need.extent.end()).max().unwrap_or(0);
        self.recorded.bytes.unwrap_or(end)
    }
}

/// A file that pays, were nothing of it cached, and the device that it lies on.
struct Paying<'a> {
    file: &'a Candidate,
    device: Device,
}

/// What was found of a candidate.
enum Found {
    Missing { needs: Vec<Need>, cached_bytes: u64, open: bool },
    LeftOut(&'static str),
}

pub(super) fn decide(profile: Option<&Profile>, key: &Key, options: &Options) -> (Plan, Decision) {
    let mut decision = Decision { start: key.text().to_owned(), ..Decision::default() };
    let Some(profile) = profile else { return (Plan::default(), decision) };
    let candidates = candidates(profile, options);
    decision.runs = profile.runs.len() as u64;
    decision.files = candidates.len() as u64;
    decision.needed_bytes = candidates.iter().map(Candidate::needed_bytes).sum();
    let Some(largest) = candidates.iter().max_by_key(|file| file.needed_bytes()) else {
        return (Plan::default(), decision);
    };
    let mut devices = Devices::new(options.costs);
    let device = devices.of(&largest.path);
    decision.tell(&device);
    let mut paying: Vec<Paying<'_>> = Vec::new();
    for file in &candidates {
        let device = devices.of(&file.path).device;
        if start::expect(&file.needs, file.bytes(), true, &device).pays() {
            paying.push(Paying { file, device });
        }
    }
    decision.files_that_do_not_pay = (candidates.len() - paying.len()) as u64;
    paying.sort_by_key(|paying| std::cmp::Reverse(paying.file.needed_bytes()));
    let mut plan = plan(profile, &paying, &device.device, options, &mut decision);
    if decision.warms && is_of_program(profile, key) {
        hold(&mut plan, &device.device, &mut decision);
    }
    (plan, decision)
}

fn candidates(profile: &Profile, options: &Options) -> Vec<Candidate> {
    let mut needs: Vec<Vec<Need>> = vec![Vec::new(); profile.files.len()];
    for need in profiles::by_most(profile) {
        if let Some(of_file) = needs.get_mut(need.file as usize) {
            of_file.push(need);
        }
    }
    let candidate = |(file, needs): (&seekless_trace::ProfiledFile, Vec<Need>)| {
        let path = PathBuf::from(OsString::from_vec(unescape_path(&file.name)));
        let within = &options.within;
        let allowed = path.is_absolute()
            && (within.is_empty() || within.iter().any(|root| path.starts_with(root)))
            && !options.hidden.iter().any(|folder| path.starts_with(folder));
        let recorded = Recorded { bytes: file.bytes, identity: file.identity };
        (allowed && !needs.is_empty()).then_some(Candidate { path, recorded, needs })
    };
    profile.files.iter().zip(needs).filter_map(candidate).collect()
}

fn plan(
    profile: &Profile,
    paying: &[Paying<'_>],
    largest: &Device,
    options: &Options,
    decision: &mut Decision,
) -> Plan {
    let found = examine(paying, &options.within);
    let (mut plain, mut warmed) = (Wait::default(), Wait::default());
    let mut plan = Plan::default();
    let scale = own_share(profile);
    let (mut looked_at, mut changed) = (0_u64, 0_u64);
    for (Paying { file, device }, found) in paying.iter().zip(found) {
        looked_at += file.needed_bytes();
        let (needs, open) = match found {
            Some(Found::LeftOut(why)) => {
                changed += file.needed_bytes();
                *decision.left_out.entry(why).or_default() += 1;
                continue;
            }
            Some(Found::Missing { needs, cached_bytes, open }) => {
                decision.cached_bytes += cached_bytes;
                (needs, open)
            }
            None => (file.needs.clone(), true),
        };
        if needs.is_empty() {
            continue;
        }
        let expected = start::expect(&needs, file.bytes(), open, device);
        if !expected.pays() {
            continue;
        }
        (plain, warmed) = (plain.and(expected.plain), warmed.and(expected.warmed));
        let number = plan.files.len();
        plan.files.push(PlannedFile { path: file.path.clone(), recorded: file.recorded });
        plan.reads.extend(expected.reads.iter().map(|&extent| PlannedRead {
            file: number,
            extent,
            needed_ns: (first_needed_ns(&needs, extent) as f64 * scale) as u64,
        }));
    }
    decision.changed_share = changed as f64 / looked_at.max(1) as f64;
    (decision.plain, decision.warmed) = (plain.into(), warmed.into());
    decision.warms = start::worth(plain.seconds, warmed.seconds);
    if !decision.warms {
        return Plan::default();
    }
    plan.reads.sort_by_key(|read| read.needed_ns);
    keep_to_budget(&mut plan.reads, options.budget_bytes);
    plan.at_once = (largest.costs.depth as usize).clamp(2, 16);
    plan.expected = expected_touches(profile);
    plan.within.clone_from(&options.within);
    plan
}

/// Looks at the first files, several at once: which needs of them are not cached.
fn examine(paying: &[Paying<'_>], within: &[PathBuf]) -> Vec<Option<Found>> {
    let count = paying.len().min(EXAMINED);
    let next = AtomicUsize::new(0);
    let found: Vec<Mutex<Option<Found>>> = paying.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let of_file = look(paying[at].file, within);
            if let Ok(mut place) = found[at].lock() {
                *place = Some(of_file);
            }
        }
    };
    std::thread::scope(|scope| {
        // With no thread at all, the first files are looked at here.
        if crate::crew::start(scope, THREADS.min(count), work).is_err() {
            work();
        }
    });
    found.into_iter().map(|place| place.into_inner().unwrap_or(None)).collect()
}

fn look(file: &Candidate, within: &[PathBuf]) -> Found {
    let opened = match open(&file.path, &file.recorded, within) {
        Ok(opened) => opened,
        Err(why) => return Found::LeftOut(why),
    };
    let needed = file.needed_bytes();
    match residency::all_or_nothing(opened.file.as_fd(), opened.bytes) {
        Some(true) => Found::Missing { needs: Vec::new(), cached_bytes: needed, open: false },
        Some(false) => Found::Missing { needs: file.needs.clone(), cached_bytes: 0, open: false },
        None => missing(&opened, &file.needs),
    }
}

fn missing(opened: &Opened, needs: &[Need]) -> Found {
    let (mut missing, mut cached_bytes) = (Vec::new(), 0);
    for need in needs {
        let cached = opened.cached(need.extent).unwrap_or(0);
        cached_bytes += cached;
        if cached < need.extent.bytes {
            missing.push(*need);
        }
    }
    Found::Missing { needs: missing, cached_bytes, open: false }
}

/// How much of a run's time is the program's own, rather than waiting.
fn own_share(profile: &Profile) -> f64 {
    let newest = profile.runs.last();
    let share = newest.and_then(|run| Some(run.cpu_ns? as f64 / run.info.duration_ns? as f64));
    share.filter(|share| share.is_finite()).map_or(BUSY_SHARE, |share| share.clamp(0.0, 1.0))
}

fn first_needed_ns(needs: &[Need], read: Extent) -> u64 {
    let inside = needs.iter().filter(|need| read.covers(need.extent));
    inside.map(|need| need.time_ns).min().unwrap_or(0)
}

/// Leaves what is needed first, as far as the budget goes: half of the free memory if none is told.
fn keep_to_budget(reads: &mut Vec<PlannedRead>, budget_bytes: Option<u64>) {
    let free = || memory::free_bytes().map_or(u64::MAX, |bytes| bytes / 2);
    let mut left = budget_bytes.unwrap_or_else(free);
    reads.retain(|read| {
        let fits = read.extent.bytes <= left;
        left -= if fits { read.extent.bytes } else { 0 };
        fits
    });
}

/// Whether a profile was learned from starts of the same program. Another's may be wrong, and then
/// waiting for it is lost.
fn is_of_program(profile: &Profile, key: &Key) -> bool {
    let program = |text: &str| text.split(' ').next().map(str::to_owned);
    program(&profile.key) == program(key.text())
}

/// How long to hold the program back, and how many reads that is.
fn hold(plan: &mut Plan, device: &Device, decision: &mut Decision) {
    let takes_ns = |read: &PlannedRead| {
        let requests = read.extent.bytes.div_ceil(1 << 20);
        (Wait::of(requests, read.extent.bytes, device.costs.depth, &device.costs).seconds * 1e9)
            as u64
    };
    let times = || plan.reads.iter().map(|read| (takes_ns(read), read.needed_ns));
    let saved_ns = ((decision.plain.seconds - decision.warmed.seconds) * 1e9) as u64;
    let held_ns = start::head_start_ns(times()).min(saved_ns);
    let mut sum_ns = 0_u64;
    let before = times().take_while(|(takes_ns, _)| {
        sum_ns += takes_ns;
        sum_ns <= held_ns
    });
    plan.first_reads = before.count();
    decision.head_start_s = held_ns as f64 / 1e9;
}

fn expected_touches(profile: &Profile) -> Vec<(String, Vec<Extent>)> {
    let mut all: Vec<(String, Vec<Extent>)> =
        profile.files.iter().map(|file| (file.name.clone(), Vec::new())).collect();
    for need in profile.runs.iter().flat_map(|run| &run.needs) {
        if let Some((_, extents)) = all.get_mut(need.file as usize) {
            extents.push(Extent { offset: need.offset, bytes: need.bytes });
        }
    }
    all
}
