//! What `seekless record` says of a recording.

use crate::output;
use seekless::device::units::{counted, format_bytes, format_duration};
use seekless::record::{Fetches, Mappings, PostCache, Recorded, Summary};
use std::fmt::Write;
use std::path::Path;

/// The words for the view behind the page cache.
pub(super) fn behind(post: &PostCache, path: &Path) -> String {
    let path = output::shown(path);
    match post {
        PostCache::Written { rows, others, lost } => {
            let mut text = format!(
                "  behind the page cache: {} of the whole machine on these devices -> {path}",
                counted(*rows, "request")
            );
            if *others > 0 {
                let _ = write!(text, "; not kept: discards and commands, {others}");
            }
            if *lost > 0 {
                let _ = write!(text, "; lost: {}", counted(*lost, "event"));
            }
            text + "\n"
        }
        PostCache::Nothing => {
            format!("  behind the page cache: no request reached these devices; no {path}\n")
        }
        PostCache::Refused(why) => format!("  not seen: requests behind the page cache ({why})\n"),
    }
}

/// The words for the pages that came into the page cache.
fn fetched(fetches: &Fetches) -> String {
    match fetches {
        Fetches::NotAsked => String::new(),
        Fetches::Reported { rows, bytes, unnamed_bytes } => {
            let (rows, bytes) = (counted(*rows, "part"), format_bytes(*bytes));
            let mut text = format!("  came into the page cache: {bytes} in {rows}");
            if *unnamed_bytes > 0 {
                let unnamed = format_bytes(*unnamed_bytes);
                let _ = write!(text, "; of file systems' own and unnamed files: {unnamed}");
            }
            text + "\n"
        }
        Fetches::Refused(why) => {
            format!("  not seen: what comes into the page cache ({why})\n")
        }
    }
}

/// What a recording came to, in words.
pub(super) fn summary(recorded: &Recorded, output: &Path) -> String {
    let seen = &recorded.summary;
    let mut text = counts(recorded) + &format!(" -> {}\n", output::shown(output));
    text += &mapped(&seen.mappings);
    text += &fetched(&seen.fetches);
    text += &lost(seen);
    if seen.beyond > 0 {
        text += "  ended by --for or --rows, before the program did\n";
    }
    if seen.left_out > 0 {
        let calls = counted(seen.left_out, "call");
        let _ = writeln!(text, "  left out by --only or --exclude: {calls}");
    }
    for (program, times) in &seen.deprived {
        let times =
            if *times > 1 { format!(" ({})", counted(*times, "time")) } else { String::new() };
        let program = output::shown(program);
        let _ = writeln!(
            text,
            "  ran without its privileges, since you are not root: {program}{times}"
        );
    }
    for (what, times) in &seen.blind_spots {
        let _ = writeln!(text, "  not seen: {what}, used {}", counted(*times, "time"));
    }
    text
}

fn counts(recorded: &Recorded) -> String {
    let seen = &recorded.summary;
    let text = format!(
        "seekless: {} in {}, {} read and {} written, {} opened {}",
        counted(seen.accesses, "access"),
        format_duration(recorded.duration_ns),
        format_bytes(seen.bytes_read),
        format_bytes(seen.bytes_written),
        counted(seen.files, "file"),
        counted(seen.opens, "time"),
    );
    match seen.failed_opens {
        0 => text,
        failed => format!("{text}, {} failed", counted(failed, "open")),
    }
}

/// The words for what was seen of mapped files.
fn mapped(mappings: &Mappings) -> String {
    let mut text = String::new();
    match mappings {
        Mappings::Touches { rows, bytes, lost } => {
            if *rows > 0 {
                let (bytes, rows) = (format_bytes(*bytes), counted(*rows, "part"));
                let _ = writeln!(text, "  touched of mapped files: {bytes} in {rows}");
            }
            if *lost > 0 {
                let faults = counted(*lost, "page fault");
                let _ = writeln!(text, "  lost, since the kernel had no room: {faults}");
            }
        }
        Mappings::Arrivals { rows, bytes, warm, unreported, why } => {
            let (bytes, rows) = (format_bytes(*bytes), counted(*rows, "part"));
            let _ = writeln!(
                text,
                "  came into the cache of mapped files, read ahead too: {bytes} in {rows} ({why})"
            );
            for (files, what) in
                [(warm, "pages cached before"), (unreported, "pages that the kernel hides")]
            {
                if *files > 0 {
                    let files = counted(*files, "mapped file");
                    let _ = writeln!(text, "  not seen: touches of {what}, in {files}");
                }
            }
        }
        Mappings::Calls(why) => {
            let _ = writeln!(text, "  not seen: which parts of mapped files are touched ({why})");
        }
    }
    text
}

/// The words for calls that were lost.
fn lost(seen: &Summary) -> String {
    let faults = match seen.mappings {
        Mappings::Touches { lost, .. } => lost,
        _ => 0,
    };
    let calls = seen.lost.saturating_sub(faults).saturating_sub(seen.no_room);
    let mut text = String::new();
    for (calls, why) in
        [(seen.no_room, "they came faster than they were read"), (calls, "not understood")]
    {
        if calls > 0 {
            let _ = writeln!(text, "  lost, since {why}: {}", counted(calls, "call"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::record::Status;

    #[test]
    fn one_is_said_as_one() {
        let blind_spots = [("io_submit".to_owned(), 1)].into();
        let seen = Summary {
            files: 1,
            opens: 1,
            accesses: 1,
            failed_opens: 1,
            lost: 5,
            no_room: 3,
            mappings: Mappings::Touches { rows: 1, bytes: 4096, lost: 1 },
            left_out: 1,
            blind_spots,
            ..Summary::default()
        };
        let recorded = Recorded {
            summary: seen,
            status: Status::Exited(0),
            duration_ns: 5,
            unfinished: None,
            places: None,
            post_cache: None,
        };
        let said = summary(&recorded, Path::new("run.parquet"));
        assert_eq!(
            said,
            "seekless: 1 access in 5 ns, 0 B read and 0 B written, 1 file opened 1 time, 1 open failed -> run.parquet\n  \
             touched of mapped files: 4.1 KB in 1 part\n  \
             lost, since the kernel had no room: 1 page fault\n  \
             lost, since they came faster than they were read: 3 calls\n  \
             lost, since not understood: 1 call\n  left out by --only or --exclude: 1 call\n  \
             not seen: io_submit, used 1 time\n"
        );
    }
}
