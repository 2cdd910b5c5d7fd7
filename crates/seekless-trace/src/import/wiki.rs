//! Wikimedia's traces of 2019: seconds from the start, a hash of the address, for uploads the type
//! of the picture, bytes of the answer, and seconds to its first byte; between tabs, below a
//! heading.

use super::accesses::{Fields, Form, Row};
use crate::Op;
use crate::foreign::SECOND_NS;

pub(super) const FORM: Form =
    Form { holds: "request of Wikimedia's traces", from_1970: false, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    if line.starts_with(b"relative_unix") {
        return Ok(None);
    }
    let fields = Fields::of_blanks(line);
    let size = match fields.len() {
        4 => 2,
        5 => 3,
        _ => return Err(fields.wrong(fields.len(), "4 fields, or 5 with the type of a picture,")),
    };
    let bytes = fields.whole(size, "a size in bytes")?;
    Ok(Some(Row {
        time_ns: fields.scaled(0, SECOND_NS, "a time in seconds")?,
        bytes,
        file_bytes: Some(bytes),
        ..Row::new(Op::Load, fields.text(1))
    }))
}
