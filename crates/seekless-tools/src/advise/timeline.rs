//! What a recorded start did when, for a picture.

use super::advice::{Moment, Timeline, When};
use seekless_job::{Error, ErrorKind, Result};
use seekless_trace::summary::{CallKind, Spent};
use seekless_trace::{Access, Op, Trace};
use std::collections::{BTreeMap, HashMap};

/// Moments that are kept: a picture shows no more.
const MOMENTS_MAX: usize = 200_000;
/// A call that takes so many times as long as with its file cached has waited.
const TIMES_CACHED: f64 = 4.0;
/// What a call takes with its file cached, if none was seen, in seconds.
const CACHED_S: f64 = 20e-6;

/// The start that a trace holds. `cached` says what calls take with all files cached.
pub(super) fn of(trace: &Trace, cached: &BTreeMap<CallKind, Spent>) -> Result<Timeline> {
    let unreadable =
        |error| Error::because(ErrorKind::Trace, "the recording cannot be read", error);
    let files = trace.file_names().map_err(unreadable)?;
    let mut timeline = Timeline { files, ..Timeline::default() };
    let mut threads: HashMap<u32, u32> = HashMap::new();
    for row in trace.accesses().map_err(unreadable)? {
        let row = row.map_err(unreadable)?;
        let Some(what) = what(&row, cached) else { continue };
        if timeline.moments.len() == MOMENTS_MAX {
            timeline.left_out += 1;
            continue;
        }
        let is_data = matches!(row.op, Op::Read | Op::Write | Op::Fault);
        let next = threads.len() as u32;
        let thread = *threads.entry(row.tid).or_insert(next);
        timeline.moments.push(Moment {
            file: row.file,
            thread,
            start_s: row.time_ns as f64 / 1e9,
            seconds: row.latency_ns.unwrap_or(0) as f64 / 1e9,
            bytes: if is_data { row.bytes } else { 0 },
            what,
        });
    }
    timeline.threads = threads.len() as u32;
    Ok(timeline)
}

fn what(row: &Access, cached: &BTreeMap<CallKind, Spent>) -> Option<When> {
    let waited = |kinds: &[CallKind]| {
        let spent = kinds.iter().filter_map(|kind| cached.get(kind)).filter(|it| it.calls > 0);
        let each = spent.map(|spent| spent.seconds / spent.calls as f64).fold(CACHED_S, f64::max);
        row.latency_ns.is_some_and(|ns| ns as f64 / 1e9 > TIMES_CACHED * each)
    };
    let reads = [CallKind::SmallFiles, CallKind::LargeFiles, CallKind::ReadAgain];
    let names = [CallKind::Names, CallKind::MissingNames];
    Some(match row.op {
        Op::Read if waited(&reads) => When::WaitingRead,
        Op::Read => When::CachedRead,
        Op::Open | Op::Stat | Op::List if waited(&names) => When::WaitingName,
        Op::Open | Op::Stat | Op::List => When::KnownName,
        Op::Fault => When::Touch,
        Op::Write | Op::Sync => When::Written,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_take_much_longer_than_cached_ones_have_waited() {
        let spent = Spent { seconds: 0.001, calls: 10, bytes: 0 };
        let cached = [(CallKind::SmallFiles, spent)].into();
        let row = |op, ns| Access { latency_ns: Some(ns), ..Access::new(op, 0) };
        let found = |op, ns| what(&row(op, ns), &cached);
        assert_eq!(found(Op::Read, 300_000), Some(When::CachedRead), "100 µs each, cached");
        assert_eq!(found(Op::Read, 500_000), Some(When::WaitingRead));
        assert_eq!(found(Op::Stat, 500_000), Some(When::WaitingName));
        assert_eq!(found(Op::Stat, 50_000), Some(When::KnownName));
        assert_eq!(found(Op::Close, 500_000), None);
    }
}
