//! A recording of a program that runs already, or of all programs of the machine: they are followed
//! for a while, and let go.

use crate::error::{Error, ErrorKind, Result};
use crate::faults::{Watch, Whose};
use crate::inspect;
use crate::method;
use crate::options::Options;
use crate::record::{MAY_NOT_TRACE, count_touches, recorded_by, stops, this_machine};
use crate::recorded::Recorded;
use crate::sink::{Limits, Sink};
use crate::tracer::{ENDINGS, RunDown, Settings, Traced, Tracer};
use seekless_sys::awaited::Awaited;
use seekless_trace::{RunInfo, SpoolWriter, escape_path};
use seekless_watch::call_events::CallEvents;
use seekless_watch::tracee;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;

/// How the sources of recordings of one program that was running begin.
const ATTACHED: &str = "seekless record --pid";
const BY_STOPS: &str = "seekless record --pid: ptrace; latencies are upper bounds, which include \
                        switches to the recorder and back";
const BY_EVENTS: &str = "seekless record --pid: eBPF on the tracepoints of system calls";
const OF_MACHINE: &str = "seekless record --system: eBPF on the tracepoints of system calls";

/// Records the process `pid` and what it starts from now on, until it ends, the limits of `options`
/// are reached, or SIGINT, SIGTERM or SIGHUP comes to this process. Then the program runs on as
/// before, also if this process is killed.
///
/// By [`Method::Ebpf`](crate::Method::Ebpf) nothing stops. By
/// [`Method::Ptrace`](crate::Method::Ptrace) each call of the program stops it twice, not only
/// those on files: no filter can be put into a program that runs. A call in which a thread waits as
/// it is attached may end with EINTR, as it does when the program is stopped and continued.
///
/// Descriptors opened before have an `open` row without a latency. What was mapped before has no
/// `map` row, and its parts have `fault` rows if they are touched for the first time now.
///
/// The three signals must not be handled otherwise, and the calling thread must have no children.
///
/// # Errors
/// As [`record`](crate::record); the program runs on.
pub fn record_running(pid: i32, output: &Path, options: &Options) -> Result<Recorded> {
    let events = method::of_running(options)?;
    let source = if events.is_some() { BY_EVENTS } else { BY_STOPS };
    let run = RunInfo {
        command: command(pid)?,
        directory: directory(pid),
        source: source.into(),
        ..this_machine()
    };
    recorded_by(run, output, options, |spool, settings| {
        let start = Start::new(spool, options.limits, settings, &ENDINGS)?;
        match events {
            None => attach(pid, start),
            Some(events) => watch(pid, events, start),
        }
    })
}

/// Records all processes of the machine but this one, until the limits of `options` are reached or
/// SIGINT, SIGTERM or SIGHUP comes to this process. This is for root, by the method eBPF.
///
/// Descriptors opened before have an `open` row without a latency: at the start, for the first
/// 65,536 and for a second at most; of others when they are first used. Calls
/// of files that `only` leaves out are looked at, too, and dropped. With
/// [`Options::post_cache`] that view has all disks.
///
/// The three signals must not be handled otherwise.
///
/// # Errors
/// See [`ErrorKind`].
pub fn record_machine(output: &Path, options: &Options) -> Result<Recorded> {
    let open = RunDown::list();
    let events = method::of_machine(options)?;
    let run = RunInfo { source: OF_MACHINE.into(), ..this_machine() };
    recorded_by(run, output, options, |spool, settings| {
        let settings = Settings { places: false, ..settings };
        let Start { awaited, sink, settings } =
            Start::new(spool, options.limits, settings, &ENDINGS)?;
        let touches = Watch::start(Whose::Machine, sink.rows(), Arc::clone(&settings));
        let tracer = Tracer::of_machine(sink, settings);
        let mut traced = tracer.run_watching(events, &awaited, None, Some(open));
        count_touches(touches, &mut traced);
        Ok(traced)
    })
}

/// Whether a run was recorded by [`record_running`].
#[must_use]
pub fn was_running(run: &RunInfo) -> bool {
    run.source.starts_with(ATTACHED)
}

fn command(pid: i32) -> Result<Vec<String>> {
    let words =
        std::fs::read(format!("/proc/{pid}/cmdline")).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => no_process(pid),
            _ => Error::new(ErrorKind::Io, format!("/proc/{pid}/cmdline cannot be read"))
                .because(error),
        })?;
    let words = words.strip_suffix(b"\0").unwrap_or(&words);
    Ok(words.split(|&byte| byte == 0).map(escape_path).collect())
}

fn directory(pid: i32) -> String {
    let link = std::fs::read_link(format!("/proc/{pid}/cwd"));
    link.map(|path| escape_path(path.as_os_str().as_bytes())).unwrap_or_default()
}

fn no_process(pid: i32) -> Error {
    let message = format!("there is no process {pid}: `pgrep -a NAME` lists them");
    Error::new(ErrorKind::NotFound, message)
}

/// Why a process may not be attached.
fn may_not(pid: i32) -> Error {
    let owner = std::fs::metadata(format!("/proc/{pid}")).map(|found| found.uid()).ok();
    match owner.filter(|owner| *owner != rustix::process::geteuid().as_raw()) {
        Some(owner) => {
            let message =
                format!("process {pid} belongs to another user ({owner}): root can record it");
            Error::new(ErrorKind::Refused, message)
        }
        None => Error::new(ErrorKind::Refused, MAY_NOT_TRACE),
    }
}

/// What a recording of programs that run needs.
struct Start {
    awaited: Awaited,
    sink: Sink,
    settings: Arc<Settings>,
}

impl Start {
    /// Holds the signals back before the thread of the sink starts, which must leave them alone
    /// too.
    fn new(spool: SpoolWriter, limits: Limits, settings: Settings, held: &[i32]) -> Result<Self> {
        let own = |what: &'static str| move |error| Error::new(ErrorKind::Io, what).because(error);
        let held: Vec<i32> = held.iter().copied().chain([libc::SIGCHLD]).collect();
        let awaited = Awaited::hold(&held).map_err(own("signals cannot be waited for"))?;
        let sink = Sink::new(spool, limits, settings.live.clone())
            .map_err(own("the thread that writes the spool cannot be started"))?;
        Ok(Self { awaited, sink, settings: Arc::new(settings) })
    }
}

/// Follows a process by stops.
fn attach(pid: i32, start: Start) -> Result<Traced> {
    let Start { awaited, sink, settings } = start;
    let options = stops(settings.places).bits();
    let threads =
        tracee::seize_process(pid, options).map_err(|error| match error.raw_os_error() {
            Some(libc::ESRCH) => no_process(pid),
            Some(libc::EPERM) => may_not(pid).because(error),
            _ => Error::new(ErrorKind::Io, format!("process {pid} cannot be attached"))
                .because(error),
        })?;
    let touches = Watch::start(Whose::Running(pid, &threads), sink.rows(), Arc::clone(&settings));
    let tracer = Tracer::of_running(pid, &threads, sink, settings);
    let mut traced = tracer.run_attached(&awaited).map_err(|error| {
        Error::new(ErrorKind::Lost, "the program could no longer be followed").because(error)
    })?;
    count_touches(touches, &mut traced);
    Ok(traced)
}

/// Follows a process by what programs in the kernel report.
fn watch(pid: i32, events: CallEvents, start: Start) -> Result<Traced> {
    let Start { awaited, sink, settings } = start;
    let threads = inspect::threads(pid);
    if !threads.contains(&pid) {
        return Err(match threads.is_empty() {
            true => no_process(pid),
            false => {
                let message = format!("{pid} is a thread; give its process to --pid");
                Error::new(ErrorKind::Usage, message)
            }
        });
    }
    let touches = Watch::start(Whose::Running(pid, &threads), sink.rows(), Arc::clone(&settings));
    // Before the first call is reported: it finds out what is open, which calls then change.
    let tracer = Tracer::of_watched(pid, &threads, sink, settings);
    events.follow(pid).map_err(|error| {
        Error::new(ErrorKind::Io, "the process cannot be followed").because(error)
    })?;
    let mut traced = tracer.run_watching(events, &awaited, Some(pid), None);
    count_touches(touches, &mut traced);
    Ok(traced)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recordings_of_running_programs_are_known_by_their_source() {
        let run = |source: &str| RunInfo { source: source.into(), ..this_machine() };
        assert!(was_running(&run(BY_STOPS)) && was_running(&run(BY_EVENTS)));
        assert!(!was_running(&run(OF_MACHINE)) && !was_running(&run("x.csv")));
    }
}
