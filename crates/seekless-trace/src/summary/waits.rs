//! The time that a run spent in calls on files, by file and by the kind of call.
//!
//! Where several threads are in calls at once, the time is shared among them, so that all shares
//! together are no more than the run took. It takes one pass; memory grows with the files, and with
//! the calls that are under way at one time.

use crate::error::Result;
use crate::{Access, Columns, FileId, Op, PageSet, Trace};
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};

const PAGE_BYTES: u64 = 4096;
/// A file is small if one window of the kernel's readahead holds it.
const SMALL_BYTES: u64 = 128 << 10;
/// ENOENT and ENOTDIR.
const NOT_THERE: [i32; 2] = [2, 20];

/// Kinds of calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum CallKind {
    /// Opens, stats and listings of what is there.
    Names,
    /// Opens and stats of names that are not there.
    MissingNames,
    /// Reads of files that one window of the kernel's readahead holds.
    SmallFiles,
    /// Reads of larger files.
    LargeFiles,
    /// Reads of what was read before.
    ReadAgain,
    /// Writes and syncs.
    Written,
    /// Maps. Touches of what they map are not timed.
    Maps,
}

/// Seconds, calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spent {
    /// Time in the calls, shared with others at the same time.
    pub seconds: f64,
    /// Calls.
    pub calls: u64,
    /// Bytes that they read or wrote.
    pub bytes: u64,
}

/// The calls on one file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileWaits {
    /// By kind.
    pub kinds: BTreeMap<CallKind, Spent>,
    /// When the first was entered, in nanoseconds from the run's start.
    pub first_ns: u64,
}

/// The time in calls of a trace whose rows have latencies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Waits {
    /// The path of each file, escaped as a trace's are.
    pub names: Vec<String>,
    /// The files that calls were made on.
    pub files: BTreeMap<FileId, FileWaits>,
    /// The time in which at least one call was under way, in seconds, of all runs.
    pub in_calls_s: f64,
}

impl Waits {
    /// Of all runs of a trace.
    ///
    /// # Errors
    /// The trace cannot be read.
    pub fn of(trace: &Trace) -> Result<Self> {
        let mut sharing = Sharing { sizes: sizes(trace)?, ..Sharing::default() };
        for row in trace.accesses()? {
            sharing.row(&row?);
        }
        sharing.end_run();
        let Sharing { files, in_calls_ns, .. } = sharing;
        Ok(Self { files, in_calls_s: in_calls_ns as f64 / 1e9, names: trace.file_names()? })
    }

    /// By kind, of all files.
    #[must_use]
    pub fn by_kind(&self) -> BTreeMap<CallKind, Spent> {
        let mut sums: BTreeMap<CallKind, Spent> = BTreeMap::new();
        for (kind, spent) in self.files.values().flat_map(|file| &file.kinds) {
            let sum = sums.entry(*kind).or_default();
            sum.seconds += spent.seconds;
            sum.calls += spent.calls;
            sum.bytes += spent.bytes;
        }
        sums
    }
}

/// The largest size that a row shows of each file: which files are small is known from the start.
fn sizes(trace: &Trace) -> Result<HashMap<FileId, u64>> {
    let mut sizes = HashMap::new();
    if !trace.columns()?.contains(Columns::FILE_BYTES) {
        return Ok(sizes);
    }
    for batch in trace.scan(Columns::FILE | Columns::FILE_BYTES)? {
        let batch = batch?;
        for row in 0..batch.rows() {
            if let Some(bytes) = batch.file_bytes().get(row) {
                let known = sizes.entry(batch.file()[row]).or_insert(bytes);
                *known = bytes.max(*known);
            }
        }
    }
    Ok(sizes)
}

/// A call that is under way.
#[derive(Clone, Copy, Debug)]
struct Call {
    file: FileId,
    kind: CallKind,
    /// The share of one that was under way from the run's start until this one was entered.
    share_before_ns: f64,
}

/// Goes through rows in the order of time.
#[derive(Default)]
struct Sharing {
    sizes: HashMap<FileId, u64>,
    read: PageSet,
    run: u32,
    files: BTreeMap<FileId, FileWaits>,
    in_calls_ns: u64,
    /// The share of one that was under way all the time.
    share_ns: f64,
    now_ns: u64,
    /// When calls are left, and their numbers.
    leaves: BinaryHeap<Reverse<(u64, u64)>>,
    under_way: HashMap<u64, Call>,
    next: u64,
}

impl Sharing {
    fn row(&mut self, row: &Access) {
        if row.run != self.run {
            self.end_run();
            self.run = row.run;
            self.read = PageSet::default();
        }
        let Some(latency_ns) = row.latency_ns.filter(|_| row.op.is_call()) else { return };
        let Some(kind) = self.kind(row) else { return };
        self.leave_until(row.time_ns);
        self.go_to(row.time_ns);
        let bytes = if matches!(row.op, Op::Read | Op::Write) { row.bytes } else { 0 };
        let fresh = || FileWaits { first_ns: row.time_ns, ..FileWaits::default() };
        let spent = self.files.entry(row.file).or_insert_with(fresh).kinds.entry(kind).or_default();
        (spent.calls, spent.bytes) = (spent.calls + 1, spent.bytes.saturating_add(bytes));
        let call = Call { file: row.file, kind, share_before_ns: self.share_ns };
        self.under_way.insert(self.next, call);
        self.leaves.push(Reverse((row.time_ns.saturating_add(latency_ns), self.next)));
        self.next += 1;
    }

    fn kind(&mut self, row: &Access) -> Option<CallKind> {
        Some(match row.op {
            Op::Open | Op::Stat if row.error.is_some_and(|error| NOT_THERE.contains(&error)) => {
                CallKind::MissingNames
            }
            Op::Open | Op::Stat | Op::List => CallKind::Names,
            Op::Write | Op::Sync => CallKind::Written,
            Op::Map => CallKind::Maps,
            Op::Read => {
                let first = u64::try_from(row.offset).unwrap_or(0);
                let end = first.saturating_add(row.bytes).div_ceil(PAGE_BYTES);
                let is_new =
                    row.bytes == 0 || self.read.add(row.file, first / PAGE_BYTES..end).is_some();
                match self.sizes.get(&row.file) {
                    _ if !is_new => CallKind::ReadAgain,
                    Some(bytes) if *bytes > SMALL_BYTES => CallKind::LargeFiles,
                    _ => CallKind::SmallFiles,
                }
            }
            _ => return None,
        })
    }

    /// Leaves the calls that have ended by then.
    fn leave_until(&mut self, until_ns: u64) {
        while let Some(&Reverse((leaves_ns, number))) = self.leaves.peek()
            && leaves_ns <= until_ns
        {
            self.leaves.pop();
            self.go_to(leaves_ns);
            let Some(call) = self.under_way.remove(&number) else { continue };
            let share_s = (self.share_ns - call.share_before_ns) / 1e9;
            let file = self.files.get_mut(&call.file);
            if let Some(spent) = file.and_then(|file| file.kinds.get_mut(&call.kind)) {
                spent.seconds += share_s.max(0.0);
            }
        }
    }

    fn go_to(&mut self, time_ns: u64) {
        let passed_ns = time_ns.saturating_sub(self.now_ns);
        if !self.under_way.is_empty() {
            self.share_ns += passed_ns as f64 / self.under_way.len() as f64;
            self.in_calls_ns += passed_ns;
        }
        self.now_ns = self.now_ns.max(time_ns);
    }

    fn end_run(&mut self) {
        self.leave_until(u64::MAX);
        (self.now_ns, self.share_ns) = (0, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;

    fn row(op: Op, file: FileId, from_s: u64, to_s: u64) -> Access {
        let latency_ns = Some((to_s - from_s) * S);
        Access { time_ns: from_s * S, latency_ns, bytes: 100, offset: 0, ..Access::new(op, file) }
    }

    fn waits(rows: &[Access], sizes: &[(FileId, u64)]) -> Sharing {
        let mut sharing = Sharing { sizes: sizes.iter().copied().collect(), ..Sharing::default() };
        rows.iter().for_each(|row| sharing.row(row));
        sharing.end_run();
        sharing
    }

    #[test]
    fn calls_at_one_time_share_it() {
        let rows = [row(Op::Read, 0, 0, 4), row(Op::Read, 1, 2, 4), row(Op::Read, 2, 9, 10)];
        let found = waits(&rows, &[]);
        let seconds = |file| found.files[&file].kinds[&CallKind::SmallFiles].seconds;
        assert_eq!([0, 1, 2].map(seconds), [3.0, 1.0, 1.0]);
        assert_eq!(found.in_calls_ns, 5 * S);
    }

    #[test]
    fn runs_follow_each_other_and_a_call_without_time_has_no_share() {
        let later = Access { run: 1, ..row(Op::Read, 0, 0, 2) };
        let found = waits(&[row(Op::Open, 0, 3, 3), row(Op::Read, 0, 5, 6), later], &[]);
        let kinds = &found.files[&0].kinds;
        assert_eq!((kinds[&CallKind::Names].seconds, kinds[&CallKind::Names].calls), (0.0, 1));
        assert_eq!(kinds[&CallKind::SmallFiles], Spent { seconds: 3.0, calls: 2, bytes: 200 });
    }

    #[test]
    fn each_call_is_of_the_kind_that_makes_it_slow() {
        let rows = [
            Access { error: Some(2), ..row(Op::Open, 0, 0, 1) },
            row(Op::Open, 0, 1, 2),
            row(Op::Read, 0, 2, 3),
            row(Op::Read, 0, 3, 4),
            row(Op::Sync, 0, 4, 5),
            row(Op::Close, 0, 5, 6),
            Access { latency_ns: None, ..row(Op::Stat, 0, 6, 7) },
        ];
        let found = waits(&rows, &[(0, 1 << 30)]);
        let kinds: Vec<CallKind> = found.files[&0].kinds.keys().copied().collect();
        let expected = [
            CallKind::Names,
            CallKind::MissingNames,
            CallKind::LargeFiles,
            CallKind::ReadAgain,
            CallKind::Written,
        ];
        assert_eq!(kinds, expected);
    }
}
