//! The last line of a report: what to do next. All verbs take it from here, so that the same
//! figures lead to the same advice.
//!
//! It is for people: it stands where the report stands if that is a terminal, and never beside
//! `--json`. What gains less than `advise` would offer is not named.

use crate::output::{self, Words, shown};
use seekless::tools::advise::{self, quoted};
use std::path::{Path, PathBuf};

/// What a verb has found.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A recording, or a trace of files: how long its runs took, and how long they were in calls
    /// on files; the command, if it is known.
    Waits {
        /// The trace.
        trace: &'a Path,
        /// The program and its arguments; may be empty.
        command: &'a [String],
        /// Nanoseconds of all runs.
        took_ns: u64,
        /// Of these, in calls on files.
        in_calls_ns: u64,
    },
    /// A trace whose requests a cache may serve, but not a program's start.
    Requests(&'a [PathBuf]),
    /// The misses of caches, at this many sizes.
    Misses {
        /// The traces.
        traces: &'a [PathBuf],
        /// Different sizes that were simulated.
        sizes: usize,
    },
    /// An order that was scored.
    Order(&'a [PathBuf]),
    /// A pack.
    Packed {
        /// The folder.
        directory: &'a Path,
        /// The archive.
        archive: &'a Path,
        /// The runs that its order was made from.
        traces: &'a [PathBuf],
    },
    /// How many times as fast as its loose files a pack is.
    Compared {
        /// The folder.
        directory: &'a Path,
        /// The archive.
        archive: &'a Path,
        /// Times.
        ratio: f64,
    },
    /// `run` without a profile of the program, or with one that brings files in.
    Start {
        /// The program and its arguments.
        command: &'a [String],
        /// Whether a start of it is known.
        is_known: bool,
    },
    /// Files that were brought into the page cache.
    Warmed,
    /// Files that were dropped from it.
    Cooled,
    /// Files that were laid in order, or could be (`is_tried`): from these profiles or traces, and
    /// how long the program would wait before and after, in nanoseconds.
    Laid {
        /// Profiles or traces.
        sources: &'a [PathBuf],
        /// Whether nothing was moved.
        is_tried: bool,
        /// As the files lay.
        before_ns: u64,
        /// In order.
        after_ns: u64,
    },
    /// A list for another tool: from these traces of so many runs, in this format.
    Exported {
        /// The traces.
        traces: &'a [PathBuf],
        /// Runs in them.
        runs: u64,
        /// The name of the format.
        format: &'a str,
    },
    /// Files with a trace's names and sizes.
    Made {
        /// The trace or list.
        source: &'a Path,
        /// The folder.
        directory: &'a Path,
    },
    /// A trace of another format, which is a file of ours now.
    Imported(&'a Path),
    /// A measured device.
    Probed,
    /// A trace that was played on a device.
    Replayed(&'a Path),
}

/// As `advise` does: what gains less than this share, or less than this time, is not offered.
const LEAST_SHARE: f64 = 0.05;
const LEAST_NS: u64 = 20_000_000;

/// Says what to do next, if there is something to do and somebody reads it.
pub fn say(words: Words, found: &Found<'_>) -> anyhow::Result<()> {
    let Some(next) = next(found).filter(|_| words.are_shown()) else { return Ok(()) };
    words.text(&format!("\n{}\n", output::line(&next)))
}

/// The line: `Next: COMMAND  (why)`.
pub fn next(found: &Found<'_>) -> Option<String> {
    let (command, why) = match *found {
        Found::Waits { trace, command, took_ns, in_calls_ns } => {
            let share = in_calls_ns as f64 / took_ns.max(1) as f64;
            if share < LEAST_SHARE || in_calls_ns < LEAST_NS {
                return None;
            }
            match command {
                [] => (format!("trace files {} --top 20", word(trace)), "names what it waits for"),
                _ => (format!("advise -- {}", advise::words(command)), "says what would help"),
            }
        }
        Found::Requests(traces) => (
            format!("sim {} --shards 8192 --policy lru,arc,s3-fifo", words(traces)),
            "shows what caches of each size would hit",
        ),
        Found::Misses { traces, sizes: 1 } => (
            format!("sim {} --curve exact --policy lru", words(traces)),
            "shows the misses of each cache size",
        ),
        Found::Misses { traces, .. } => {
            (format!("sim {} --device nvme", words(traces)), "shows what the misses cost in time")
        }
        Found::Order(traces) => (
            format!("pack DIR -o data.zip --trace {}", words(traces)),
            "lays the files in the order that wins",
        ),
        Found::Packed { directory, archive, traces } => match traces.split_last() {
            Some((newest, _)) => (
                format!("compare {} {} --trace {}", word(directory), word(archive), word(newest)),
                "loads a run from both, cold",
            ),
            None => (format!("mount {} DIR", word(archive)), "lets programs read it as a folder"),
        },
        Found::Compared { directory, archive, ratio } => match ratio > 1.0 + LEAST_SHARE {
            true => (
                format!("mount {} {} --over -- YOUR PROGRAM", word(archive), word(directory)),
                "lets programs read the pack in place of the folder",
            ),
            false => (
                "run -- YOUR PROGRAM".to_owned(),
                "brings the loose files in beside it; the pack gains nothing here",
            ),
        },
        Found::Start { command, is_known: false } => {
            (format!("run -- {}", advise::words(command)), "learns what its start needs")
        }
        Found::Start { command, is_known: true } => (
            format!("advise --verify -- {}", advise::words(command)),
            "times its starts with and without help",
        ),
        Found::Probed => ("advise -- YOUR PROGRAM".to_owned(), "uses these costs"),
        Found::Replayed(trace) => (
            format!("sim {} --shards 8192 --policy lru,arc,s3-fifo", word(trace)),
            "shows which of these requests a cache would save",
        ),
        _ => prepared(found)?,
    };
    Some(format!("Next: seekless {command}  ({why})"))
}

/// The command, and why, behind verbs that prepare a start or files of another tool.
fn prepared(found: &Found<'_>) -> Option<(String, &'static str)> {
    Some(match *found {
        Found::Warmed => {
            ("run -- YOUR PROGRAM".to_owned(), "does the same at each start, beside it")
        }
        Found::Cooled => {
            ("advise -- YOUR PROGRAM".to_owned(), "times it cold and cached, and says what helps")
        }
        Found::Laid { sources, is_tried, before_ns, after_ns } => {
            let gain_ns = before_ns.saturating_sub(after_ns);
            if gain_ns < LEAST_NS || (gain_ns as f64) < LEAST_SHARE * before_ns as f64 {
                return None;
            }
            match is_tried {
                true => (format!("layout {}", words(sources)), "moves them"),
                false => ("run -- YOUR PROGRAM".to_owned(), "brings them in, in their new order"),
            }
        }
        Found::Exported { runs: 0 | 1, .. } => return None,
        Found::Exported { traces, format, .. } => (
            format!("export {} --format {format} --score", words(traces)),
            "rates such a list on runs that it was not made from",
        ),
        Found::Made { source, directory } => (
            format!("pack {} -o data.zip --trace {}", word(directory), word(source)),
            "lays them in the order of the loads",
        ),
        Found::Imported(trace) => {
            (format!("advise {}", word(trace)), "says what would help, or which cache would")
        }
        _ => return None,
    })
}

fn word(path: &Path) -> String {
    quoted(&shown(path))
}

fn words(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| word(path)).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(command: &[String], took_ns: u64, in_calls_ns: u64) -> Option<String> {
        next(&Found::Waits { trace: Path::new("run.parquet"), command, took_ns, in_calls_ns })
    }

    #[test]
    fn a_wait_that_is_worth_it_leads_to_advice_and_another_to_nothing() {
        let command = ["app".to_owned(), "a b".to_owned()];
        assert_eq!(
            waits(&command, 1_000_000_000, 60_000_000).unwrap(),
            "Next: seekless advise -- app 'a b'  (says what would help)"
        );
        assert!(waits(&[], 1_000_000_000, 60_000_000).unwrap().contains("trace files run.parquet"));
        assert_eq!(waits(&command, 1_000_000_000, 40_000_000), None, "4 %");
        assert_eq!(waits(&command, 100_000_000, 19_000_000), None, "19 ms");
    }

    #[test]
    fn a_pack_that_gains_nothing_is_not_mounted() {
        let compared = |ratio| {
            let (directory, archive) = (Path::new("data"), Path::new("data.zip"));
            next(&Found::Compared { directory, archive, ratio }).unwrap()
        };
        assert!(compared(3.0).contains("seekless mount data.zip data --over"));
        assert!(compared(1.02).contains("seekless run -- YOUR PROGRAM"));
    }

    #[test]
    fn a_layout_is_made_or_used_where_it_gains_and_one_run_rates_no_list() {
        let sources = [PathBuf::from("app-17")];
        let laid = |is_tried, after_ns| {
            next(&Found::Laid { sources: &sources, is_tried, before_ns: 1_000_000_000, after_ns })
        };
        assert!(laid(true, 500_000_000).unwrap().contains("seekless layout app-17"));
        assert!(laid(false, 500_000_000).unwrap().contains("seekless run -- YOUR PROGRAM"));
        assert_eq!(laid(true, 960_000_000), None, "4 %");
        assert_eq!(next(&Found::Exported { traces: &sources, runs: 1, format: "soci" }), None);
    }

    #[test]
    fn each_line_is_one_line_and_names_a_verb() {
        let traces = [PathBuf::from("a.parquet"), PathBuf::from("b c.parquet")];
        let (directory, archive) = (Path::new("d"), Path::new("d.zip"));
        let command = ["app".to_owned()];
        for found in [
            Found::Requests(&traces),
            Found::Misses { traces: &traces, sizes: 1 },
            Found::Misses { traces: &traces, sizes: 2 },
            Found::Order(&traces),
            Found::Packed { directory, archive, traces: &traces },
            Found::Packed { directory, archive, traces: &[] },
            Found::Start { command: &command, is_known: false },
            Found::Start { command: &command, is_known: true },
            Found::Warmed,
            Found::Cooled,
            Found::Exported { traces: &traces, runs: 2, format: "nydus" },
            Found::Made { source: &traces[0], directory },
            Found::Imported(&traces[1]),
            Found::Probed,
            Found::Replayed(directory),
        ] {
            let line = next(&found).unwrap();
            assert!(line.starts_with("Next: seekless ") && !line.contains('\n'), "{line}");
        }
    }
}
