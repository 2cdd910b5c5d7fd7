//! What a run of a trace did when, and how long its calls took: what a page of a trace shows.

use seekless_device::Latencies;
use seekless_job::{Error, ErrorKind, Result};
use seekless_trace::{Access, Op, Trace};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// Moments that are kept: a picture shows no more.
const MOMENTS_MAX: usize = 200_000;

/// A call that took as long has waited for a device: with its file cached it takes a few
/// microseconds.
pub const WAIT_NS: u64 = 100_000;

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// Its number.
    pub run: u32,
    /// The paths of the trace's files.
    pub files: Vec<String>,
    /// How many threads it has; a moment's thread is a number below.
    pub threads: u32,
    /// The longest calls, and touches of mapped files, by the time at which they began.
    pub moments: Vec<Moment>,
    /// The others: there are too many for a picture.
    pub left_out: u64,
    /// The time that those took together, in nanoseconds.
    pub left_out_ns: u64,
    /// How long calls took, by what they did. Touches are not timed.
    pub took: Vec<(Done, Latencies)>,
}

/// A call, or a touch of a mapped file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// How long it took, in nanoseconds; 0 if that is unknown.
    pub took_ns: u64,
    /// When it began, in nanoseconds from the run's start.
    pub time_ns: u64,
    /// The file, by its place in [`Seen::files`].
    pub file: u32,
    /// The thread.
    pub thread: u32,
    /// The bytes read, written or touched.
    pub bytes: u64,
    /// What it did.
    pub done: Done,
}

/// What a moment did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Done {
    /// It read, or loaded a whole file where the trace has no calls.
    Read,
    /// It looked a name up: an open, a stat or a listing.
    Name,
    /// It wrote or synced.
    Write,
    /// It touched a mapped file.
    Touch,
}

/// Looks at one run of a trace: the newest, unless `run` names one. `progress` is given the rows
/// done, and how many there are.
///
/// # Errors
/// The trace cannot be read.
pub fn see(trace: &Trace, run: Option<u32>, progress: &mut dyn FnMut(u64, u64)) -> Result<Seen> {
    let unreadable = |error| Error::because(ErrorKind::Trace, "the trace cannot be read", error);
    let newest = trace.metadata().runs.len().saturating_sub(1) as u32;
    let mut looking = Looking::new(run.unwrap_or(newest), trace.rows() as usize);
    for (number, row) in trace.accesses().map_err(unreadable)?.enumerate() {
        looking.row(&row.map_err(unreadable)?);
        if number % 65_536 == 0 {
            progress(number as u64, trace.rows());
        }
    }
    Ok(looking.finish(trace.file_names().map_err(unreadable)?))
}

/// Goes through the rows, and keeps the longest moments.
struct Looking {
    run: u32,
    threads: HashMap<u32, u32>,
    /// The shortest on top.
    longest: BinaryHeap<Reverse<Moment>>,
    /// Files that have calls: a load of one of them repeats what they read.
    called: HashSet<u32>,
    left_out: u64,
    left_out_ns: u64,
    took: [Latencies; 3],
}

impl Looking {
    fn new(run: u32, rows: usize) -> Self {
        Self {
            run,
            threads: HashMap::new(),
            longest: BinaryHeap::with_capacity(rows.min(MOMENTS_MAX) + 1),
            called: HashSet::new(),
            left_out: 0,
            left_out_ns: 0,
            took: Default::default(),
        }
    }

    fn row(&mut self, row: &Access) {
        if row.run != self.run {
            return;
        }
        if row.op.is_call() {
            self.called.insert(row.file);
        }
        let Some(done) = self.done(row) else { return };
        let timed = row.latency_ns.filter(|_| done != Done::Touch);
        if let Some(took_ns) = timed {
            self.took[done as usize].note(took_ns);
        }
        let next = self.threads.len() as u32;
        let thread = *self.threads.entry(row.tid).or_insert(next);
        let is_data = matches!(row.op, Op::Read | Op::Write | Op::Fault | Op::Load);
        self.keep(Moment {
            took_ns: timed.unwrap_or(0),
            time_ns: row.time_ns,
            file: row.file,
            thread,
            bytes: if is_data { row.bytes } else { 0 },
            done,
        });
    }

    fn done(&self, row: &Access) -> Option<Done> {
        Some(match row.op {
            Op::Read => Done::Read,
            Op::Load if !self.called.contains(&row.file) => Done::Read,
            Op::Open | Op::Stat | Op::List => Done::Name,
            Op::Write | Op::Sync => Done::Write,
            Op::Fault => Done::Touch,
            _ => return None,
        })
    }

    fn keep(&mut self, moment: Moment) {
        self.longest.push(Reverse(moment));
        if self.longest.len() > MOMENTS_MAX
            && let Some(Reverse(shortest)) = self.longest.pop()
        {
            self.left_out += 1;
            self.left_out_ns = self.left_out_ns.saturating_add(shortest.took_ns);
        }
    }

    fn finish(self, files: Vec<String>) -> Seen {
        let mut moments: Vec<Moment> =
            self.longest.into_iter().map(|Reverse(moment)| moment).collect();
        moments.sort_by_key(|moment| (moment.time_ns, moment.file, moment.thread));
        let took = [Done::Read, Done::Name, Done::Write].into_iter().zip(self.took);
        Seen {
            run: self.run,
            files,
            threads: self.threads.len() as u32,
            moments,
            left_out: self.left_out,
            left_out_ns: self.left_out_ns,
            took: took.filter(|(_, times)| times.count > 0).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(op: Op, file: u32, time_ns: u64, took_ns: u64) -> Access {
        Access {
            time_ns,
            latency_ns: Some(took_ns),
            bytes: 7,
            tid: 40 + file,
            ..Access::new(op, file)
        }
    }

    #[test]
    fn one_run_is_seen_by_time_and_a_load_of_a_file_with_calls_once() {
        let mut looking = Looking::new(1, 10);
        looking.row(&row(Op::Read, 0, 0, 9));
        let rows = [
            row(Op::Open, 3, 5, 20),
            row(Op::Fault, 4, 8, 30),
            row(Op::Load, 5, 1, 0),
            row(Op::Read, 3, 6, 10),
            row(Op::Load, 3, 5, 0),
            row(Op::Close, 3, 9, 99),
        ];
        rows.iter().for_each(|row| looking.row(&Access { run: 1, ..*row }));
        let seen = looking.finish(Vec::new());
        let found: Vec<_> = seen.moments.iter().map(|it| (it.file, it.done, it.took_ns)).collect();
        let expected =
            [(5, Done::Read, 0), (3, Done::Name, 20), (3, Done::Read, 10), (4, Done::Touch, 0)];
        assert_eq!(found, expected);
        assert_eq!((seen.threads, seen.moments[2].bytes, seen.moments[1].bytes), (3, 7, 0));
        let took: Vec<_> = seen.took.iter().map(|(done, times)| (*done, times.count)).collect();
        assert_eq!(took, [(Done::Read, 2), (Done::Name, 1)]);
    }

    #[test]
    fn of_too_many_the_longest_are_kept_and_the_others_are_summed() {
        let mut looking = Looking::new(0, 1);
        let rows = MOMENTS_MAX as u64 + 3;
        (0..rows).for_each(|time| looking.row(&row(Op::Read, 0, time, 10 + (time + 1) % rows)));
        let seen = looking.finish(Vec::new());
        assert_eq!((seen.moments.len(), seen.left_out), (MOMENTS_MAX, 3));
        assert_eq!(seen.left_out_ns, 10 + 11 + 12);
        assert!(seen.moments.is_sorted_by_key(|moment| moment.time_ns));
    }
}
