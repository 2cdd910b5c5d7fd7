//! The traces of webcachesim and LRB (Song, Berger, Li and Lloyd 2020): time in seconds, object and
//! bytes between blanks, and perhaps features behind them.

use super::accesses::{Fields, Form, Row};
use crate::Op;
use crate::foreign::SECOND_NS;

pub(super) const FORM: Form =
    Form { holds: "request of a trace of LRB's authors", from_1970: false, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_blanks(line);
    if fields.get(1).is_empty() {
        return Err(fields.wrong(1, "an object"));
    }
    let bytes = fields.whole(2, "a size in bytes")?;
    Ok(Some(Row {
        time_ns: fields.scaled(0, SECOND_NS, "a time in seconds")?,
        bytes,
        file_bytes: Some(bytes),
        ..Row::new(Op::Load, fields.text(1))
    }))
}
