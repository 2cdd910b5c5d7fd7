//! The traces of ARC's authors (Megiddo and Modha 2003), `.lis`: first block, number of blocks, a
//! number without meaning, and the number of the request, between blanks. Blocks have 512 bytes.

use super::accesses::{Fields, Form, Row};
use crate::Op;
use crate::foreign::SECTOR_BYTES;

pub(super) const FORM: Form =
    Form { holds: "access of a trace of ARC's authors", from_1970: false, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_blanks(line);
    let blocks = SECTOR_BYTES.unsigned_abs();
    Ok(Some(Row {
        time_ns: if fields.len() > 3 { fields.whole(3, "the number of a request")? } else { 0 },
        offset: fields.times(0, blocks, "a block of 512 bytes")?,
        bytes: fields.times(1, blocks, "a number of blocks of 512 bytes")?,
        ..Row::new(Op::Read, "disk")
    }))
}
