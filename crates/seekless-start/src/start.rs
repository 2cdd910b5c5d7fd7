//! Starts a program, and brings what it will need into the page cache beside it.
//!
//! The first start is recorded into a profile. Later ones are looked at before they begin: from the
//! profile, from what is cached now, and from what the device charges, it is expected how long the
//! program would wait alone, and how long with its files brought in. Only what pays is brought in,
//! by a process of its own; this one becomes the program. So nothing stands between the program and
//! its parent.

mod at_once;
mod bringing;
mod candidates;
mod decide;
pub(crate) mod devices;
mod examine;
mod help;
mod names;
mod own;
pub(crate) mod packed;
mod plan;
mod proof;
mod recording;
mod sample;
mod waves;
mod whole;

pub use own::{ask as ask_for_own_pages, note_beside as note_own_pages};
pub use packed::build as make_pack;
pub use plan::{Decision, Pack, Waits};
pub use recording::{Recording, Taught};
pub use sample::become_if_cached;
pub use seekless_mount::answer_s;

use crate::profiles::{self, Key};
use packed::Packed;
use plan::Plan;
use seekless_device::Costs;
use seekless_job::{Error, ErrorKind, Result};
use seekless_record::Status;
use seekless_sys::{beside, replace};
use seekless_trace::Profile;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How much longer than expected a program is held back for its first files.
const PATIENCE: Duration = Duration::from_secs(2);

/// How to start a program.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The profile to go by, and to keep true. `None`: the one of this kind of start.
    pub profile: Option<PathBuf>,
    /// Only files below one of these folders; all files if there are none.
    pub within: Vec<PathBuf>,
    /// Folders over which something else will be mounted: their files are left alone.
    pub hidden: Vec<PathBuf>,
    /// At most this many bytes, what is needed first taken first. `None`: half of what is free.
    pub budget_bytes: Option<u64>,
    /// What the device charges. `None`: as `seekless probe` measured it, else assumed.
    pub costs: Option<Costs>,
    /// Whether to record the start.
    pub recording: Recording,
    /// Whether files may be seen from a pack of the start's own, where that pays; it is made beside
    /// a start without one.
    pub packs: bool,
    /// Whether to sum up the whole start, for people: what is expected of it alone and with help.
    pub expects: bool,
    /// How long a program waits for an answer of a mounted pack, in seconds, if that was measured
    /// ([`answer_s`]).
    pub answer_s: Option<f64>,
}

/// A start that is decided on, and has not begun.
#[derive(Debug)]
pub struct Start {
    words: Vec<OsString>,
    key: Key,
    path: PathBuf,
    profile: Option<Profile>,
    plan: Plan,
    recording: recording::Now,
    /// Whether to note what this command needs of its own files.
    notes: bool,
    /// How long a sample of what is cached will stand, in seconds; `None` if none may be kept.
    sample_s: Option<u64>,
    /// The pack that files are seen from, and the plan without it.
    packed: Option<(Box<Packed>, Plan)>,
    /// Whether to make that pack.
    packs: bool,
    /// What is expected, and what will be done.
    pub decision: Decision,
    /// What the last start had to say of its pack, and could not.
    pub said: Option<String>,
    /// Why there is no profile to go by, where that is not as it should be: the program starts as
    /// it would alone, and nothing is recorded.
    pub fault: Option<Error>,
}

/// The profile of a start, and where it lies.
#[derive(Default)]
struct Known {
    path: PathBuf,
    profile: Option<Profile>,
    fault: Option<Error>,
}

impl Known {
    /// The profile that the user named. It is made only if this start is to be recorded into it,
    /// and a file that is no profile is not replaced.
    fn named(path: &Path, recording: Recording) -> Self {
        let path = path.to_owned();
        let is_new = matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
        match (is_new, recording) {
            (true, Recording::Whole) => Self { path, ..Self::default() },
            (true, _) => {
                let why = format!("{}: no such profile; --record makes one", path.display());
                let fault = Some(Error::new(ErrorKind::Missing, why));
                Self { path, fault, ..Self::default() }
            }
            (false, _) => match profiles::read(&path) {
                Ok(profile) => Self { path, profile: Some(profile), fault: None },
                Err(error) => Self { path, profile: None, fault: Some(error) },
            },
        }
    }

    /// The profile of this user for such a start. One that cannot be read is recorded anew.
    fn own(key: &Key) -> Self {
        match profiles::place(key) {
            Ok(path) => Self { profile: profiles::read(&path).ok(), path, fault: None },
            Err(error) => Self { fault: Some(error), ..Self::default() },
        }
    }
}

/// How a start ended that this process outlived.
#[derive(Debug)]
pub enum Outcome {
    /// It was recorded whole: the program ended so. If something was learned, this many bytes are
    /// needed, and so many records were lost; else the reason why not.
    Recorded(Status, Result<Taught>),
    /// The program could not be recorded or executed: an error whose exit code is that of `env`.
    Failed(u8, Error),
}

/// Decides how to start the program `words`, with its arguments.
///
/// # Errors
/// No program is named.
pub fn prepare(words: &[OsString], options: &Options) -> Result<Start> {
    let plain = Start::plain(words)?;
    let key = &plain.key;
    let Known { path, profile, fault } = match &options.profile {
        Some(path) => Known::named(path, options.recording),
        None => Known::own(key),
    };
    let asked = if fault.is_some() { Recording::Never } else { options.recording };
    let options = &Options { expects: options.expects || options.packs, ..options.clone() };
    let (mut plan, mut decision) = decide::decide(profile.as_ref(), key, options);
    let recording = recording::now(asked, profile.as_ref(), &decision, &words[0], &options.profile);
    let mut packed = None;
    if options.packs && profile.is_some() && fault.is_none() {
        let known = (profile.as_ref(), key, &*path);
        packed = see_from_pack(known, &words[0], options, recording, (&mut plan, &mut decision));
    }
    decision.recording = match &fault {
        Some(_) => "none, since there is no profile to go by".to_owned(),
        None => recording.words(),
    };
    decision.profile.clone_from(&path);
    let fresh_s = profile.as_ref().and_then(|it| recording::fresh_s(it, &options.profile));
    let sample_s = fresh_s.filter(|_| plan.is_settled && sample::stands_for(options));
    let notes = asked != Recording::Never && profile.is_some();
    let said = packed::unsaid(&path).filter(|_| options.packs);
    let packs = decision.pack.as_ref().is_some_and(|pack| pack.without == Some(packed::NO_PACK));
    Ok(Start {
        path,
        profile,
        plan,
        recording,
        notes,
        sample_s,
        packed,
        packs,
        decision,
        said,
        fault,
        ..plain
    })
}

/// Chooses whether files are seen from the start's own pack. If so, the plan becomes that of the
/// rest.
fn see_from_pack(
    (profile, key, path): (Option<&Profile>, &Key, &Path),
    program: &OsStr,
    options: &Options,
    recording: recording::Now,
    (plan, decision): (&mut Plan, &mut Decision),
) -> Option<(Box<Packed>, Plan)> {
    let mut of_rest = None;
    let rest = |roots: &[PathBuf]| {
        let hidden = options.hidden.iter().chain(roots).cloned().collect();
        let (plan, decision) = decide::decide(profile, key, &Options { hidden, ..options.clone() });
        of_rest = Some(plan);
        decision
    };
    let why_not = match recording {
        recording::Now::Nothing(_) if recording::has_privileges(program) => {
            Some("the program would lose its privileges")
        }
        recording::Now::Nothing(_) => None,
        _ => Some("this start is recorded"),
    };
    let choice = packed::choose(path, profile, options, why_not, decision, rest);
    let (packed, pack) = match choice {
        packed::Choice::Without(why) => {
            let (folders, waits) = (Vec::new(), Waits::default());
            (None, Pack { without: Some(why), folders, waits, answers_s: 0.0 })
        }
        packed::Choice::Pack { packed, waits, whole, answers_s } => {
            decision.warmed = whole;
            decision.warms = of_rest.as_ref().is_some_and(|plan| !plan.reads.is_empty());
            let pack = Pack { without: None, folders: packed.roots(), waits, answers_s };
            let without = std::mem::replace(plan, of_rest.unwrap_or_default());
            (Some((packed, without)), pack)
        }
    };
    decision.pack = Some(pack);
    packed
}

impl Start {
    /// A start without a look at any profile: nothing is brought in, and nothing is recorded.
    ///
    /// # Errors
    /// No program is named.
    pub fn plain(words: &[OsString]) -> Result<Self> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(Error::new(ErrorKind::Invalid, "no program to run"));
        };
        Ok(Self {
            words: words.to_vec(),
            key: Key::new(program, arguments),
            path: PathBuf::new(),
            profile: None,
            plan: Plan::default(),
            recording: recording::Now::Nothing("since there is no profile to go by"),
            notes: false,
            sample_s: None,
            packed: None,
            packs: false,
            decision: Decision::default(),
            said: None,
            fault: None,
        })
    }

    /// Becomes the program, with a helper beside it where there is something to do. Returns only if
    /// the start was recorded whole, or the program could not be executed.
    ///
    /// Nothing that fails before the program's execution keeps it from being started: `notice` gets
    /// what the user should know of, and what the program starts without.
    ///
    /// Call it while this process has one thread, and nothing open that the program must not have.
    #[must_use]
    pub fn go(mut self, notice: impl Fn(Error, &str)) -> Outcome {
        if let recording::Now::Whole(_) = self.recording {
            match recording::whole(&self.words, &self.path, &self.key) {
                recording::Whole::Done(status, learned) => {
                    return Outcome::Recorded(status, learned);
                }
                recording::Whole::Failed(code, error) => return Outcome::Failed(code, error),
                recording::Whole::NotBegun(error) => {
                    if let Some(error) = error {
                        notice(error, "a recording");
                    }
                    // Page faults alone are better than nothing.
                    self.recording = recording::Now::touches();
                }
            }
        }
        let words: Vec<CString> =
            match self.words.iter().map(|word| CString::new(word.as_bytes())).collect() {
                Ok(words) => words,
                Err(_) => {
                    let error = Error::new(ErrorKind::Invalid, "an argument holds a zero byte");
                    return Outcome::Failed(126, error);
                }
            };
        if let Some((packed, without)) = self.packed.take()
            && let Err(error) = packed::lay(&packed, &self.path)
        {
            notice(error, "its pack");
            self.plan = without;
        }
        if self.packs {
            packed::build_beside(&self.path);
        }
        if !self.plan.reads.is_empty() || matches!(self.recording, recording::Now::Touches(_)) {
            let held = beside::start(|beside| help::help(beside, &self));
            // Without a helper the program starts as it would without us, and a helper that waits
            // for a device which does not answer is not waited for.
            let within = Duration::from_secs_f64(2.0 * self.decision.head_start_s) + PATIENCE;
            let _ = held.map(|held| held.wait_within(within));
        } else if let Some(fresh_s) = self.sample_s {
            // Without it the next start looks at the profile again.
            let _ = sample::keep(&self.key, &self.path, &self.plan.cached, fresh_s);
        }
        if self.notes {
            own::note();
        }
        let error = replace::become_found(&words);
        let program = self.words[0].to_string_lossy();
        let (code, said) = match error.kind() {
            io::ErrorKind::NotFound => (127, format!("{program}: no such program")),
            _ => (126, format!("{program} cannot be executed")),
        };
        Outcome::Failed(code, Error::because(ErrorKind::Io, said, error))
    }
}

#[cfg(test)]
mod tests;
