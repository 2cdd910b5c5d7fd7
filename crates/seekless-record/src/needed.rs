//! What a program and all that it starts need of files for the first time: what a profile of its
//! start is made of. It has no row for each call, and costs little, since programs in the kernel
//! report what is new, and nothing of what comes again.

mod finish;
mod names;
mod seen;

use crate::calls;
use crate::error::{Error, ErrorKind, Result};
use crate::record::{attach_for_signals, circumstances, explain, words};
use crate::recorded::Status;
use crate::sink::Sink;
use crate::tracer::{Settings, Tracer};
use seekless_sys::awaited::Awaited;
use seekless_sys::reason;
use seekless_trace::{Need, RunInfo};
use seekless_watch::first_needs::FirstNeeds;
use seekless_watch::tracee::{self, Waiting};
pub(crate) use seen::Seen;
use std::ffi::{OsStr, OsString};
use std::io;
use std::sync::Arc;

const SOURCE: &str = "seekless run: eBPF on the page cache and on calls with names; first needs, \
                      of mapped files at the grain of page faults";

/// What was needed.
#[derive(Clone, Debug)]
pub struct Needed {
    /// How the program ended.
    pub status: Status,
    /// The run's circumstances, its duration and its end.
    pub info: RunInfo,
    /// The paths of files, escaped as a trace's are.
    pub names: Vec<String>,
    /// The size of each file at the end.
    pub file_bytes: Vec<Option<u64>>,
    /// Ranges of these files, by the time of first need.
    pub needs: Vec<Need>,
    /// The names that were looked up, escaped, in the order of the first look; and whether each is
    /// a folder that was listed.
    pub looks: Vec<(String, bool)>,
    /// Records of the kernel's programs for which there was no room, and names that cannot be made
    /// absolute.
    pub lost: u64,
    /// Files of which pages were needed and no name is known: those that have none any more, or
    /// were opened in a way that the recorder does not see.
    pub unnamed: u64,
}

impl Needed {
    /// What was not seen is a blind spot of the run, which its profile keeps.
    fn note_unseen(&mut self) {
        let spots =
            [("first needs without room", self.lost), ("files without a name", self.unnamed)];
        let spots = spots.into_iter().filter(|(_, count)| *count > 0);
        self.info.blind_spots.extend(spots.map(|(what, count)| (what.to_owned(), count)));
    }
}

/// Runs a program, as [`record`](crate::record) does, and records what is needed for the first
/// time.
///
/// # Errors
/// As [`record`](crate::record); [`ErrorKind::Refused`] before Linux 6.12 and without root or
/// CAP_BPF, CAP_PERFMON and CAP_SYS_PTRACE: the program was not executed.
pub fn record_needed(program: &OsStr, args: &[OsString]) -> Result<Needed> {
    let words = words(program, args)?;
    let own_failure =
        |what: &'static str| move |error: io::Error| Error::new(ErrorKind::Io, what).because(error);
    let mut needs = FirstNeeds::load(&calls::named()).map_err(|error| {
        let why = format!("first needs are not reported here: {}", reason(&error));
        Error::new(ErrorKind::Refused, why)
    })?;
    let info = RunInfo { source: SOURCE.into(), ..circumstances(program, args) };
    let child =
        tracee::spawn(&words, None, |pid| attach_for_signals(pid).and_then(|()| needs.follow(pid)))
            .map_err(|failure| explain(program, failure))?;
    let Waiting { pid, .. } = child;
    let awaited =
        Awaited::hold(&[libc::SIGCHLD]).map_err(own_failure("signals cannot be waited for"))?;
    let tracer = Tracer::reported(pid, Sink::unwritten(), Arc::new(Settings::default()));
    let mut seen = Seen::from_now(pid);
    let released =
        child.release().map_err(own_failure("the program's process died before it started"))?;
    let traced = tracer.run_learning(&mut needs, &awaited, &mut seen).map_err(|error| {
        Error::new(ErrorKind::Lost, "the program could no longer be waited for and was killed")
            .because(error)
    })?;
    let Some(status) = traced.status else {
        released.outcome().map_err(|failure| explain(program, failure))?;
        return Err(Error::new(ErrorKind::Io, "the program's process died before it was executed"));
    };
    let lost = needs.lost();
    drop(needs); // the machine's calls take longer until then
    let info =
        RunInfo { duration_ns: Some(traced.duration_ns), exit_status: Some(status.code()), ..info };
    let mut needed = Needed {
        status,
        info,
        names: Vec::new(),
        file_bytes: Vec::new(),
        needs: Vec::new(),
        looks: Vec::new(),
        lost,
        unnamed: 0,
    };
    seen.finish(&mut needed);
    needed.note_unseen();
    Ok(needed)
}
