//! `seekless record`: runs a program, records what it and its children read.

use crate::exit;
use clap::builder::{PathBufValueParser, TypedValueParser};
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::record::{self, Options, Recorded};
use seekless::sys::output::Destination;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run a program and record what it and its children do with files.
///
/// The trace holds every open (also the failed ones), read, write, map, sync, directory listing,
/// stat and close, with its time, process, offset, bytes, latency and error, and a `load` for each
/// file that was read whole. It needs no root. Latencies are upper bounds: they include some
/// microseconds in which the recorder takes notice of the call.
///
/// The program keeps its terminal, streams, environment, signals and exit status: Ctrl-C reaches it
/// and it decides; if a signal ends it, the same signal ends `seekless record`, after the trace is
/// complete. Failures of the recorder itself exit with 125, a program that cannot be executed with
/// 126, one that is not found with 127. The recorder waits for everything that the program started,
/// also for what outlives it, such as a daemon.
///
/// --only and --exclude choose files by their absolute names, past all links. A glob that does not
/// start with / matches at any depth, * matches no /, ** does, and a folder's name stands for all
/// in it. A file is kept or left out whole, so that a `load` means the same; calls on what is left
/// out are counted, and cost the program less.
///
/// What it must alter: unless you are root, setuid programs (sudo, ping) run without their
/// privileges (no_new_privs); what is recorded cannot be debugged or traced by another, sees so in
/// /proc/self/status, and cannot enter seccomp's strict mode (filters of its own work); and if
/// `seekless record` is killed with SIGKILL, the program is too (what was recorded is kept:
/// `seekless trace info OUTPUT` shows it, `seekless trace recover OUTPUT` makes the trace of it).
///
/// Until the program has ended, what is recorded goes to $XDG_STATE_HOME/seekless/spool
/// (~/.local/state if that is not set), about 110 bytes an access, and OUTPUT does not exist. If
/// OUTPUT cannot be written then, that is said; the exit status remains the program's.
///
/// What it cannot see: the single touches of memory-mapped files (the mapping is recorded), reads
/// through io_uring and io_submit, calls of x32, two that only very old 32-bit programs make (the
/// first mmap and sendfile), and, unless you are root, programs that you may execute but not read.
/// All but the first are counted and shown.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless record -o run.parquet -- ./game --level 3
  seekless record -o build.parquet -- make -j2
  seekless record -o start.parquet --quiet -- python3 -c 'import json'
  seekless record --only '*.db' --only /srv/data --exclude '*.tmp' -- ./server
  seekless trace info start.parquet")]
pub struct Args {
    /// The trace to write
    #[arg(short, long, default_value = "run.parquet", value_name = "OUTPUT", value_parser = trace_file())]
    output: PathBuf,
    /// Also record pipes, sockets, terminals, /proc, /sys and /dev
    #[arg(long)]
    special: bool,
    /// Record only files whose name matches; may be given again
    #[arg(long, value_name = "GLOB")]
    only: Vec<String>,
    /// Leave out files whose name matches, also of those that --only names; may be given again
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Replace OUTPUT if it is there
    #[arg(short, long)]
    force: bool,
    /// Do not print the summary to standard error
    #[arg(short, long)]
    quiet: bool,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
    command: Vec<OsString>,
}

/// A file for the trace. Elsewhere `-` is standard output, which here belongs to the recorded program.
fn trace_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if Destination::from_word(&path).is_standard_output() {
            Err("standard output is the recorded program's; name a file, such as -o run.parquet")
        } else {
            Ok(path)
        }
    })
}

/// Records, says what came of it, and ends as the program did.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some((program, arguments)) = args.command.split_first() else {
        anyhow::bail!("no program to record: seekless record -o run.parquet -- PROGRAM");
    };
    let options =
        Options { special: args.special, force: args.force, only: args.only, exclude: args.exclude };
    match record::record(program, arguments, &args.output, &options) {
        Ok(mut recorded) => {
            if let Some(error) = recorded.unfinished.take() {
                let _ = exit::failure(&error.into()); // says it; the exit status is the program's
            } else if !args.quiet {
                // A closed standard error is no reason to change the program's exit status.
                let _ = std::io::stderr().write_all(summary(&recorded, &args.output).as_bytes());
            }
            Ok(recorded.status.imitate())
        }
        Err(error) => {
            let code = error.exit_code();
            let _ = exit::failure(&error.into()); // says it; the code is that of `env` and `timeout`
            Ok(ExitCode::from(code))
        }
    }
}

fn summary(recorded: &Recorded, output: &Path) -> String {
    let seen = &recorded.summary;
    let mut text = format!(
        "seekless: {} in {}, {} read and {} written, {} opened {}",
        counted(seen.accesses, "access"),
        format_duration(recorded.duration_ns),
        format_bytes(seen.bytes_read),
        format_bytes(seen.bytes_written),
        counted(seen.files, "file"),
        counted(seen.opens, "time"),
    );
    if seen.failed_opens > 0 {
        let _ = write!(text, ", {} failed", counted(seen.failed_opens, "open"));
    }
    let _ = writeln!(text, " -> {}", output.display());
    if seen.lost > 0 {
        let _ = writeln!(text, "  lost, since not understood: {}", counted(seen.lost, "call"));
    }
    if seen.left_out > 0 {
        let _ = writeln!(text, "  left out by --only or --exclude: {}", counted(seen.left_out, "call"));
    }
    for (program, times) in &seen.deprived {
        let times = if *times > 1 { format!(" ({})", counted(*times, "time")) } else { String::new() };
        let _ = writeln!(text, "  ran without its privileges, since you are not root: {program}{times}");
    }
    for (what, times) in &seen.blind_spots {
        let _ = writeln!(text, "  not seen: {what}, used {}", counted(*times, "time"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::record::{Status, Summary};

    #[test]
    fn one_is_said_as_one() {
        let blind_spots = [("io_submit".to_owned(), 1)].into();
        let seen = Summary {
            files: 1,
            opens: 1,
            accesses: 1,
            failed_opens: 1,
            lost: 1,
            left_out: 1,
            blind_spots,
            ..Summary::default()
        };
        let recorded =
            Recorded { summary: seen, status: Status::Exited(0), duration_ns: 5, unfinished: None };
        let said = summary(&recorded, Path::new("run.parquet"));
        assert_eq!(
            said,
            "seekless: 1 access in 5 ns, 0 B read and 0 B written, 1 file opened 1 time, 1 open failed -> run.parquet\n  \
             lost, since not understood: 1 call\n  left out by --only or --exclude: 1 call\n  \
             not seen: io_submit, used 1 time\n"
        );
    }
}
