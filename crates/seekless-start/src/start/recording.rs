//! Whether a start is recorded, and how: whole, or cheaply, by the page faults that the kernel
//! reports.
//!
//! Whole means: first needs as programs in the kernel report them, as root; else every call, by
//! notifications. That costs a Python start a third or half of its processor time more, and without
//! root a program that opens thousands of files several times its own. So it comes first, and again
//! only when much of what the profile names has changed. Page faults cost some hundred nanoseconds
//! each.

use super::Decision;
use crate::profiles::{self, Key, Learned, between, learn_needed, learn_trace};
use rustix::process::geteuid;
use seekless_job::{Error, Result};
use seekless_record::{self as record, ErrorKind, Grain, Method, Status};
use seekless_trace::{Profile, ProfiledRun, spool_path};
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A profile with fewer runs does not yet show what is always needed.
const RUNS_ENOUGH: usize = 3;
/// After this a profile is looked at again.
const FRESH: Duration = Duration::from_secs(24 * 60 * 60);
/// With a larger share of its bytes in changed files, a profile is made anew.
const CHANGED_SHARE_MAX: f64 = 0.25;

/// What the user says about recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recording {
    /// The first start whole, later ones cheaply now and then.
    #[default]
    Auto,
    /// This start whole.
    Whole,
    /// No start.
    Never,
}

/// What is done about this start, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Now {
    Whole(&'static str),
    Touches(&'static str),
    Nothing(&'static str),
}

impl Now {
    /// When a whole recording could not begin.
    pub(super) fn touches() -> Self {
        Now::Touches("page faults only: the program cannot be traced")
    }

    pub(super) fn words(self) -> String {
        match self {
            Now::Whole(why) => format!("whole, {why}"),
            Now::Touches(why) => format!("page faults, {why}"),
            Now::Nothing(why) => format!("none, {why}"),
        }
    }
}

pub(super) fn now(
    asked: Recording,
    profile: Option<&Profile>,
    decision: &Decision,
    program: &OsStr,
    named: &Option<PathBuf>,
) -> Now {
    match (asked, profile) {
        (Recording::Never, _) => Now::Nothing("as asked"),
        (Recording::Whole, _) => Now::Whole("as asked"),
        (Recording::Auto, None) if has_privileges(program) => {
            Now::Touches("since tracing would take the program's privileges away")
        }
        (Recording::Auto, None) => Now::Whole("since there is no profile yet"),
        // A profile that came with a package is not this user's to change.
        (Recording::Auto, Some(_)) if named.is_some() => Now::Nothing("since a profile was named"),
        (Recording::Auto, Some(_)) if decision.changed_share > CHANGED_SHARE_MAX => {
            Now::Whole("since files of the profile have changed")
        }
        (Recording::Auto, Some(profile)) if has_only_failed(profile) => {
            Now::Whole("since the start that was recorded has failed")
        }
        (Recording::Auto, Some(profile)) if profile.runs.len() < RUNS_ENOUGH => {
            Now::Touches("since the profile has few runs")
        }
        (Recording::Auto, Some(profile)) if is_old(profile) => {
            Now::Touches("since the profile is over a day old")
        }
        (Recording::Auto, Some(_)) => Now::Nothing("since the profile is fresh"),
    }
}

/// Whether all that is known is of starts that failed, which may have ended early. A program that
/// has failed so often is taken for one that always does.
fn has_only_failed(profile: &Profile) -> bool {
    let failed = |run: &ProfiledRun| run.info.exit_status.is_some_and(|status| status != 0);
    profile.runs.len() < RUNS_ENOUGH && profile.runs.iter().all(failed)
}

/// For how many seconds no start needs to be recorded; `None` if one is to be.
pub(super) fn fresh_s(profile: &Profile, named: &Option<PathBuf>) -> Option<u64> {
    if named.is_some() {
        return Some(FRESH.as_secs());
    }
    let started_ns = profile.runs.last().and_then(|run| run.info.started_unix_ns)?;
    let until = UNIX_EPOCH + Duration::from_nanos(started_ns) + FRESH;
    let left = until.duration_since(SystemTime::now()).ok()?;
    (profile.runs.len() >= RUNS_ENOUGH).then_some(left.as_secs())
}

fn is_old(profile: &Profile) -> bool {
    let started_ns = profile.runs.last().and_then(|run| run.info.started_unix_ns);
    let started = UNIX_EPOCH + Duration::from_nanos(started_ns.unwrap_or(0));
    SystemTime::now().duration_since(started).is_ok_and(|age| age > FRESH)
}

/// Whether a program gets privileges that a traced one, or one in a user namespace, would not.
pub(super) fn has_privileges(program: &OsStr) -> bool {
    const SET_ID: u32 = 0o6000;
    let Some(path) = profiles::found(program).filter(|_| !geteuid().is_root()) else {
        return false;
    };
    let set_id =
        std::fs::metadata(&path).is_ok_and(|found| found.permissions().mode() & SET_ID != 0);
    set_id || rustix::fs::getxattr(&path, "security.capability", &mut [0_u8; 64][..]).is_ok()
}

/// What a recorded start has taught.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taught {
    /// Bytes that starts need.
    pub needed_bytes: u64,
    /// Records of it for which there was no room.
    pub lost: u64,
}

/// How a whole recording ended.
pub(super) enum Whole {
    Done(Status, Result<Taught>),
    /// The program is not there, cannot be executed, or ran and was killed: the exit code of `env`,
    /// and the error.
    Failed(u8, Error),
    /// The program has not run. The kernel does not let this process trace another: no error.
    NotBegun(Option<Error>),
}

/// Runs the program, records it, and adds what it needed to the profile.
pub(super) fn whole(words: &[OsString], profile: &Path, key: &Key) -> Whole {
    let before_ns = cpu_of_children_ns();
    let mut taught = Taught::default();
    let (status, learned) = match record::record_needed(&words[0], &words[1..]) {
        Ok(needed) => {
            let status = needed.status;
            taught.lost = needed.lost;
            let cpu_ns = cpu_of_children_ns().saturating_sub(before_ns);
            (status, Ok(learn_needed(needed, Some(cpu_ns))))
        }
        Err(error) if error.kind() == ErrorKind::Refused => match every_call(words) {
            Ok((status, learned, lost)) => {
                taught.lost = lost;
                (status, learned)
            }
            Err(whole) => return whole,
        },
        Err(error) => return failed(error),
    };
    let taught = learned.and_then(|learned| {
        profiles::update(profile, |before| {
            let mut after = learned.added_to(before, key.text());
            after.between = between::find(&after);
            taught.needed_bytes = after.needed_bytes();
            after
        })?;
        Ok(taught)
    });
    Whole::Done(status, taught)
}

/// Runs the program and records every call, where first needs are not reported. Also says how many
/// records were lost.
fn every_call(words: &[OsString]) -> std::result::Result<(Status, Result<Learned>, u64), Whole> {
    use seekless_job::ErrorKind as Kind;
    let folder = tempfile::Builder::new().prefix("seekless-run").tempdir().map_err(|error| {
        let why = "there is no temporary folder to record into";
        Whole::NotBegun(Some(Error::because(Kind::Io, why, error)))
    })?;
    let recording = folder.path().join("run.parquet");
    let before_ns = cpu_of_children_ns();
    let by = |method| {
        let options = record::Options { method, ..record::Options::default() };
        record::record(&words[0], &words[1..], &recording, &options)
    };
    // Without privileges notifications cost half of what stops do.
    let method = match record::ebpf_may_work() {
        true => Method::Auto,
        false => Method::Notify(Grain::Calls),
    };
    let recorded = match by(method) {
        Err(error) if error.kind() == ErrorKind::Refused => by(Method::Ptrace),
        recorded => recorded,
    };
    let mut recorded = recorded.map_err(failed)?;
    let cpu_ns = cpu_of_children_ns().saturating_sub(before_ns);
    let learned = match recorded.unfinished.take() {
        Some(error) => Err(not_learned(&error, &recording)),
        None => learn_trace(&recording, Some(cpu_ns)),
    };
    Ok((recorded.status, learned, recorded.summary.lost))
}

/// What follows from an error of the recorder. Only what says that the program itself cannot run,
/// or has run, keeps it from being started without a recording.
fn failed(error: record::Error) -> Whole {
    use seekless_job::ErrorKind as Kind;
    let code = error.exit_code();
    let cannot = |error| Error::because(Kind::Record, "cannot run it", error);
    match error.kind() {
        ErrorKind::Refused => Whole::NotBegun(None),
        ErrorKind::NotFound | ErrorKind::CannotExecute | ErrorKind::Lost => {
            Whole::Failed(code, cannot(error))
        }
        _ => {
            let why = "this start cannot be recorded";
            Whole::NotBegun(Some(Error::because(Kind::Record, why, error)))
        }
    }
}

/// Why nothing was learned of a start. What was recorded of it is of no use to the user.
fn not_learned(error: &record::Error, recording: &Path) -> Error {
    if let Ok(spool) = spool_path(recording) {
        let _ = std::fs::remove_file(spool);
    }
    let why =
        std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    Error::new(seekless_job::ErrorKind::Record, format!("this start was not learned: {why}"))
}

fn cpu_of_children_ns() -> u64 {
    seekless_sys::usage::cpu_of_children_ns()
}
