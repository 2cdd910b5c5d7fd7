//! Imports lists of ids, one a line, as the traces of cache papers are. Each id is a load of weight
//! 1.

use super::{Format, Import, Options, Progress, Report, any};
use crate::error::Result;
use crate::lines::Lines;
use crate::{Access, Op, escape_path};
use seekless_sys::output::Destination;
use std::path::PathBuf;

/// Imports lists of ids (plain, gzip, xz, lzma or zstd), one id a line, as the trace `out`. Each
/// file is one run. An id may be any word. A row's time is its number, in nanoseconds.
///
/// # Errors
/// A file cannot be read or is damaged; a line holds more than one word.
pub fn ids(
    files: &[PathBuf],
    out: impl Into<Destination>,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Report> {
    any(files, out, &options.of(Format::Ids), progress)
}

pub(super) fn import_file(import: &mut Import<'_>, mut lines: Lines) -> Result<()> {
    let run = import.report.runs;
    let mut number = 0;
    while !import.at_limit() && lines.advance()? {
        // The traces of LIRS' authors have one between phases.
        if lines.text().trim_ascii() == b"*" {
            import.leave_out("phase mark");
            continue;
        }
        let pushed = id(&lines).and_then(|name| {
            if import.take(&name, 1) == 0 {
                return Ok(());
            }
            let file = import.file(&name, &lines)?;
            let load = Access {
                run,
                time_ns: number,
                bytes: 1,
                file_bytes: Some(1),
                ..Access::new(Op::Load, file)
            };
            import.writer.push(load)
        });
        number += u64::from(pushed.is_ok());
        import.forgive(pushed)?;
        import.tick(&lines);
    }
    import.add_runs(lines.path(), 1);
    Ok(())
}

fn id(lines: &Lines) -> Result<String> {
    lines.check_length()?;
    let word = lines.text().trim_ascii();
    if word.iter().any(|byte| byte.is_ascii_whitespace() || byte.is_ascii_control()) {
        let shown = word[..word.len().min(40)].escape_ascii();
        return Err(lines.malformed(format!("has `{shown}`, expected one id")));
    }
    Ok(escape_path(word))
}
