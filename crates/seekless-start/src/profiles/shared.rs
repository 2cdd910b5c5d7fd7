//! A profile that several machines share: what each learns of a start is merged into it, so that
//! the first start on a new machine finds its files brought in. It is an object or a file. Each
//! change is one step: of two machines that write at once, neither loses what the other wrote.
//!
//! It has the newest runs of all machines and at most some megabytes. It says nothing of users
//! (`names`).

mod names;

pub(crate) use names::Names;

use super::{learn, update};
use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::io::Errno;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::objects::{self, Change, Limits};
use seekless_sys::output::{Content, Destination};
use seekless_trace::{Profile, ProfiledRun};
use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

/// Runs that are kept, of all machines.
const RUNS_MAX: usize = 16;
/// A larger profile loses its oldest runs. What is changed in one step goes in one request.
const BYTES_MAX: u64 = 8 << 20;
/// A start waits for no more.
const READ_WITHIN: Duration = Duration::from_secs(5);
/// What is learned is given up after this.
const SHARE_WITHIN: Duration = Duration::from_secs(20);

/// What machines have shared so far, with names of this machine; `None` if there is nothing yet.
/// It ends within five seconds if it is an object.
///
/// # Errors
/// It cannot be read, is no profile, or is of another program than `program`.
pub(crate) fn read(name: &Path, program: Option<&str>) -> Result<Option<Profile>> {
    let mut found = None;
    let mut look = |content: Option<&[u8]>| {
        found = content.map(decoded).transpose()?;
        Ok(None)
    };
    let limits = Limits { bytes_max: BYTES_MAX, within: READ_WITHIN };
    let looked = match objects::of(name) {
        Some(objects) => objects.update(name, limits, &mut look),
        None => content_of(name).and_then(|content| look(content.as_deref())).map(drop),
    };
    looked.map_err(|error| {
        let why = format!("the shared profile {} cannot be read", name.display());
        Error::because(ErrorKind::Trace, why, error)
    })?;
    let Some(found) = found else { return Ok(None) };
    if let Some(program) = program {
        check_program(name, &found, program)?;
    }
    Ok(Some(Names::of_user().shown(found)))
}

/// Merges the runs that the profile `own` has into the shared one, and the other way round.
///
/// # Errors
/// One of the profiles cannot be read or written, or they are of two programs.
pub(crate) fn share(name: &Path, own: &Path) -> Result<()> {
    let names = Names::of_user();
    let ours = names.hidden(super::read(own)?);
    if ours.runs.is_empty() {
        return Ok(()); // all failed
    }
    let mut merged = None;
    let mut refused = None;
    let mut change = |content: Option<&[u8]>| {
        let theirs = content.map(decoded).transpose()?;
        if let Some(error) =
            theirs.as_ref().and_then(|theirs| check_program(name, theirs, &ours.key).err())
        {
            refused = Some(error);
            return Ok(None);
        }
        let known = theirs.as_ref().is_some_and(|theirs| has_all(theirs, &ours));
        let mut all = united(theirs.unwrap_or_default(), ours.clone(), RUNS_MAX);
        let content = if known { None } else { Some(encoded(&mut all)?) };
        merged = Some(all);
        Ok(content)
    };
    let limits = Limits { bytes_max: BYTES_MAX, within: SHARE_WITHIN };
    let changed = match objects::of(name) {
        Some(objects) => objects.update(name, limits, &mut change),
        None => update_file(name, &mut change),
    };
    changed.map_err(|error| {
        let why = format!("what was learned cannot be shared in {}", name.display());
        Error::because(ErrorKind::Io, why, error)
    })?;
    match (refused, merged) {
        (Some(error), _) => Err(error),
        (None, None) => Ok(()),
        (None, Some(merged)) => update(own, |now| {
            let now = now.unwrap_or_default();
            let key = now.key.clone();
            Profile { key, ..united(now, names.shown(merged), RUNS_MAX) }
        }),
    }
}

/// Refuses to mix starts of two programs.
fn check_program(name: &Path, shared: &Profile, program: &str) -> Result<()> {
    let called = |key: &str| {
        let path = key.split(' ').next().unwrap_or_default();
        path.rsplit('/').next().unwrap_or_default().to_owned()
    };
    let (theirs, ours) = (called(&shared.key), called(program));
    if shared.key.is_empty() || theirs == ours {
        return Ok(());
    }
    let why = format!(
        "the shared profile {} is of {theirs}, not of {ours}: name another one",
        name.display()
    );
    Err(Error::new(ErrorKind::Invalid, why))
}

/// What names a run: no two begin at one nanosecond and last equally long.
fn id(run: &ProfiledRun) -> (Option<u64>, Option<u64>) {
    (run.info.started_unix_ns, run.info.duration_ns)
}

fn has_all(profile: &Profile, other: &Profile) -> bool {
    let known: HashSet<_> = profile.runs.iter().map(id).collect();
    other.runs.iter().all(|run| known.contains(&id(run)))
}

/// The runs of both, each once, by the time when they began: at most `runs_max`, the newest.
fn united(one: Profile, mut other: Profile, runs_max: usize) -> Profile {
    let known: HashSet<_> = one.runs.iter().map(id).collect();
    other.runs.retain(|run| !known.contains(&id(run)));
    let newest = |profile: &Profile| profile.runs.iter().map(|run| run.info.started_unix_ns).max();
    let key = if one.key.is_empty() { other.key.clone() } else { one.key.clone() };
    let (mut older, newer) = match newest(&other) > newest(&one) {
        true => (one, other),
        false => (other, one),
    };
    learn::append(&mut older, newer);
    older.runs.sort_by_key(|run| run.info.started_unix_ns);
    learn::keep_newest(&mut older, runs_max);
    Profile { key, ..older }
}

/// The profile as it is stored, without its oldest runs if it has too many bytes.
fn encoded(profile: &mut Profile) -> io::Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("profile.parquet");
    loop {
        let out = Destination::new(&path).replacing(true);
        profile.write(out).map_err(io::Error::other)?;
        let content = fs::read(&path)?;
        if content.len() as u64 <= BYTES_MAX {
            return Ok(content);
        }
        if profile.runs.len() < 2 {
            let why = format!("one run takes over {BYTES_MAX} bytes, which is too much to share");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
        }
        let runs = profile.runs.len() - 1;
        learn::keep_newest(profile, runs);
    }
}

fn decoded(content: &[u8]) -> io::Result<Profile> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(content)?;
    Profile::read(file.path()).map_err(|error| {
        let why = format!("it is no profile, or damaged: {}", why(&error));
        io::Error::new(io::ErrorKind::InvalidData, why)
    })
}

/// What is wrong, without the name of the file that it was read from.
fn why(error: &seekless_trace::Error) -> String {
    let text = error.to_string();
    text.split_once(": ").map_or(text.clone(), |(_, why)| why.to_owned())
}

fn content_of(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut content = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut content)?;
    if content.len() as u64 > BYTES_MAX {
        let why = format!("it has more than {BYTES_MAX} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, why));
    }
    Ok(Some(content))
}

/// Changes a file of a folder that machines share. They take turns by a lock on a file beside it,
/// since folders cannot be locked over a network.
fn update_file(path: &Path, change: Change<'_>) -> io::Result<()> {
    let _lock = lock_beside(path)?;
    let content = content_of(path)?;
    let Some(new) = change(content.as_deref())? else { return Ok(()) };
    let mut out = Destination::new(path).replacing(true).create(Content::Binary).map_err(told)?;
    out.write_all(&new)?;
    out.publish().map_err(told)
}

fn told(error: seekless_sys::output::Error) -> io::Error {
    io::Error::other(error)
}

fn lock_beside(path: &Path) -> io::Result<OwnedFd> {
    let Some(name) = path.file_name() else { return Err(io::ErrorKind::InvalidInput.into()) };
    let lock: OsString =
        [OsString::from("."), name.to_owned(), ".lock".into()].into_iter().collect();
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let lock = open(path.with_file_name(lock), flags, Mode::from_raw_mode(0o666))?;
    loop {
        match flock(&lock, FlockOperation::LockExclusive) {
            Ok(()) => return Ok(lock),
            Err(Errno::INTR) => {}
            Err(error) => {
                let why = format!(
                    "its folder cannot be locked ({error}), so machines would lose each other's \
                     runs: name an object, or a file on another file system"
                );
                return Err(io::Error::other(why));
            }
        }
    }
}

#[cfg(test)]
mod tests;
