//! FIU's traces. Of blocks (Koller and Rangaswami, FAST 2010): `time pid process lba size R|W major
//! minor hash` a line, in nanoseconds and sectors of 512 bytes. Of files (Mohan Lakshmikanth et
//! al., FAST 2015, "nbw"): `number time op inode inode-size offset size tag` a line, in nanoseconds
//! and bytes; operations other than reads and writes end after the inode's size. Described by the
//! pages of traces at sylab-srv.cs.fiu.edu.

use super::accesses::{Fields, Form, Row};
use crate::Op;
use crate::foreign::SECTOR_BYTES;

pub(super) const BLOCKS: Form =
    Form { holds: "access of FIU's block traces", from_1970: false, parse: parse_blocks };
pub(super) const FILES: Form =
    Form { holds: "access of FIU's traces of files", from_1970: false, parse: parse_files };

fn parse_blocks(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_blanks(line);
    let sector = SECTOR_BYTES.unsigned_abs();
    if fields.get(5).len() != 1 {
        return Err(fields.wrong(5, "R or W"));
    }
    let pid = fields.whole(1, "the number of a process")?;
    let (major, minor) = (fields.whole(6, "a major number")?, fields.whole(7, "a minor number")?);
    Ok(Some(Row {
        time_ns: fields.whole(0, "a time in nanoseconds")?,
        pid: pid.try_into().unwrap_or(0),
        offset: fields.times(3, sector, "an address in sectors")?,
        bytes: fields.times(4, sector, "a size in sectors")?,
        ..Row::new(fields.read_or_write(5)?, format!("{major},{minor}"))
    }))
}

fn parse_files(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_blanks(line);
    fields.whole(0, "a number")?;
    let op = match fields.get(2).to_ascii_uppercase().as_slice() {
        b"READ" => Op::Read,
        b"WRITE" => Op::Write,
        b"OPEN" => Op::Open,
        b"CLOSE" => Op::Close,
        b"FSYNC" | b"FDATASYNC" => Op::Sync,
        _ => return Err(fields.wrong(2, "READ, WRITE, OPEN, CLOSE, FSYNC or FDATASYNC")),
    };
    let inode = fields.whole(3, "the number of an inode")?;
    let mut row = Row {
        time_ns: fields.whole(1, "a time in nanoseconds")?,
        file_bytes: Some(fields.whole(4, "the inode's size in bytes")?),
        ..Row::new(op, format!("inode {inode}"))
    };
    if matches!(op, Op::Read | Op::Write) {
        row.offset = fields.whole(5, "an offset in bytes")?;
        row.bytes = fields.whole(6, "a size in bytes")?;
    }
    Ok(Some(row))
}
