//! `seekless record`: runs a program, records what it and its children read.

use crate::exit;
use clap::builder::{PathBufValueParser, TypedValueParser};
use seekless::device::units::{counted, format_bytes, format_duration};
use seekless::record::{self, Mappings, Options, Recorded};
use seekless::sys::output::Destination;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Run a program and record what it and its children do with files.
///
/// The trace has a row for every open (also the failed ones), read, write, map, sync, directory
/// listing, stat and close, with its time, process, offset, bytes, latency and error. A `load` row
/// marks each file that was read whole. Root is not needed. Latencies are upper bounds, which
/// include some microseconds that the recorder takes for each call.
///
/// The program keeps its terminal, streams, environment, signals and exit status. Ctrl-C reaches
/// the program, which decides what to do. If a signal ends the program, the same signal ends
/// `seekless record` after the trace is complete. The exit status is 125 if the recorder fails, 126
/// if the program cannot be executed, and 127 if it is not found. The recorder waits for all
/// processes that the program started, also for a daemon that outlives it.
///
/// --only and --exclude choose files by their absolute names, without links. A glob that does not
/// start with / matches at any depth. * does not match /, ** does. A folder's name stands for
/// everything in it. A file is recorded whole or left out whole, so that `load` rows keep their
/// meaning. Calls on files that are left out are counted, and cost the program less time.
///
/// The recorder has to change this: unless you are root, setuid programs (sudo, ping) run without
/// their privileges (no_new_privs). A recorded program cannot be debugged or traced by another,
/// sees in /proc/self/status that it is traced, and cannot enter seccomp's strict mode (its own
/// filters work). If SIGKILL ends `seekless record`, the program is killed too. The rows up to then
/// are kept: `seekless trace info OUTPUT` shows them, `seekless trace recover OUTPUT` makes the
/// trace.
///
/// OUTPUT appears when the program has ended. Until then rows go to $XDG_STATE_HOME/seekless/spool
/// (~/.local/state if that is not set), about 110 bytes each. If OUTPUT cannot be written, a
/// message says so; the exit status is still the program's.
///
/// Of a memory-mapped file, such as a library, each part has a `fault` row at its first touch. The
/// kernel maps up to 64 KiB around a touched page, and tells of no further touch there. This needs
/// perf events (kernel.perf_event_paranoid at most 2); where they are refused, the trace has the
/// mappings only, and the summary says so.
///
/// The recorder cannot see reads through io_uring and io_submit, nor calls of x32, nor two calls of
/// very old 32-bit programs (the first mmap and sendfile). Unless you are root, it cannot see
/// programs that you may execute but not read. All of these are counted and shown.
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
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

/// The file for the trace. For other verbs `-` is standard output; here that is the program's.
fn trace_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if Destination::from_word(&path).is_standard_output() {
            Err("standard output is the recorded program's; name a file, such as -o run.parquet")
        } else {
            Ok(path)
        }
    })
}

/// Records, prints the summary, and ends as the program did.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let Some((program, arguments)) = args.command.split_first() else {
        anyhow::bail!("no program to record: seekless record -o run.parquet -- PROGRAM");
    };
    let options = Options {
        special: args.special,
        force: args.force,
        only: args.only,
        exclude: args.exclude,
    };
    match record::record(program, arguments, &args.output, &options) {
        Ok(mut recorded) => {
            if let Some(error) = recorded.unfinished.take() {
                let _ = exit::failure(&error.into()); // prints it; the exit status is the program's
            } else if !args.quiet {
                // A closed standard error is no reason to change the program's exit status.
                let _ = std::io::stderr().write_all(summary(&recorded, &args.output).as_bytes());
            }
            Ok(recorded.status.imitate())
        }
        Err(error) => {
            let code = error.exit_code();
            let _ = exit::failure(&error.into()); // prints it; the code is that of `env` and `timeout`
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
    let mut lost_calls = seen.lost;
    match &seen.mappings {
        Mappings::Touches { rows, bytes, lost } => {
            lost_calls = lost_calls.saturating_sub(*lost);
            if *rows > 0 {
                let bytes = format_bytes(*bytes);
                let _ = writeln!(
                    text,
                    "  touched of mapped files: {bytes} in {}",
                    counted(*rows, "part")
                );
            }
            if *lost > 0 {
                let _ = writeln!(
                    text,
                    "  lost, since the kernel had no room: {}",
                    counted(*lost, "page fault")
                );
            }
        }
        Mappings::Calls(why) => {
            let _ = writeln!(text, "  not seen: which parts of mapped files are touched ({why})");
        }
    }
    if lost_calls > 0 {
        let _ = writeln!(text, "  lost, since not understood: {}", counted(lost_calls, "call"));
    }
    if seen.left_out > 0 {
        let _ =
            writeln!(text, "  left out by --only or --exclude: {}", counted(seen.left_out, "call"));
    }
    for (program, times) in &seen.deprived {
        let times =
            if *times > 1 { format!(" ({})", counted(*times, "time")) } else { String::new() };
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
            lost: 2,
            mappings: Mappings::Touches { rows: 1, bytes: 4096, lost: 1 },
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
             touched of mapped files: 4.1 KB in 1 part\n  \
             lost, since the kernel had no room: 1 page fault\n  \
             lost, since not understood: 1 call\n  left out by --only or --exclude: 1 call\n  \
             not seen: io_submit, used 1 time\n"
        );
    }
}
