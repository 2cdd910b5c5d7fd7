//! Turns byte ranges into pages of 4 KiB. Each page of a read, write or fault is a request. A load
//! counts only where its run has no such calls for the file.

use super::budget::Budget;
use super::joined::{Clock, REQUESTS_MAX, Row, Rows, read_rows};
use super::reading::{Lines, Reading};
use super::sequence::{Requests, Sync};
use super::space::Space;
use super::writes::Writes;
use crate::unit::PAGE_BYTES;
use crate::{Error, ErrorKind, Result};
use seekless_device::units::counted;
use seekless_policy::cache::page_keys;
use seekless_policy::eviction::Id;
use seekless_trace::{Columns, FileId, Op, PageNumbers, Trace};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

pub(super) fn read(
    traces: &[PathBuf],
    reading: &Reading,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Requests> {
    let budget = Budget::new(reading.memory_bytes_max);
    let mut pager =
        Pager { lines: reading.lines, keeps_times: reading.times, budget, ..Pager::default() };
    let times = if reading.times { Columns::TIME_NS } else { Columns::NONE };
    let names = read_rows(traces, &reading.import, times, reading.names, &mut pager, progress)?;
    pager.finish(names)
}

#[derive(Default)]
struct Pager {
    lines: Lines,
    /// Whether the lines of this trace are merged.
    merges: bool,
    keeps_times: bool,
    numbers: PageNumbers,
    /// The file and page of each id.
    places: Vec<(FileId, u64)>,
    ids: Vec<Id>,
    writes: Writes,
    times: Vec<u64>,
    /// Syncs: the number of requests before each, and its file.
    syncs: Vec<(u64, FileId)>,
    clock: Clock,
    /// The last request, for merging.
    last: Option<(Id, bool)>,
    unmapped: u64,
    budget: Budget,
}

impl Rows for Pager {
    fn next_trace(&mut self, trace: &Trace, path: &Path) {
        self.merges = self.lines.merges(trace.metadata().kind);
        self.last = None;
        self.clock.next_trace();
        self.budget.next_trace(path);
    }

    fn budget(&self) -> &Budget {
        &self.budget
    }

    fn row(&mut self, row: &Row<'_>) -> Result<()> {
        if row.is_request {
            return self.request(row);
        }
        if row.batch.op()[row.at] == Op::Sync && row.batch.error().get(row.at).is_none() {
            self.check(0, row, || "is one flush more".to_owned())?;
            self.syncs.push((self.ids.len() as u64, row.file));
        }
        Ok(())
    }
}

impl Pager {
    fn request(&mut self, row: &Row<'_>) -> Result<()> {
        let Row { batch, at, .. } = *row;
        let (offset, bytes) = (batch.offset()[at], batch.bytes()[at]);
        self.unmapped += u64::from(offset < 0);
        if bytes == 0 || (offset < 0 && self.lines != Lines::Raw) {
            return Ok(());
        }
        let time =
            if self.keeps_times { self.clock.at(batch.run()[at], batch.time_ns()[at]) } else { 0 };
        // Rounds towards 0, so offset -1 is page 0.
        let offset = offset.max(0).unsigned_abs();
        let pages = touched(offset, bytes);
        let pages = pages.end() - pages.start() + 1;
        self.check(pages, row, || {
            format!(
                "{} from byte {offset} on take {}",
                counted(bytes, "byte"),
                counted(pages, "page")
            )
        })?;
        self.push(row.file, offset, bytes, batch.op()[at] == Op::Write, time)
    }

    /// Refuses a row that would take too much memory. All `pages` of it count as new; `what` says
    /// what the row asks for.
    fn check(&self, pages: u64, row: &Row<'_>, what: impl FnOnce() -> String) -> Result<()> {
        const ID_BYTES: u64 = size_of::<Id>() as u64;
        // Its file and page, its id, and later its key.
        const PAGE_BYTES_MAX: u64 = size_of::<(FileId, u64)>() as u64 + ID_BYTES + 8;
        let request_bytes = ID_BYTES + if self.keeps_times { 8 } else { 0 };
        let requests = (self.ids.len() as u64).saturating_add(pages).saturating_mul(request_bytes);
        let distinct =
            (self.places.len() as u64).saturating_add(pages).saturating_mul(PAGE_BYTES_MAX);
        let syncs = (self.syncs.len() as u64 + 1) * size_of::<Sync>() as u64;
        let array_bytes = requests.saturating_add(distinct).saturating_add(syncs);
        self.budget.check(
            array_bytes,
            self.numbers.memory_bytes() + row.called_bytes,
            row.number,
            what,
        )
    }

    /// Adds a request for each page that the range touches; `bytes` is not 0.
    fn push(
        &mut self,
        file: FileId,
        offset: u64,
        bytes: u64,
        write: bool,
        time: u64,
    ) -> Result<()> {
        let touched = touched(offset, bytes);
        let pages = touched.end() - touched.start() + 1;
        if self.numbers.len() as u64 + pages > REQUESTS_MAX
            || self.ids.len() as u64 + pages > REQUESTS_MAX
        {
            let message = "the trace touches more than 2^32 pages; cut it, or use --unit file";
            return Err(Error::new(ErrorKind::Limit, message));
        }
        for page in touched {
            let id = self.numbers.id(file, page);
            if id as usize == self.places.len() {
                self.places.push((file, page));
            }
            if self.merges && self.last == Some((id, write)) {
                continue;
            }
            self.last = Some((id, write));
            if write {
                self.writes.set(self.ids.len());
            }
            self.ids.push(id);
            if self.keeps_times {
                self.times.push(time);
            }
        }
        Ok(())
    }

    fn finish(self, names: Vec<String>) -> Result<Requests> {
        let mut space = Space::new(&self.places)?;
        space.names = names;
        let sync = |(position, file)| Sync { position, keys: page_keys::of_file(file) };
        let syncs = self.syncs.into_iter().map(sync).collect();
        let mut requests = Requests::from_pages(self.ids);
        (requests.writes, requests.times, requests.unmapped) =
            (self.writes, self.times, self.unmapped);
        (requests.syncs, requests.space) = (syncs, Some(space));
        Ok(requests)
    }
}

/// The pages that a range touches; `bytes` is not 0.
fn touched(offset: u64, bytes: u64) -> RangeInclusive<u64> {
    offset / PAGE_BYTES..=offset.saturating_add(bytes - 1) / PAGE_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::{Access, Kind, Metadata, Writer};

    fn write(folder: &Path, name: &str, accesses: &[(Op, &str, i64, u64)]) -> PathBuf {
        let path = folder.join(name);
        let mut writer = Writer::create(&path, Metadata::default()).unwrap();
        for (time_ns, &(op, file, offset, bytes)) in accesses.iter().enumerate() {
            let file = writer.file(file);
            let error = (bytes == 7).then_some(5);
            writer
                .push(Access {
                    time_ns: time_ns as u64,
                    offset,
                    bytes,
                    error,
                    ..Access::new(op, file)
                })
                .unwrap();
        }
        writer.finish().unwrap();
        path
    }

    fn pages(traces: &[PathBuf]) -> Vec<Id> {
        read(traces, &Reading::default(), &mut |_, _| {}).unwrap().ids().to_vec()
    }

    #[test]
    fn a_range_touches_each_page_it_overlaps() {
        let folder = tempfile::tempdir().unwrap();
        let accesses = [
            (Op::Read, "a", 4095, 2),
            (Op::Write, "a", 0, 4096),
            (Op::Read, "b", 8192, 1),
            (Op::Read, "b", 0, 0),
        ];
        assert_eq!(pages(&[write(folder.path(), "t", &accesses)]), [0, 1, 0, 2]);
    }

    #[test]
    fn a_load_counts_only_without_calls_and_failures_never() {
        let folder = tempfile::tempdir().unwrap();
        let accesses = [
            (Op::Load, "called", 0, 9000),
            (Op::Load, "mapped", 0, 5000),
            (Op::Map, "mapped", 0, 5000),
            (Op::Read, "called", 0, 100),
            (Op::Read, "mapped", 0, 7),
        ];
        assert_eq!(pages(&[write(folder.path(), "t", &accesses)]), [0, 1, 2]);
    }

    #[test]
    fn files_of_several_traces_are_joined_by_name() {
        let folder = tempfile::tempdir().unwrap();
        let one = write(folder.path(), "one", &[(Op::Read, "a", 0, 1), (Op::Read, "b", 0, 1)]);
        let two = write(folder.path(), "two", &[(Op::Read, "b", 0, 1), (Op::Read, "a", 0, 1)]);
        assert_eq!(pages(&[one, two]), [0, 1, 1, 0]);
    }

    #[test]
    fn an_absurd_range_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = write(folder.path(), "t", &[(Op::Load, "a", 0, u64::MAX)]);
        assert_eq!(
            read(&[path], &Reading::default(), &mut |_, _| {}).unwrap_err().kind(),
            ErrorKind::Limit
        );
    }

    #[test]
    fn a_range_beyond_the_memory_allowed_is_an_error_that_names_its_row() {
        let folder = tempfile::tempdir().unwrap();
        let path =
            write(folder.path(), "t", &[(Op::Read, "a", 0, 1), (Op::Read, "b", 8192, 1 << 60)]);
        let within = |bytes| {
            let reading = Reading { memory_bytes_max: Some(bytes), ..Reading::default() };
            read(std::slice::from_ref(&path), &reading, &mut |_, _| {})
        };
        for limit in [1 << 30, u64::MAX / 2] {
            let error = within(limit).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Limit);
            let said = error.to_string();
            let named = said.contains(
                "/t, row 1: 1,152,921,504,606,846,976 bytes from byte 8192 on take 281,474,976,710,656 pages",
            );
            assert!(named || limit > 1 << 30, "{said}");
        }
        let path = write(folder.path(), "few", &[(Op::Read, "a", 0, 1 << 20)]);
        let reading = Reading { memory_bytes_max: Some(1 << 20), ..Reading::default() };
        assert_eq!(read(&[path], &reading, &mut |_, _| {}).unwrap().len(), 256);
    }

    fn block_trace(folder: &Path) -> PathBuf {
        let path = folder.join("blocks");
        let metadata = Metadata { kind: Kind::Blocks, ..Metadata::default() };
        let mut writer = Writer::create(&path, metadata).unwrap();
        let disk = writer.file("disk");
        let rows =
            [(Op::Read, 9), (Op::Read, 10), (Op::Write, 11), (Op::Write, -1), (Op::Write, 12)];
        for (time_ns, (op, sector)) in rows.into_iter().enumerate() {
            let offset = if sector < 0 { -1 } else { sector * 512 };
            let access =
                Access { time_ns: time_ns as u64, offset, bytes: 512, ..Access::new(op, disk) };
            writer.push(access).unwrap();
        }
        writer.push(Access { time_ns: 9, ..Access::new(Op::Sync, disk) }).unwrap();
        writer.finish().unwrap();
        path
    }

    fn read_as(lines: Lines, path: &Path) -> Requests {
        let reading = Reading { lines, times: true, names: true, ..Reading::default() };
        read(&[path.to_owned()], &reading, &mut |_, _| {}).unwrap()
    }

    #[test]
    fn sector_lines_are_merged_or_raw() {
        let folder = tempfile::tempdir().unwrap();
        let path = block_trace(folder.path());
        for lines in [Lines::ByKind, Lines::Merged] {
            let merged = read_as(lines, &path);
            assert_eq!((merged.ids(), merged.writes(), merged.unmapped()), (&[0, 0][..], 1, 1));
            assert_eq!(merged.key(0), 1, "the page's number on the device");
        }
        let raw = read_as(Lines::Raw, &path);
        assert_eq!((raw.ids(), raw.writes(), raw.unmapped()), (&[0, 0, 0, 1, 0][..], 3, 1));
        assert_eq!((raw.key(1), raw.is_write(1), raw.is_write(4)), (0, false, true));
        assert_eq!((raw.time(3), raw.syncs()[0].position), (3, 5));
        assert!(raw.syncs()[0].keys.contains(&1));
    }

    #[test]
    fn time_runs_on_from_trace_to_trace() {
        let folder = tempfile::tempdir().unwrap();
        let path = block_trace(folder.path());
        let reading = Reading { lines: Lines::Raw, times: true, ..Reading::default() };
        let twice = read(&[path.clone(), path], &reading, &mut |_, _| {}).unwrap();
        assert_eq!(
            (0..10).map(|position| twice.time(position)).collect::<Vec<_>>(),
            [0, 1, 2, 3, 4, 4, 5, 6, 7, 8]
        );
    }
}
