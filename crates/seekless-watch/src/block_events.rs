//! What reaches the machine's disks: each request as the block layer hands it to a driver, and its
//! end. The kernel's tracepoints block_rq_issue, block_rq_complete and block_rq_requeue report them
//! through perf events of every process. Root may follow them, or a process with CAP_PERFMON that
//! can read tracefs.

use crate::perf::{self, Attributes, LOST, Ring, SAMPLE, records, samples, u32_at, u64_at};
use crate::tracepoint::{self, Field};
use std::io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEvent {
    /// Nanoseconds of the monotonic clock; 0 for [`Happened::Lost`].
    pub time_ns: u64,
    /// The process that ran then. It issues its own reads; of a write-back it is the kernel's.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// What happened.
    pub what: Happened,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Happened {
    /// A request was handed to the driver.
    Issued(BlockRequest),
    /// A request, or the first part of it, ended.
    Completed {
        /// The request, or the part.
        request: BlockRequest,
        /// The error number; 0 if it succeeded.
        error: i32,
    },
    /// The driver gave a request back, having no room for it: it will be issued again.
    Requeued(BlockRequest),
    /// Records for which the ring had no room.
    Lost {
        /// How many.
        records: u64,
    },
}

/// A request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockRequest {
    /// The number of the whole disk.
    pub disk: (u32, u32),
    /// The first sector of 512 bytes, from the start of the disk.
    pub sector: u64,
    /// How many sectors; 0 for a flush alone.
    pub sectors: u32,
    /// What it does.
    pub kind: BlockOp,
}

/// What a request does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockOp {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Empties the device's own cache, and moves no data.
    Flush,
    /// Gives sectors back.
    Discard,
    /// Something else, such as a command of the driver.
    Other,
}

/// Follows the block layer of the whole machine from now on.
#[derive(Debug)]
pub struct BlockEvents {
    rings: Vec<Ring>,
    layouts: Layouts,
    scratch: Vec<u8>,
}

impl BlockEvents {
    /// Begins.
    ///
    /// # Errors
    /// The kernel has no such tracepoints, or refuses them to this process.
    pub fn follow() -> io::Result<Self> {
        let tracefs = tracepoint::tracefs()?;
        let layouts = Layouts {
            issue: Layout::read(&tracefs, "block_rq_issue", false)?,
            complete: Layout::read(&tracefs, "block_rq_complete", true)?,
            requeue: Layout::read(&tracefs, "block_rq_requeue", false)?,
        };
        let mut rings = Vec::new();
        for layout in [&layouts.issue, &layouts.complete, &layouts.requeue] {
            rings.extend(open(layout.id)?);
        }
        Ok(Self { rings, layouts, scratch: Vec::new() })
    }

    /// Waits until a ring is a quarter full, or the time is up.
    ///
    /// # Errors
    /// Never but for lack of memory.
    pub fn wait(&self, limit: Duration) -> io::Result<()> {
        perf::wait(&self.rings, limit).map(drop)
    }

    /// Takes all records out of the rings and appends them to `events`: in the order of their times
    /// within one ring, which is not the order over all of them.
    pub fn drain(&mut self, events: &mut Vec<BlockEvent>) {
        for ring in &mut self.rings {
            self.scratch.clear();
            ring.take(&mut self.scratch);
            for record in records(&self.scratch) {
                events.extend(match record.kind {
                    SAMPLE => sample(&self.layouts, record.body),
                    LOST if record.body.len() >= 16 => {
                        let what = Happened::Lost { records: u64_at(record.body, 8) };
                        Some(BlockEvent { time_ns: 0, pid: 0, tid: 0, what })
                    }
                    _ => None,
                });
            }
        }
    }
}

fn open(id: u64) -> io::Result<Vec<Ring>> {
    let samples = samples::TID | samples::TIME | samples::RAW;
    let attributes = Attributes::new(Attributes::TRACEPOINT, id, samples, 0);
    perf::open_on_all(&attributes, -1)
}

/// Where the fields of each tracepoint lie.
#[derive(Debug)]
struct Layouts {
    issue: Layout,
    complete: Layout,
    requeue: Layout,
}

/// Where a tracepoint's fields lie.
#[derive(Debug)]
struct Layout {
    id: u64,
    kind: Field,
    disk: Field,
    sector: Field,
    sectors: Field,
    rwbs: Field,
    error: Option<Field>,
}

impl Layout {
    fn read(tracefs: &OwnedFd, event: &str, completes: bool) -> io::Result<Self> {
        let format = tracepoint::format(tracefs, &format!("block/{event}"))?;
        Self::parse(&format, completes)
    }

    fn parse(format: &str, completes: bool) -> io::Result<Self> {
        let field = |name| Field::find(format, name);
        Ok(Self {
            id: tracepoint::number(format)?,
            kind: field("common_type")?,
            disk: field("dev")?,
            sector: field("sector")?,
            sectors: field("nr_sector")?,
            rwbs: field("rwbs")?,
            error: if completes { Some(field("error")?) } else { None },
        })
    }

    fn request(&self, record: &[u8]) -> Option<BlockRequest> {
        /// The kernel's own device numbers have the minor one in the low 20 bits.
        const MINOR_BITS: u32 = 20;
        let disk = self.disk.number(record)? as u32;
        let sectors = self.sectors.number(record)? as u32;
        Some(BlockRequest {
            disk: (disk >> MINOR_BITS, disk & ((1 << MINOR_BITS) - 1)),
            sector: self.sector.number(record)?,
            sectors,
            kind: kind(self.rwbs.of(record)?, sectors),
        })
    }
}

/// What the letters say, which end at a zero: `RA` reads ahead, `WFS` writes, `FF` flushes, `DE`
/// erases.
fn kind(rwbs: &[u8], sectors: u32) -> BlockOp {
    let letters = rwbs.split(|byte| *byte == 0).next().unwrap_or_default();
    let has = |letter| letters.contains(&letter);
    match () {
        () if has(b'D') => BlockOp::Discard,
        () if has(b'R') => BlockOp::Read,
        () if has(b'W') && sectors > 0 => BlockOp::Write,
        () if has(b'F') => BlockOp::Flush,
        () => BlockOp::Other,
    }
}

/// A sample: thread and time, then the size of the tracepoint's record, and the record.
fn sample(layouts: &Layouts, body: &[u8]) -> Option<BlockEvent> {
    const HEAD_BYTES: usize = 20;
    if body.len() < HEAD_BYTES {
        return None;
    }
    let record = body.get(HEAD_BYTES..HEAD_BYTES.checked_add(u32_at(body, 16) as usize)?)?;
    let Layouts { issue, complete, requeue } = layouts;
    let what = match issue.kind.number(record)? {
        id if id == issue.id => Happened::Issued(issue.request(record)?),
        id if id == complete.id => Happened::Completed {
            request: complete.request(record)?,
            error: complete.error.and_then(|field| field.number(record)).unwrap_or(0) as u32 as i32,
        },
        id if id == requeue.id => Happened::Requeued(requeue.request(record)?),
        _ => return None,
    };
    Some(BlockEvent { time_ns: u64_at(body, 8), pid: u32_at(body, 0), tid: u32_at(body, 4), what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_say_what_a_request_does() {
        let of = |letters: &[u8], sectors| kind(letters, sectors);
        assert_eq!(of(b"RA\0junk", 8), BlockOp::Read);
        assert_eq!(of(b"WFS\0", 8), BlockOp::Write);
        assert_eq!(of(b"FF\0", 0), BlockOp::Flush);
        assert_eq!(of(b"FWS\0", 0), BlockOp::Flush);
        assert_eq!(of(b"DS\0", 64), BlockOp::Discard);
        assert_eq!(of(b"N\0", 0), BlockOp::Other);
    }

    #[test]
    fn a_read_past_the_page_cache_is_seen_with_its_end() {
        use std::io::Write;
        let mut events = match BlockEvents::follow() {
            Ok(events) => events,
            Err(error) => return eprintln!("skipped: no block events here: {error}"),
        };
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&[7; 1 << 16]).unwrap();
        file.as_file().sync_all().unwrap();
        let mut seen = Vec::new();
        events.drain(&mut seen);
        let completed = |event: &BlockEvent| match event.what {
            Happened::Completed { request, .. } => request.kind == BlockOp::Write,
            _ => false,
        };
        if !seen.iter().any(completed) {
            return eprintln!("skipped: this folder's file system is not on a block device");
        }
        let issued = |event: &BlockEvent| match event.what {
            Happened::Issued(request) => request.kind == BlockOp::Write && request.sectors > 0,
            _ => false,
        };
        assert!(seen.iter().any(issued), "{seen:?}");
        assert!(seen.iter().all(|event| event.time_ns > 0), "{seen:?}");
    }
}
