//! Alibaba's block traces of 2020: `device_id,opcode,offset,length,timestamp` a line, in bytes and
//! in microseconds since 1970. Described by the README of alibaba/block-traces.

use super::accesses::{Fields, Form, Row};

const MICROSECOND_NS: u64 = 1_000;

pub(super) const FORM: Form = Form { holds: "access of Alibaba's traces", from_1970: true, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_commas(line);
    fields.whole(0, "the number of a device")?;
    Ok(Some(Row {
        time_ns: fields.times(4, MICROSECOND_NS, "a time in microseconds")?,
        offset: fields.whole(2, "an offset in bytes")?,
        bytes: fields.whole(3, "a length in bytes")?,
        ..Row::new(fields.read_or_write(1)?, fields.text(0))
    }))
}
