//! The starts of the program: recorded, timed cold and cached, in turn.

use super::advice::{Starts, Timeline, median};
use super::counter::{Counter, Served};
use super::{Options, go_on, timeline};
use rustix::process::geteuid;
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::{Dropping, make_cold};
use seekless_record::{self as record, Mappings, Recorded};
use seekless_start::profiles::{self, Key};
use seekless_start::start::make_pack;
use seekless_sys::home;
use seekless_sys::residency::drop_all_caches;
use seekless_sys::usage::{self, Usage};
use seekless_trace::summary::{CallKind, Waits};
use seekless_trace::{Needs, Trace, unescape_path};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{File, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;
use tempfile::TempDir;

/// What two recordings of the program have shown.
pub(super) struct Learned {
    /// What it waited for in calls.
    pub(super) waits: Waits,
    /// What it did when.
    pub(super) timeline: Timeline,
    /// The recorded cold start.
    pub(super) trace: Trace,
    /// The file of it.
    pub(super) recording: PathBuf,
    /// What it needs.
    pub(super) needs: Needs,
    /// The profile for `seekless run`.
    pub(super) profile: PathBuf,
    /// The name that `seekless run` gives it.
    pub(super) profile_name: String,
    pub(super) names: u64,
    pub(super) names_missing: u64,
    pub(super) exit_status: i32,
    pub(super) method: String,
    pub(super) blind: Option<String>,
    /// Keeps the profile.
    pub(super) folder: TempDir,
}

/// One timed start.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Timed {
    pub(super) seconds: f64,
    used: Usage,
    served: Option<Served>,
}

/// The program, and what is known of it up to now.
pub(super) struct Session<'a> {
    pub(super) words: &'a [OsString],
    options: &'a Options,
    pub(super) tell: &'a mut dyn FnMut(&str),
    began: Instant,
    /// Regular files that the program uses.
    files: Vec<PathBuf>,
    counter: Counter,
    coldness: String,
    /// Whether names and inodes are dropped too.
    names_cold: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(
        words: &'a [OsString],
        options: &'a Options,
        tell: &'a mut dyn FnMut(&str),
    ) -> Result<Self> {
        if words.is_empty() {
            return Err(Error::new(ErrorKind::Invalid, "no program to start"));
        }
        if options.runs == 0 {
            let why = "no start to time: ask for one run at least";
            return Err(Error::new(ErrorKind::Invalid, why));
        }
        Ok(Self {
            words,
            options,
            tell,
            began: Instant::now(),
            files: Vec::new(),
            counter: Counter::default(),
            coldness: String::new(),
            names_cold: false,
        })
    }

    /// Records the program cold, then with its files cached.
    pub(super) fn record(&mut self) -> Result<Learned> {
        let folder = folder().map_err(|error| {
            Error::because(ErrorKind::Io, "there is no temporary folder to record into", error)
        })?;
        if !geteuid().is_root() {
            // What to drop is known only once it was recorded.
            (self.tell)("recording a start, to see which files it uses");
            let (trace, _) = self.recorded(&folder.path().join("first.parquet"))?;
            self.know_files(&trace)?;
        }
        (self.tell)("recording a cold start");
        self.make_cold()?;
        let cold = folder.path().join("cold.parquet");
        let before = usage::of_children();
        let (trace, recorded) = self.recorded(&cold)?;
        let cpu_ns = usage::of_children().since(before).cpu_ns;
        self.know_files(&trace)?;
        let profile = folder.path().join("profile.parquet");
        let learned = profiles::learn_trace(&cold, Some(cpu_ns))?;
        let key = Key::new(&self.words[0], &self.words[1..]);
        profiles::update(&profile, |before| learned.added_to(before, key.text()))?;
        // Without a pack the others are judged.
        let _ = make_pack(&profile, std::env::current_dir().ok().as_deref());
        (self.tell)("recording a start with its files cached");
        let (cached, _) = self.recorded(&folder.path().join("cached.parquet"))?;
        let mut waits = Waits::of(&trace).map_err(unreadable)?;
        let cached = Waits::of(&cached).map_err(unreadable)?;
        subtract(&mut waits, &cached);
        let looks = profiles::read(&profile)?.looks;
        Ok(Learned {
            waits,
            timeline: timeline::of(&trace, &cached.by_kind())?,
            needs: Needs::of(&trace).map_err(unreadable)?,
            profile,
            profile_name: key.name(),
            names: looks.len() as u64,
            names_missing: looks.iter().filter(|look| look.inode.is_none()).count() as u64,
            exit_status: recorded.status.code(),
            method: trace.metadata().runs.last().map(|run| run.source.clone()).unwrap_or_default(),
            blind: blind(&recorded),
            folder,
            trace,
            recording: cold,
        })
    }

    fn recorded(&self, output: &std::path::Path) -> Result<(Trace, Recorded)> {
        go_on(&self.options.cancel)?;
        let options = record::Options::default();
        let (program, arguments) = (&self.words[0], &self.words[1..]);
        let failed = |error: record::Error| {
            Error::because(ErrorKind::Record, "the program cannot be recorded", error)
        };
        let mut recorded = record::record(program, arguments, output, &options).map_err(failed)?;
        if let Some(error) = recorded.unfinished.take() {
            return Err(failed(error));
        }
        go_on(&self.options.cancel)?;
        Ok((Trace::open(output).map_err(unreadable)?, recorded))
    }

    /// Remembers the regular files of a recording, and the device that holds most of them.
    fn know_files(&mut self, trace: &Trace) -> Result<()> {
        let names = trace.file_names().map_err(unreadable)?;
        let paths = names.iter().map(|name| PathBuf::from(OsString::from_vec(unescape_path(name))));
        let special = ["/proc", "/sys", "/dev"];
        let (mut devices, mut seen) = (BTreeMap::<u64, u64>::new(), BTreeSet::new());
        self.files.clear();
        for path in paths.filter(|path| !special.iter().any(|folder| path.starts_with(folder))) {
            let Some(found) = path.metadata().ok().filter(Metadata::is_file) else { continue };
            if seen.insert((found.dev(), found.ino())) && File::open(&path).is_ok() {
                *devices.entry(found.dev()).or_default() += found.size();
                self.files.push(path);
            }
        }
        let most = devices.into_iter().max_by_key(|(_, bytes)| *bytes);
        self.counter = most.map(|(device, _)| Counter::of(device)).unwrap_or_default();
        Ok(())
    }

    /// Drops all caches of the machine; without root, the program's files. To look at each file
    /// after the first would bring its name in again, which takes as long as a cold start.
    pub(super) fn make_cold(&mut self) -> Result<()> {
        go_on(&self.options.cancel)?;
        if drop_all_caches().is_ok() {
            self.names_cold = true;
            self.coldness = "all caches of the machine were dropped".to_owned();
            return Ok(());
        }
        let there = self.files.iter().filter(|path| path.exists());
        let coldness = make_cold(there, Dropping::Files).map_err(|error| {
            Error::because(ErrorKind::Measure, "the program's files cannot be dropped", error)
        })?;
        self.coldness = coldness.to_string();
        Ok(())
    }

    /// Times starts, cold and cached in turn.
    pub(super) fn time_in_turn(&mut self) -> Result<Starts> {
        let (mut cold, mut cached) = (Vec::new(), Vec::new());
        let mut cut_short = None;
        for run in 0..self.options.runs {
            let late = self.options.budget.is_some_and(|budget| self.began.elapsed() > budget);
            if late && run > 0 {
                cut_short = Some(format!("the time was used up after {run} of each"));
                break;
            }
            (self.tell)(&format!("cold and cached start {} of {}", run + 1, self.options.runs));
            self.make_cold()?;
            cold.push(self.timed(&mut self.plain())?);
            cached.push(self.timed(&mut self.plain())?);
        }
        let all = |runs: &[Timed]| runs.iter().map(|run| run.seconds).collect::<Vec<_>>();
        let (cold_s, cached_s) = (all(&cold), all(&cached));
        let served = |of: fn(Served) -> u64| middle(cold.iter().map(|run| run.served.map(of)));
        Ok(Starts {
            cold_median_s: median(&cold_s),
            cached_median_s: median(&cached_s),
            cold_cpu_s: cpu_s(&cold),
            cached_cpu_s: cpu_s(&cached),
            major_faults: middle(cold.iter().map(|run| Some(run.used.major_faults))).unwrap_or(0),
            requests: served(|served| served.requests),
            device_bytes: served(|served| served.bytes),
            coldness: self.coldness.clone(),
            names_cold: self.names_cold,
            cut_short,
            cold_s,
            cached_s,
            exit_status: 0,
        })
    }

    /// The program as it starts alone.
    pub(super) fn plain(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// Starts a command, and times it to its end.
    pub(super) fn timed(&self, command: &mut Command) -> Result<Timed> {
        go_on(&self.options.cancel)?;
        let (used, served) = (usage::of_children(), self.counter.read());
        let clock = Instant::now();
        command.status().map_err(|error| {
            let program = command.get_program().to_string_lossy().into_owned();
            Error::because(ErrorKind::Io, format!("{program} cannot be started"), error)
        })?;
        let seconds = clock.elapsed().as_secs_f64();
        go_on(&self.options.cancel)?;
        let after = self.counter.read().zip(served);
        let served = after.map(|(after, before)| Served {
            requests: after.requests.saturating_sub(before.requests),
            bytes: after.bytes.saturating_sub(before.bytes),
        });
        Ok(Timed { seconds, used: usage::of_children().since(used), served })
    }
}

/// A folder for what is learned here, on the device of the user's profiles, where a pack would lie.
fn folder() -> std::io::Result<TempDir> {
    let mut new = tempfile::Builder::new();
    new.prefix("seekless-advise.");
    let state = home::state().filter(|state| std::fs::create_dir_all(state).is_ok());
    let made = state.and_then(|state| new.tempdir_in(state).ok());
    made.map_or_else(|| new.tempdir(), Ok)
}

/// The median of the processor time.
fn cpu_s(runs: &[Timed]) -> f64 {
    median(&runs.iter().map(|run| run.used.cpu_ns as f64 / 1e9).collect::<Vec<_>>())
}

/// The median of counts; `None` if one is missing or there are none.
fn middle(counts: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut counts: Vec<u64> = counts.collect::<Option<_>>()?;
    counts.sort_unstable();
    counts.get(counts.len() / 2).copied()
}

/// Leaves of the time in calls what is more than such a call takes with all files cached.
fn subtract(cold: &mut Waits, cached: &Waits) {
    let each: BTreeMap<CallKind, f64> = cached
        .by_kind()
        .into_iter()
        .map(|(kind, spent)| (kind, spent.seconds / spent.calls.max(1) as f64))
        .collect();
    for (kind, spent) in cold.files.values_mut().flat_map(|file| &mut file.kinds) {
        let own = each.get(kind).copied().unwrap_or(0.0) * spent.calls as f64;
        spent.seconds = (spent.seconds - own).max(0.0);
    }
}

/// What the recording did not see, in words.
fn blind(recorded: &Recorded) -> Option<String> {
    let summary = &recorded.summary;
    let mapped = match &summary.mappings {
        Mappings::Touches { lost: 0, .. } => None,
        Mappings::Touches { lost, .. } => Some(format!("{lost} touches of mapped files")),
        Mappings::Arrivals { why, .. } | Mappings::Calls(why) => {
            Some(format!("single touches of mapped files ({why})"))
        }
    };
    let calls = (summary.lost > 0).then(|| format!("{} calls", summary.lost));
    let unseen: Vec<String> = calls.into_iter().chain(mapped).collect();
    (!unseen.is_empty()).then(|| unseen.join(", "))
}

pub(super) fn unreadable(error: seekless_trace::Error) -> Error {
    Error::because(ErrorKind::Trace, "the recording cannot be read", error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_trace::summary::{FileWaits, Spent};

    #[test]
    fn what_calls_take_with_all_files_cached_is_no_wait() {
        let spent = |seconds, calls| Spent { seconds, calls, bytes: 0 };
        let waits = |spent| {
            let file = FileWaits { kinds: [(CallKind::Names, spent)].into(), first_ns: 0 };
            Waits { names: vec!["/a".into()], files: [(0, file)].into(), in_calls_s: 0.0 }
        };
        let mut cold = waits(spent(5.0, 10));
        subtract(&mut cold, &waits(spent(2.0, 20)));
        assert_eq!(cold.by_kind()[&CallKind::Names], spent(4.0, 10));
    }
}
