//! MSR Cambridge's block traces: `Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime` a
//! line, in bytes and in ticks of 100 ns, the first since 1601 (Windows' file time). Described by
//! the README of SNIA's trace 388.

use super::accesses::{Fields, Form, Row};

/// Ticks from 1601 to 1970.
const TICKS_TO_1970: u64 = 116_444_736_000_000_000;
const TICK_NS: u64 = 100;
const FIELDS: usize = 7;

pub(super) const FORM: Form =
    Form { holds: "access of MSR Cambridge's traces", from_1970: true, parse };

fn parse(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    let fields = Fields::of_commas(line);
    let ticks = fields.whole(0, "a file time of Windows")?.checked_sub(TICKS_TO_1970);
    let ticks = ticks.ok_or_else(|| fields.wrong(0, "a file time of Windows after 1970"))?;
    let latency_ns = fields.times(FIELDS - 1, TICK_NS, "a response time")?;
    let name = format!("{}.{}", fields.text(1), fields.whole(2, "the number of a disk")?);
    Ok(Some(Row {
        time_ns: ticks.checked_mul(TICK_NS).ok_or_else(|| fields.wrong(0, "an earlier time"))?,
        offset: fields.whole(4, "an offset in bytes")?,
        bytes: fields.whole(5, "a size in bytes")?,
        latency_ns: Some(latency_ns),
        ..Row::new(fields.read_or_write(3)?, name)
    }))
}
