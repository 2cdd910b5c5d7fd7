//! How a program is watched: what each method needs, and which one is used here.

use crate::calls;
use crate::error::{Error, ErrorKind, Result};
use crate::options::{Grain, Method, Options};
use seekless_sys::reason;
use seekless_watch::call_events::{CallEvents, Scope};
use seekless_watch::seccomp;
use std::io;

/// The most that the ring becomes. Most records in it take 96 bytes, and it is emptied every few
/// milliseconds: at a million calls a second the reader may sleep for 80 ms. With half of that, 6 %
/// of a million reads were lost on a busy machine.
const RING_BYTES: u32 = 8 << 20;

/// What follows the calls of a program.
pub(crate) enum Follow {
    Stops,
    Notifications(Grain),
    Events(Box<CallEvents>),
}

impl Follow {
    /// For the words of the trace.
    pub(crate) fn source(&self) -> &'static str {
        match self {
            Follow::Stops => {
                "seekless record: seccomp and ptrace; latencies are upper bounds, which include \
                 switches to the recorder and back"
            }
            Follow::Notifications(Grain::Calls) => {
                "seekless record: seccomp notifications; reads, writes and closes are foreseen, \
                 opens found afterwards; without latencies"
            }
            Follow::Notifications(Grain::Files) => {
                "seekless record: seccomp notifications of opens and maps; a file opened for \
                 reading counts as read whole"
            }
            Follow::Events(_) => "seekless record: eBPF on the tracepoints of system calls",
        }
    }
}

/// Loads what the options ask for.
pub(crate) fn choose(options: &Options) -> Result<Follow> {
    let looks = options.places || options.post_cache.is_some();
    match options.method {
        Method::Ptrace => Ok(Follow::Stops),
        Method::Notify(Grain::Files) if looks => {
            let why = "places of files are looked up when they are closed: use the grain calls";
            Err(Error::new(ErrorKind::Usage, why))
        }
        Method::Notify(grain) => match seccomp::notifications_work() {
            Ok(()) => Ok(Follow::Notifications(grain)),
            Err(error) if is_listened_to(&error) => Err(listened_to(error)),
            Err(error) => {
                let why = "the kernel cannot notify of calls: this needs Linux 5.5, and a \
                           container that allows seccomp(2); use the method ptrace";
                Err(Error::new(ErrorKind::Refused, why).because(error))
            }
        },
        Method::Auto if looks => Ok(Follow::Stops),
        Method::Auto => Ok(load(options).unwrap_or(Follow::Stops)),
        Method::Ebpf if looks => {
            let why =
                "places of files are looked up while the program stops: use the method ptrace";
            Err(Error::new(ErrorKind::Usage, why))
        }
        Method::Ebpf => load(options).map_err(refused),
    }
}

/// Whether the kernel refuses a listener since there is one.
pub(crate) fn is_listened_to(error: &io::Error) -> bool {
    error.raw_os_error() == Some(libc::EBUSY)
}

pub(crate) fn listened_to(error: io::Error) -> Error {
    let why = "another recorder, or a container's supervisor, is notified of this program's calls \
               already, and the kernel allows one: a `seekless record` around this one records it \
               too, so leave this one out; beside a supervisor use the method ptrace";
    Error::new(ErrorKind::Refused, why).because(error)
}

fn load(options: &Options) -> io::Result<Follow> {
    load_for(Scope::Followed, options).map(|events| Follow::Events(Box::new(events)))
}

fn load_for(scope: Scope, options: &Options) -> io::Result<CallEvents> {
    let bytes = options.ring_bytes.unwrap_or(RING_BYTES);
    CallEvents::load(&calls::reported(), bytes, scope, options.fetches)
}

/// Loads what the options ask for, to follow a program that runs already.
pub(crate) fn of_running(options: &Options) -> Result<Option<CallEvents>> {
    match options.method {
        Method::Notify(_) => {
            let why = "the method notify follows a program from its start: leave out the method";
            Err(Error::new(ErrorKind::Usage, why))
        }
        _ => match choose(options)? {
            Follow::Events(events) => Ok(Some(*events)),
            Follow::Stops | Follow::Notifications(_) => Ok(None),
        },
    }
}

/// Loads what reports the calls of all processes, which no other method does.
pub(crate) fn of_machine(options: &Options) -> Result<CallEvents> {
    if matches!(options.method, Method::Ptrace | Method::Notify(_)) {
        let why =
            "the methods ptrace and notify follow one program: the machine is recorded by ebpf";
        return Err(Error::new(ErrorKind::Usage, why));
    }
    if options.places {
        let why = "places of files are looked up while a program stops; the machine is not stopped";
        return Err(Error::new(ErrorKind::Usage, why));
    }
    load_for(Scope::Machine, options).map_err(refused)
}

fn refused(error: io::Error) -> Error {
    let message = format!("eBPF does not work here: {}", why_not(&error));
    Error::new(ErrorKind::Refused, message)
}

/// Whether this process may load programs for [`Method::Ebpf`], which is found out in microseconds.
/// That they work is not known before they are loaded.
#[must_use]
pub fn ebpf_may_work() -> bool {
    CallEvents::may_load().is_ok()
}

/// Whether [`Method::Ebpf`] works here; if not, why.
///
/// # Errors
/// The reason, for people.
pub fn ebpf_works() -> Result<(), String> {
    CallEvents::load(&[], 1 << 16, Scope::Followed, false)
        .map(drop)
        .map_err(|error| why_not(&error))
}

/// Whether [`Method::Ebpf`] sees here what comes into the page cache; if not, why.
///
/// # Errors
/// The reason, for people.
pub fn fetches_work() -> Result<(), String> {
    let events = CallEvents::load(&[], 1 << 16, Scope::Followed, true);
    events.map_err(|error| why_not(&error))?.sees_fetches()
}

fn why_not(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EPERM | libc::EACCES) => {
            "it is for root, or for CAP_BPF and CAP_PERFMON; use the method ptrace".to_owned()
        }
        _ => reason(error),
    }
}
