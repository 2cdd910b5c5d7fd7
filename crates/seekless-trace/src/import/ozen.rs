//! Imports Ozen's sector traces (2018). A line `r N` or `w N` is an access to one sector of a
//! device; other lines are ignored.

use super::{Format, Import, Options, Progress, Report, any};
use crate::error::{Error, ErrorKind, Result};
use crate::foreign::{POST_CACHE_HEADING, SECTOR_BYTES};
use crate::lines::Lines;
use crate::{Access, Op};
use seekless_sys::output::Destination;
use std::path::PathBuf;

/// The device's name in the trace; the format does not name the device.
pub(crate) const DEVICE: &str = "disk";
const PAGE_BYTES: i64 = 4096;

/// Imports Ozen's sector traces (plain, gzip, xz, lzma or zstd) as the block trace `out`. Each file
/// is one run on the device `disk`; a row's time is its number, in nanoseconds. Sector −1 stands
/// for an access without a place on the device; its offset is −1. A file that begins with the
/// heading of post-cache traces counts in pages of 4096 bytes.
///
/// # Errors
/// A file cannot be read, is damaged or holds no such line, or a number is too large for a byte
/// offset.
pub fn ozen(
    files: &[PathBuf],
    out: impl Into<Destination>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Report> {
    any(files, out, &options.of(Format::Ozen), progress)
}

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let device = import.writer.file(DEVICE);
    let run = import.report.runs;
    let mut grain = SECTOR_BYTES;
    let mut number = 0;
    while !import.at_limit() && lines.advance()? {
        if lines.number() == 1 && lines.text() == POST_CACHE_HEADING.as_bytes() {
            grain = PAGE_BYTES;
        }
        let Some((op, at)) = access(lines.text()) else {
            if !lines.text().is_empty() && !lines.text().starts_with(b"#") {
                import.leave_out("other line");
            }
            continue;
        };
        let pushed = offset(at, grain)
            .ok_or_else(|| {
                lines.malformed(format!("has number {at}, too large for an offset in bytes"))
            })
            .and_then(|offset| {
                let bytes = grain.unsigned_abs();
                if import.take(DEVICE, 1) == 0 {
                    return Ok(());
                }
                import.writer.push(Access {
                    run,
                    time_ns: number,
                    offset,
                    bytes,
                    ..Access::new(op, device)
                })
            });
        number += u64::from(pushed.is_ok());
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    if number == 0 {
        let message = "holds no line `r N` or `w N`, expected Ozen's sector text";
        return Err(Error::new(ErrorKind::NotATrace, lines.path(), message));
    }
    import.add_runs(lines.path(), 1);
    Ok(())
}

/// The access of a line, if it is one.
pub(super) fn access(line: &[u8]) -> Option<(Op, i64)> {
    let (op, number) = match line {
        [b'r', b' ', number @ ..] => (Op::Read, number),
        [b'w', b' ', number @ ..] => (Op::Write, number),
        _ => return None,
    };
    Some((op, super::number::signed(number)?)).filter(|&(_, number)| number >= -1)
}

fn offset(number: i64, grain: i64) -> Option<i64> {
    if number < 0 { Some(-1) } else { number.checked_mul(grain) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reads_and_writes_of_sectors_are_accesses() {
        assert_eq!(access(b"r 114288800"), Some((Op::Read, 114_288_800)));
        assert_eq!(access(b"w -1"), Some((Op::Write, -1)));
        for other in ["# nrFileReads = 67402", "r", "r x", "rw 1", "w -2", "read 1", ""] {
            assert_eq!(access(other.as_bytes()), None, "{other}");
        }
    }

    #[test]
    fn offsets_are_bytes_and_nowhere_stays_nowhere() {
        assert_eq!(
            (offset(3, 512), offset(-1, 512), offset(i64::MAX, 512)),
            (Some(1536), Some(-1), None)
        );
    }
}
