//! What a program waits for its files, estimated from traces, and what would help.
//!
//! Nothing is measured here: a trace does not say what was cached when it was recorded. So the wait
//! is what the newest run would wait if nothing was, on a device that is given or assumed, by the
//! code with which `seekless run` decides. With several runs, what helps is made from the others.

mod advice;
mod estimate;
mod offers;

pub use advice::{FilesAdvice, Recorded};

use super::super::advice::{Folder, Part, WaitOfFile};
use super::super::places::{At, folders};
use super::cache::{self, CacheAdvice};
use super::{Basis, Options, Reading};
use crate::advise::advice::{DeviceFigures, Source};
use crate::advise::readahead::{LINUX_BYTES, Windows};
use crate::advise::searches::{self, Search};
use crate::order;
use estimate::Estimate;
use seekless_device::Costs;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sim::{Capacities, Unit};
use seekless_sys::memory::free_bytes;
use seekless_trace::summary::{CallKind, Spent, Waits};
use seekless_trace::{Kind, Needs, RunInfo, Trace};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// A program that uses fewer files is one that stays with them.
const FILES_MIN: usize = 16;
/// A longer run is a service.
const START_NS_MAX: u64 = 600_000_000_000;
/// Files that are listed.
const FILES_LISTED: usize = 1000;

/// Advice for the newest run; `None` if these are no traces of a program's files.
pub(super) fn advise(
    traces: &[PathBuf],
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<FilesAdvice>> {
    let kind = options.reading.kind(traces).map_err(super::failed)?;
    if kind != Kind::Files {
        return Ok(None);
    }
    let unreadable = |error| Error::because(ErrorKind::Trace, "cannot read the trace", error);
    let needs = Needs::read_with(traces, &options.reading.import).map_err(unreadable)?;
    let Some(newest) = needs.runs.last() else { return Ok(None) };
    let used: BTreeMap<u32, u64> = newest.iter().fold(BTreeMap::new(), |mut used, need| {
        *used.entry(need.file).or_default() += need.bytes;
        used
    });
    let lasted_ns = newest.iter().map(|need| need.time_ns).max().unwrap_or(0);
    let is_asked = options.reading.unit == Some(Unit::File) || options.basis.is_some();
    if !is_asked && (used.len() < FILES_MIN || lasted_ns > START_NS_MAX) {
        return Ok(None);
    }
    let device = options.device.clone().unwrap_or(order::DEVICE);
    tell("estimating the wait");
    let searches = searches(traces.last(), &device.costs())?;
    let estimate = Estimate::new(&needs, device.costs(), &searches);
    tell("simulating what would help");
    let offers = offers::of(traces, &needs, &estimate, &device)?;
    let recorded = recorded(traces.last())?;
    let mut advice = FilesAdvice {
        traces: options.names(traces),
        basis: options.basis(),
        command: recorded.as_ref().map(|(info, _)| info.command.clone()).unwrap_or_default(),
        estimated: true,
        runs: needs.runs.len() as u64,
        held_out: needs.runs.len() > 1,
        device: figures(&device, options),
        wait_s: estimate.plain.seconds,
        requests: estimate.plain.requests,
        device_bytes: estimate.plain.bytes,
        needed_files: used.len() as u64,
        needed_bytes: used.values().sum(),
        parts: parts(&estimate),
        readahead: Windows::of(&needs, device.costs(), LINUX_BYTES),
        searches,
        recorded: recorded.map(|(_, recorded)| recorded),
        memory_free_bytes: free_bytes(),
        ..FilesAdvice::default()
    };
    let files = files(&needs, &estimate, &used);
    advice.folders = by_folder(&files);
    offers.add(&mut advice);
    advice.files = files;
    advice.files.truncate(FILES_LISTED);
    advice.page_cache = page_cache(traces, options, &advice, tell)?;
    Ok(Some(advice))
}

/// Advice on the page cache, if not all that the program needs fits into memory. A service gets it
/// in any case, beside this.
fn page_cache(
    traces: &[PathBuf],
    options: &Options,
    advice: &FilesAdvice,
    tell: &mut dyn FnMut(&str),
) -> Result<Option<Box<CacheAdvice>>> {
    let Some(free) = advice.memory_free_bytes else { return Ok(None) };
    if advice.needed_bytes <= free || options.basis() == Basis::Service {
        return Ok(None);
    }
    let by_pages = Options {
        reading: Reading { unit: Some(Unit::Page), ..options.reading.clone() },
        cache: Some(Capacities::of_bytes(free)),
        ..options.clone()
    };
    match cache::advise(traces, &by_pages, tell) {
        // Whole-file loads have no pages.
        Err(error) if [ErrorKind::Missing, ErrorKind::Invalid].contains(&error.kind()) => Ok(None),
        found => Ok(Some(Box::new(found?))),
    }
}

/// The search paths that the newest trace shows; none if it is of another format.
fn searches(trace: Option<&PathBuf>, costs: &Costs) -> Result<Vec<Search>> {
    let Some(Ok(trace)) = trace.map(|path| Trace::open(path)) else { return Ok(Vec::new()) };
    let unreadable = |error| Error::because(ErrorKind::Trace, "cannot read the trace", error);
    searches::of(&trace, costs).map_err(unreadable)
}

/// The folders. Relative paths are put below a root that they do not name.
fn by_folder(files: &[WaitOfFile]) -> Vec<Folder> {
    let is_relative = |path: &str| !path.starts_with('/');
    let rooted = |path: &str| format!("/{}", path.trim_start_matches('/'));
    let paths: Vec<String> = files.iter().map(|file| rooted(&file.path)).collect();
    let at: Vec<At<'_>> = paths
        .iter()
        .zip(files)
        .map(|(path, file)| At { path, wait_s: file.wait_s, needed_bytes: file.needed_bytes })
        .collect();
    let mut found = folders(&at);
    if files.iter().all(|file| is_relative(&file.path)) {
        found
            .iter_mut()
            .for_each(|folder| folder.path = folder.path.trim_start_matches('/').to_owned());
        found.iter_mut().filter(|folder| folder.path.is_empty()).for_each(|it| it.path.push('.'));
    }
    found
}

/// The device, and where its costs come from.
fn figures(device: &seekless_device::DeviceSpec, options: &Options) -> DeviceFigures {
    let costs = device.costs();
    DeviceFigures {
        name: device.to_string(),
        request_ns: costs.request_ns,
        bytes_per_second: costs.bytes_per_second,
        at_once: costs.depth,
        source: if options.device.is_some() { Source::Given } else { Source::Assumed },
    }
}

/// What the newest trace says of its last run; `None` if it is of another format.
fn recorded(trace: Option<&PathBuf>) -> Result<Option<(RunInfo, Recorded)>> {
    let Some(Ok(trace)) = trace.map(|path| Trace::open(path)) else { return Ok(None) };
    let Some(info) = trace.metadata().runs.last().cloned() else { return Ok(None) };
    let unreadable = |error| Error::because(ErrorKind::Trace, "cannot read the trace", error);
    let waits = match trace.metadata().runs.len() {
        1 => Some(Waits::of(&trace).map_err(unreadable)?).filter(|waits| waits.in_calls_s > 0.0),
        _ => None,
    };
    let duration_s = info.duration_ns.map(|ns| ns as f64 / 1e9);
    let recorded = Recorded {
        duration_s,
        in_calls_s: waits.as_ref().map(|waits| waits.in_calls_s),
        parts: waits.as_ref().map(in_calls).unwrap_or_default(),
    };
    Ok(Some((info, recorded)))
}

/// The time in calls by cause, the longest first.
fn in_calls(waits: &Waits) -> Vec<Part> {
    let kinds = waits.by_kind().into_iter().filter(|(_, spent)| spent.calls > 0);
    let part = |(kind, Spent { seconds, calls, bytes }): (CallKind, Spent)| Part {
        cause: kind.into(),
        wait_s: seconds,
        calls,
        bytes,
    };
    let mut parts: Vec<Part> = kinds.map(part).collect();
    parts.sort_by(|one, other| other.wait_s.total_cmp(&one.wait_s));
    parts
}

/// The wait by cause, the longest first. They add up to the wait.
fn parts(estimate: &Estimate) -> Vec<Part> {
    let mut parts: Vec<Part> = estimate.parts.values().copied().collect();
    parts.sort_by(|one, other| other.wait_s.total_cmp(&one.wait_s));
    parts
}

/// The files, the longest wait first.
fn files(needs: &Needs, estimate: &Estimate, used: &BTreeMap<u32, u64>) -> Vec<WaitOfFile> {
    let file = |(file, wait): (&u32, &estimate::OfFile)| WaitOfFile {
        path: needs.names.get(*file as usize).cloned().unwrap_or_default(),
        wait_s: wait.plain.seconds,
        calls: wait.plain.requests,
        needed_bytes: used.get(file).copied().unwrap_or(0),
        first_s: wait.first_ns as f64 / 1e9,
    };
    let mut files: Vec<WaitOfFile> = estimate.files.iter().map(file).collect();
    files.sort_by(|one, other| other.wait_s.total_cmp(&one.wait_s));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;

    #[test]
    fn a_program_that_needs_more_than_memory_gets_advice_on_the_page_cache() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loop.csv");
        let mut rows = "time_us,path,offset,op,bytes\n".to_owned();
        for turn in 0..2000_u64 {
            let _ = writeln!(rows, "{turn},/data,{},read,4096", turn % 100 * 4096);
        }
        std::fs::write(&path, rows).unwrap();
        let options = Options {
            reading: Reading::default(),
            device: None,
            cache: None,
            policy: "lru".to_owned(),
            basis: None,
            called: None,
        };
        let with = |memory_free_bytes| {
            let advice =
                FilesAdvice { needed_bytes: 409_600, memory_free_bytes, ..Default::default() };
            page_cache(std::slice::from_ref(&path), &options, &advice, &mut |_| {}).unwrap()
        };
        assert_eq!((with(None), with(Some(409_600))), (None, None), "it is not known, or all fits");
        let cache = with(Some(300_000)).expect("it does not fit");
        assert_eq!(cache.base.capacity, 300_000);
        assert_eq!(cache.present.miss_ratio, 1.0, "LRU has left what comes next");
        assert!(cache.advised.miss_ratio < 0.5 && !cache.measures.is_empty(), "{cache:?}");
    }
}
