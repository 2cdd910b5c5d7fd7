//! A recording of a program that runs already: it is attached, followed for a while, and let go.

use crate::error::{Error, ErrorKind, Result};
use crate::record::{MAY_NOT_TRACE, Options, check_architecture, recorded_by, stops, this_machine};
use crate::recorded::{Mappings, Recorded};
use crate::sink::{Limits, Sink};
use crate::tracer::{ENDINGS, Settings, Traced, Tracer};
use seekless_sys::awaited::Awaited;
use seekless_sys::tracee;
use seekless_trace::{RunInfo, SpoolWriter, escape_path};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

const SOURCE: &str = "seekless record --pid: ptrace; latencies are upper bounds, which include \
                      switches to the recorder and back";

/// Records the process `pid` and what it starts from now on, until it ends, the limits of `options`
/// are reached, or SIGINT, SIGTERM or SIGHUP comes to this process. Then the program runs on as
/// before, also if this process is killed.
///
/// Each call of the program stops it twice, not only those on files: no filter can be put into a
/// program that runs. A call in which a thread waits as it is attached may end with EINTR, as it
/// does when the program is stopped and continued. Descriptors opened before have an `open` row
/// without a latency. Touches of mapped files are not seen.
///
/// The three signals must not be handled otherwise, and the calling thread must have no children.
///
/// # Errors
/// As [`record`](crate::record); the program runs on.
pub fn record_running(pid: i32, output: &Path, options: &Options) -> Result<Recorded> {
    check_architecture()?;
    let run = RunInfo {
        command: command(pid)?,
        directory: directory(pid),
        source: SOURCE.into(),
        ..this_machine()
    };
    recorded_by(run, output, options, |spool, settings| {
        follow(pid, spool, options.limits, settings)
    })
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

fn follow(pid: i32, spool: SpoolWriter, limits: Limits, settings: Settings) -> Result<Traced> {
    let own = |what: &'static str| move |error| Error::new(ErrorKind::Io, what).because(error);
    let mut held = ENDINGS.to_vec();
    held.push(libc::SIGCHLD);
    // Before the thread of the sink starts, which must leave the signals alone too.
    let awaited = Awaited::hold(&held).map_err(own("signals cannot be waited for"))?;
    let sink = Sink::new(spool, limits)
        .map_err(own("the thread that writes the spool cannot be started"))?;
    let options = stops(settings.places).bits();
    let threads =
        tracee::seize_process(pid, options).map_err(|error| match error.raw_os_error() {
            Some(libc::ESRCH) => no_process(pid),
            Some(libc::EPERM) => Error::new(ErrorKind::Refused, MAY_NOT_TRACE).because(error),
            _ => Error::new(ErrorKind::Io, format!("process {pid} cannot be attached"))
                .because(error),
        })?;
    let tracer = Tracer::of_running(pid, &threads, sink, Arc::new(settings));
    let mut traced = tracer.run_attached(&awaited).map_err(|error| {
        Error::new(ErrorKind::Trace, "the program could no longer be followed").because(error)
    })?;
    traced.summary.mappings = Mappings::Calls("the program ran already".to_owned());
    Ok(traced)
}
