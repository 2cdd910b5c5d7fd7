//! One recording from start to end: it makes the spool, starts the program, follows it, and writes
//! the Parquet file.

use crate::arrivals::Arrived;
use crate::calls;
use crate::error::{Error, ErrorKind, Result};
use crate::faults::{Seen, Watch, Whose};
use crate::method::{self, Follow};
use crate::options::Options;
use crate::places::Places;
use crate::post_cache::{self, Follower, PostCache};
use crate::recorded::{Fetches, Mappings, Recorded, Status, Summary};
use crate::selection::Selection;
use crate::sink::{Limits, Sink, Written};
use crate::tracer::{Settings, Traced, Tracer};
use nix::sys::ptrace::{self, Options as Trace};
use nix::unistd::Pid;
use seekless_sys::awaited::Awaited;
use seekless_sys::output::{self, Content, Destination};
use seekless_sys::{reason, signals};
use seekless_trace::{Metadata, RunInfo, SpoolWriter, Writer, spool_path};
use seekless_watch::tracee::{self, Failure, Waiting};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// What to do where ptrace is refused.
pub(crate) const MAY_NOT_TRACE: &str = "this process may not trace another. In a container: start it with --cap-add=SYS_PTRACE, or a seccomp profile that \
     allows ptrace. Otherwise look at /proc/sys/kernel/yama/ptrace_scope: 0 and 1 suffice, 2 needs root, 3 forbids it. \
     A program that strace, gdb or another recording already traces cannot be recorded";

/// Runs `program`, which is searched along PATH, with `args`. Writes the trace of all that it and
/// its descendants read and write to `output`. Returns when the last of them has ended; the status
/// is the program's own.
///
/// The program has the process group, terminal, standard streams, environment and directory of this
/// process. While it runs, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH and SIGALRM
/// to this process are passed on to the program and do not end the recording. If this process is
/// killed, the program is killed too. The spool is kept then ([`seekless_trace::spool_path`]) and
/// opens as a trace. Both are for this user alone (mode 0600): they hold the program's arguments,
/// unless [`Options::no_arguments`] says otherwise. Until the program has ended, no file of the
/// recording appears in the folder of `output`.
///
/// Call it from one thread at a time. That thread must have no other children, since this function
/// waits for all of them.
///
/// # Errors
/// See [`ErrorKind`]. The program was not executed and nothing is left behind, neither a file nor a
/// child; but [`ErrorKind::Lost`]: it could not be followed and was killed. If only the trace could
/// not be finished after the program ended, the result is not an error: see
/// [`Recorded::unfinished`]. The spool is kept then.
pub fn record(
    program: &OsStr,
    args: &[OsString],
    output: &Path,
    options: &Options,
) -> Result<Recorded> {
    let words = words(program, args)?;
    Selection::new(&options.only, &options.exclude)?; // before the kernel is asked for anything
    let follow = method::choose(options)?;
    let run = RunInfo { source: follow.source().into(), ..circumstances(program, args) };
    recorded_by(run, output, options, |spool, settings| {
        trace(program, &words, spool, options.limits, settings, follow)
    })
}

/// Makes the spool, has `follow` follow the program, and writes the trace.
pub(crate) fn recorded_by(
    run: RunInfo,
    output: &Path,
    options: &Options,
    follow: impl FnOnce(SpoolWriter, Settings) -> Result<Traced>,
) -> Result<Recorded> {
    let selection = Selection::new(&options.only, &options.exclude)?;
    let _survive = signals::survive_file_size_limit();
    let spool_path = spool_path(output).map_err(|error| {
        Error::new(ErrorKind::Trace, "there is no folder for the spool").because(error)
    })?;
    check_outputs(output, &spool_path, options)?;
    if let Some(out) = &options.post_cache {
        try_output(&Destination::new(out).replacing(options.force))?;
    }
    let destination = Destination::named(output).replacing(options.force).private();
    try_output(&destination)?;
    let mut run = RunInfo { only: options.only.clone(), exclude: options.exclude.clone(), ..run };
    if options.no_arguments {
        run.command.truncate(1);
    }
    let metadata = Metadata { runs: vec![run.clone()], ..Metadata::default() };
    let spool = SpoolWriter::create_for(output, &spool_path, &metadata).map_err(unwritable)?;
    let own = own_names(output, &spool_path);
    let places = options.places || options.post_cache.is_some();
    let live = options.live.clone();
    let settings = Settings {
        special: options.special,
        chosen: Some(Box::new(move |name: &[u8]| selection.keeps(name))),
        own,
        places,
        live,
        fetches: options.fetches,
    };
    // Not beside the output, since the program may list that folder.
    let folder = spool_path.parent().unwrap_or(Path::new("."));
    let post_cache = options.post_cache.as_ref().map(|_| Follower::start(folder));
    let traced = follow(spool, settings);
    if traced.as_ref().is_err_and(|error| error.kind() != ErrorKind::Lost) {
        let _ = std::fs::remove_file(&spool_path); // nothing was followed, so the spool is empty
    }
    let mut traced = traced?;
    if options.fetches && traced.summary.fetches == Fetches::NotAsked {
        let why = "only the method ebpf sees it, and another one is used";
        traced.summary.fetches = Fetches::Refused(why.to_owned());
    }
    let places = traced.looker.take().map(|looker| looker.finish(options.sync));
    let followed = post_cache.zip(options.post_cache.as_deref());
    let post_cache = followed.map(|(follower, out)| {
        let out = Destination::new(out).replacing(options.force);
        let run = RunInfo { only: Vec::new(), exclude: Vec::new(), ..run };
        behind(follower, places.as_ref(), run, &out)
    });
    let recorded = finish(traced, &destination, &spool_path);
    Ok(Recorded { places: places.filter(|_| options.places), post_cache, ..recorded })
}

/// Ends the view behind the page cache: of the disks of the program's files.
fn behind(
    follower: io::Result<Follower>,
    places: Option<&Places>,
    run: RunInfo,
    out: &Destination,
) -> PostCache {
    let follower = match follower {
        Ok(follower) => follower,
        Err(error) => return PostCache::Refused(why_no_events(&error)),
    };
    let devices = places.into_iter().flat_map(|places| places.files.keys().map(|key| key.0));
    let written = follower.finish(&post_cache::disks(devices), run, out);
    written.unwrap_or_else(|error| {
        let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
        PostCache::Refused(format!("{error}{}", cause.unwrap_or_default()))
    })
}

pub(crate) fn why_no_events(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "block events are for root, or for CAP_PERFMON where tracefs is readable".to_owned()
        }
        _ => format!("block events do not work here: {}", reason(error)),
    }
}

pub(crate) fn words(program: &OsStr, args: &[OsString]) -> Result<Vec<CString>> {
    let words = std::iter::once(program).chain(args.iter().map(OsString::as_os_str));
    let words: Result<Vec<CString>, _> = words.map(|word| CString::new(word.as_bytes())).collect();
    words.map_err(|error| {
        Error::new(ErrorKind::CannotExecute, "an argument holds a zero byte").because(error)
    })
}

/// Fails now if the output cannot be written, rather than after the program's end. The file does
/// not appear yet.
fn try_output(output: &Destination) -> Result<()> {
    Writer::create(output, Metadata::default()).map(drop).map_err(unwritable)
}

/// The words of an error of the trace or spool, which name the file, followed by its cause.
fn unwritable(error: seekless_trace::Error) -> Error {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    Error::new(ErrorKind::Trace, format!("{error}{}", cause.unwrap_or_default()))
}

fn check_outputs(output: &Path, spool: &Path, options: &Options) -> Result<()> {
    let check =
        |path: &Path| Destination::named(path).replacing(options.force).check(Content::Binary);
    let refused = |error: output::Error| Error::new(ErrorKind::Exists, error.to_string());
    check(output).map_err(refused)?;
    check(spool).map_err(|error| match error.kind() {
        output::ErrorKind::Exists => {
            let message = format!(
                "a recording to {output} is running, or was killed and left {}: make a trace of that with `seekless trace \
                 recover {output}`, or give --force to replace it",
                spool.display(),
                output = output.display(),
            );
            Error::new(ErrorKind::Exists, message)
        }
        _ => refused(error),
    })
}

fn own_names(output: &Path, spool: &Path) -> Vec<Vec<u8>> {
    let own = [output, spool].into_iter().filter_map(|path| {
        let parent =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Some(
            parent
                .canonicalize()
                .ok()?
                .join(path.file_name()?)
                .into_os_string()
                .into_encoded_bytes(),
        )
    });
    own.collect()
}

pub(crate) fn circumstances(program: &OsStr, args: &[OsString]) -> RunInfo {
    let text = |word: &OsStr| seekless_trace::escape_path(word.as_bytes());
    let words = std::iter::once(program).chain(args.iter().map(OsString::as_os_str));
    RunInfo {
        command: words.map(text).collect(),
        directory: std::env::current_dir()
            .map(|directory| text(directory.as_os_str()))
            .unwrap_or_default(),
        ..this_machine()
    }
}

/// What is the same of every recording that begins now.
pub(crate) fn this_machine() -> RunInfo {
    let name = rustix::system::uname();
    RunInfo {
        host: name.nodename().to_string_lossy().into_owned(),
        kernel: name.release().to_string_lossy().into_owned(),
        clock: "monotonic".into(),
        started_unix_ns: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .ok()
            .map(|since| since.as_nanos() as u64),
        ..RunInfo::default()
    }
}

/// Starts the program and follows it to its end.
fn trace(
    program: &OsStr,
    words: &[CString],
    spool: SpoolWriter,
    limits: Limits,
    settings: Settings,
    follow: Follow,
) -> Result<Traced> {
    let own_failure =
        |what: &'static str| move |error: io::Error| Error::new(ErrorKind::Io, what).because(error);
    let places = settings.places;
    let filter = match &follow {
        Follow::Stops => Some(calls::filter(None)),
        Follow::Notifications(grain) => Some(calls::filter(Some(*grain))),
        Follow::Events(_) => None,
    };
    let child = tracee::spawn(words, filter.as_ref(), |pid| match &follow {
        Follow::Stops | Follow::Notifications(_) => attach(pid, places),
        Follow::Events(events) => attach_for_signals(pid).and_then(|()| events.follow(pid)),
    })
    .map_err(|failure| explain(program, failure))?;
    let Waiting { pid, .. } = child;
    // Not before the fork, since the child would inherit it, and before the sink's thread starts,
    // which must leave the signal alone, too.
    let awaited = Awaited::hold(&[libc::SIGCHLD])
        .map_err(own_failure("signals cannot be waited for"))
        .map(|awaited| matches!(follow, Follow::Events(_)).then_some(awaited))?;
    let sink = Sink::new(spool, limits, settings.live.clone())
        .map_err(own_failure("the thread that writes the spool cannot be started"))?;
    let settings = Arc::new(settings);
    let watch = Watch::start(Whose::Starting(pid), sink.rows(), Arc::clone(&settings));
    let tracer = match follow {
        Follow::Stops => Tracer::new(pid, sink, settings),
        Follow::Notifications(grain) => Tracer::notified_of(grain, pid, sink, settings),
        Follow::Events(_) => Tracer::reported(pid, sink, settings),
    };
    let tracer = if watch.is_err() { tracer.look_at_arrivals() } else { tracer };
    let mut released =
        child.release().map_err(own_failure("the program's process died before it started"))?;
    let traced = match (follow, awaited) {
        (Follow::Events(events), Some(awaited)) => tracer.run_reported(*events, &awaited),
        (Follow::Notifications(_), _) => tracer.run_notified(released.listener()),
        _ => tracer.run(),
    };
    let mut traced = traced.map_err(|error| {
        Error::new(ErrorKind::Lost, "the program could no longer be waited for and was killed")
            .because(error)
    })?;
    count_touches(watch, &mut traced);
    if traced.status.is_none() {
        released.outcome().map_err(|failure| explain(program, failure))?;
        return Err(Error::new(ErrorKind::Io, "the program's process died before it was executed"));
    }
    Ok(traced)
}

/// Waits for the last page faults, and adds what was seen to the summary.
pub(crate) fn count_touches(watch: io::Result<Watch>, traced: &mut Traced) {
    let mappings = match watch.map(Watch::finish) {
        Ok(Some(Seen { rows, bytes, lost, files })) => {
            traced.name_fetches(files);
            traced.summary.accesses += rows;
            traced.summary.lost += lost;
            Mappings::Touches { rows, bytes, lost }
        }
        Ok(None) => {
            traced.name_fetches(Vec::new());
            traced.summary.lost += 1; // the thread panicked
            Mappings::default()
        }
        Err(error) => {
            traced.name_fetches(Vec::new());
            let why = why_no_touches(&error);
            match traced.arrived.take() {
                Some(arrived) => add_arrivals(arrived, why, traced),
                None => Mappings::Calls(why),
            }
        }
    };
    traced.summary.mappings = mappings;
}

/// Writes what came into the cache as rows.
fn add_arrivals(arrived: Arrived, why: String, traced: &mut Traced) -> Mappings {
    let Arrived { rows, warm, unreported } = arrived;
    let (mut count, mut bytes) = (0, 0);
    for row in rows {
        if traced.sink.push(row) {
            count += 1;
            bytes += row.bytes;
        }
    }
    traced.summary.accesses += count;
    if count == 0 && unreported > 0 && warm == 0 {
        return Mappings::Calls(why); // nothing is known of any file
    }
    Mappings::Arrivals { rows: count, bytes, warm, unreported, why }
}

pub(crate) fn why_no_touches(error: &io::Error) -> String {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid").unwrap_or_default();
    let refused = matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    match (refused, level.trim().parse::<i32>()) {
        (true, Ok(level)) if level > 2 => {
            format!(
                "kernel.perf_event_paranoid is {level}; `sysctl kernel.perf_event_paranoid=2` allows them"
            )
        }
        (true, _) => "perf events are refused here; in a container: --cap-add=PERFMON".to_owned(),
        _ => format!("perf events do not work here: {}", reason(error)),
    }
}

pub(crate) fn attach(pid: i32, exits: bool) -> io::Result<()> {
    let options = stops(exits) | Trace::PTRACE_O_TRACESECCOMP | Trace::PTRACE_O_EXITKILL;
    Ok(ptrace::seize(Pid::from_raw(pid), options)?)
}

/// The first thread of the program stops at its signals, its exec and its end only.
pub(crate) fn attach_for_signals(pid: i32) -> io::Result<()> {
    let options = Trace::PTRACE_O_TRACEEXEC | Trace::PTRACE_O_EXITKILL;
    Ok(ptrace::seize(Pid::from_raw(pid), options)?)
}

/// What stops every followed process. With `exits` it also stops before its end, while its files
/// are open.
pub(crate) fn stops(exits: bool) -> Trace {
    let exits = if exits { Trace::PTRACE_O_TRACEEXIT } else { Trace::empty() };
    exits
        | Trace::PTRACE_O_TRACESYSGOOD
        | Trace::PTRACE_O_TRACEFORK
        | Trace::PTRACE_O_TRACEVFORK
        | Trace::PTRACE_O_TRACECLONE
        | Trace::PTRACE_O_TRACEEXEC
}

pub(crate) fn explain(program: &OsStr, failure: Failure) -> Error {
    let program = program.to_string_lossy();
    match failure {
        Failure::Start(error) if error.raw_os_error() == Some(libc::EPERM) => {
            Error::new(ErrorKind::Refused, MAY_NOT_TRACE).because(error)
        }
        Failure::Start(error) => Error::new(ErrorKind::Io, "the program cannot be started").because(error),
        Failure::Filter(error) if method::is_listened_to(&error) => method::listened_to(error),
        Failure::Filter(error) => Error::new(
            ErrorKind::Refused,
            "the kernel refused the seccomp filter: it needs Linux 5.3 with CONFIG_SECCOMP_FILTER, and a container \
             that allows seccomp(2)",
        )
        .because(error),
        Failure::Execute(error) if error.kind() == io::ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, format!("{program}: no such program")).because(error)
        }
        Failure::Execute(error) => {
            Error::new(ErrorKind::CannotExecute, format!("{program} cannot be executed")).because(error)
        }
    }
}

/// Waits until the spool is written, completes its metadata, and turns it into the trace.
fn finish(traced: Traced, output: &Destination, spool_path: &Path) -> Recorded {
    let Traced { sink, mut summary, status, duration_ns, .. } = traced;
    let status = status.unwrap_or(Status::Exited(0));
    let placed = match sink.finish() {
        Some(Written { mut spool, lost, error: None }) => {
            summary.lost += lost;
            describe(spool.metadata_mut(), &summary, status, duration_ns);
            spool.finish_into(output).map(drop).map_err(Some)
        }
        Some(Written { lost, error, .. }) => {
            summary.lost += lost;
            Err(error)
        }
        None => Err(None), // the thread that writes the spool panicked, and has said so
    };
    let unfinished = placed.err().map(|cause| not_made(output.path(), spool_path, cause));
    Recorded { status, summary, duration_ns, unfinished, places: None, post_cache: None }
}

/// Why there is no trace, and how to make one of what the spool holds.
fn not_made(output: &Path, spool: &Path, cause: Option<seekless_trace::Error>) -> Error {
    let is_cut_short = cause.as_ref().is_some_and(|cause| cause.path() == spool);
    let (output, held) = (output.display(), spool.display());
    let message = match is_cut_short {
        true => format!(
            "the last rows for {output} are lost; `seekless trace recover {output}` makes a trace \
             of those before"
        ),
        false => format!(
            "{output} cannot be written; what was recorded is in {held}: when there is room, \
             `seekless trace recover {output}` completes it"
        ),
    };
    let error = Error::new(ErrorKind::Trace, message);
    match cause {
        Some(cause) => error.because(cause),
        None => error,
    }
}

fn describe(metadata: &mut Metadata, summary: &Summary, status: Status, duration_ns: u64) {
    metadata.lost = summary.lost;
    for run in &mut metadata.runs {
        run.duration_ns = Some(duration_ns);
        run.exit_status = Some(status.code());
        run.left_out = summary.left_out;
        run.blind_spots = summary.blind_spots.clone();
        let mapped = match &summary.mappings {
            Mappings::Touches { .. } => {
                "mapped files by the first touch, at the grain of page faults".to_owned()
            }
            Mappings::Arrivals { why, .. } => format!(
                "mapped files by what came into the page cache meanwhile, at the grain of \
                 readahead ({why})"
            ),
            Mappings::Calls(why) => format!("mapped files at the grain of calls ({why})"),
        };
        run.source = format!("{}; {mapped}", run.source);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_output_without_a_folder_is_named_once_with_its_cause() {
        let error = try_output(&Destination::new("/no/such/folder/trace")).expect_err("no folder");
        let said = error.to_string();
        assert_eq!(said.matches("/no/such/folder/trace").count(), 1, "{said}");
        assert!(said.contains("cannot be written: No such file"), "{said}");
        assert!(std::error::Error::source(&error).is_none(), "the message holds the cause already");
    }
}
