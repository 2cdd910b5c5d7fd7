//! What comes into the page cache for the program, as `fetch` rows. The kernel reports each piece
//! of memory by device, inode and page; pieces that follow each other become one row. The file's
//! name comes from an open of the program, or at the end from the touches of mapped files.

use super::{Traced, Tracer};
use crate::arch;
use crate::call::Call;
use crate::inspect::Found;
use crate::recorded::Fetches;
use crate::thread::Entry;
use hashbrown::HashMap;
use rustix::fs::{FileType, makedev};
use seekless_trace::{Access, FileId, Op};
use seekless_watch::call_events::{CallEvents, Fetch, Which};

const PAGE_BYTES: u64 = 4096;
/// Pieces further apart in time begin a new row.
const PAUSE_NS: u64 = 10_000_000;
/// How many ranges may wait for their names.
const UNNAMED_MAX: usize = 1 << 16;

/// A file that may be reported, by device and inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KnownFile {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    /// Its size, if that is known.
    pub(crate) bytes: Option<u64>,
    /// `None` if it is not recorded.
    pub(crate) file: Option<FileId>,
}

/// Pages of one file, for one thread, without a gap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    which: Which,
    /// Of the last piece.
    last_ns: u64,
    device: u64,
    inode: u64,
    first: u64,
    end: u64,
}

impl Range {
    fn of(which: Which, fetch: Fetch) -> Self {
        Self {
            which,
            last_ns: which.time_ns,
            device: makedev(fetch.device.0, fetch.device.1),
            inode: fetch.inode,
            first: fetch.page,
            end: fetch.page.saturating_add(fetch.pages),
        }
    }

    /// Takes in what follows. Returns whether it does.
    fn join(&mut self, next: &Range) -> bool {
        let follows = self.which.tid == next.which.tid
            && (self.device, self.inode, self.end) == (next.device, next.inode, next.first)
            && next.last_ns.saturating_sub(self.last_ns) < PAUSE_NS;
        if follows {
            (self.end, self.last_ns) = (next.end, next.last_ns);
        }
        follows
    }

    /// The row, at a time of the recording. A piece may go past the end of its file.
    fn row(&self, time_ns: u64, known: &KnownFile, file: FileId) -> Access {
        let start = self.first.saturating_mul(PAGE_BYTES);
        let end = self.end.saturating_mul(PAGE_BYTES);
        let end = known.bytes.filter(|bytes| *bytes > start).map_or(end, |bytes| end.min(bytes));
        Access {
            time_ns,
            pid: self.which.pid as u32,
            tid: self.which.tid as u32,
            offset: i64::try_from(start).unwrap_or(0),
            bytes: end - start,
            file_bytes: known.bytes,
            device: Some(self.device),
            inode: Some(self.inode),
            ..Access::new(Op::Fetch, file)
        }
    }

    fn bytes(&self) -> u64 {
        (self.end - self.first).saturating_mul(PAGE_BYTES)
    }
}

/// What came, and which files are known.
#[derive(Default)]
pub(super) struct Fetched {
    files: HashMap<(u64, u64), KnownFile, foldhash::fast::RandomState>,
    last: Option<Range>,
    /// With their times in the recording.
    unnamed: Vec<(u64, Range)>,
    /// Bytes of ranges for which there was no room.
    unnamed_bytes: u64,
}

impl Fetched {
    fn know(&mut self, known: KnownFile) {
        self.files.insert((known.device, known.inode), known);
    }

    fn known(&self, range: &Range) -> Option<KnownFile> {
        self.files.get(&(range.device, range.inode)).copied()
    }

    fn keep_unnamed(&mut self, time_ns: u64, range: Range) {
        if self.unnamed.len() < UNNAMED_MAX {
            self.unnamed.push((time_ns, range));
        } else {
            self.unnamed_bytes = self.unnamed_bytes.saturating_add(range.bytes());
        }
    }
}

impl Tracer {
    /// Begins, if it is asked for and reported.
    pub(super) fn begin_fetches(&mut self, events: &CallEvents) {
        if !self.settings.fetches {
            return;
        }
        self.summary.fetches = match events.sees_fetches() {
            Ok(()) => Fetches::Reported { rows: 0, bytes: 0, unnamed_bytes: 0 },
            Err(why) => Fetches::Refused(why),
        };
    }

    /// Notes an opened file.
    pub(super) fn note_fetchable(&mut self, found: &Found, entry: Entry) {
        if !self.settings.fetches {
            return;
        }
        let file = match entry {
            Entry::File(id) => Some(self.descriptions.get(id).file),
            Entry::LeftOut | Entry::Other => None,
        };
        let bytes = (found.kind == FileType::RegularFile).then_some(found.bytes);
        let known = KnownFile { device: found.device, inode: found.inode, bytes, file };
        self.fetched.get_or_insert_default().know(known);
    }

    pub(super) fn fetched(&mut self, which: Which, fetch: Fetch) {
        if self.is_written(&fetch) {
            return;
        }
        let range = Range::of(which, fetch);
        let fetched = self.fetched.get_or_insert_default();
        if fetched.last.as_mut().is_some_and(|last| last.join(&range)) {
            return;
        }
        if let Some(former) = fetched.last.replace(range) {
            self.add_fetched(former);
        }
    }

    /// Whether the pages are new because the call writes them: nothing is read for them, but for
    /// the parts of a page that it leaves as they are.
    fn is_written(&self, fetch: &Fetch) -> bool {
        let Some((number, foreign)) = fetch.call else { return false };
        let convention = if foreign { &arch::FOREIGN } else { &arch::NATIVE };
        let architecture = convention.audit;
        let writes = matches!(self.calls.get(architecture, number.into()), Some(Call::Write(_)));
        let reported = self.reported.as_ref();
        writes && reported.is_some_and(|reported| reported.is_inode(fetch.file, fetch.inode))
    }

    fn add_fetched(&mut self, range: Range) {
        let (Some(reported), Some(fetched)) = (&self.reported, &mut self.fetched) else { return };
        let time_ns = reported.elapsed_ns(range.which.time_ns);
        match fetched.known(&range) {
            Some(known) => {
                if let Some(file) = known.file {
                    self.emit(range.row(time_ns, &known, file));
                }
            }
            None => fetched.keep_unnamed(time_ns, range),
        }
    }

    pub(super) fn end_fetches(&mut self) {
        if let Some(last) = self.fetched.as_mut().and_then(|fetched| fetched.last.take()) {
            self.add_fetched(last);
        }
    }
}

impl Traced {
    /// Gives names to what came in for files that were mapped by others than a call, as programs
    /// are by their start, or opened later. Counts what still has none.
    pub(crate) fn name_fetches(&mut self, mapped: Vec<KnownFile>) {
        let Some(mut fetched) = self.unnamed.take() else { return };
        for known in mapped {
            fetched.files.entry((known.device, known.inode)).or_insert(known);
        }
        let mut rest = fetched.unnamed_bytes;
        for (time_ns, range) in std::mem::take(&mut fetched.unnamed) {
            match fetched.known(&range) {
                Some(KnownFile { file: None, .. }) => {}
                Some(known @ KnownFile { file: Some(file), .. }) => {
                    let row = range.row(time_ns, &known, file);
                    if self.sink.push(row) {
                        self.summary.accesses += 1;
                        self.summary.fetches.count(row.bytes);
                    }
                }
                None => rest = rest.saturating_add(range.bytes()),
            }
        }
        if let Fetches::Reported { unnamed_bytes, .. } = &mut self.summary.fetches {
            *unnamed_bytes = rest;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(tid: i32, time_ns: u64, first: u64, end: u64) -> Range {
        let which = Which { pid: 1, tid, time_ns };
        Range { which, last_ns: time_ns, device: 8, inode: 5, first, end }
    }

    #[test]
    fn pieces_that_follow_each_other_are_one_range() {
        let mut one = range(2, 100, 0, 4);
        assert!(one.join(&range(2, 200, 4, 8)));
        assert!(one.join(&range(2, PAUSE_NS, 8, 9)));
        assert_eq!((one.first, one.end, one.which.time_ns), (0, 9, 100));
        assert!(!one.join(&range(3, PAUSE_NS, 9, 10)), "another thread");
        assert!(!one.join(&range(2, PAUSE_NS, 10, 11)), "a gap");
        assert!(!one.join(&range(2, 2 * PAUSE_NS, 9, 10)), "later");
    }

    #[test]
    fn a_row_ends_with_its_file_unless_that_has_grown() {
        let known = |bytes| KnownFile { device: 8, inode: 5, bytes, file: Some(3) };
        let bytes = |size| range(2, 100, 1, 4).row(7, &known(size), 3).bytes;
        assert_eq!((bytes(Some(9000)), bytes(Some(100)), bytes(None)), (4904, 12_288, 12_288));
    }
}
