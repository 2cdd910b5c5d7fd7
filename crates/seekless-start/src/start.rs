//! Starts a program, and brings what it will need into the page cache beside it.
//!
//! The first start is recorded into a profile. Later ones are looked at before they begin: from the
//! profile, from what is cached now, and from what the device charges, it is expected how long the
//! program would wait alone, and how long with its files brought in. Only what pays is brought in,
//! by a process of its own; this one becomes the program. So nothing stands between the program and
//! its parent.

mod at_once;
mod bridge;
mod bringing;
mod candidates;
mod decide;
pub(crate) mod devices;
mod examine;
mod help;
mod hidden;
mod names;
mod own;
pub(crate) mod packed;
mod plan;
mod proof;
mod quick;
mod recording;
mod sample;
mod waves;
mod whole;

pub use hidden::Hidden;
pub use own::ask as ask_for_own_pages;
pub use packed::build as make_pack;
pub use plan::{Decision, Pack, Waits};
pub use quick::{AUTO, LEARN, become_known};
pub use recording::{Recording, Taught};
pub use seekless_mount::answer_s;

use crate::profiles::{self, Key, Learned, shared};
use packed::Packed;
use plan::Plan;
use seekless_device::{Costs, LookUps};
use seekless_job::{Error, ErrorKind, Result};
use seekless_record::Status;
use seekless_sys::{beside, objects, replace};
use seekless_trace::Profile;
use std::ffi::{CString, OsString};
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
    /// A profile that machines share, a file or an object. A start goes by it until this machine
    /// has a profile of this kind of start, and adds to it what it learns. Then `profile` is
    /// `None`.
    pub share: Option<PathBuf>,
    /// Only files below one of these folders; all files if there are none.
    pub within: Vec<PathBuf>,
    /// Folders over which something else will be mounted: their files are left alone.
    pub hidden: Hidden,
    /// At most this many bytes, what is needed first taken first. `None`: half of what is free.
    pub budget_bytes: Option<u64>,
    /// What the device charges. `None`: as `seekless probe` measured it, else assumed.
    pub costs: Option<Costs>,
    /// What a look-up costs where the file system asks another program or machine, if that was
    /// measured.
    pub look_ups: Option<LookUps>,
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
    /// Whether the profile's flat form is missing.
    lacks_flat: bool,
    /// The profile that machines share.
    share: Option<PathBuf>,
    /// Whether the profile is that one, and is to become this user's own.
    is_shared: bool,
    /// How long a sample of what is cached will stand, in seconds; `None` if none may be kept.
    sample_s: Option<u64>,
    /// The pack that files are seen from, and the plan without it.
    packed: Option<(Box<Packed>, Plan)>,
    /// Whether to make that pack.
    packs: bool,
    /// What is expected, and what will be done.
    pub decision: Decision,
    /// What the last start had to say of its pack, and could not; or why there is no shared profile
    /// to go by.
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
    lacks_flat: bool,
    is_shared: bool,
    said: Option<String>,
    fault: Option<Error>,
}

impl Known {
    /// The profile that the user named. It is made only if this start is to be recorded into it,
    /// and a file that is no profile is not replaced.
    fn named(path: &Path, recording: Recording) -> Self {
        let path = path.to_owned();
        if objects::of(&path).is_some() {
            return Self::object(path, recording);
        }
        let is_new = matches!(path.symlink_metadata(), Err(error) if error.kind() == io::ErrorKind::NotFound);
        match (is_new, recording) {
            (true, Recording::Whole) => Self { path, ..Self::default() },
            (true, _) => {
                let why = format!("{}: no such profile; --record makes one", path.display());
                let fault = Some(Error::new(ErrorKind::Missing, why));
                Self { path, fault, ..Self::default() }
            }
            (false, _) => Self::flat(&path).unwrap_or_else(|| match profiles::read(&path) {
                Ok(profile) => {
                    Self { path, profile: Some(profile), lacks_flat: true, ..Self::default() }
                }
                Err(error) => Self { path, fault: Some(error), ..Self::default() },
            }),
        }
    }

    /// As [`Known::named`], of an object.
    fn object(path: PathBuf, recording: Recording) -> Self {
        let fault = |why| {
            let why = format!("{}: {why}", path.display());
            Some(Error::new(ErrorKind::Invalid, why))
        };
        match shared::read(&path, None) {
            _ if recording == Recording::Whole => {
                let fault = fault("--share records into a profile in object storage");
                Self { path, fault, ..Self::default() }
            }
            Ok(None) => {
                let fault = fault("no such profile; --share makes one");
                Self { path, fault, ..Self::default() }
            }
            Ok(profile) => Self { path, profile, ..Self::default() },
            Err(error) => Self { path, fault: Some(error), ..Self::default() },
        }
    }

    /// The profile of this user for such a start, else the one that machines share. Without either
    /// the start is recorded.
    fn shared(key: &Key, name: &Path) -> Self {
        let own = Self::own(key);
        if own.profile.is_some() || own.fault.is_some() {
            return own;
        }
        match shared::read(name, Some(key.text())) {
            Ok(Some(profile)) => {
                let profile = Some(Profile { key: key.text().to_owned(), ..profile });
                Self { profile, is_shared: true, ..own }
            }
            Ok(None) => own,
            Err(error) => {
                let because = std::error::Error::source(&error);
                let because = because.map_or_else(String::new, |cause| format!(": {cause}"));
                Self { said: Some(format!("{error}{because}; this start is recorded")), ..own }
            }
        }
    }

    /// The profile of this user for such a start. One that cannot be read is recorded anew.
    fn own(key: &Key) -> Self {
        let path = match profiles::place(key) {
            Ok(path) => path,
            Err(error) => return Self { fault: Some(error), ..Self::default() },
        };
        Self::flat(&path).unwrap_or_else(|| {
            let profile = profiles::read(&path).ok();
            Self { lacks_flat: profile.is_some(), profile, path, ..Self::default() }
        })
    }

    /// A profile that can be read at once.
    fn flat(path: &Path) -> Option<Self> {
        let profile = Some(profiles::flat::read(path)?);
        Some(Self { path: path.to_owned(), profile, ..Self::default() })
    }
}

/// How a start ended that this process outlived.
#[derive(Debug)]
pub enum Outcome {
    /// It was recorded whole: the program ended so. If something was learned, this many bytes are
    /// needed, and so many records were lost; else the reason why not. Last, why it is not shared,
    /// if it was to be.
    Recorded(Status, Result<Taught>, Option<Error>),
    /// The program could not be recorded or executed: an error whose exit code is that of `env`.
    Failed(u8, Error),
}

/// Decides how to start the program `words`, with its arguments.
///
/// # Errors
/// No program is named.
pub fn prepare(words: &[OsString], options: &Options) -> Result<Start> {
    let plain = Start::plain(words)?;
    let known = match (&options.share, &options.profile) {
        (Some(name), _) => Known::shared(&plain.key, name),
        (None, Some(path)) => Known::named(path, options.recording),
        (None, None) => Known::own(&plain.key),
    };
    let judges = options.packs && packed::may_be_used(&known.path);
    let options = &Options { expects: options.expects || judges, ..options.clone() };
    let mut start = plain.decided(known, options);
    if options.packs {
        start.said = start.said.take().or_else(|| packed::unsaid(&start.path));
    }
    if options.packs && start.profile.is_some() && start.fault.is_none() {
        start.see_from_pack(options);
    }
    Ok(start)
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
            lacks_flat: false,
            share: None,
            is_shared: false,
            sample_s: None,
            packed: None,
            packs: false,
            decision: Decision::default(),
            said: None,
            fault: None,
        })
    }

    /// Decides by what is known of such starts.
    fn decided(self, known: Known, options: &Options) -> Self {
        let Known { path, profile, lacks_flat, is_shared, said, fault } = known;
        let asked = if fault.is_some() { Recording::Never } else { options.recording };
        let (plan, mut decision) = decide::decide(profile.as_ref(), &self.key, options);
        let named = &options.profile;
        let recording = recording::now(asked, profile.as_ref(), &decision, &self.words[0], named);
        decision.recording = match &fault {
            Some(_) => "none, since there is no profile to go by".to_owned(),
            None => recording.words(),
        };
        decision.profile.clone_from(&path);
        let fresh_s = profile.as_ref().and_then(|it| recording::fresh_s(it, named));
        let sample_s = fresh_s.filter(|_| plan.is_settled && sample::stands_for(options));
        let notes = asked != Recording::Never && profile.is_some();
        Self {
            path,
            profile,
            plan,
            recording,
            notes,
            lacks_flat,
            share: options.share.clone().filter(|_| asked != Recording::Never),
            is_shared,
            sample_s,
            decision,
            said,
            fault,
            ..self
        }
    }

    /// Chooses whether files are seen from the start's own pack. If so, the plan becomes that of
    /// the rest.
    fn see_from_pack(&mut self, options: &Options) {
        let (profile, key) = (self.profile.as_ref(), &self.key);
        let mut of_rest = None;
        let rest = |packed: &Packed| {
            let hidden = options.hidden.clone().with(packed.hidden());
            let options = Options { hidden, ..options.clone() };
            let (plan, decision) = decide::decide(profile, key, &options);
            of_rest = Some(plan);
            decision
        };
        let why_not = match self.recording {
            recording::Now::Nothing(_) if recording::has_privileges(&self.words[0]) => {
                Some("the program would lose its privileges")
            }
            recording::Now::Nothing(_) => None,
            _ => Some("this start is recorded"),
        };
        let choice = packed::choose(&self.path, profile, options, why_not, &self.decision, rest);
        let pack = match choice {
            packed::Choice::Without(why) => {
                self.packs = why == packed::NO_PACK;
                let (folders, waits) = (Vec::new(), Waits::default());
                Pack { without: Some(why), folders, waits, answers_s: 0.0 }
            }
            packed::Choice::Pack { packed, waits, whole, answers_s } => {
                self.decision.warmed = whole;
                self.decision.warms = of_rest.as_ref().is_some_and(|plan| !plan.reads.is_empty());
                let pack = Pack { without: None, folders: packed.roots(), waits, answers_s };
                let without = std::mem::replace(&mut self.plan, of_rest.unwrap_or_default());
                self.packed = Some((packed, without));
                pack
            }
        };
        self.decision.pack = Some(pack);
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
        if let Some(profile) = self.profile.as_ref().filter(|_| self.is_shared) {
            // Without it the next start reads the shared one again.
            let _ = profiles::update(&self.path, |own| own.unwrap_or_else(|| profile.clone()));
        }
        if let recording::Now::Whole(_) = self.recording {
            match recording::whole(&self.words, &self.path, &self.key) {
                recording::Whole::Done(status, learned) => {
                    let shared =
                        learned.is_ok().then(|| self.share_learned()).and_then(Result::err);
                    return Outcome::Recorded(status, learned, shared);
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
        if let Err(error) = self.lay_pack() {
            notice(error, "its pack");
        }
        if self.packs {
            packed::build_beside(&self.path);
        }
        self.become_program(|start, learned| {
            // There is no caller left to learn of an error; the next start learns again.
            let key = start.key.text();
            let _ = profiles::update(&start.path, |before| learned.added_to(before, key));
            let _ = start.share_learned();
        })
    }

    /// Shares what this machine has learned of such starts, if the user wants that.
    fn share_learned(&self) -> Result<()> {
        self.share.as_ref().map_or(Ok(()), |name| shared::share(name, &self.path))
    }

    /// Lays the start's pack over its folders, if files are to be seen from it. Where that fails,
    /// the plan becomes the one without.
    fn lay_pack(&mut self) -> Result<()> {
        let Some((packed, without)) = self.packed.take() else { return Ok(()) };
        let laid = packed::lay(&packed, &self.path);
        if laid.is_err() {
            self.plan = without;
        }
        laid
    }

    /// Becomes the program, with a helper beside it that hands `keep` what it has learned.
    fn become_program(&self, keep: impl FnOnce(&Self, Learned)) -> Outcome {
        let words = self.words.iter().map(|word| CString::new(word.as_bytes()));
        let Ok(words) = words.collect::<std::result::Result<Vec<CString>, _>>() else {
            let error = Error::new(ErrorKind::Invalid, "an argument holds a zero byte");
            return Outcome::Failed(126, error);
        };
        if !self.plan.reads.is_empty() || matches!(self.recording, recording::Now::Touches(_)) {
            let held = beside::start(|beside| help::help(beside, self, keep));
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
        if let Some(profile) = self.profile.as_ref().filter(|_| self.notes && self.lacks_flat) {
            profiles::flat::write(&self.path, profile);
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
