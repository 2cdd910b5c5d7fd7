//! Cuts a part out of a trace: by time, file, run, operation, process or thread.

use crate::rewrite::{Rule, plain, rewrite, unread};
use seekless_job::{Error, ErrorKind, Result};
use seekless_record::Selection;
use seekless_sys::output::Destination;
use seekless_trace::{Access, Metadata, Op, Trace, open_any, unescape_path};
use serde::Serialize;
use std::ops::Range;
use std::path::Path;

/// Which rows to keep: those that fit every field. An empty list fits all.
#[derive(Clone, Debug)]
pub struct Cut {
    /// Times in nanoseconds from the run's start.
    pub time_ns: Range<u64>,
    /// Globs of files; without any, all files.
    pub paths: Vec<String>,
    /// Globs of files to leave out.
    pub exclude: Vec<String>,
    /// Numbers of runs. Those that are kept are numbered anew, from 0.
    pub runs: Vec<u32>,
    /// Operations.
    pub ops: Vec<Op>,
    /// Processes.
    pub pids: Vec<u32>,
    /// Threads.
    pub tids: Vec<u32>,
}

impl Default for Cut {
    /// Keeps everything.
    fn default() -> Self {
        Self {
            time_ns: 0..u64::MAX,
            paths: Vec::new(),
            exclude: Vec::new(),
            runs: Vec::new(),
            ops: Vec::new(),
            pids: Vec::new(),
            tids: Vec::new(),
        }
    }
}

/// What was kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kept {
    /// Rows of the new trace.
    pub rows: u64,
    /// Rows that were left out.
    pub left_out: u64,
    /// Files of the new trace.
    pub files: u64,
    /// Runs of the new trace.
    pub runs: u64,
}

/// Writes the rows of `trace` that `cut` keeps to `out`. Times stay as they are.
///
/// # Errors
/// The trace cannot be read, a glob is malformed, a run is not in the trace, no row fits, or the
/// output cannot be written.
pub fn cut(
    trace: &Path,
    out: &Destination,
    cut: &Cut,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Kept> {
    let trace = open_any(trace).map_err(unread)?;
    let mut runs = cut.runs.clone();
    runs.sort_unstable();
    runs.dedup();
    let metadata = metadata(&trace, &runs)?;
    let selection = Selection::new(&cut.paths, &cut.exclude)
        .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))?;
    let names = trace.file_names().map_err(unread)?;
    let files = names.iter().map(|name| selection.keeps(&unescape_path(name))).collect();
    let kept_runs = metadata.runs.len().max(1) as u64;
    let mut keep = Keep { cut, files, runs };
    let summary = rewrite(&trace, out, metadata, &mut keep, progress)?;
    Ok(Kept {
        rows: summary.rows,
        left_out: trace.rows() - summary.rows,
        files: summary.files,
        runs: kept_runs,
    })
}

/// What the new trace says of itself: the same, of the runs that are kept.
fn metadata(trace: &Trace, runs: &[u32]) -> Result<Metadata> {
    let all = trace.metadata();
    if runs.is_empty() {
        return Ok(Metadata { runs: all.runs.clone(), ..plain(all) });
    }
    let info = |&run: &u32| {
        all.runs.get(run as usize).cloned().ok_or_else(|| {
            let (path, count) = (trace.path().display(), all.runs.len());
            let why = format!("{path} has no run {run}: it has {count}, numbered from 0");
            Error::new(ErrorKind::Missing, why)
        })
    };
    Ok(Metadata { runs: runs.iter().map(info).collect::<Result<_>>()?, ..plain(all) })
}

struct Keep<'a> {
    cut: &'a Cut,
    /// Whether each file is kept.
    files: Vec<bool>,
    /// The runs that are kept, sorted; all, if there are none.
    runs: Vec<u32>,
}

impl Rule for Keep<'_> {
    fn row(&mut self, access: &mut Access) -> bool {
        let Cut { time_ns, ops, pids, tids, .. } = self.cut;
        if !self.runs.is_empty() {
            let Ok(run) = self.runs.binary_search(&access.run) else { return false };
            access.run = run as u32;
        }
        time_ns.contains(&access.time_ns)
            && self.files[access.file as usize]
            && fits(ops, &access.op)
            && fits(pids, &access.pid)
            && fits(tids, &access.tid)
    }

    fn name(&mut self, name: &str) -> String {
        name.to_owned()
    }
}

/// An empty list fits all.
fn fits<T: PartialEq>(list: &[T], value: &T) -> bool {
    list.is_empty() || list.contains(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{RunInfo, Writer};

    /// Three runs of eight reads: time, process and thread rise, files take turns.
    fn trace(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("all.parquet");
        let info = |run: u32| RunInfo { host: format!("host {run}"), ..RunInfo::default() };
        let metadata = Metadata { runs: (0..3).map(info).collect(), ..Metadata::default() };
        let mut writer = Writer::create(&path, metadata).unwrap();
        for (run, time_ns) in (0..3).flat_map(|run| (0..8).map(move |time| (run, time))) {
            let file = writer.file(["/a/x.so", "/a/y", "z"][time_ns as usize % 3]);
            let op = if time_ns % 2 == 0 { Op::Read } else { Op::Write };
            let (pid, tid) = (time_ns as u32 / 4, time_ns as u32);
            writer.push(Access { run, time_ns, pid, tid, ..Access::new(op, file) }).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn kept(rule: &Cut) -> (Kept, Vec<(u32, u64, String)>, Metadata) {
        let folder = tempfile::tempdir().unwrap();
        let out = Destination::new(folder.path().join("cut.parquet"));
        let kept = cut(&trace(folder.path()), &out, rule, &mut |_, _| {}).unwrap();
        let trace = Trace::open(out.path()).unwrap();
        let names = trace.file_names().unwrap();
        let rows = trace.accesses().unwrap().map(|row| row.unwrap());
        let rows = rows.map(|row| (row.run, row.time_ns, names[row.file as usize].clone()));
        (kept, rows.collect(), trace.metadata().clone())
    }

    #[test]
    fn each_condition_keeps_its_rows() {
        let all = Cut::default();
        let rows = |cut: &Cut| kept(cut).0.rows;
        assert_eq!(rows(&all), 24);
        assert_eq!(rows(&Cut { time_ns: 2..5, ..all.clone() }), 9);
        assert_eq!(rows(&Cut { ops: vec![Op::Write], ..all.clone() }), 12);
        assert_eq!(rows(&Cut { pids: vec![1], ..all.clone() }), 12);
        assert_eq!(rows(&Cut { tids: vec![0, 7], ..all.clone() }), 6);
        assert_eq!(rows(&Cut { paths: vec!["/a".into()], ..all.clone() }), 18);
        let no_so = Cut { paths: vec!["/a".into()], exclude: vec!["*.so".into()], ..all.clone() };
        assert_eq!((kept(&no_so).0.rows, kept(&no_so).0.files), (9, 1));
        let both = Cut { time_ns: 0..4, ops: vec![Op::Read], ..all };
        assert_eq!(kept(&both).0, Kept { rows: 6, left_out: 18, files: 2, runs: 3 });
    }

    #[test]
    fn runs_are_numbered_anew_with_what_is_said_of_them() {
        let rule = Cut { runs: vec![2, 1, 2], time_ns: 7..8, ..Cut::default() };
        let (kept, rows, metadata) = kept(&rule);
        assert_eq!(rows, [(0, 7, "/a/y".to_owned()), (1, 7, "/a/y".to_owned())]);
        let hosts: Vec<&str> = metadata.runs.iter().map(|run| run.host.as_str()).collect();
        assert_eq!((kept.runs, hosts), (2, vec!["host 1", "host 2"]));
    }

    #[test]
    fn what_keeps_nothing_is_an_error_and_writes_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let trace = trace(folder.path());
        let out = Destination::new(folder.path().join("cut.parquet"));
        for (rule, why) in [
            (Cut { time_ns: 9..10, ..Cut::default() }, "no row fits"),
            (Cut { runs: vec![3], ..Cut::default() }, "has no run 3: it has 3"),
            (Cut { paths: vec!["[".into()], ..Cut::default() }, "is not a glob"),
        ] {
            let error = cut(&trace, &out, &rule, &mut |_, _| {}).unwrap_err();
            assert!(error.to_string().contains(why), "{error}");
            assert!(!out.path().exists());
        }
    }
}
