//! Splits the time that a recorded run spent in calls by cause and by file.
//!
//! Where several threads wait at once, the time is shared among them: so all shares together are no
//! more than the run took. What a call costs without any wait is known from a recording with all
//! files cached, and is subtracted.

use super::advice::Cause;
use seekless_job::{Error, ErrorKind, Result};
use seekless_trace::{Access, FileId, Op, PageSet, Trace};
use std::collections::{BTreeMap, HashMap};

const PAGE_BYTES: u64 = 4096;
/// A file is small if one window of the kernel's readahead holds it.
const SMALL_BYTES: u64 = 128 << 10;
/// ENOENT and ENOTDIR.
const NOT_THERE: [i32; 2] = [2, 20];

/// Seconds, calls and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Spent {
    pub(super) seconds: f64,
    pub(super) calls: u64,
    pub(super) bytes: u64,
}

/// What was spent at one file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct AtFile {
    pub(super) causes: BTreeMap<Cause, Spent>,
    pub(super) first_ns: u64,
}

/// What a run spent in calls.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Waits {
    pub(super) names: Vec<String>,
    pub(super) files: BTreeMap<FileId, AtFile>,
}

impl Waits {
    /// Of the newest run of a recording.
    pub(super) fn of(trace: &Trace) -> Result<Self> {
        let unreadable =
            |error| Error::because(ErrorKind::Trace, "the recording cannot be read", error);
        let rows = trace.accesses().map_err(unreadable)?;
        let rows: Vec<Access> = rows.collect::<seekless_trace::Result<_>>().map_err(unreadable)?;
        let names = trace.file_names().map_err(unreadable)?;
        Ok(Self { files: by_file(&rows), names })
    }

    /// By cause, of all files.
    pub(super) fn by_cause(&self) -> BTreeMap<Cause, Spent> {
        let mut sums: BTreeMap<Cause, Spent> = BTreeMap::new();
        for (cause, spent) in self.files.values().flat_map(|file| &file.causes) {
            let sum = sums.entry(*cause).or_default();
            sum.seconds += spent.seconds;
            sum.calls += spent.calls;
            sum.bytes += spent.bytes;
        }
        sums
    }

    /// What remains of it if each call costs what it cost with all files cached, by cause.
    pub(super) fn less(&mut self, cached: &Self) {
        let each: BTreeMap<Cause, f64> = cached
            .by_cause()
            .into_iter()
            .map(|(cause, spent)| (cause, spent.seconds / spent.calls.max(1) as f64))
            .collect();
        for (cause, spent) in self.files.values_mut().flat_map(|file| &mut file.causes) {
            let own = each.get(cause).copied().unwrap_or(0.0) * spent.calls as f64;
            spent.seconds = (spent.seconds - own).max(0.0);
        }
    }
}

/// A call that took time.
struct Call {
    file: FileId,
    cause: Cause,
    bytes: u64,
    enters_ns: u64,
    leaves_ns: u64,
}

fn by_file(rows: &[Access]) -> BTreeMap<FileId, AtFile> {
    let calls = calls(rows);
    let mut files: BTreeMap<FileId, AtFile> = BTreeMap::new();
    for (call, seconds) in calls.iter().zip(shares(&calls)) {
        let file = files
            .entry(call.file)
            .or_insert_with(|| AtFile { first_ns: call.enters_ns, ..AtFile::default() });
        file.first_ns = file.first_ns.min(call.enters_ns);
        let spent = file.causes.entry(call.cause).or_default();
        spent.seconds += seconds;
        spent.calls += 1;
        spent.bytes += call.bytes;
    }
    files
}

fn calls(rows: &[Access]) -> Vec<Call> {
    let mut read = PageSet::default();
    let mut sizes: HashMap<FileId, u64> = HashMap::new();
    for row in rows {
        if let Some(bytes) = row.file_bytes {
            sizes.insert(row.file, bytes);
        }
    }
    let calls = rows.iter().filter(|row| row.op.is_call()).filter_map(|row| {
        let cause = cause(row, sizes.get(&row.file).copied(), &mut read)?;
        let leaves_ns = row.time_ns.saturating_add(row.latency_ns?);
        let bytes = if matches!(row.op, Op::Read | Op::Write) { row.bytes } else { 0 };
        Some(Call { file: row.file, cause, bytes, enters_ns: row.time_ns, leaves_ns })
    });
    calls.collect()
}

fn cause(row: &Access, file_bytes: Option<u64>, read: &mut PageSet) -> Option<Cause> {
    Some(match row.op {
        Op::Open | Op::Stat if row.error.is_some_and(|error| NOT_THERE.contains(&error)) => {
            Cause::MissingNames
        }
        Op::Open | Op::Stat | Op::List => Cause::Names,
        Op::Write | Op::Sync => Cause::Written,
        Op::Map => Cause::Mapped,
        Op::Read => {
            let offset = u64::try_from(row.offset).unwrap_or(0);
            let pages = offset / PAGE_BYTES..offset.saturating_add(row.bytes).div_ceil(PAGE_BYTES);
            let is_new = row.bytes == 0 || read.add(row.file, pages).is_some();
            match file_bytes {
                _ if !is_new => Cause::ReadAgain,
                Some(bytes) if bytes > SMALL_BYTES => Cause::LargeFiles,
                _ => Cause::SmallFiles,
            }
        }
        _ => return None,
    })
}

/// The seconds of each call, where the time in which several wait is shared among them.
fn shares(calls: &[Call]) -> Vec<f64> {
    let mut moments: Vec<(u64, bool, usize)> = Vec::with_capacity(2 * calls.len());
    for (number, call) in calls.iter().enumerate() {
        moments.push((call.enters_ns, true, number));
        moments.push((call.leaves_ns.max(call.enters_ns), false, number));
    }
    // At one moment calls are left before others are entered, but for one that takes no time.
    moments.sort_by_key(|&(at_ns, enters, number)| {
        (at_ns, enters && calls[number].leaves_ns > at_ns, number)
    });
    let mut shares = vec![0.0; calls.len()];
    // The share of one that waited all the time.
    let (mut sum_ns, mut waiting, mut before_ns) = (0.0, 0_u64, 0);
    for (at_ns, enters, number) in moments {
        if waiting > 0 {
            sum_ns += (at_ns - before_ns) as f64 / waiting as f64;
        }
        before_ns = at_ns;
        match enters {
            true => {
                shares[number] -= sum_ns;
                waiting += 1;
            }
            false => {
                shares[number] += sum_ns;
                waiting = waiting.saturating_sub(1);
            }
        }
    }
    shares.into_iter().map(|ns: f64| ns.max(0.0) / 1e9).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(file: FileId, enters_ns: u64, leaves_ns: u64) -> Call {
        Call { file, cause: Cause::SmallFiles, bytes: 10, enters_ns, leaves_ns }
    }

    #[test]
    fn calls_that_wait_at_once_share_the_time() {
        let s = 1_000_000_000;
        let found = shares(&[call(0, 0, 4 * s), call(1, 2 * s, 4 * s), call(2, 9 * s, 10 * s)]);
        assert_eq!(found, [3.0, 1.0, 1.0]);
        assert_eq!(shares(&[call(0, 5, 5), call(1, 5, 5)]), [0.0, 0.0]);
    }

    #[test]
    fn each_call_has_the_cause_that_made_it_wait() {
        let row = |op, time_ns| Access {
            time_ns,
            latency_ns: Some(1000),
            bytes: 100,
            offset: 0,
            ..Access::new(op, 0)
        };
        let rows = [
            Access { error: Some(2), ..row(Op::Open, 0) },
            row(Op::Open, 2000),
            Access { file_bytes: Some(300), ..row(Op::Read, 4000) },
            row(Op::Read, 6000),
            row(Op::Sync, 8000),
            Access { file_bytes: Some(1 << 30), ..row(Op::Close, 9000) },
            row(Op::Load, 9000),
        ];
        let causes = |rows: &[Access]| {
            by_file(rows)[&0].causes.iter().map(|(cause, spent)| (*cause, spent.calls)).collect()
        };
        let found: Vec<(Cause, u64)> = causes(&rows);
        let expected = [
            (Cause::Names, 1),
            (Cause::MissingNames, 1),
            (Cause::LargeFiles, 1),
            (Cause::ReadAgain, 1),
            (Cause::Written, 1),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn what_calls_cost_with_all_files_cached_is_no_wait() {
        let spent = |seconds, calls| Spent { seconds, calls, bytes: 0 };
        let waits = |spent| {
            let file = AtFile { causes: [(Cause::Names, spent)].into(), first_ns: 0 };
            Waits { names: vec!["/a".into()], files: [(0, file)].into() }
        };
        let mut cold = waits(spent(5.0, 10));
        cold.less(&waits(spent(2.0, 20)));
        assert_eq!(cold.by_cause()[&Cause::Names], spent(4.0, 10));
    }
}
