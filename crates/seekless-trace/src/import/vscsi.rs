//! VMware's vscsi traces, versions 1 and 2: records without a header, little-endian. As
//! libCacheSim's reader (traceReader/customizedReader/vscsi.h) and the CloudPhysics sample have
//! them.
//!
//! ```text
//!  0      4      8      12       14       16       24               32
//! ┌──────┬──────┬──────┬────────┬────────┬────────┬────────────────┐
//! │ u32  │ u32  │ u32  │ u16    │ u16    │ u64    │ u64            │  version 1
//! │number│ bytes│ parts│ command│ version│ sector │ time µs        │
//! └──────┴──────┴──────┴────────┴────────┴────────┴────────────────┘
//!  0        2        4      8      12     16       24        32               40
//! ┌────────┬────────┬──────┬──────┬──────┬────────┬─────────┬────────────────┐
//! │ u16    │ u16    │ u32  │ u32  │ u32  │ u64    │ u64     │ u64            │  version 2
//! │ command│ version│number│ bytes│ parts│ sector │ time µs │ response µs    │
//! └────────┴────────┴──────┴──────┴──────┴────────┴─────────┴────────────────┘
//! ```
//!
//! The version is the upper byte of its field.

use super::Import;
use super::binary::Bytes;
use crate::compressed::Input;
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::SECTOR_BYTES;
use crate::{Access, Op};
use std::path::Path;

/// The device's name in the trace; the format does not name it.
const DEVICE: &str = "disk";
const BYTES_1: usize = 32;
const BYTES_2: usize = 40;
const MICROSECOND_NS: u64 = 1_000;
/// READ and WRITE of 6, 10, 12 and 16 bytes.
const READS: [u8; 4] = [0x08, 0x28, 0xa8, 0x88];
const WRITES: [u8; 4] = [0x0a, 0x2a, 0xaa, 0x8a];

/// The version of the records that a file begins with, if all of `head` are.
pub(super) fn version(head: &[u8]) -> Option<u8> {
    let all = |bytes: usize, at: usize, version: u8| {
        let mut records = head.chunks_exact(bytes).peekable();
        records.peek().is_some() && records.all(|record| record[at] == version)
    };
    match () {
        () if all(BYTES_2, 3, 2) => Some(2),
        () if all(BYTES_1, 15, 1) => Some(1),
        () => None,
    }
}

struct Record {
    command: u8,
    bytes: u32,
    sector: u64,
    time_us: u64,
    response_us: Option<u64>,
}

pub(super) fn import_file(import: &mut Import<'_>, mut input: Input, path: &Path) -> Result<()> {
    let head = input.head(path, BYTES_1 * BYTES_2)?;
    let Some(version) = version(&head) else {
        let message = "holds no records of vscsi, version 1 or 2";
        return Err(Error::new(ErrorKind::NotATrace, path, message));
    };
    let device = import.writer.file(DEVICE);
    let mut bytes = Bytes::of(input, path);
    let mut start_us = None;
    while !import.at_limit()
        && let Some(record) = next(&mut bytes, version)?
    {
        import.progress.rows += 1;
        if import.progress.rows.is_multiple_of(1 << 13) {
            import.progress.tell(bytes.consumed());
        }
        let op = match record.command {
            command if READS.contains(&command) => Op::Read,
            command if WRITES.contains(&command) => Op::Write,
            _ => {
                import.leave_out("other command");
                continue;
            }
        };
        let offset = i64::try_from(record.sector).ok().and_then(|at| at.checked_mul(SECTOR_BYTES));
        let offset = offset.ok_or_else(|| bytes.corrupt("has a sector that is too large"))?;
        let since_us = record.time_us.saturating_sub(*start_us.get_or_insert(record.time_us));
        import.take(DEVICE, 1);
        import.writer.push(Access {
            run: import.report.runs,
            time_ns: since_us.saturating_mul(MICROSECOND_NS),
            offset,
            bytes: record.bytes.into(),
            latency_ns: record.response_us.map(|us| us.saturating_mul(MICROSECOND_NS)),
            ..Access::new(op, device)
        })?;
    }
    if start_us.is_none() {
        let message = "holds no command of vscsi that reads or writes";
        return Err(Error::new(ErrorKind::NotATrace, bytes.path(), message));
    }
    import.add_runs(path, 1);
    Ok(())
}

fn next(bytes: &mut Bytes, version: u8) -> Result<Option<Record>> {
    let mut record = [0; BYTES_2];
    if version == 1 {
        let Some(found) = bytes.next::<BYTES_1>()? else { return Ok(None) };
        // As version 2, without the response.
        record[..4].copy_from_slice(&found[12..16]);
        record[4..16].copy_from_slice(&found[..12]);
        record[16..BYTES_1].copy_from_slice(&found[16..]);
    } else {
        let Some(found) = bytes.next::<BYTES_2>()? else { return Ok(None) };
        record = found;
    }
    if record[3] != version {
        let message = format!("the record before it is not of version {version} of vscsi");
        return Err(bytes.corrupt(message));
    }
    let u32 =
        |at: usize| u32::from_le_bytes(record[at..].first_chunk().copied().unwrap_or_default());
    let wide = |at| u64::from(u32(at)) | u64::from(u32(at + 4)) << 32;
    Ok(Some(Record {
        command: record[0],
        bytes: u32(8),
        sector: wide(16),
        time_us: wide(24),
        response_us: (version == 2).then(|| wide(32)),
    }))
}
