//! What a recording has seen so far, for somebody who looks while it runs: which files are the
//! busiest. The thread that writes the spool counts, so the recorded program does not wait for it.

use hashbrown::HashMap;
use seekless_trace::{Access, FileId, Op};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time over which [`View::recent`] counts, in slices of a second.
const SLICE: Duration = Duration::from_secs(1);
const SLICES: usize = 5;
/// Files that are counted each by themselves; of more, only the sum is.
const FILES_MAX: usize = 1 << 20;

/// A recording that can be looked at: give one copy to [`Options`](crate::Options), and keep one.
#[derive(Clone, Debug, Default)]
pub struct Live(Arc<Mutex<Counts>>);

impl PartialEq for Live {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Live {}

/// What was done with a file, or with all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// Reads, and first touches of parts of a mapped file.
    pub reads: u64,
    /// Writes.
    pub writes: u64,
    /// The bytes of both.
    pub bytes: u64,
}

/// A file that is used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Busy {
    /// Its path, escaped as in a trace.
    pub path: String,
    /// In the last seconds.
    pub recent: Use,
    /// Since the start.
    pub all: Use,
}

/// What there is to see at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The time that `recent` covers.
    pub recent_time: Duration,
    /// Files that had a row.
    pub files: u64,
    /// Of all files in the last seconds.
    pub recent: Use,
    /// Of all files since the start.
    pub all: Use,
    /// The files with the most bytes in the last seconds; of those without, the ones with the most
    /// bytes since the start.
    pub busiest: Vec<Busy>,
}

#[derive(Debug)]
struct Counts {
    begun: Instant,
    names: Vec<String>,
    all: Vec<Use>,
    sum: Use,
    /// The last slices of time, the current one last.
    slices: VecDeque<HashMap<FileId, Use, foldhash::fast::RandomState>>,
    /// Slices that have ended.
    ended: u64,
}

impl Default for Counts {
    fn default() -> Self {
        Self {
            begun: Instant::now(),
            names: Vec::new(),
            all: Vec::new(),
            sum: Use::default(),
            slices: VecDeque::from([HashMap::default()]),
            ended: 0,
        }
    }
}

impl Use {
    fn add(&mut self, other: Use) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.bytes += other.bytes;
    }

    /// What one row counts.
    fn of(access: &Access) -> Self {
        match access.op {
            Op::Read | Op::Fault => Use { reads: 1, writes: 0, bytes: access.bytes },
            Op::Write => Use { reads: 0, writes: 1, bytes: access.bytes },
            _ => Use::default(),
        }
    }
}

impl Live {
    /// The view now, with at most `most` files.
    #[must_use]
    pub fn view(&self, most: usize) -> View {
        let mut counts = self.counts();
        counts.go_to(Instant::now());
        counts.view(most)
    }

    /// Counts rows, and the names of the files that are new in them.
    pub(crate) fn count(&self, names: &[String], rows: &[Access]) {
        let mut counts = self.counts();
        counts.go_to(Instant::now());
        counts.names.extend_from_slice(names);
        rows.iter().for_each(|access| counts.count(access.file, Use::of(access)));
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counts {
    /// Begins as many slices as time has passed.
    fn go_to(&mut self, now: Instant) {
        let due = now.duration_since(self.begun).as_secs() / SLICE.as_secs();
        for _ in 0..due.saturating_sub(self.ended).min(SLICES as u64) {
            self.slices.push_back(HashMap::default());
        }
        self.ended = due.max(self.ended);
        let surplus = self.slices.len().saturating_sub(SLICES);
        self.slices.drain(..surplus);
    }

    fn count(&mut self, file: FileId, used: Use) {
        self.sum.add(used);
        let at = file as usize;
        if at >= FILES_MAX {
            return;
        }
        if self.all.len() <= at {
            self.all.resize(at + 1, Use::default());
        }
        self.all[at].add(used);
        if let Some(slice) = self.slices.back_mut().filter(|_| used != Use::default()) {
            slice.entry(file).or_default().add(used);
        }
    }

    fn view(&self, most: usize) -> View {
        let mut recent: HashMap<FileId, Use, foldhash::fast::RandomState> = HashMap::default();
        let mut sum = Use::default();
        for (file, used) in self.slices.iter().flatten() {
            recent.entry(*file).or_default().add(*used);
            sum.add(*used);
        }
        let recent_of = |file: FileId| recent.get(&file).copied().unwrap_or_default();
        let mut files: Vec<FileId> = (0..self.all.len() as FileId)
            .filter(|file| self.all[*file as usize] != Use::default())
            .collect();
        let rank = |file: &FileId| {
            let (recent, all) = (recent_of(*file), self.all[*file as usize]);
            std::cmp::Reverse((recent.bytes, recent.reads + recent.writes, all.bytes))
        };
        if files.len() > most {
            files.select_nth_unstable_by_key(most, rank);
            files.truncate(most);
        }
        files.sort_by_key(|file| (rank(file), *file));
        let busy = |file: FileId| Busy {
            path: self.names.get(file as usize).cloned().unwrap_or_default(),
            recent: recent_of(file),
            all: self.all[file as usize],
        };
        View {
            recent_time: SLICE * self.slices.len() as u32,
            files: self.names.len() as u64,
            recent: sum,
            all: self.sum,
            busiest: files.into_iter().map(busy).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(rows: &[(FileId, Op, u64)]) -> Counts {
        let mut counts = Counts { names: vec!["/a".into(), "/b".into()], ..Counts::default() };
        for (file, op, bytes) in rows {
            counts.count(*file, Use::of(&Access { bytes: *bytes, ..Access::new(*op, *file) }));
        }
        counts
    }

    #[test]
    fn what_was_used_last_comes_first_and_ages() {
        let mut counts = counts(&[(0, Op::Read, 9000), (0, Op::Open, 0)]);
        counts.go_to(counts.begun + Duration::from_secs(3));
        counts.count(1, Use { reads: 1, writes: 1, bytes: 10_000 });
        let view = counts.view(9);
        let paths = |view: &View| view.busiest.iter().map(|it| it.path.clone()).collect::<Vec<_>>();
        assert_eq!(paths(&view), ["/b", "/a"]);
        assert_eq!(view.recent, Use { reads: 2, writes: 1, bytes: 19_000 });
        assert_eq!(view.recent_time, Duration::from_secs(4));
        counts.go_to(counts.begun + Duration::from_secs(6));
        assert_eq!(counts.view(9).recent.bytes, 10_000, "the first slice is too old");
        assert_eq!(paths(&counts.view(1)), ["/b"]);
        counts.go_to(counts.begun + Duration::from_secs(1000));
        let view = counts.view(9);
        assert_eq!((view.recent, view.all.bytes), (Use::default(), 19_000));
        assert_eq!(paths(&view), ["/b", "/a"], "the most bytes since the start");
    }

    #[test]
    fn files_that_were_only_opened_are_counted_but_not_busy() {
        let view = counts(&[(1, Op::Open, 0), (0, Op::Fault, 4096)]).view(9);
        assert_eq!((view.files, view.busiest.len()), (2, 1));
        assert_eq!(view.busiest[0].all, Use { reads: 1, writes: 0, bytes: 4096 });
    }
}
