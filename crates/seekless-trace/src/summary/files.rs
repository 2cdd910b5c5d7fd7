//! What was done with each file, as `trace files` prints it. It takes one pass a trace. Memory
//! grows with the number of files and of gaps between the ranges that were read, not with rows.

use super::intervals::Intervals;
use crate::errno::name_of;
use crate::error::{Error, ErrorKind, Place, Result};
use crate::names::Names;
use crate::writer::RUNS_MAX;
use crate::{Batch, Columns, FileId, Op, Trace};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::str::FromStr;

/// Traces may read this many separate ranges, and one more for each of their bytes. A real row
/// takes more than a byte.
const RANGES_BASE: u64 = 1 << 20;

/// A time in one of several runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct When {
    /// The run. The runs of several traces are numbered on.
    pub run: u32,
    /// Nanoseconds from its start.
    pub time_ns: u64,
}

/// What was done with a file, or with the files of a folder together.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileUse {
    /// The file's path; a folder's ends in `/`.
    pub path: String,
    /// How many files these figures sum up.
    pub files: u64,
    /// Its place, from 1, among all files by their first successful read, map, fault or load.
    /// `None` if it had none.
    pub order: Option<u64>,
    /// Rows of any kind except loads and releases, which stand beside their calls.
    pub accesses: u64,
    /// Successful opens.
    pub opens: u64,
    /// Failed opens.
    pub failed_opens: u64,
    /// Successful stats.
    pub stats: u64,
    /// Failed stats.
    pub failed_stats: u64,
    /// Opens and stats that found nothing (ENOENT, ENOTDIR).
    pub missing: u64,
    /// Calls that failed in other ways, by the error's name: a readlink of what is no link fails
    /// with EINVAL.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub errors: BTreeMap<String, u64>,
    /// Successful reads.
    pub reads: u64,
    /// Successful maps.
    pub maps: u64,
    /// How often it was loaded whole.
    pub loads: u64,
    /// Bytes that reads returned. A load's bytes count only if its run has no calls for the file.
    pub read_bytes: u64,
    /// Distinct bytes read.
    pub unique_bytes: u64,
    /// Bytes written.
    pub written_bytes: u64,
    /// The largest size that a row has shown.
    pub file_bytes: Option<u64>,
    /// The time that all calls for it took together, in nanoseconds.
    pub latency_ns: u64,
    /// Its first row.
    pub first: When,
    /// Its last row.
    pub last: When,
}

/// ENOENT and ENOTDIR.
const MISSING: [i32; 2] = [2, 20];

/// What files can be sorted by. Amounts are sorted from the largest down; times, order and path
/// from the first on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SortBy {
    /// By when it was first needed. Files that were never needed come last.
    Order,
    /// By its path.
    Path,
    /// By rows.
    Accesses,
    /// By successful opens.
    Opens,
    /// By opens and stats that found nothing.
    Failed,
    /// By stats, successful or failed.
    Stats,
    /// By successful reads.
    Reads,
    /// By bytes read.
    Read,
    /// By distinct bytes read.
    Unique,
    /// By bytes read that had been read before.
    Again,
    /// By bytes written.
    Written,
    /// By the file's size.
    Size,
    /// By the time that its calls took together.
    Latency,
    /// By its first row.
    First,
    /// By its last row.
    Last,
}

impl SortBy {
    /// The words for the ways to sort.
    pub const NAMES: [&'static str; 15] = [
        "order", "path", "accesses", "opens", "failed", "stats", "reads", "read", "unique",
        "again", "written", "size", "latency", "first", "last",
    ];
    const ALL: [SortBy; 15] = [
        SortBy::Order,
        SortBy::Path,
        SortBy::Accesses,
        SortBy::Opens,
        SortBy::Failed,
        SortBy::Stats,
        SortBy::Reads,
        SortBy::Read,
        SortBy::Unique,
        SortBy::Again,
        SortBy::Written,
        SortBy::Size,
        SortBy::Latency,
        SortBy::First,
        SortBy::Last,
    ];

    fn compare(self, one: &FileUse, other: &FileUse) -> Ordering {
        let down = |amount: fn(&FileUse) -> u64| amount(other).cmp(&amount(one));
        match self {
            SortBy::Order => Ordering::Equal, // which the tie-break compares
            SortBy::Path => one.path.cmp(&other.path),
            SortBy::Accesses => down(|file| file.accesses),
            SortBy::Opens => down(|file| file.opens),
            SortBy::Failed => down(|file| file.missing),
            SortBy::Stats => down(|file| file.stats + file.failed_stats),
            SortBy::Reads => down(|file| file.reads),
            SortBy::Read => down(|file| file.read_bytes),
            SortBy::Unique => down(|file| file.unique_bytes),
            SortBy::Again => down(|file| file.read_bytes.saturating_sub(file.unique_bytes)),
            SortBy::Written => down(|file| file.written_bytes),
            SortBy::Size => down(|file| file.file_bytes.unwrap_or(0)),
            SortBy::Latency => down(|file| file.latency_ns),
            SortBy::First => one.first.cmp(&other.first),
            SortBy::Last => one.last.cmp(&other.last),
        }
    }

    /// Sorts files. Equal ones are sorted by the order in which they were first needed, then by
    /// path.
    pub fn sort(self, files: &mut [FileUse]) {
        let needed = |file: &FileUse| file.order.unwrap_or(u64::MAX);
        files.sort_by(|one, other| {
            let tied = || needed(one).cmp(&needed(other)).then_with(|| one.path.cmp(&other.path));
            self.compare(one, other).then_with(tied)
        });
    }
}

impl FromStr for SortBy {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let at = SortBy::NAMES.iter().position(|name| *name == word);
        at.map(|at| SortBy::ALL[at])
            .ok_or_else(|| format!("expected one of {}", SortBy::NAMES.join(" ")))
    }
}

/// Sums up the files of one or more traces. Files are joined by name.
#[derive(Debug, Default)]
pub struct FileCount {
    names: Names,
    files: Vec<Counted>,
    needed: u64,
    runs: u32,
    ranges: u64,
    ranges_max: u64,
}

#[derive(Debug, Default)]
struct Counted {
    seen: FileUse,
    ranges: Intervals,
    /// The last run that made a call for it, plus 1.
    called_in: u32,
}

impl FileCount {
    /// Adds what `trace` did. Calls `progress` with rows done and their sum.
    ///
    /// # Errors
    /// The trace cannot be read, is not sorted by run, or has more than 65,536 runs with those
    /// before.
    pub fn add(&mut self, trace: &Trace, progress: &mut dyn FnMut(u64, u64)) -> Result<()> {
        let joined: Vec<FileId> =
            trace.file_names()?.iter().map(|name| self.names.intern(name).0).collect();
        self.files.resize_with(self.names.len(), Counted::default);
        self.ranges_max = self.ranges_max.max(RANGES_BASE).saturating_add(trace.file_bytes());
        let columns =
            Columns::RUN | Columns::TIME_NS | Columns::OP | Columns::FILE | Columns::OFFSET;
        let optional = Columns::BYTES | Columns::LATENCY_NS | Columns::ERROR | Columns::FILE_BYTES;
        let (mut rows, mut last_run) = (0, 0);
        for batch in trace.scan(columns | optional)? {
            let batch = batch?;
            for row in 0..batch.rows() {
                let run = batch.run()[row];
                let number = self
                    .runs
                    .checked_add(run)
                    .filter(|&number| number < RUNS_MAX && run >= last_run);
                let wrong = |kind, message| {
                    Error::new(kind, trace.path(), message).at(Place::Row(rows + row as u64))
                };
                let Some(number) = number else {
                    let message =
                        "is not sorted by run, or has too many; `seekless trace merge` sorts it";
                    return Err(wrong(ErrorKind::Schema, message));
                };
                last_run = run;
                self.add_row(joined[batch.file()[row] as usize], number, &batch, row);
                if self.ranges > self.ranges_max {
                    let message = "reads more places than the trace has bytes; its rows are not those of a program";
                    return Err(wrong(ErrorKind::Limit, message));
                }
            }
            rows += batch.rows() as u64;
            progress(rows, trace.rows());
        }
        let used = if rows > 0 { last_run + 1 } else { 0 };
        let named = u32::try_from(trace.metadata().runs.len()).unwrap_or(RUNS_MAX);
        self.runs = self.runs.saturating_add(used.max(named.min(RUNS_MAX)));
        Ok(())
    }

    fn add_row(&mut self, file: FileId, run: u32, batch: &Batch, row: usize) {
        let file = &mut self.files[file as usize];
        let (op, bytes) = (batch.op()[row], batch.bytes()[row]);
        let when = When { run, time_ns: batch.time_ns()[row] };
        let seen = &mut file.seen;
        if seen.files == 0 {
            (seen.files, seen.first) = (1, when);
        }
        seen.first = seen.first.min(when);
        seen.last = seen.last.max(when);
        if op.is_call() {
            file.called_in = run + 1;
        }
        let error = batch.error().get(row);
        let worked = error.is_none();
        seen.count(op, worked);
        if let Some(error) = error {
            seen.fail(op, error);
        }
        if !matches!(op, Op::Load | Op::Release | Op::Fetch) {
            add(&mut seen.latency_ns, batch.latency_ns().get(row).unwrap_or(0));
        }
        if !worked {
            return;
        }
        let known = batch.file_bytes().get(row).or((op == Op::Load).then_some(bytes));
        seen.file_bytes = seen.file_bytes.max(known);
        if matches!(op, Op::Read | Op::Map | Op::Fault | Op::Load) && seen.order.is_none() {
            self.needed += 1;
            seen.order = Some(self.needed);
        }
        // A load's bytes count only if its run has no calls for the file. The calls come before it.
        if op == Op::Read || (op == Op::Load && file.called_in != run + 1) {
            add(&mut seen.read_bytes, bytes);
            let start = batch.offset()[row].max(0).unsigned_abs();
            let before = file.ranges.count();
            file.ranges.add(start, start.saturating_add(bytes));
            self.ranges = (self.ranges + file.ranges.count()).saturating_sub(before);
        } else if op == Op::Write {
            add(&mut seen.written_bytes, bytes);
        }
    }

    /// All files that occur in a row, in the order of their numbers.
    #[must_use]
    pub fn finish(self) -> Vec<FileUse> {
        let names = self.names.into_vec();
        let files = self.files.into_iter().zip(names).filter(|(file, _)| file.seen.files > 0);
        let finished = |(file, path): (Counted, _)| FileUse {
            path,
            unique_bytes: file.ranges.bytes(),
            ..file.seen
        };
        files.map(finished).collect()
    }
}

impl FileUse {
    fn count(&mut self, op: Op, worked: bool) {
        self.accesses += u64::from(!matches!(op, Op::Load | Op::Release | Op::Fetch));
        let count = match (op, worked) {
            (Op::Open, true) => &mut self.opens,
            (Op::Open, false) => &mut self.failed_opens,
            (Op::Stat, true) => &mut self.stats,
            (Op::Stat, false) => &mut self.failed_stats,
            (Op::Read, true) => &mut self.reads,
            (Op::Map, true) => &mut self.maps,
            (Op::Load, true) => &mut self.loads,
            _ => return,
        };
        *count += 1;
    }

    fn fail(&mut self, op: Op, error: i32) {
        if matches!(op, Op::Open | Op::Stat) && MISSING.contains(&error) {
            self.missing += 1;
        } else {
            *self.errors.entry(name_of(error)).or_default() += 1;
        }
    }

    /// Adds the figures of another file of the same folder.
    fn join(&mut self, other: &FileUse) {
        let FileUse { path: _, files, order, first, last, file_bytes, .. } = other;
        self.order = [self.order, *order].into_iter().flatten().min();
        self.first = if self.files == 0 { *first } else { self.first.min(*first) };
        self.last = self.last.max(*last);
        self.files += files;
        if let Some(bytes) = file_bytes {
            self.file_bytes = Some(self.file_bytes.unwrap_or(0).saturating_add(*bytes));
        }
        for (name, count) in &other.errors {
            add(self.errors.entry(name.clone()).or_default(), *count);
        }
        for (sum, value) in [
            (&mut self.accesses, other.accesses),
            (&mut self.opens, other.opens),
            (&mut self.failed_opens, other.failed_opens),
            (&mut self.stats, other.stats),
            (&mut self.failed_stats, other.failed_stats),
            (&mut self.missing, other.missing),
            (&mut self.reads, other.reads),
            (&mut self.maps, other.maps),
            (&mut self.loads, other.loads),
            (&mut self.read_bytes, other.read_bytes),
            (&mut self.unique_bytes, other.unique_bytes),
            (&mut self.written_bytes, other.written_bytes),
            (&mut self.latency_ns, other.latency_ns),
        ] {
            add(sum, value);
        }
    }
}

/// Sums up the files of each folder; folders deeper than `depth` count for their ancestor at that
/// depth.
#[must_use]
pub fn by_folder(files: &[FileUse], depth: usize) -> Vec<FileUse> {
    let mut folders: BTreeMap<&str, FileUse> = BTreeMap::new();
    for file in files {
        folders.entry(folder(&file.path, depth)).or_default().join(file);
    }
    let named = |(path, folder): (&str, FileUse)| {
        let path = if path.is_empty() { "./" } else { path };
        FileUse { path: path.to_owned(), ..folder }
    };
    folders.into_iter().map(named).collect()
}

/// The first `depth` folders of a path, with the slash behind them.
fn folder(path: &str, depth: usize) -> &str {
    let root = usize::from(path.starts_with('/'));
    let slashes = path.match_indices('/').map(|(at, _)| at + 1).skip(root).take(depth);
    &path[..slashes.last().unwrap_or(root)]
}

fn add(sum: &mut u64, value: u64) {
    *sum = sum.saturating_add(value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::scratch;
    use crate::{Access, Metadata, Writer};

    #[test]
    fn folders_end_at_their_depth() {
        for (path, depth, expected) in [
            ("/usr/lib/x.so", 1, "/usr/"),
            ("/usr/lib/x.so", 2, "/usr/lib/"),
            ("/usr/lib/x.so", 9, "/usr/lib/"),
            ("/x", 2, "/"),
            ("art/wall/x", 1, "art/"),
            ("x", 1, ""),
            ("/usr/lib/x.so", 0, "/"),
        ] {
            assert_eq!(folder(path, depth), expected, "{path} at {depth}");
        }
    }

    /// `a` is read twice over, `b` is missed and later loaded without calls, `c` is only asked
    /// about.
    fn counted(times: usize) -> Vec<FileUse> {
        let folder = scratch();
        let path = folder.path().join("run.parquet");
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        let [a, b, c] = ["d/a", "d/e/b", "c"].map(|name| writer.file(name));
        let rows = [
            Access { time_ns: 1, latency_ns: Some(9), error: Some(2), ..Access::new(Op::Open, b) },
            Access { time_ns: 2, latency_ns: Some(1), ..Access::new(Op::Stat, c) },
            Access {
                time_ns: 3,
                latency_ns: Some(5),
                file_bytes: Some(100),
                ..Access::new(Op::Open, a)
            },
            Access { time_ns: 3, bytes: 100, ..Access::new(Op::Load, a) },
            Access { time_ns: 4, bytes: 60, latency_ns: Some(7), ..Access::new(Op::Read, a) },
            Access { time_ns: 5, offset: 40, bytes: 60, ..Access::new(Op::Read, a) },
            Access { time_ns: 6, bytes: 8, ..Access::new(Op::Write, a) },
            Access { run: 1, time_ns: 1, bytes: 30, ..Access::new(Op::Load, b) },
        ];
        rows.into_iter().for_each(|row| writer.push(row).unwrap());
        writer.finish().unwrap();
        let mut count = FileCount::default();
        for _ in 0..times {
            count.add(&Trace::open(&path).unwrap(), &mut |_, _| {}).unwrap();
        }
        let mut files = count.finish();
        SortBy::Path.sort(&mut files);
        files
    }

    #[test]
    fn a_file_is_counted() {
        let [c, a, b] = &counted(1)[..] else { panic!("three files") };
        assert_eq!((c.path.as_str(), c.stats, c.order, c.latency_ns), ("c", 1, None, 1));
        assert_eq!((a.opens, a.reads, a.loads, a.accesses, a.order), (1, 2, 1, 4, Some(1)));
        assert_eq!((a.read_bytes, a.unique_bytes, a.written_bytes), (120, 100, 8));
        assert_eq!(
            (a.latency_ns, a.file_bytes, a.first.time_ns, a.last.time_ns),
            (12, Some(100), 3, 6)
        );
        assert_eq!((b.failed_opens, b.loads, b.read_bytes, b.order), (1, 1, 30, Some(2)));
        assert_eq!((b.first, b.last), (When { run: 0, time_ns: 1 }, When { run: 1, time_ns: 1 }));
    }

    #[test]
    fn runs_of_several_traces_number_on_and_files_are_joined() {
        let [_, a, b] = &counted(2)[..] else { panic!("three files") };
        assert_eq!((a.read_bytes, a.unique_bytes, a.order), (240, 100, Some(1)));
        assert_eq!((b.loads, b.last.run), (2, 3));
    }

    #[test]
    fn folders_add_up() {
        let mut folders = by_folder(&counted(1), 1);
        SortBy::Read.sort(&mut folders);
        let [d, top] = &folders[..] else { panic!("two folders") };
        assert_eq!((d.path.as_str(), d.files, d.read_bytes, d.unique_bytes), ("d/", 2, 150, 130));
        assert_eq!((d.order, d.failed_opens, d.first.time_ns, d.last.run), (Some(1), 1, 1, 1));
        assert_eq!((top.path.as_str(), top.files, top.stats), ("./", 1, 1));
    }

    #[test]
    fn every_word_sorts() {
        for name in SortBy::NAMES {
            let mut files = counted(1);
            name.parse::<SortBy>().unwrap().sort(&mut files);
            let first = match name {
                "path" | "stats" => "c",
                "failed" | "first" | "last" => {
                    if name == "last" {
                        "c"
                    } else {
                        "d/e/b"
                    }
                }
                _ => "d/a",
            };
            assert_eq!(files[0].path, first, "{name}");
        }
        assert!("shoe".parse::<SortBy>().is_err());
    }
}
