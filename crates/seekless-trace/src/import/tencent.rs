//! Tencent's block traces: `Timestamp,Offset,Size,IOType,VolumeID` a line, in sectors of 512 bytes
//! and in seconds since 1970; 0 is a read, 1 a write. Described by the README of SNIA's trace
//! 27917.

use super::accesses::{Fields, Form, Row};
use crate::Op;
use crate::foreign::{SECOND_NS, SECTOR_BYTES};

pub(super) const FORM: Form = Form { holds: "access of Tencent's traces", from_1970: true, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_commas(line);
    let sector = SECTOR_BYTES.unsigned_abs();
    let op = match fields.get(3) {
        b"0" => Op::Read,
        b"1" => Op::Write,
        _ => return Err(fields.wrong(3, "0 for a read or 1 for a write")),
    };
    fields.whole(4, "the number of a volume")?;
    Ok(Some(Row {
        time_ns: fields.times(0, SECOND_NS, "a time in seconds")?,
        offset: fields.times(1, sector, "an offset in sectors")?,
        bytes: fields.times(2, sector, "a size in sectors")?,
        ..Row::new(op, fields.text(4))
    }))
}
