//! Turns rows into objects. Each read, write, fault or load is one request, identified by file and
//! offset, and asks for the size that the row has.

use super::budget::Budget;
use super::joined::{Clock, REQUESTS_MAX, Row, Rows, read_rows};
use super::reading::{Lines, Reading};
use super::removal::Removal;
use super::sequence::Requests;
use super::sizes::Changes;
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
    let times = if reading.times || reading.lifetimes { Columns::TIME_NS } else { Columns::NONE };
    let lifetimes = if reading.lifetimes { Columns::TTL_NS } else { Columns::NONE };
    let mut objects = Objects {
        raw: reading.lines == Lines::Raw,
        keeps_times: reading.times || reading.lifetimes,
        keeps_lifetimes: reading.lifetimes,
        budget,
        ..Objects::default()
    };
    read_rows(traces, &reading.import, times | lifetimes, false, &mut objects, progress)?;
    let sizes = objects.changes.of_each(&objects.ids, &mut objects.first.clone());
    let mut requests = Requests::new(Unit::Object, objects.ids, objects.first).with_sizes(sizes);
    (requests.writes, requests.unmapped) = (objects.writes, objects.unmapped);
    (requests.times, requests.removals) = (objects.times, objects.removals);
    if objects.ttls_ns.iter().any(|&ttl_ns| ttl_ns > 0) {
        requests.ttls_ns = objects.ttls_ns;
    }
    Ok(requests)
}

#[derive(Default)]
struct Objects {
    raw: bool,
    keeps_times: bool,
    keeps_lifetimes: bool,
    ids: Vec<Id>,
    writes: Writes,
    times: Vec<u64>,
    ttls_ns: Vec<u64>,
    clock: Clock,
    removals: Vec<Removal>,
    unmapped: u64,
    /// The size of each object at its first request, and at its last so far.
    first: Vec<u64>,
    last: Vec<u64>,
    changes: Changes,
    /// The object at offset 0 of each file. In a trace of ids there are no others.
    starts: Vec<Id>,
    others: HashMap<(FileId, i64), Id>,
    budget: Budget,
}

impl Rows for Objects {
    const REMOVES: bool = true;

    fn next_trace(&mut self, _trace: &Trace, path: &Path) {
        self.clock.next_trace();
        self.budget.next_trace(path);
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        if row.batch.op()[row.at] == Op::Remove && row.batch.error().get(row.at).is_none() {
            self.check(row)?;
            self.remove(row);
            return Ok(());
        }
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
        let kept = usize::from(self.keeps_times) + usize::from(self.keeps_lifetimes);
        let request_bytes = size_of::<Id>() + kept * size_of::<u64>();
        let array_bytes = request_bytes * (self.ids.len() + 1)
            + 2 * size_of::<u64>() * self.last.len()
            + self.changes.memory_bytes() as usize
            + size_of::<Removal>() * self.removals.len()
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
        let id = self.number(row.file, offset, bytes);
        let known = std::mem::replace(&mut self.last[id as usize], bytes);
        if known != bytes {
            self.changes.push(self.ids.len(), bytes);
        }
        if op == Op::Write {
            self.writes.set(self.ids.len());
        }
        self.ids.push(id);
        if self.keeps_times {
            self.times.push(self.clock.at(batch.run()[at], batch.time_ns()[at]));
        }
        if self.keeps_lifetimes {
            self.ttls_ns.push(batch.ttl_ns().get(at).unwrap_or(0));
        }
        Ok(())
    }

    /// Removes the object at a place, if a request was for it.
    fn remove(&mut self, row: &Row<'_>) {
        let found = match row.batch.offset()[row.at] {
            0 => self.starts.get(row.file as usize),
            offset => self.others.get(&(row.file, offset)),
        };
        let position = self.ids.len() as u32; // fewer than 2^32
        self.removals.extend(found.filter(|id| **id != NONE).map(|&id| Removal { position, id }));
    }

    /// The number of the object at a place. One that is new has this size.
    fn number(&mut self, file: FileId, offset: i64, bytes: u64) -> Id {
        if file as usize >= self.starts.len() {
            self.starts.resize(file as usize + 1, NONE);
        }
        let slot = match offset {
            0 => &mut self.starts[file as usize],
            _ => self.others.entry((file, offset)).or_insert(NONE),
        };
        if *slot == NONE {
            *slot = self.first.len() as Id;
            self.first.push(bytes);
            self.last.push(bytes);
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
    fn an_object_is_a_place_and_each_request_asks_for_its_own_size() {
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
        assert_eq!([0, 1, 2, 3].map(|at| requests.weight_at(at)), [100, 300, 9000, 0]);
        assert_eq!((requests.distinct_weight(), requests.sizes_change()), (9100, true));
        assert_eq!((requests.writes(), requests.is_write(1), requests.time(3)), (1, true, 5));
        assert!(!requests.offer().neighbours && !requests.offer().unit_weights);
        let unit = requests.with_unit_weights();
        assert_eq!((unit.distinct_weight(), unit.offer().unit_weights), (3, true));
    }

    #[test]
    fn removals_stand_between_requests_and_pages_count_them_as_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(
            folder.path(),
            "t",
            &[
                (Op::Remove, "a", 0, 0),
                (Op::Load, "a", 0, 5),
                (Op::Load, "b", 0, 5),
                (Op::Remove, "a", 0, 0),
                (Op::Load, "a", 0, 5),
            ],
        );
        let requests = read_as(Lines::ByKind, std::slice::from_ref(&path));
        let removals: Vec<_> =
            requests.each_removal().iter().map(|one| (one.position, one.id)).collect();
        assert_eq!((requests.ids(), &removals[..]), (&[0, 1, 0][..], &[(2, 0)][..]));
        for unit in [Unit::Page, Unit::File] {
            let reading = Reading { unit: Some(unit), ..Reading::default() };
            assert_eq!(
                reading.read(std::slice::from_ref(&path), &mut |_, _| {}).unwrap().removals(),
                0
            );
            assert_eq!(reading.import.left_out.so_far()["removal"], 2, "{unit}");
        }
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
        assert_eq!(requests.ids(), [0, 1, 1, 0]);
        assert_eq!([0, 1, 2, 3].map(|at| requests.weight_at(at)), [1, 5, 1, 2]);
    }
}
