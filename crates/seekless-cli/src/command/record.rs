//! `seekless record`: runs a program, records what it and its children read.

mod said;
mod top;

use crate::command::trace::blocks::said as said_of_blocks;
use crate::command::trace::info::{Verdict, verdict};
use crate::output::Words;
use crate::{exit, next, output};
use clap::builder::{PathBufValueParser, TypedValueParser};
use seekless::device::units::parse_duration;
use seekless::record::{self, Grain, Limits, Live, Method, Options, Recorded};
use seekless::sys::output::{Content, Destination};
use seekless::tools::blocks;
use seekless::trace::Trace;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use top::Top;

/// Run a program and record what it and its children do with files.
///
/// The trace has a row for every open (also the failed ones), read, write, map, sync, directory
/// listing, stat and close, with its time, process, offset, bytes, latency and error. A `load` row
/// marks each file that was read whole. Root is not needed.
///
/// --method says how the calls are seen. `ptrace` needs no privileges: each call on a file stops
/// the program, which costs it some microseconds a call, and latencies are upper bounds, which
/// include such stops. `notify` needs no privileges either. The kernel notifies the recorder of an
/// open, read, write, close, stat or readlink before it happens, which costs a third of two stops;
/// rarer calls stop the program as with ptrace. So these rows have no latency, and their bytes are
/// predicted: a read returns the bytes between its offset and the file's end (of a pipe, 0), a
/// write takes all. Whether an open succeeded is looked up afterwards by its name; of a stat no
/// error is known. On aarch64 a signal with a handler may end such a call with EINTR before it
/// begins. With --grain files only opens, maps and programs are seen, and a file that is opened for
/// reading and not mapped counts as read whole. `ebpf` is for root, or CAP_BPF, CAP_PERFMON and
/// CAP_SYS_PTRACE, on a kernel with type information (/sys/kernel/btf/vmlinux), outside containers:
/// small programs in the kernel report the calls, and the program does not stop; loading them takes
/// some hundredths of a second. Calls that come faster than they are read are lost, and counted. A
/// path that another thread changes during the call, or of a readlink into its own path, is not
/// seen as the kernel saw it; descriptors above 1023 get a second `open` row at an exec; of names
/// deeper than 48 folders the beginning is missing. If SIGKILL ends `seekless record`, only the
/// program itself is killed; processes that it started run on. Programs that may not be traced lose
/// no rows, and setuid programs keep their privileges. `auto` is ebpf where it works, else ptrace,
/// since these see what calls returned and how long they took; with --block and --post it is always
/// ptrace. `seekless trace info` shows which method made a trace.
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
/// The methods ptrace and notify change this: unless you are root, setuid programs (sudo, ping) run
/// without their privileges (no_new_privs). A recorded program cannot be debugged or traced by
/// another, sees in /proc/self/status that it is traced, and cannot enter seccomp's strict mode
/// (its own filters work). If SIGKILL ends `seekless record`, the program is killed too. The rows
/// up to then are kept: `seekless trace info OUTPUT` shows them, `seekless trace recover OUTPUT`
/// makes the trace. With notify, a filter of the program's own cannot have a listener (EBUSY), nor
/// make the calls above fail for want of a tracer; and a program that itself serves the FUSE file
/// system on which its own code lies may wait for ever.
///
/// The trace holds the program's arguments, which may be secret: --no-arguments leaves all but its
/// name out. OUTPUT and the spool are for your user alone (mode 0600), also if OUTPUT replaces a
/// file that others could read; see "Who may read what" in docs/reference/trace-format.md.
/// `seekless trace anonymise` makes a trace fit to be given away.
///
/// OUTPUT appears when the program has ended. Until then rows go to $XDG_STATE_HOME/seekless/spool
/// (~/.local/state if that is not set), about 110 bytes each. If OUTPUT cannot be written, a
/// message says so; the exit status is still the program's.
///
/// Of a memory-mapped file, such as a library, each part has a `fault` row at its first touch. The
/// kernel maps up to 64 KiB around a touched page, and reports no further touch there. This needs
/// perf events (kernel.perf_event_paranoid at most 2). Where they are refused, as in many
/// containers, the method ptrace looks which pages of a file are cached when it is mapped, and
/// again at the end: the rows are the pages that came meanwhile, also by readahead, of your own
/// files (for root, of all). So start cold: touches of pages that were cached before are not seen.
/// The summary says which way was used.
///
/// --pid records a program that runs already, and all of its threads, until Ctrl-C, --for, --rows
/// or its end; then it runs on, also if `seekless record` is killed. By the method ptrace each of
/// its calls stops it twice, so it is slower than a program that `seekless record` has started; by
/// ebpf it does not stop. A file that was open before has an `open` row without a latency, and one
/// that was mapped before has `fault` rows only. The exit status is 0.
///
/// --system records all programs, but for `seekless record` itself, by the method ebpf. A file that
/// was open before has its `open` row when it is first used. --only chooses a folder's files, but
/// the calls of all programs are looked at, which costs them about a microsecond each. With --post
/// that view has all disks.
///
/// Requests by io_submit and io_uring have a row each, at the time when they were handed over, with
/// the result that came back. By the method notify they are only counted; by ebpf, io_uring takes
/// Linux 6.3; by ptrace, a ring that a thread of the kernel empties (SQPOLL) is only counted. A
/// program may take results from memory, where no call shows them: then a row's bytes are as asked,
/// and it has no latency. The recorder cannot see calls of x32, requests of 32-bit programs, nor
/// two calls of very old ones (the first mmap and sendfile). Unless you are root, it cannot see
/// programs that you may execute but not read. All of these are counted and shown.
///
/// --top shows the files with the most bytes in the last five seconds: their reads (also first
/// touches of mapped files), writes and bytes, in that time and in all. With --pid and --system it
/// is drawn on the terminal once a second; with a command too, if both outputs of the command go
/// elsewhere. Else a table is printed to standard error every five seconds.
///
/// --fetches adds `fetch` rows: the pages that come into the page cache for the program, by reads,
/// touches of mapped files, io_uring and readahead. Pages that were cached before have none, nor
/// have reads past the page cache (O_DIRECT). It needs the method ebpf.
///
/// --block writes the block view beside the trace: the accesses to the device if there were no page
/// cache, as `seekless trace blocks` makes it. Here places are looked up while the program runs, at
/// each close and before each process ends, so that files that it deletes have places too. New
/// files get their places when the kernel writes them back: --sync does that at the end, and looks
/// again. --post (root) writes the requests that reach the devices behind the page cache, as the
/// kernel's block layer reports them: of the whole machine, with issue times and latencies, on the
/// devices of the program's files.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless record -o run.parquet -- ./game --level 3
  seekless record -o build.parquet -- make -j2
  seekless record -o start.parquet --quiet -- python3 -c 'import json'
  seekless record -o load.parquet --method notify --grain files -- ./game --level 3
  seekless record --only '*.db' --only /srv/data --exclude '*.tmp' -- ./server
  seekless record -o build.parquet --block blocks.parquet --sync -- make -j2
  seekless record --pid 1234 --for 30s -o server.parquet
  sudo seekless record --system --top
  sudo seekless record --system --path /srv/data --for 1min -o data.parquet
  seekless record --block before.parquet --post behind.parquet -- ./server
  seekless trace info start.parquet")]
pub struct Args {
    /// The trace to write
    #[arg(short, long, default_value = "run.parquet", value_name = "OUTPUT", value_parser = trace_file())]
    output: PathBuf,
    /// Also record pipes, sockets, terminals, /proc, /sys and /dev
    #[arg(long)]
    special: bool,
    /// Record only files whose name matches, or that lie in a folder whose name does, such as
    /// /srv/data or '*.db'; may be given again
    #[arg(long, visible_alias = "path", value_name = "GLOB")]
    only: Vec<String>,
    /// Leave out files whose name matches, also of those that --only names; may be given again
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Also write the accesses as blocks of the device, as if there were no page cache
    #[arg(long, value_name = "FILE", value_parser = trace_file())]
    block: Option<PathBuf>,
    /// Also write the requests that reach the devices behind the page cache (root)
    #[arg(long, value_name = "FILE", value_parser = trace_file())]
    post: Option<PathBuf>,
    /// Also record the pages that come into the page cache for the program, also by readahead
    /// (ebpf)
    #[arg(long)]
    fetches: bool,
    /// At the end write files back that are not on the device yet, so that they have places
    #[arg(long)]
    sync: bool,
    /// Record this process, which runs already, instead of a command
    #[arg(long, value_name = "PID", conflicts_with = "command")]
    pid: Option<i32>,
    /// Record all programs of the machine, until Ctrl-C, --for or --rows (root)
    #[arg(long, conflicts_with_all = ["command", "pid", "block", "sync"])]
    system: bool,
    /// How calls are seen
    #[arg(long, value_enum, value_name = "METHOD", default_value = "auto")]
    method: MethodWord,
    /// How finely --method notify looks
    #[arg(long, value_enum, value_name = "GRAIN", default_value = "calls")]
    grain: GrainWord,
    /// Record nothing after this time, such as 30s; the program runs on
    #[arg(long = "for", value_name = "TIME", value_parser = parse_duration)]
    time_ns: Option<u64>,
    /// Record at most this many rows; the program runs on
    #[arg(long, value_name = "COUNT")]
    rows: Option<u64>,
    /// Keep the program's name in the trace, but not its arguments
    #[arg(long)]
    no_arguments: bool,
    /// Show the busiest files while recording
    #[arg(long)]
    top: bool,
    /// Replace OUTPUT, and the files of --block and --post, if they are there
    #[arg(short, long)]
    force: bool,
    /// Do not print the summary to standard error
    #[arg(short, long)]
    quiet: bool,
    /// The program and its arguments
    #[arg(
        required_unless_present_any = ["pid", "system"],
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "CMD"
    )]
    command: Vec<OsString>,
}

/// Rows of a recording that is read again for its summary.
const ROWS_READ_AGAIN: u64 = 500_000;

/// The values of --method.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum MethodWord {
    /// ebpf where it works, else ptrace
    Auto,
    /// Stops at calls on files; needs no privileges
    Ptrace,
    /// Notifications before frequent calls: cheaper, without latencies
    Notify,
    /// Programs in the kernel, no stops (root)
    Ebpf,
}

/// The values of --grain.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
enum GrainWord {
    /// Each call
    Calls,
    /// Opens, maps and programs
    Files,
}

/// What the words say.
fn method(word: MethodWord, grain: GrainWord) -> anyhow::Result<Method> {
    let grain = match grain {
        GrainWord::Calls => Grain::Calls,
        GrainWord::Files => Grain::Files,
    };
    Ok(match word {
        MethodWord::Notify => Method::Notify(grain),
        _ if grain != Grain::Calls => anyhow::bail!("--grain files is for --method notify"),
        MethodWord::Auto => Method::Auto,
        MethodWord::Ptrace => Method::Ptrace,
        MethodWord::Ebpf => Method::Ebpf,
    })
}

/// The file for the trace. For other verbs `-` is standard output; here that is the program's.
pub(super) fn trace_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if Destination::from_word(&path).is_standard_output() {
            Err("standard output is the recorded program's; name a file, such as -o run.parquet")
        } else {
            Ok(path)
        }
    })
}

/// How much of its time the program spent in calls on files. Of a long recording, `trace info` says
/// so: to read it takes a while.
fn waited(recorded: &Recorded, output: &Path) -> Verdict {
    if recorded.summary.accesses > ROWS_READ_AGAIN {
        return Verdict::default();
    }
    // What can be said is no reason to fail.
    let said = Trace::open(output).map_err(anyhow::Error::from).and_then(|it| verdict(&it));
    said.unwrap_or_default()
}

/// Records, prints the summary, and ends as the program did.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let method = match method(args.method, args.grain) {
        Ok(method) => method,
        Err(why) => {
            let _ = exit::failure(&why); // prints it
            return Ok(ExitCode::from(125));
        }
    };
    let options = Options {
        special: args.special,
        force: args.force,
        only: args.only,
        exclude: args.exclude,
        places: args.block.is_some(),
        sync: args.sync,
        post_cache: args.post.clone(),
        fetches: args.fetches,
        method,
        ring_bytes: None,
        limits: Limits { time_ns: args.time_ns, rows: args.rows },
        no_arguments: args.no_arguments,
        live: args.top.then(Live::default),
    };
    let block = args.block.map(|path| Destination::new(path).replacing(args.force));
    if let Some(Err(error)) = block.as_ref().map(|block| block.check(Content::Binary)) {
        let _ = exit::failure(&error.into()); // prints it, before the program runs
        return Ok(ExitCode::from(125));
    }
    let top = options.live.clone().map(|live| Top::start(live, &args.command));
    let says_how_to_end =
        top.is_none() && !args.quiet && args.time_ns.is_none() && args.rows.is_none();
    let say = |what: &str| {
        if says_how_to_end {
            output::say(format_args!("recording {what}; Ctrl-C ends it"));
        }
    };
    let recorded = match (args.pid, args.command.split_first()) {
        (Some(pid), _) => {
            if Path::new("/proc").join(pid.to_string()).exists() {
                say(&pid.to_string());
            }
            record::record_running(pid, &args.output, &options)
        }
        (None, Some((program, arguments))) => {
            record::record(program, arguments, &args.output, &options)
        }
        (None, None) => {
            say("all programs");
            record::record_machine(&args.output, &options)
        }
    };
    top.into_iter().for_each(Top::end);
    match recorded {
        Ok(mut recorded) => {
            let unfinished = recorded.unfinished.take();
            let finished = unfinished.is_none();
            if let Some(error) = unfinished {
                let _ = exit::failure(&error.into()); // prints it; the exit status is the program's
            } else if !args.quiet {
                // A closed standard error is no reason to change the program's exit status.
                let mut said = said::summary(&recorded, &args.output);
                if let (Some(post), Some(path)) = (&recorded.post_cache, &args.post) {
                    said += &said::behind(post, path);
                }
                let waited = waited(&recorded, &args.output);
                if !waited.text.is_empty() {
                    said += &format!("  {}\n", waited.text.trim_end());
                }
                output::note(&said);
                let command: Vec<String> =
                    args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
                let _ = next::say(Words::Error, &waited.found(&args.output, &command));
            }
            if let Some(block) = block.filter(|_| finished) {
                map(&recorded, &args.output, &block, args.quiet);
            }
            // A program that was attached is not our child: its end does not set our exit status.
            let is_ours = args.pid.is_none() && !args.system;
            Ok(if is_ours { recorded.status.imitate() } else { ExitCode::SUCCESS })
        }
        Err(error) => {
            let code = error.exit_code();
            let _ = exit::failure(&error.into()); // prints it; the code is that of `env` and `timeout`
            Ok(ExitCode::from(code))
        }
    }
}

/// Writes the block view. A failure is printed; the exit status stays the program's.
fn map(recorded: &Recorded, trace: &Path, out: &Destination, quiet: bool) {
    let options = blocks::Options::default();
    let mut progress = output::progress("Mapping");
    let mapped = blocks::blocks(trace, out, recorded.places.as_ref(), &options, &mut progress);
    drop(progress);
    match mapped {
        Ok(_) if quiet => {}
        Ok(report) => {
            let said = said_of_blocks(&report, &format!("seekless: {}", output::shown(out.path())));
            output::note(&said);
        }
        Err(error) => drop(exit::failure(&error.into())),
    }
}
