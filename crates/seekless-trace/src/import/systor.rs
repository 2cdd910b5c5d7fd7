//! The traces of SYSTOR '17: a heading, then `Timestamp,Response,IOType,LUN,Offset,Size` a line,
//! in bytes and in seconds, the first since 1970. A blank type is neither a read nor a write.
//! Described by the README of SNIA's trace 4964.

use super::accesses::{Fields, Form, Row};
use crate::foreign::SECOND_NS;

/// The first line of each file.
pub(super) const HEADING: &[u8] = b"Timestamp,Response,IOType,LUN,Offset,Size";

pub(super) const FORM: Form = Form { holds: "access of SYSTOR's traces", from_1970: true, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_commas(line);
    if line.trim_ascii() == HEADING || (fields.len() == 6 && fields.get(2).is_empty()) {
        return Ok(None);
    }
    let latency_ns = match fields.get(1) {
        b"" => None,
        _ => Some(fields.scaled(1, SECOND_NS, "a response time in seconds")?),
    };
    let lun = fields.whole(3, "the number of a unit")?;
    Ok(Some(Row {
        time_ns: fields.scaled(0, SECOND_NS, "a time in seconds")?,
        offset: fields.whole(4, "an offset in bytes")?,
        bytes: fields.whole(5, "a size in bytes")?,
        latency_ns,
        ..Row::new(fields.read_or_write(2)?, format!("lun {lun}"))
    }))
}
