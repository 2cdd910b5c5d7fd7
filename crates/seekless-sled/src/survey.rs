//! The SLEDs of a file: asks every provider, lays the answers over each other, and joins
//! neighbours.

mod answer;
mod ceiling;
mod costs;
mod object;
mod plain;
mod ruled;

pub use ceiling::Ceiling;
pub use object::{Held, ObjectSubject};

use crate::provider::Target;
use crate::provider::remote::Line;
use crate::{
    Config, DeliveryTime, Devices, Error, ErrorKind, Home, Level, MountRule, Plan, Position, Sled,
    delivery_time,
};
use ceiling::Slowest;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, openat};
use rustix::path::Arg;
use seekless_device::{Origin, Table};
use seekless_sys::descriptor::by_descriptor;
use seekless_sys::mounts::Mounts;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Finds out what each range of a file costs to read now. Nothing is read or recalled to find out.
///
/// ```
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// # std::fs::write(&path, vec![1; 100_000])?;
/// let sleds = seekless_sled::sleds(&path)?;
/// assert_eq!(sleds.iter().map(|sled| sled.bytes).sum::<u64>(), 100_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// The file does not exist, is not a regular file or not readable, or the configuration or the
/// device table is invalid.
pub fn sleds(path: &Path) -> Result<Vec<Sled>, Error> {
    Ok(Surveyor::new()?.path(path)?.sleds)
}

/// Like [`sleds`], for an open file.
///
/// # Errors
/// It is not a regular file, or the configuration or the device table is invalid.
pub fn sleds_of(file: &File) -> Result<Vec<Sled>, Error> {
    Ok(Surveyor::new()?.file(file)?.sleds)
}

/// The SLEDs of one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// The file's size.
    pub bytes: u64,
    /// All of the file, in order, without gaps.
    pub sleds: Vec<Sled>,
    /// The key of its device in the device table.
    pub device: String,
    /// Where the costs of that device come from.
    pub origin: Origin,
    /// Where an archive keeps it, if it must be recalled and the configuration tells how to find
    /// out.
    pub position: Option<Position>,
    /// Which providers could not be asked, and why.
    pub notes: Vec<String>,
}

impl Survey {
    /// Estimates the time to deliver the file; see [`delivery_time`](crate::delivery_time).
    #[must_use]
    pub fn delivery_time(&self, plan: Plan, room: Option<u64>) -> DeliveryTime {
        delivery_time(&self.sleds, plan, room)
    }

    /// The bytes that a level would deliver.
    #[must_use]
    pub fn bytes_at(&self, level: Level) -> u64 {
        self.sleds.iter().filter(|sled| sled.level == level).map(|sled| sled.bytes).sum()
    }

    /// The same survey after some time without asking again.
    #[must_use]
    pub fn aged(&self, by: Duration) -> Survey {
        let sleds =
            self.sleds.iter().map(|sled| Sled { age: sled.age.saturating_add(by), ..*sled });
        Survey { sleds: sleds.collect(), ..self.clone() }
    }
}

/// Asks about one file after the other. What many files share (mounts, devices, rules) is looked up
/// once.
#[derive(Clone, Debug)]
pub struct Surveyor {
    config: Config,
    devices: Devices,
    assumed: Table,
    mounts: Mounts,
    homes: HashMap<u64, Arc<Home>>,
    /// The file system asked about last. Thousands of files in a row come from one.
    last_asked: Option<Asked>,
    lines: HashMap<String, Line>,
    user: rustix::process::Uid,
}

/// What is known of a file system.
#[derive(Clone, Copy, Debug)]
struct Asked {
    device: u64,
    /// `None` unless its files are [plain](Surveyor::is_plain).
    slowest: Option<Slowest>,
    /// The kernel has said how many pages of one of its files are cached.
    counted: bool,
}

/// A file that is being examined, before it is opened.
struct Subject<'a> {
    /// Its name in errors.
    name: &'a Path,
    /// Absolute, without links. Looked up only if a rule or a mount needs it.
    path: Option<PathBuf>,
    stat: Stat,
    home: Arc<Home>,
    rule: Option<MountRule>,
    /// Whether the open file belongs to the caller, so that nothing about it may change.
    lent: bool,
}

impl Surveyor {
    /// A surveyor with the user's configuration and device table.
    ///
    /// # Errors
    /// Either cannot be read or parsed.
    pub fn new() -> Result<Self, Error> {
        Ok(Self::with(Config::load()?, Devices::load()?))
    }

    /// A surveyor with this configuration and device table.
    #[must_use]
    pub fn with(config: Config, devices: Devices) -> Self {
        let (mounts, homes, lines) =
            (Mounts::read().unwrap_or_default(), HashMap::new(), HashMap::new());
        let user = rustix::process::geteuid();
        Surveyor {
            config,
            devices,
            assumed: Table::assumed(),
            mounts,
            homes,
            last_asked: None,
            lines,
            user,
        }
    }

    /// The same surveyor, but it asks no other machine.
    #[must_use]
    pub(crate) fn without_remotes(mut self) -> Self {
        for rule in &mut self.config.mounts {
            rule.remote = None;
        }
        self
    }

    /// The SLEDs of the file at a path. The file is opened only if that cannot recall it, and
    /// without waiting.
    ///
    /// # Errors
    /// The file does not exist, is not a regular file, or may not be read.
    pub fn path(&mut self, path: &Path) -> Result<Survey, Error> {
        let stat = rustix::fs::stat(path).map_err(|error| Error::io(path, error.into()))?;
        self.examined(path, path, stat)
    }

    /// Like [`path`](Self::path), for a file in an open folder whose `stat` the caller has already;
    /// `name` is its name in errors. If another file has taken its place since, that one is
    /// examined with the first one's size.
    ///
    /// # Errors
    /// As [`path`](Self::path).
    pub fn at(
        &mut self,
        folder: BorrowedFd<'_>,
        below: &CStr,
        name: &Path,
        stat: Stat,
    ) -> Result<Survey, Error> {
        let subject = self.subject(name, stat)?;
        if let Some(survey) = self.unopened(&subject)? {
            return Ok(survey);
        }
        let file = self
            .open(folder, below, Some(&subject.stat))
            .map_err(|error| Error::io(name, error))?;
        self.opened(&subject, Some(&file))
    }

    /// The SLEDs of an open file. Its position does not change, and no second descriptor is opened,
    /// so the process keeps its record locks. Holes are found where the file system knows extents
    /// (not on tmpfs).
    ///
    /// # Errors
    /// It is not a regular file.
    pub fn file(&mut self, file: &File) -> Result<Survey, Error> {
        let name = by_descriptor(file);
        let stat = rustix::fs::fstat(file).map_err(|error| Error::io(&name, error.into()))?;
        let subject = Subject { lent: true, ..self.subject(&name, stat)? };
        self.opened(&subject, Some(file))
    }

    /// The SLEDs of a file for which there is only a handle (`O_PATH`).
    pub(crate) fn held(&mut self, file: &OwnedFd) -> Result<Survey, Error> {
        let by = by_descriptor(file);
        let stat = rustix::fs::fstat(file).map_err(|error| Error::io(&by, error.into()))?;
        let name = std::fs::read_link(&by).unwrap_or_else(|_| by.clone());
        self.examined(&name, &by, stat)
    }

    fn examined(&mut self, name: &Path, open_as: &Path, stat: Stat) -> Result<Survey, Error> {
        let subject = self.subject(name, stat)?;
        if let Some(survey) = self.unopened(&subject)? {
            return Ok(survey);
        }
        let file =
            self.open(CWD, open_as, Some(&subject.stat)).map_err(|error| Error::io(name, error))?;
        // Between `stat` and the opening, another file may have taken its place.
        let stat = rustix::fs::fstat(&file).map_err(|error| Error::io(name, error.into()))?;
        if (stat.st_dev, stat.st_ino) != (subject.stat.st_dev, subject.stat.st_ino) {
            let why = format!("{}: was replaced at this moment, ask again", name.display());
            return Err(Error::new(ErrorKind::Changed, why));
        }
        self.opened(&Subject { stat, ..subject }, Some(&file))
    }

    /// Opens a file to examine it: without waiting, and without changing its access time where that
    /// is allowed. `stat` shows whether it is; without it, the kernel is asked.
    fn open(
        &self,
        folder: BorrowedFd<'_>,
        path: impl Arg + Copy,
        stat: Option<&Stat>,
    ) -> io::Result<File> {
        let plain = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        if self.user.is_root() || stat.is_none_or(|stat| self.user.as_raw() == stat.st_uid) {
            match openat(folder, path, plain | OFlags::NOATIME, Mode::empty()) {
                Err(rustix::io::Errno::PERM) => {}
                other => return Ok(File::from(other?)),
            }
        }
        Ok(File::from(openat(folder, path, plain, Mode::empty())?))
    }

    fn subject<'a>(&mut self, name: &'a Path, stat: Stat) -> Result<Subject<'a>, Error> {
        let kind = FileType::from_raw_mode(stat.st_mode);
        if kind != FileType::RegularFile {
            let why = format!("{}: {}, which has no SLEDs", name.display(), word(kind));
            return Err(Error::new(ErrorKind::NotAFile, why));
        }
        let needs_path = self.config.has_rules() || self.needs_path(stat.st_dev);
        let path = needs_path.then(|| name.canonicalize().ok()).flatten();
        let home = self.home_of(stat.st_dev, path.as_deref());
        let rule = path.as_deref().and_then(|path| self.config.rule(path)).cloned();
        Ok(Subject { name, path, stat, home, rule, lent: false })
    }
}

impl Subject<'_> {
    fn bytes(&self) -> u64 {
        u64::try_from(self.stat.st_size).unwrap_or(0)
    }

    fn target<'a>(&'a self, file: Option<&'a File>) -> Target<'a> {
        let allocated_bytes = u64::try_from(self.stat.st_blocks).unwrap_or(0).saturating_mul(512);
        let path = self.path.as_deref().or(self.name.is_absolute().then_some(self.name));
        Target { file, path, bytes: self.bytes(), allocated_bytes }
    }
}

fn word(kind: FileType) -> &'static str {
    match kind {
        FileType::Directory => "a folder",
        FileType::Fifo => "a pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        _ => "not a regular file",
    }
}

#[cfg(test)]
mod tests;
