//! The text of `blkparse`: `MAJOR,MINOR CPU NUMBER SECONDS.NANOSECONDS PID ACTION RWBS SECTOR +
//! SECTORS [PROCESS]` a line, and a summary at the end. Described by the manual of blkparse.
//!
//! An access is queued (Q), and later issued to the driver (D), perhaps merged with others. A
//! trace has one of both: the queued ones, unless the text begins with issued ones.

use super::Import;
use super::accesses::{Clock, Fields, Row, push};
use crate::Op;
use crate::error::Result;
use crate::foreign::{SECOND_NS, SECTOR_BYTES};
use crate::lines::Lines;

const QUEUED: u8 = b'Q';
const ISSUED: u8 = b'D';
/// What most lines are: an access has an event at each stage of its way.
const OTHER: &str = "other event";

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let mut clock = Clock::default();
    let mut taken = None;
    while !import.at_limit() && lines.advance()? {
        let read = lines
            .check_length()
            .and_then(|()| parse(lines.text()).map_err(|wrong| lines.malformed(wrong)));
        let pushed = match read {
            Ok(Ok((action, row))) if *taken.get_or_insert(action) == action => {
                push(import, &lines, &mut clock, row)
            }
            Ok(other) => {
                import.leave_out(other.err().unwrap_or(OTHER));
                Ok(())
            }
            Err(error) => Err(error),
        };
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    clock.end(
        import,
        &lines,
        "read or write that was queued or issued, expected blkparse's text",
        false,
    )
}

/// A line as other formats read it.
pub(super) fn parse_row(line: &[u8]) -> Result<Option<Row<'_>>, String> {
    Ok(parse(line)?.ok().map(|(_, row)| row))
}

/// The action and the access of a line that has one; or else what it is: an event of another kind,
/// or a line of the summary.
fn parse(line: &[u8]) -> Result<Result<(u8, Row<'_>), &'static str>, String> {
    let fields = Fields::of_blanks(line);
    let is_event = fields.get(0).first().is_some_and(u8::is_ascii_digit)
        && fields.get(0).contains(&b',')
        && fields.len() > 6;
    let action = match fields.get(5) {
        [action @ (QUEUED | ISSUED)] if is_event => *action,
        _ if is_event => return Ok(Err(OTHER)),
        _ => return Ok(Err("other line")),
    };
    let op = match (fields.get(6), op(fields.get(6))) {
        (word, None) if word.contains(&b'D') => return Ok(Err("discard")),
        (_, None) => return Ok(Err(OTHER)),
        (_, Some(op)) => op,
    };
    if fields.get(8) != b"+" {
        return Ok(Err("empty flush"));
    }
    let sector = SECTOR_BYTES.unsigned_abs();
    let pid = fields.whole(4, "the number of a process")?;
    let row = Row {
        time_ns: fields.scaled(3, SECOND_NS, "a time in seconds")?,
        pid: pid.try_into().unwrap_or(0),
        offset: fields.times(7, sector, "a sector")?,
        bytes: fields.times(9, sector, "a number of sectors")?,
        ..Row::new(op, fields.text(0))
    };
    Ok(Ok((action, row)))
}

/// What RWBS says: D is a discard, R and W move data, other letters say how.
fn op(word: &[u8]) -> Option<Op> {
    match word {
        _ if word.contains(&b'D') => None,
        _ if word.contains(&b'R') => Some(Op::Read),
        _ if word.contains(&b'W') => Some(Op::Write),
        _ => None,
    }
}
