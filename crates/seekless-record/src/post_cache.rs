//! What reaches the disks while the program runs: the view behind the page cache. The block layer
//! reports each request; a thread of ours pairs its start with its end, and writes a row.
//!
//! The view is of the whole machine. Write-backs belong to no program, so a row has the process
//! that ran when the request was issued, which may be the kernel's.

use crate::error::{Error, ErrorKind, Result};
use hashbrown::{HashMap, HashSet};
use rustix::fs::makedev;
use seekless_sys::block::OnDisk;
use seekless_sys::output::Destination;
use seekless_trace::{Access, Columns, Kind, Metadata, Op, RunInfo, Trace, View, Writer};
use seekless_watch::block_events::{BlockEvent, BlockEvents, BlockOp, BlockRequest, Happened};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

const SECTOR_BYTES: u64 = 512;
/// How long records may wait in a ring that is not a quarter full.
const PATIENCE: Duration = Duration::from_millis(50);
/// A record reaches its ring well within this time after the moment that it names.
const LATE_NS: u64 = 5_000_000;

/// The view behind the page cache, in figures.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostCache {
    /// It was written.
    Written {
        /// Rows.
        rows: u64,
        /// Requests that give sectors back, and commands, which have no rows.
        others: u64,
        /// Records of the kernel for which there was no room.
        lost: u64,
    },
    /// No request reached the devices of the program's files, so there is no file.
    Nothing,
    /// It could not be had, for this reason.
    Refused(String),
}

/// A disk's number.
pub(crate) type Disk = (u32, u32);

/// A thread that follows the block layer.
pub(crate) struct Follower {
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<Seen>>>,
    folder: tempfile::TempDir,
}

/// What was seen.
#[derive(Default)]
struct Seen {
    others: u64,
    lost: u64,
}

impl Follower {
    /// Follows from now on; times count from now. Until the end, rows are kept in `folder`.
    ///
    /// # Errors
    /// The kernel refuses it, or there is no thread or room for a file.
    pub(crate) fn start(folder: &Path) -> io::Result<Self> {
        let events = BlockEvents::follow()?;
        let folder = tempfile::tempdir_in(folder)?;
        let path = folder.path().join("all.parquet");
        let writer = Writer::create(&path, Metadata::default()).map_err(io::Error::other)?;
        let ending = Arc::new(AtomicBool::new(false));
        let theirs = Arc::clone(&ending);
        let requests = Requests::new(crate::faults::now_ns(), writer);
        let thread = std::thread::Builder::new()
            .name("seekless-blocks".into())
            .spawn(move || requests.follow(events, &theirs))?;
        Ok(Self { ending, thread: Some(thread), folder })
    }

    /// Takes the last records, and writes what happened on `disks` to `out`; if there are none,
    /// what happened on all.
    pub(crate) fn finish(
        mut self,
        disks: &HashSet<Disk>,
        run: RunInfo,
        out: &Destination,
    ) -> Result<PostCache> {
        self.ending.store(true, Ordering::Release);
        let panicked = || Error::new(ErrorKind::Io, "the thread that follows the disks panicked");
        let thread = self.thread.take().ok_or_else(panicked)?;
        let Seen { others, lost } = thread.join().map_err(|_| panicked())??;
        let all = Trace::open(&self.folder.path().join("all.parquet")).map_err(unwritten)?;
        let source = "seekless record: the block layer's requests of the whole machine";
        let run = RunInfo { source: source.into(), ..run };
        let view = Some(View::PostCache);
        let metadata =
            Metadata { kind: Kind::Blocks, view, lost, runs: vec![run], ..Metadata::default() };
        let rows = keep(&all, disks, metadata, out).map_err(unwritten)?;
        Ok(if rows == 0 { PostCache::Nothing } else { PostCache::Written { rows, others, lost } })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::Release); // the thread ends within its patience
    }
}

/// Copies the rows of some disks. Returns how many there were.
fn keep(
    all: &Trace,
    disks: &HashSet<Disk>,
    metadata: Metadata,
    out: &Destination,
) -> seekless_trace::Result<u64> {
    let names = all.file_names()?;
    let mut writer = Writer::create(out, metadata)?;
    let mut rows = 0;
    for batch in all.scan(Columns::ALL)? {
        let batch = batch?;
        for access in (0..batch.rows()).filter_map(|row| batch.access(row)) {
            let device = access.device.unwrap_or(0);
            let disk = (rustix::fs::major(device), rustix::fs::minor(device));
            if disks.is_empty() || disks.contains(&disk) {
                let file = writer.file(&names[access.file as usize]);
                writer.push(Access { file, ..access })?;
                rows += 1;
            }
        }
    }
    if rows > 0 {
        writer.finish()?;
    }
    Ok(rows)
}

fn unwritten(error: seekless_trace::Error) -> Error {
    Error::new(ErrorKind::Trace, "the view behind the page cache cannot be written").because(error)
}

/// Pairs the starts of requests with their ends.
struct Requests {
    started_ns: u64,
    writer: Writer,
    names: HashMap<Disk, String>,
    /// Requests that have not ended, by disk, first sector and kind.
    open: HashMap<(Disk, u64, BlockOp), Access>,
    seen: Seen,
}

impl Requests {
    fn new(started_ns: u64, writer: Writer) -> Self {
        let (names, open) = (HashMap::new(), HashMap::new());
        Self { started_ns, writer, names, open, seen: Seen::default() }
    }

    fn follow(mut self, mut events: BlockEvents, ending: &AtomicBool) -> Result<Seen> {
        let mut pending: Vec<BlockEvent> = Vec::new();
        loop {
            let last = ending.load(Ordering::Acquire); // what is drained after it is all
            if !last && events.wait(PATIENCE).is_err() {
                std::thread::sleep(PATIENCE);
            }
            let known_ns = crate::faults::now_ns().saturating_sub(LATE_NS);
            events.drain(&mut pending);
            pending.sort_by_key(|event| event.time_ns); // stable: a ring's records are in order
            let until_ns = if last { u64::MAX } else { known_ns };
            let ready = pending.partition_point(|event| event.time_ns <= until_ns);
            for event in pending.drain(..ready) {
                self.happened(event).map_err(unwritten)?;
            }
            if last {
                return self.finish().map_err(unwritten);
            }
        }
    }

    fn happened(&mut self, event: BlockEvent) -> seekless_trace::Result<()> {
        match event.what {
            Happened::Issued(request) => self.issued(event, request),
            Happened::Completed { request, error } => self.completed(event, request, error),
            Happened::Requeued(request) => {
                // What the driver gave back has its row when it is issued again.
                self.open.remove(&(request.disk, request.sector, request.kind));
                Ok(())
            }
            Happened::Lost { records } => {
                self.seen.lost += records;
                Ok(())
            }
        }
    }

    fn issued(&mut self, event: BlockEvent, request: BlockRequest) -> seekless_trace::Result<()> {
        let op = match request.kind {
            BlockOp::Read => Op::Read,
            BlockOp::Write => Op::Write,
            BlockOp::Flush => Op::Sync,
            BlockOp::Discard | BlockOp::Other => {
                self.seen.others += 1;
                return Ok(());
            }
        };
        let name = self.names.entry(request.disk).or_insert_with(|| name(request.disk));
        let offset = i64::try_from(request.sector.saturating_mul(SECTOR_BYTES)).unwrap_or(0);
        let access = Access {
            time_ns: event.time_ns.saturating_sub(self.started_ns),
            pid: event.pid,
            tid: event.tid,
            offset: if op == Op::Sync { 0 } else { offset },
            bytes: u64::from(request.sectors) * SECTOR_BYTES,
            device: Some(makedev(request.disk.0, request.disk.1)),
            ..Access::new(op, self.writer.file(name))
        };
        // The older one's end was lost, or two programs ask for the same: each is a row of its own.
        match self.open.insert((request.disk, request.sector, request.kind), access) {
            Some(older) => self.writer.push(older),
            None => Ok(()),
        }
    }

    fn completed(
        &mut self,
        event: BlockEvent,
        request: BlockRequest,
        error: i32,
    ) -> seekless_trace::Result<()> {
        // A request in several parts ends for us with the first.
        let Some(access) = self.open.remove(&(request.disk, request.sector, request.kind)) else {
            return Ok(());
        };
        let end_ns = event.time_ns.saturating_sub(self.started_ns);
        let failed = error != 0;
        self.writer.push(Access {
            latency_ns: Some(end_ns.saturating_sub(access.time_ns)),
            error: failed.then_some(error.saturating_abs()),
            bytes: if failed { 0 } else { access.bytes },
            ..access
        })
    }

    /// Requests that have not ended yet have no latency.
    fn finish(mut self) -> seekless_trace::Result<Seen> {
        for (_, access) in self.open {
            self.writer.push(access)?;
        }
        self.writer.finish()?;
        Ok(self.seen)
    }
}

fn name(disk: Disk) -> String {
    OnDisk::find(disk).map_or_else(|| format!("{}:{}", disk.0, disk.1), |found| found.disk)
}

/// The disks that do the I/O of these devices.
pub(crate) fn disks(devices: impl Iterator<Item = u64>) -> HashSet<Disk> {
    let devices: HashSet<u64> = devices.collect();
    let number = |device: u64| (rustix::fs::major(device), rustix::fs::minor(device));
    let found = devices.into_iter().filter_map(|device| OnDisk::find(number(device)));
    found.flat_map(|device| device.bottom).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A driver without room for a request gives it back, and gets it again.
    #[test]
    fn what_is_issued_again_is_one_row_and_two_that_ask_for_the_same_are_two() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("all.parquet");
        let writer = Writer::create(&path, Metadata::default()).unwrap();
        let mut requests = Requests::new(1_000, writer);
        let read = |sector| BlockRequest { disk: (7, 1), sector, sectors: 8, kind: BlockOp::Read };
        let done = |sector| Happened::Completed { request: read(sector), error: 0 };
        let happened = [
            Happened::Issued(read(0)),
            Happened::Requeued(read(0)),
            Happened::Issued(read(0)),
            done(0),
            Happened::Issued(read(64)),
            Happened::Issued(read(64)),
            done(64),
        ];
        for (time_ns, what) in (2_000..).zip(happened) {
            requests.happened(BlockEvent { time_ns, pid: 1, tid: 1, what }).unwrap();
        }
        requests.finish().unwrap();
        let trace = Trace::open(&path).unwrap();
        let rows = trace.accesses().unwrap().map(|row| row.unwrap());
        let rows: Vec<_> = rows.map(|row| (row.offset, row.time_ns, row.latency_ns)).collect();
        assert_eq!(rows, [(0, 1_002, Some(1)), (32_768, 1_004, None), (32_768, 1_005, Some(1))]);
    }
}
