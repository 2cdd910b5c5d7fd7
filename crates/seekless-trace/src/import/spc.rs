//! The Storage Performance Council's traces, as UMass has them: `ASU,LBA,Size,Opcode,Timestamp` a
//! line, and perhaps more fields. LBA counts blocks of 512 bytes, the size is in bytes, the time in
//! seconds from the start. Described by the SPC's trace file format specification, revision 1.0.1.

use super::accesses::{Fields, Form, Row};
use crate::foreign::{SECOND_NS, SECTOR_BYTES};

pub(super) const FORM: Form = Form { holds: "access of an SPC trace", from_1970: false, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_commas(line);
    let unit = fields.whole(0, "the number of a unit")?;
    if fields.get(3).len() != 1 {
        return Err(fields.wrong(3, "r or w"));
    }
    Ok(Some(Row {
        time_ns: fields.scaled(4, SECOND_NS, "a time in seconds")?,
        offset: fields.times(
            1,
            SECTOR_BYTES.unsigned_abs(),
            "an address in blocks of 512 bytes",
        )?,
        bytes: fields.whole(2, "a size in bytes")?,
        ..Row::new(fields.read_or_write(3)?, format!("asu {unit}"))
    }))
}
