//! One recording from start to end: it makes the spool, starts the program, follows it, and writes
//! the Parquet file.

use crate::error::{Error, ErrorKind, Result};
use crate::faults::{Seen, Watch};
use crate::recorded::{Mappings, Recorded, Status, Summary};
use crate::selection::Selection;
use crate::sink::{Sink, Written};
use crate::tracer::{Settings, Traced, Tracer};
use crate::{arch, calls};
use nix::sys::ptrace::{self, Options as Trace};
use nix::unistd::Pid;
use seekless_sys::output::{self, Content, Destination};
use seekless_sys::tracee::{self, Failure, Waiting};
use seekless_sys::{reason, signals};
use seekless_trace::{Metadata, RunInfo, SpoolWriter, Writer, spool_path};
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

const SOURCE: &str = "seekless record: seccomp and ptrace; latencies are upper bounds, which include \
                      switches to the recorder and back";

/// How to record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Record pipes, sockets, terminals, /proc, /sys and /dev too.
    pub special: bool,
    /// Replace an existing output, and the spool of a recording that was killed.
    pub force: bool,
    /// Globs of the files to record; if there are none, all files are. A glob that does not start
    /// with `/` matches at any depth. A glob that matches a folder matches everything below it. `*`
    /// does not match `/`, `**` does. Globs are compared with the kernel's name of a file, without
    /// links; if an open failed, with the name that the program passed.
    pub only: Vec<String>,
    /// Globs of files not to record, even if `only` names them.
    pub exclude: Vec<String>,
}

/// Runs `program`, which is searched along PATH, with `args`. Writes the trace of all that it and
/// its descendants read and write to `output`. Returns when the last of them has ended; the status
/// is the program's own.
///
/// The program has the process group, terminal, standard streams, environment and directory of this
/// process. While it runs, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH and SIGALRM
/// to this process are passed on to the program and do not end the recording. If this process is
/// killed, the program is killed too. The spool is kept then ([`seekless_trace::spool_path`]) and
/// opens as a trace. Until the program has ended, no file of the recording appears in the folder of
/// `output`.
///
/// Call it from one thread at a time. That thread must have no other children, since this function
/// waits for all of them.
///
/// # Errors
/// See [`ErrorKind`]. The program was not executed and nothing is left behind, or it could not be
/// followed and was killed. If only the trace could not be finished after the program ended, the
/// result is not an error: see [`Recorded::unfinished`]. The spool is kept then.
pub fn record(
    program: &OsStr,
    args: &[OsString],
    output: &Path,
    options: &Options,
) -> Result<Recorded> {
    if !arch::SUPPORTED {
        return Err(Error::new(
            ErrorKind::Unsupported,
            format!(
                "recording is not supported on this architecture ({}), only on x86_64",
                std::env::consts::ARCH
            ),
        ));
    }
    let words = words(program, args)?;
    let selection = Selection::new(&options.only, &options.exclude)?;
    let _survive = signals::survive_file_size_limit();
    let spool_path = spool_path(output).map_err(|error| {
        Error::new(ErrorKind::Trace, "there is no folder for the spool").because(error)
    })?;
    check_outputs(output, &spool_path, options)?;
    let destination = Destination::new(output).replacing(options.force);
    try_output(&destination)?;
    let run = RunInfo {
        only: options.only.clone(),
        exclude: options.exclude.clone(),
        ..circumstances(program, args)
    };
    let metadata = Metadata { runs: vec![run], ..Metadata::default() };
    let spool = SpoolWriter::create(&spool_path, &metadata).map_err(unwritable)?;
    let own = own_names(output, &spool_path);
    let traced =
        trace(program, &words, spool, Settings { special: options.special, selection, own });
    if traced.as_ref().is_err_and(|error| error.kind() != ErrorKind::Trace) {
        let _ = std::fs::remove_file(&spool_path); // the program did not run, so the spool is empty
    }
    Ok(finish(traced?, &destination, &spool_path))
}

fn words(program: &OsStr, args: &[OsString]) -> Result<Vec<CString>> {
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
    let check = |path| Destination::new(path).replacing(options.force).check(Content::Binary);
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

fn circumstances(program: &OsStr, args: &[OsString]) -> RunInfo {
    let name = rustix::system::uname();
    let text = |word: &OsStr| seekless_trace::escape_path(word.as_bytes());
    RunInfo {
        command: std::iter::once(program)
            .chain(args.iter().map(OsString::as_os_str))
            .map(text)
            .collect(),
        directory: std::env::current_dir()
            .map(|directory| text(directory.as_os_str()))
            .unwrap_or_default(),
        host: name.nodename().to_string_lossy().into_owned(),
        kernel: name.release().to_string_lossy().into_owned(),
        clock: "monotonic".into(),
        source: SOURCE.into(),
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
    settings: Settings,
) -> Result<Traced> {
    let own_failure =
        |what: &'static str| move |error: io::Error| Error::new(ErrorKind::Io, what).because(error);
    let child = tracee::spawn(words, &calls::filter(), attach)
        .map_err(|failure| explain(program, failure))?;
    let Waiting { pid, .. } = child;
    let sink = Sink::new(spool)
        .map_err(own_failure("the thread that writes the spool cannot be started"))?;
    let settings = Arc::new(settings);
    let watch = Watch::start(pid, sink.rows(), Arc::clone(&settings));
    let tracer = Tracer::new(pid, sink, settings);
    let released =
        child.release().map_err(own_failure("the program's process died before it started"))?;
    let mut traced = tracer.run().map_err(|error| {
        Error::new(ErrorKind::Trace, "the program could no longer be waited for and was killed")
            .because(error)
    })?;
    count_touches(watch, &mut traced.summary);
    if traced.status.is_none() {
        released.outcome().map_err(|failure| explain(program, failure))?;
        return Err(Error::new(ErrorKind::Io, "the program's process died before it was executed"));
    }
    Ok(traced)
}

/// Waits for the last page faults, and adds what was seen to the summary.
fn count_touches(watch: io::Result<Watch>, summary: &mut Summary) {
    match watch.map(Watch::finish) {
        Ok(Some(Seen { rows, bytes, lost })) => {
            summary.accesses += rows;
            summary.lost += lost;
            summary.mappings = Mappings::Touches { rows, bytes, lost };
        }
        Ok(None) => summary.lost += 1, // the thread panicked
        Err(error) => summary.mappings = Mappings::Calls(why_no_touches(&error)),
    }
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

fn attach(pid: i32) -> io::Result<()> {
    let options = Trace::PTRACE_O_TRACESECCOMP
        | Trace::PTRACE_O_TRACESYSGOOD
        | Trace::PTRACE_O_TRACEFORK
        | Trace::PTRACE_O_TRACEVFORK
        | Trace::PTRACE_O_TRACECLONE
        | Trace::PTRACE_O_TRACEEXEC
        | Trace::PTRACE_O_EXITKILL;
    Ok(ptrace::seize(Pid::from_raw(pid), options)?)
}

fn explain(program: &OsStr, failure: Failure) -> Error {
    let program = program.to_string_lossy();
    match failure {
        Failure::Start(error) if error.raw_os_error() == Some(libc::EPERM) => Error::new(
            ErrorKind::Refused,
            "this process may not trace another. In a container: start it with --cap-add=SYS_PTRACE, or a seccomp \
             profile that allows ptrace. Otherwise look at /proc/sys/kernel/yama/ptrace_scope: 0 and 1 suffice, 2 \
             needs root, 3 forbids it. A program that strace, gdb or another recording already traces cannot be \
             recorded",
        )
        .because(error),
        Failure::Start(error) => Error::new(ErrorKind::Io, "the program cannot be started").because(error),
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
    let Traced { sink, mut summary, status, duration_ns } = traced;
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
    let unfinished = placed.err().map(|cause| {
        let (output, spool) = (output.path().display(), spool_path.display());
        let message = format!(
            "{output} cannot be written; what was recorded is in {spool}: when there is room, `seekless trace recover \
             {output}` completes it"
        );
        let error = Error::new(ErrorKind::Trace, message);
        match cause {
            Some(cause) => error.because(cause),
            None => error,
        }
    });
    Recorded { status, summary, duration_ns, unfinished }
}

fn describe(metadata: &mut Metadata, summary: &Summary, status: Status, duration_ns: u64) {
    metadata.lost = summary.lost;
    for run in &mut metadata.runs {
        run.duration_ns = Some(duration_ns);
        run.exit_status = Some(status.code());
        run.left_out = summary.left_out;
        run.blind_spots = summary.blind_spots.clone();
        run.source = match &summary.mappings {
            Mappings::Touches { .. } => {
                format!("{SOURCE}; mapped files by the first touch, at the grain of page faults")
            }
            Mappings::Calls(why) => format!("{SOURCE}; mapped files at the grain of calls ({why})"),
        };
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
