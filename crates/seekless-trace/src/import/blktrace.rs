//! The files of `blktrace`, one for each processor (`NAME.blktrace.CPU`), or what `blkparse -d`
//! merges them to. Records are in the byte order of the machine that wrote them. Defined by
//! include/uapi/linux/blktrace_api.h of Linux.
//!
//! ```text
//!  0      4       8        16       24     28      32   36      40   44     46
//! ┌──────┬───────┬────────┬────────┬──────┬───────┬────┬───────┬────┬──────┬──────────┐
//! │ u32  │ u32   │ u64    │ u64    │ u32  │ u32   │u32 │ u32   │u32 │ u16  │ u16      │
//! │ magic│ number│ time ns│ sector │ bytes│ action│ pid│ device│cpu │ error│ data     │ data
//! └──────┴───────┴────────┴────────┴──────┴───────┴────┴───────┴────┴──────┴──────────┘
//! ```
//!
//! As in blkparse's text, a trace has queued accesses, or issued ones if the first is one. Files of
//! one name that differ in the processor are one run.

use super::Import;
use super::binary::Bytes;
use crate::compressed::{self, Input};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::SECTOR_BYTES;
use crate::{Access, Op};
use std::path::Path;

/// The magic and version 7.
const MAGIC: u32 = 0x6561_7407;
const RECORD_BYTES: usize = 48;
const QUEUED: u32 = 1;
const ISSUED: u32 = 7;
/// Set in an action if the data begins with a control group.
const IN_CGROUP: u32 = 1 << 8;
const READ: u32 = 1 << 16;
const WRITE: u32 = 1 << 17;
const NOTIFY: u32 = 1 << 26;
const DISCARD: u32 = 1 << 29;

/// Whether a file begins with such a record.
pub(super) fn is_trace(head: &[u8]) -> bool {
    let magic = head.first_chunk().copied().unwrap_or_default();
    head.len() >= RECORD_BYTES
        && (u32::from_le_bytes(magic) == MAGIC || u32::from_be_bytes(magic) == MAGIC)
}

/// The files of all processors, which are one run.
pub(super) struct Group {
    stem: String,
    /// The earliest first record of all files.
    start_ns: u64,
    /// Whether queued or issued accesses are taken.
    taken: Option<u32>,
    accesses: u64,
}

pub(super) fn import_file(import: &mut Import<'_>, input: Input, path: &Path) -> Result<()> {
    let stem = stem(path);
    let mut group = match import.group.take().filter(|group| group.stem == stem) {
        Some(group) => group,
        None => Group { start_ns: start(import, &stem)?, stem, taken: None, accesses: 0 },
    };
    let is_last = import.next.as_deref().is_none_or(|next| self::stem(next) != group.stem);
    let mut bytes = Bytes::of(input, path);
    while let Some(record) = next(&mut bytes)? {
        import.progress.rows += 1;
        if import.progress.rows.is_multiple_of(1 << 13) {
            import.progress.tell(bytes.consumed());
        }
        let access = record.access();
        let taken = access.filter(|(action, _)| group.taken.get_or_insert(*action) == action);
        let Some((_, op)) = taken else {
            import.leave_out(if record.is_discard() { "discard" } else { "other event" });
            continue;
        };
        let offset = i64::try_from(record.sector).ok().and_then(|at| at.checked_mul(SECTOR_BYTES));
        let offset = offset.ok_or_else(|| bytes.corrupt("has a sector that is too large"))?;
        if import.writer.names_are_too_many(import.progress.done + bytes.consumed()) {
            return Err(bytes.corrupt("has named far more devices than there can be"));
        }
        let device = record.device();
        if import.take(&device, 1) == 0 {
            break;
        }
        let device = import.writer.file(&device);
        import.writer.push(Access {
            run: import.report.runs,
            time_ns: record.time_ns.saturating_sub(group.start_ns),
            pid: record.pid,
            offset,
            bytes: record.bytes.into(),
            ..Access::new(op, device)
        })?;
        group.accesses += 1;
    }
    if !is_last {
        import.group = Some(group);
        return Ok(());
    }
    if group.accesses == 0 {
        let message = "holds no read or write that was queued or issued";
        return Err(Error::new(ErrorKind::NotATrace, path, message));
    }
    import.add_runs(path, 1);
    Ok(())
}

/// A file's name without the number of its processor.
fn stem(path: &Path) -> String {
    let name = path.to_string_lossy().into_owned();
    match name.rsplit_once(".blktrace.") {
        Some((stem, cpu)) if !cpu.is_empty() && cpu.bytes().all(|byte| byte.is_ascii_digit()) => {
            stem.to_owned()
        }
        _ => name,
    }
}

/// The earliest first record of the files of one name.
fn start(import: &Import<'_>, name: &str) -> Result<u64> {
    let mut start_ns = u64::MAX;
    for path in import.files.iter().filter(|path| stem(path) == name && path.is_file()) {
        let input = compressed::open_until(path, &import.options.cancel)?;
        let mut bytes = Bytes::of(input, path);
        if let Some(record) = next(&mut bytes)? {
            start_ns = start_ns.min(record.time_ns);
        }
    }
    Ok(if start_ns == u64::MAX { 0 } else { start_ns })
}

struct Record {
    time_ns: u64,
    sector: u64,
    bytes: u32,
    action: u32,
    pid: u32,
    device: u32,
}

/// The next record, without the data behind it.
fn next(bytes: &mut Bytes) -> Result<Option<Record>> {
    let Some(record) = bytes.next::<RECORD_BYTES>()? else { return Ok(None) };
    let take = |at: usize| record[at..].first_chunk().copied().unwrap_or_default();
    let is_little = u32::from_le_bytes(take(0)) == MAGIC;
    if !is_little && u32::from_be_bytes(take(0)) != MAGIC {
        let message = "the 48 bytes before it are no record of blktrace, version 7";
        return Err(bytes.corrupt(message));
    }
    let u32 =
        |at| if is_little { u32::from_le_bytes(take(at)) } else { u32::from_be_bytes(take(at)) };
    let wide = |at: usize| {
        let (first, second) = (u64::from(u32(at)), u64::from(u32(at + 4)));
        if is_little { second << 32 | first } else { first << 32 | second }
    };
    let pair = [record[46], record[47]];
    let data = if is_little { u16::from_le_bytes(pair) } else { u16::from_be_bytes(pair) };
    bytes.skip(data)?;
    Ok(Some(Record {
        time_ns: wide(8),
        sector: wide(16),
        bytes: u32(24),
        action: u32(28),
        pid: u32(32),
        device: u32(36),
    }))
}

impl Record {
    /// The action and the operation, if it is a read or write that was queued or issued.
    fn access(&self) -> Option<(u32, Op)> {
        let action = self.action & 0xffff & !IN_CGROUP;
        let is_taken = matches!(action, QUEUED | ISSUED)
            && self.action & (NOTIFY | DISCARD) == 0
            && self.bytes > 0;
        match self.action {
            all if is_taken && all & WRITE != 0 => Some((action, Op::Write)),
            all if is_taken && all & READ != 0 => Some((action, Op::Read)),
            _ => None,
        }
    }

    fn is_discard(&self) -> bool {
        self.action & DISCARD != 0 && self.action & NOTIFY == 0
    }

    /// Its name, as blkparse prints it.
    fn device(&self) -> String {
        format!("{},{}", self.device >> 20, self.device & 0xf_ffff)
    }
}
