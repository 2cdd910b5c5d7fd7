//! Sums up what was measured, recorded and expected.

use super::advice::{
    Advice, Cause, DeviceFigures, Learned as LearnedFigures, Part, Starts, WaitOfFile,
};
use super::device;
use super::expected::Expected;
use super::image;
use super::measures;
use super::places::{At, folders};
use super::readahead::{LINUX_BYTES, Windows};
use super::searches;
use super::starts::{Learned, unreadable};
use seekless_job::Result;
use seekless_trace::summary::{CallKind, Spent};
use std::collections::BTreeMap;

/// Files that are listed.
const FILES_MAX: usize = 1000;
/// Folders in which missing names were looked for, that are listed.
const SEARCHED_MAX: usize = 5;
/// What the kernel reads around a touch of a mapped file, half a window on the average.
const AROUND_BYTES: f64 = 65_536.0;

/// Puts all together. `expected` was asked while the files were cold.
pub(super) fn sum_up(
    learned: &Learned,
    words: &[std::ffi::OsString],
    starts: &Starts,
    (device, own_s): (device::Found, f64),
    expected: &Expected,
) -> Result<Advice> {
    let wait_s = (starts.cold_median_s - starts.cached_median_s).max(0.0);
    let needed = needed(learned);
    let share = share(learned, wait_s);
    let mut advice = Advice {
        memory_free_bytes: seekless_sys::memory::free_bytes(),
        command: words.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        starts: Starts { exit_status: learned.exit_status, ..starts.clone() },
        wait_s,
        learned: LearnedFigures {
            names: learned.names,
            names_missing: learned.names_missing,
            files: needed.len() as u64,
            needed_bytes: needed.values().sum(),
            method: learned.method.clone(),
            blind: learned.blind.clone(),
        },
        own_s,
        profile: learned.profile_name.clone(),
        parts: parts(learned, starts, (wait_s, share), &device.figures),
        device: device.figures.clone(),
        searched: searched(learned),
        ..Advice::default()
    };
    let files = files(learned, &needed, share);
    let at: Vec<At<'_>> = files
        .iter()
        .map(|file| At { path: &file.path, wait_s: file.wait_s, needed_bytes: file.needed_bytes })
        .collect();
    advice.folders = folders(&at);
    advice.files = files;
    advice.files.truncate(FILES_MAX);
    advice.searches = searches::of(&learned.trace, &device.costs).map_err(unreadable)?;
    if starts.names_cold {
        advice.searches.iter_mut().for_each(|search| search.measured(&learned.waits, share));
    }
    let present_bytes = match expected.decision.readahead_bytes {
        0 => LINUX_BYTES,
        bytes => bytes,
    };
    let windows = Windows::of(&learned.needs, device.costs, present_bytes);
    advice.readahead = Some(windows).filter(|windows| windows.present.requests > 0);
    measures::add(&mut advice, expected);
    advice.image = image::of(learned, &device, &advice, expected)?;
    Ok(advice)
}

/// Needed bytes by file.
fn needed(learned: &Learned) -> BTreeMap<u32, u64> {
    let mut needed = BTreeMap::new();
    for need in learned.needs.runs.last().into_iter().flatten() {
        *needed.entry(need.file).or_default() += need.bytes;
    }
    needed
}

/// How much of the time in calls made the start longer. Calls that wait while another thread
/// computes do not; and a recorded start takes longer than a timed one.
fn share(learned: &Learned, wait_s: f64) -> f64 {
    let in_calls: f64 = learned.waits.by_kind().values().map(|spent| spent.seconds).sum();
    if in_calls > wait_s { wait_s / in_calls } else { 1.0 }
}

/// The parts of the wait. Calls were timed. Touches of mapped files were counted, and each is taken
/// to have waited for one request. Of what is left, a cold start's further processor time is the
/// kernel's work.
fn parts(
    learned: &Learned,
    starts: &Starts,
    (wait_s, share): (f64, f64),
    device: &DeviceFigures,
) -> Vec<Part> {
    let kinds = learned.waits.by_kind();
    let mut causes: BTreeMap<Cause, Spent> =
        kinds.into_iter().map(|(kind, spent)| (kind.into(), spent)).collect();
    causes.values_mut().for_each(|spent| spent.seconds *= share);
    let left_s = (wait_s - causes.values().map(|spent| spent.seconds).sum::<f64>()).max(0.0);
    let each_s =
        device.request_ns as f64 / 1e9 + AROUND_BYTES / device.bytes_per_second.max(1) as f64;
    let mapped_s = (starts.major_faults as f64 * each_s).min(left_s);
    let mapped = causes.entry(Cause::Mapped).or_default();
    mapped.seconds += mapped_s;
    mapped.calls = starts.major_faults;
    let left_s = left_s - mapped_s;
    let kernel_s = (starts.cold_cpu_s - starts.cached_cpu_s).clamp(0.0, left_s);
    let only = |seconds| Spent { seconds, ..Spent::default() };
    causes.insert(Cause::Kernel, only(kernel_s));
    causes.insert(Cause::Unexplained, only(left_s - kernel_s));
    let mut parts: Vec<Part> = causes
        .into_iter()
        .map(|(cause, Spent { seconds, calls, bytes })| Part {
            cause,
            wait_s: seconds,
            calls,
            bytes,
        })
        .filter(|part| part.wait_s > 0.0)
        .collect();
    parts.sort_by(|one, other| other.wait_s.total_cmp(&one.wait_s));
    parts
}

/// The files, the longest wait first.
fn files(learned: &Learned, needed: &BTreeMap<u32, u64>, share: f64) -> Vec<WaitOfFile> {
    let name = |file: &u32| learned.waits.names.get(*file as usize).cloned().unwrap_or_default();
    let mut files: Vec<WaitOfFile> = learned
        .waits
        .files
        .iter()
        .map(|(file, at)| WaitOfFile {
            path: name(file),
            wait_s: share * at.kinds.values().map(|spent| spent.seconds).sum::<f64>(),
            calls: at.kinds.values().map(|spent| spent.calls).sum(),
            needed_bytes: needed.get(file).copied().unwrap_or(0),
            first_s: at.first_ns as f64 / 1e9,
        })
        .collect();
    files.sort_by(|one, other| other.wait_s.total_cmp(&one.wait_s));
    files
}

/// The folders in which most missing names were looked for.
fn searched(learned: &Learned) -> Vec<(String, u64)> {
    let mut folders: BTreeMap<String, u64> = BTreeMap::new();
    for (file, at) in &learned.waits.files {
        let Some(spent) = at.kinds.get(&CallKind::MissingNames) else { continue };
        let name = learned.waits.names.get(*file as usize).map_or("", String::as_str);
        let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
        *folders.entry(folder.to_owned()).or_default() += spent.calls;
    }
    let mut folders: Vec<(String, u64)> = folders.into_iter().collect();
    folders.sort_by(|(one, first), (other, second)| (second, one).cmp(&(first, other)));
    folders.truncate(SEARCHED_MAX);
    folders
}
