//! Turns rows into objects. Each read, write, fault or load is one request, identified by file and
//! offset, whatever its size.

use super::budget::Budget;
use super::joined::{Clock, REQUESTS_MAX, Row, Rows, read_rows};
use super::reading::{Lines, Reading};
use super::sequence::Requests;
use super::writes::Writes;
use crate::unit::Unit;
use crate::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_trace::{Columns, FileId, Op, Trace};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

const NONE: Id = Id::MAX;

pub(super) fn read(
    traces: &[PathBuf],
    reading: &Reading,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Requests> {
    let budget = Budget::new(reading.memory_bytes_max);
    let times = if reading.times { Columns::TIME_NS } else { Columns::NONE };
    let mut objects = Objects {
        raw: reading.lines == Lines::Raw,
        keeps_times: reading.times,
        budget,
        ..Objects::default()
    };
    read_rows(traces, &reading.import, times, false, &mut objects, progress)?;
    let mut requests = Requests::new(Unit::Object, objects.ids, objects.weights);
    (requests.writes, requests.unmapped) = (objects.writes, objects.unmapped);
    requests.times = objects.times;
    Ok(requests)
}

#[derive(Default)]
struct Objects {
    raw: bool,
    keeps_times: bool,
    ids: Vec<Id>,
    writes: Writes,
    times: Vec<u64>,
    clock: Clock,
    unmapped: u64,
    /// The largest size of each object in the trace.
    weights: Vec<u64>,
    /// The object at offset 0 of each file. In a trace of ids there are no others.
    starts: Vec<Id>,
    others: HashMap<(FileId, i64), Id>,
    budget: Budget,
}

impl Rows for Objects {
    fn next_trace(&mut self, _trace: &Trace, path: &Path) {
        self.clock.next_trace();
        self.budget.next_trace(path);
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        if !row.is_request {
            return Ok(());
        }
        self.check(row)?;
        self.push(row)
    }
}

impl Objects {
    /// Refuses a row that would take too much memory.
    fn check(&self, row: &Row<'_>) -> Result<()> {
        const OTHER_BYTES: usize = size_of::<((FileId, i64), Id)>() + 1;
        let request_bytes = size_of::<Id>() + if self.keeps_times { size_of::<u64>() } else { 0 };
        let array_bytes = request_bytes * (self.ids.len() + 1)
            + size_of::<u64>() * self.weights.len()
            + size_of::<Id>() * self.starts.len()
            + OTHER_BYTES * self.others.len();
        self.budget.check(array_bytes as u64, row.called_bytes, row.number, || {
            "is one request more".to_owned()
        })
    }

    fn push(&mut self, row: &Row<'_>) -> Result<()> {
        let Row { batch, at, .. } = *row;
        let (op, bytes) = (batch.op()[at], batch.bytes()[at]);
        let mut offset = batch.offset()[at];
        if offset < 0 {
            self.unmapped += 1;
            offset = 0;
        }
        if (batch.offset()[at] < 0 && !self.raw) || (bytes == 0 && op != Op::Load) {
            return Ok(());
        }
        if self.ids.len() as u64 >= REQUESTS_MAX {
            return Err(Error::new(
                ErrorKind::Limit,
                "the trace has more than 2^32 requests; cut it",
            ));
        }
        let id = self.number(row.file, offset);
        let weight = &mut self.weights[id as usize];
        *weight = bytes.max(*weight);
        if op == Op::Write {
            self.writes.set(self.ids.len());
        }
        self.ids.push(id);
        if self.keeps_times {
            self.times.push(self.clock.at(batch.run()[at], batch.time_ns()[at]));
        }
        Ok(())
    }

    fn number(&mut self, file: FileId, offset: i64) -> Id {
        if file as usize >= self.starts.len() {
            self.starts.resize(file as usize + 1, NONE);
        }
        let slot = match offset {
            0 => &mut self.starts[file as usize],
            _ => self.others.entry((file, offset)).or_insert(NONE),
        };
        if *slot == NONE {
            *slot = self.weights.len() as Id;
            self.weights.push(0);
        }
        *slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Metadata, Writer};

    fn write(folder: &Path, name: &str, accesses: &[(Op, &str, i64, u64)]) -> PathBuf {
        let path = folder.join(name);
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        for (time_ns, &(op, file, offset, bytes)) in accesses.iter().enumerate() {
            let file = writer.file(file);
            let access = Access { time_ns: time_ns as u64, offset, bytes, ..Access::new(op, file) };
            writer.push(access).unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn read_as(lines: Lines, traces: &[PathBuf]) -> Requests {
        read(traces, &Reading { lines, times: true, ..Reading::default() }, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn an_object_is_a_place_and_weighs_the_most_it_was_seen_with() {
        let folder = tempfile::tempdir().unwrap();
        let accesses = [
            (Op::Read, "a", 512, 100),
            (Op::Write, "a", 512, 300),
            (Op::Read, "a", 0, 9000),
            (Op::Read, "a", 0, 0),
            (Op::Load, "a", 0, 9000),
            (Op::Load, "empty", 0, 0),
        ];
        let requests = read_as(Lines::ByKind, &[write(folder.path(), "t", &accesses)]);
        assert_eq!(
            requests.ids(),
            [0, 0, 1, 2],
            "neither an empty read nor a load beside its calls is a request"
        );
        assert_eq!([0, 1, 2].map(|id| requests.weight(id)), [300, 9000, 0]);
        assert_eq!((requests.writes(), requests.is_write(1), requests.time(3)), (1, true, 5));
        assert!(!requests.offer().neighbours && !requests.offer().unit_weights);
        let unit = requests.with_unit_weights();
        assert_eq!((unit.distinct_weight(), unit.offer().unit_weights), (3, true));
    }

    #[test]
    fn what_lay_nowhere_is_left_out_unless_raw() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "t", &[(Op::Read, "a", 0, 1), (Op::Write, "a", -1, 1)]);
        let merged = read_as(Lines::Merged, std::slice::from_ref(&path));
        assert_eq!((merged.ids(), merged.unmapped()), (&[0][..], 1));
        let raw = read_as(Lines::Raw, &[path]);
        assert_eq!((raw.ids(), raw.unmapped()), (&[0, 0][..], 1));
    }

    #[test]
    fn objects_of_several_traces_are_joined_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let one = write(folder.path(), "one", &[(Op::Load, "a", 0, 1), (Op::Load, "b", 0, 5)]);
        let two = write(folder.path(), "two", &[(Op::Load, "b", 0, 1), (Op::Load, "a", 0, 2)]);
        let requests = read_as(Lines::ByKind, &[one, two]);
        assert_eq!(
            (requests.ids(), requests.weight(1), requests.weight(0)),
            (&[0, 1, 1, 0][..], 5, 2)
        );
    }
}
