//! The SLEDs of a file: asks every provider, lays the answers over each other, and joins
//! neighbours.

mod ceiling;

pub use ceiling::Ceiling;

use crate::overlay::{overlay, push};
use crate::provider::remote::Line;
use crate::provider::{
    CacheFile, Claim, Device, Holes, Mock, PageCache, Presence, Provider, Recall, Remote, Target,
};
use crate::{
    Confidence, Config, DeliveryTime, Devices, Error, ErrorKind, Home, Kind, Level, MountRule,
    Plan, Sled, delivery_time,
};
use ceiling::Slowest;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, openat};
use rustix::path::Arg;
use seekless_device::{Costs, Origin, Row, Table, Zone};
use seekless_sys::descriptor::by_descriptor;
use seekless_sys::mounts::Mounts;
use seekless_sys::residency::all_or_nothing;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Tells what each range of a file costs to read now. Nothing is read or recalled to find out.
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
    /// The kernel has told how many pages of one of its files are cached.
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
        if let Some(survey) = self.unopened(&subject) {
            return Ok(survey);
        }
        let file = self
            .open(folder, below, Some(&subject.stat))
            .map_err(|error| Error::io(name, error))?;
        self.opened(&subject, Some(&file))
    }

    /// As [`at`](Self::at), but `None` if all of the file is in this machine's memory. Most files
    /// of a warm tree are, and one question tells, without allocating an answer.
    ///
    /// # Errors
    /// As [`path`](Self::path).
    pub fn at_unless_in_memory(
        &mut self,
        folder: BorrowedFd<'_>,
        below: &CStr,
        name: &Path,
        stat: Stat,
    ) -> Result<Option<Survey>, Error> {
        if !self.is_plain(name, &stat) {
            return self.at(folder, below, name, stat).map(Some);
        }
        let file = self.open(folder, below, Some(&stat)).map_err(|error| Error::io(name, error))?;
        self.plain_unless_in_memory(name, file, stat)
    }

    /// Like [`at_unless_in_memory`](Self::at_unless_in_memory), for a caller that has no `stat` of
    /// the file: asking the open file costs a third of asking its name. Also returns that `stat`.
    ///
    /// `None` unless the file lies on the same file system as the last one, and that is plain (see
    /// [`is_plain`](Self::is_plain)); also for a file that cannot be opened or is not regular. The
    /// caller then asks `stat` first.
    pub fn opened_unless_in_memory(
        &mut self,
        folder: BorrowedFd<'_>,
        below: &CStr,
        name: &Path,
    ) -> Option<(Stat, Option<Survey>)> {
        let Asked { device, slowest: Some(_), .. } = self.last_asked? else { return None };
        if self.has_rules() {
            return None;
        }
        let file = self.open(folder, below, None).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        if stat.st_dev != device || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        Some((stat, self.plain_unless_in_memory(name, file, stat).ok()?))
    }

    /// The survey of an open file of a plain file system, unless all of it is in memory. An empty
    /// file is: it has no bytes elsewhere.
    fn plain_unless_in_memory(
        &mut self,
        name: &Path,
        file: File,
        stat: Stat,
    ) -> Result<Option<Survey>, Error> {
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        if bytes == 0 {
            seekless_sys::files::close(file);
            return Ok(None);
        }
        let all = all_or_nothing(file.as_fd(), bytes);
        if let Some(asked) = self.last_asked.as_mut().filter(|asked| asked.device == stat.st_dev) {
            asked.counted |= all.is_some();
        }
        let resident = match all {
            Some(true) => {
                seekless_sys::files::close(file);
                return Ok(None);
            }
            Some(false) => Some(vec![Claim::now(0, bytes, Presence::Absent(Confidence::Exact))]),
            None => None,
        };
        let subject = self.subject(name, stat)?;
        self.opened_with(&subject, Some(&file), resident).map(Some)
    }

    /// Whether the page cache and a device of this machine know all about a regular file. Then
    /// asking runs no command, asks no other machine and recalls nothing.
    pub fn is_plain(&mut self, name: &Path, stat: &Stat) -> bool {
        if self.has_rules() || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return false;
        }
        if let Some(asked) = &self.last_asked
            && asked.device == stat.st_dev
        {
            return asked.slowest.is_some();
        }
        let path = self.needs_path(stat.st_dev).then(|| name.canonicalize().ok()).flatten();
        let home = self.home_of(stat.st_dev, path.as_deref());
        let plain = home.kind == Kind::Local;
        let slowest = plain.then(|| self.slowest(&self.row(&home, None)));
        self.last_asked = Some(Asked { device: stat.st_dev, slowest, counted: false });
        plain
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

    /// The home of the file at a path, and its row of the device table: what `probe` measures.
    ///
    /// # Errors
    /// The path does not exist.
    pub fn home(&mut self, path: &Path) -> Result<(Home, Row), Error> {
        let stat = rustix::fs::stat(path).map_err(|error| Error::io(path, error.into()))?;
        let path = path.canonicalize().ok();
        let home = self.home_of(stat.st_dev, path.as_deref());
        let rule = path.as_deref().and_then(|path| self.config.rule(path)).cloned();
        let row = self.row(&home, rule.as_ref());
        Ok((Arc::unwrap_or_clone(home), row))
    }

    /// What the device under `path` charges for reads, under the limits of this process's control
    /// group: what the user gave, or what was measured. `None` if neither is known.
    ///
    /// # Errors
    /// The path does not exist.
    pub fn costs(&mut self, path: &Path) -> Result<Option<Costs>, Error> {
        let (_, row) = self.home(path)?;
        // How many reads it serves at once was not measured.
        Ok((row.origin != Origin::Assumed).then(|| row.costs(Costs::ASSUMED.depth)))
    }

    fn examined(&mut self, name: &Path, open_as: &Path, stat: Stat) -> Result<Survey, Error> {
        let subject = self.subject(name, stat)?;
        if let Some(survey) = self.unopened(&subject) {
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
    /// is allowed. `stat` tells whether it is; without it, the kernel is asked.
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
        let needs_path = self.has_rules() || self.needs_path(stat.st_dev);
        let path = needs_path.then(|| name.canonicalize().ok()).flatten();
        let home = self.home_of(stat.st_dev, path.as_deref());
        let rule = path.as_deref().and_then(|path| self.config.rule(path)).cloned();
        Ok(Subject { name, path, stat, home, rule, lent: false })
    }

    /// Whether the answer for a file may depend on its path.
    fn has_rules(&self) -> bool {
        !self.config.mounts.is_empty() || self.config.mock_files
    }

    /// Whether the home of the first file with this device number is found only by its path.
    fn needs_path(&self, device: u64) -> bool {
        rustix::fs::major(device) == 0 && !self.homes.contains_key(&device)
    }

    fn home_of(&mut self, device: u64, path: Option<&Path>) -> Arc<Home> {
        if let Some(home) = self.homes.get(&device) {
            return home.clone();
        }
        let mut home = Home::of(device, path, &self.mounts);
        if home.file_system.is_empty() {
            // It was mounted since the mounts were read.
            self.mounts = Mounts::read().unwrap_or_default();
            home = Home::of(device, path, &self.mounts);
        }
        let home = Arc::new(home);
        self.homes.insert(device, home.clone());
        home
    }

    /// The row for a home. The row that the user names for the mount comes first, then the user's
    /// or the measured row of the device. After those comes the user's row for such devices, and
    /// the assumed row last.
    fn row(&self, home: &Home, rule: Option<&MountRule>) -> Row {
        let named = rule.and_then(|rule| rule.row.as_deref());
        named
            .and_then(|name| self.named(name))
            .or_else(|| self.named(&home.key))
            .or_else(|| self.named(home.assumed))
            .unwrap_or_else(|| Row::new(Origin::Assumed, 0, 1))
    }

    fn named(&self, name: &str) -> Option<Row> {
        let measured = || self.devices.entry(name).map(|entry| &entry.row);
        self.config.row(name).or_else(measured).or_else(|| self.assumed.row(name)).cloned()
    }

    fn zone(&self, name: &str) -> Zone {
        let row = self.named(name).unwrap_or_else(|| Row::new(Origin::Assumed, 0, 1));
        *row.at(0)
    }

    /// The answer for a file that must not be opened; `None` if it may be.
    fn unopened(&self, subject: &Subject<'_>) -> Option<Survey> {
        let target = subject.target(None);
        let mut notes = Vec::new();
        if self.config.mock_files {
            let ranges = told(&Mock, &target, &mut notes).unwrap_or_default();
            let covered: u64 = ranges.iter().map(|range| range.bytes).sum();
            if covered == target.bytes && covered > 0 {
                return Some(self.survey(subject, &[ranges], notes));
            }
        }
        let rule = subject.rule.as_ref().and_then(|rule| rule.recall.clone());
        let row =
            subject.rule.as_ref().and_then(|rule| rule.row.as_deref()).unwrap_or(Table::ARCHIVE);
        let doubtful = rule.is_none() && subject.home.kind == Kind::Network;
        let recall = Recall { rule: rule.unwrap_or_default(), archive: self.zone(row) };
        match told(&recall, &target, &mut notes) {
            Some(ranges) if !ranges.is_empty() => Some(self.survey(subject, &[ranges], notes)),
            Some(_) if doubtful && target.bytes > 0 && target.allocated_bytes == 0 => {
                notes.push("has a size and no blocks: opening it might recall it (see `recall` in the configuration)".into());
                Some(self.survey(
                    subject,
                    &[vec![Claim::now(0, target.bytes, Presence::Unknown)]],
                    notes,
                ))
            }
            Some(_) => None,
            None => Some(self.survey(
                subject,
                &[vec![Claim::now(0, target.bytes, Presence::Unknown)]],
                notes,
            )),
        }
    }

    /// The answer for an open file.
    fn opened(&mut self, subject: &Subject<'_>, file: Option<&File>) -> Result<Survey, Error> {
        self.opened_with(subject, file, None)
    }

    /// The same; `resident` is the page cache's answer, if it was asked already.
    fn opened_with(
        &mut self,
        subject: &Subject<'_>,
        file: Option<&File>,
        resident: Option<Vec<Claim>>,
    ) -> Result<Survey, Error> {
        let target = subject.target(file);
        let mut notes = Vec::new();
        let mut layers = Vec::new();
        let page_cache = PageCache { memory: self.zone(Table::MEMORY) };
        let resident = match (resident, subject.home.kind) {
            (Some(told), _) => told,
            (None, Kind::Memory) => Vec::new(), // below is memory already
            (None, _) => page_cache.claims(&target)?,
        };
        let all_here = match &resident[..] {
            [one] => one.bytes == target.bytes && matches!(one.presence, Presence::Here { .. }),
            _ => false,
        };
        if !all_here {
            let row = self.row(&subject.home, subject.rule.as_ref());
            layers.push(device(subject, row).claims(&target)?);
            if let Some(remote) = self.remote(subject) {
                layers.extend(told(&remote, &target, &mut notes));
            }
            if let Some(cache) = self.cache_file(subject) {
                layers.extend(told(&cache, &target, &mut notes));
            }
        }
        layers.push(resident);
        if self.config.mock_files {
            layers.extend(told(&Mock, &target, &mut notes));
        }
        Ok(self.survey(subject, &layers, notes))
    }

    fn remote(&mut self, subject: &Subject<'_>) -> Option<Remote> {
        let rule = subject.rule.as_ref()?;
        let remote = rule.remote.as_ref()?;
        let line = self
            .lines
            .entry(remote.server.clone())
            .or_insert_with(|| Line::new(&remote.server))
            .clone();
        let network = *self.row(&subject.home, Some(rule)).at(0);
        Some(Remote { mount: rule.path.clone(), prefix: remote.prefix.clone(), network, line })
    }

    fn cache_file(&mut self, subject: &Subject<'_>) -> Option<CacheFile> {
        let rule = subject.rule.as_ref()?;
        let cache = rule.cache.clone()?;
        let (_, row) = self.home(&cache).ok()?;
        Some(CacheFile { mount: rule.path.clone(), cache, zone: *row.at(0) })
    }

    /// Lays the answers over each other, the last on top, over one SLED of unknown level.
    fn survey(&self, subject: &Subject<'_>, layers: &[Vec<Claim>], notes: Vec<String>) -> Survey {
        let row = self.row(&subject.home, subject.rule.as_ref());
        let bytes = subject.bytes();
        let mut sleds = Vec::new();
        if bytes > 0 {
            let zone = row.at(0);
            let latency = Duration::from_nanos(zone.latency_ns);
            let (level, confidence) = (Level::Unknown, Confidence::Unknown);
            let bandwidth = zone.bytes_per_second as f64;
            push(
                &mut sleds,
                Sled {
                    offset: 0,
                    bytes,
                    latency,
                    bandwidth,
                    level,
                    confidence,
                    age: Duration::ZERO,
                },
            );
        }
        for layer in layers {
            sleds = overlay(sleds, layer);
        }
        Survey { bytes, sleds, device: subject.home.key.clone(), origin: row.origin, notes }
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

/// The provider at the bottom: the file system's device.
fn device(subject: &Subject<'_>, row: Row) -> Device {
    let said = subject.rule.as_ref().and_then(|rule| rule.level);
    let level = said.unwrap_or(match subject.home.kind {
        Kind::Memory => Level::Memory,
        Kind::Local => Level::Device,
        Kind::Network => Level::Network,
    });
    // The cost of a network is unknown until it was measured.
    let measured = row.origin != Origin::Assumed || subject.home.kind != Kind::Network;
    let confidence = if measured { Confidence::Exact } else { Confidence::Unknown };
    let holes = match subject.home.kind {
        Kind::Network => Holes::Unasked,
        _ if subject.lent => Holes::ByExtents,
        _ => Holes::BySeeking,
    };
    Device { level, row, confidence, holes }
}

/// A provider's answer. If it cannot be asked, a note says why.
fn told(
    provider: &dyn Provider,
    target: &Target<'_>,
    notes: &mut Vec<String>,
) -> Option<Vec<Claim>> {
    match provider.claims(target) {
        Ok(claims) => Some(claims),
        Err(error) => {
            notes.push(format!("{}: {error}", provider.name()));
            None
        }
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
