//! SLEDs of a file: asks everybody who knows something of it, lays their answers over each other, and joins neighbours.

use crate::overlay::{overlay, push};
use crate::place::Mounts;
use crate::provider::remote::Line;
use crate::provider::{
    CacheFile, Claim, Device, Holes, Mock, PageCache, Provider, Range, Recall, Remote, Target,
};
use crate::{
    Confidence, Config, DeliveryTime, Devices, Error, ErrorKind, Home, Kind, Level, MountRule, Plan, Sled,
    delivery_time,
};
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, openat};
use rustix::path::Arg;
use seekless_device::{Origin, Row, Table, Zone};
use seekless_sys::descriptor::by_descriptor;
use seekless_sys::residency::all_or_nothing;
use std::collections::HashMap;
use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// What each range of a file costs to read now. Nothing is read, and nothing recalled, to find out.
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
/// There is no such file, it is no regular file or not readable, or configuration or device table are broken.
pub fn sleds(path: &Path) -> Result<Vec<Sled>, Error> {
    Ok(Surveyor::new()?.path(path)?.sleds)
}

/// The same of an open file.
///
/// # Errors
/// It is no regular file, or configuration or device table are broken.
pub fn sleds_of(file: &File) -> Result<Vec<Sled>, Error> {
    Ok(Surveyor::new()?.file(file)?.sleds)
}

/// What was found out about one file.
#[derive(Clone, Debug, PartialEq)]
pub struct Survey {
    /// Its size.
    pub bytes: u64,
    /// All of it, in order, without gaps.
    pub sleds: Vec<Sled>,
    /// The name of its device in the device table.
    pub device: String,
    /// Where the costs of that device come from.
    pub origin: Origin,
    /// What could not be asked, and why.
    pub notes: Vec<String>,
}

impl Survey {
    /// The time to deliver all of it; see [`delivery_time`](crate::delivery_time).
    #[must_use]
    pub fn delivery_time(&self, plan: Plan, room: Option<u64>) -> DeliveryTime {
        delivery_time(&self.sleds, plan, room)
    }

    /// Bytes that a level would deliver.
    #[must_use]
    pub fn bytes_at(&self, level: Level) -> u64 {
        self.sleds.iter().filter(|sled| sled.level == level).map(|sled| sled.bytes).sum()
    }

    /// The same after some time in which nobody asked again.
    #[must_use]
    pub fn aged(&self, by: Duration) -> Survey {
        let sleds = self.sleds.iter().map(|sled| Sled { age: sled.age.saturating_add(by), ..*sled });
        Survey { sleds: sleds.collect(), ..self.clone() }
    }
}

/// Asks about one file after the other; what is the same for many files (mounts, devices, rules) it finds out once.
#[derive(Clone, Debug)]
pub struct Surveyor {
    config: Config,
    devices: Devices,
    assumed: Table,
    mounts: Mounts,
    homes: HashMap<u64, Arc<Home>>,
    /// The device number asked about last, and whether its files are plain.
    last_asked: Option<(u64, bool)>,
    lines: HashMap<String, Line>,
    user: rustix::process::Uid,
}

/// A file as it is examined: found, and not yet opened.
struct Subject<'a> {
    /// What errors call it.
    name: &'a Path,
    /// Absolute, without links; only where somebody needs it.
    path: Option<PathBuf>,
    stat: Stat,
    home: Arc<Home>,
    rule: Option<MountRule>,
    /// Whether the open file is the program's, so that nothing about it may change.
    lent: bool,
}

impl Surveyor {
    /// With the user's configuration and device table.
    ///
    /// # Errors
    /// Either is broken.
    pub fn new() -> Result<Self, Error> {
        Ok(Self::with(Config::load()?, Devices::load()?))
    }

    /// With another configuration and device table.
    #[must_use]
    pub fn with(config: Config, devices: Devices) -> Self {
        let (mounts, homes, lines) = (Mounts::read().unwrap_or_default(), HashMap::new(), HashMap::new());
        let user = rustix::process::geteuid();
        Surveyor { config, devices, assumed: Table::assumed(), mounts, homes, last_asked: None, lines, user }
    }

    /// The same, asking no other machine.
    #[must_use]
    pub(crate) fn without_remotes(mut self) -> Self {
        for rule in &mut self.config.mounts {
            rule.remote = None;
        }
        self
    }

    /// SLEDs of the file at a path. Opened only if that cannot recall it, and never waiting.
    ///
    /// # Errors
    /// There is no such file, it is no regular file, or it may not be read.
    pub fn path(&mut self, path: &Path) -> Result<Survey, Error> {
        let stat = rustix::fs::stat(path).map_err(|error| Error::io(path, error.into()))?;
        self.examined(path, path, stat)
    }

    /// The same of a file in an open folder, of which a walk knows `stat` already; `name` is what errors call it. A file that took
    /// its place since is asked as if it had the other's size.
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
        let file = self.open(folder, below, &subject.stat).map_err(|error| Error::io(name, error))?;
        self.opened(&subject, Some(&file))
    }

    /// As [`at`](Self::at), but `None` where all of the file is in this machine's memory: what is true of most files of a warm
    /// tree, found out by one question and without making room for an answer.
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
        let file = self.open(folder, below, &stat).map_err(|error| Error::io(name, error))?;
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        let resident = match all_or_nothing(file.as_fd(), bytes) {
            Some(true) => {
                seekless_sys::files::close(file);
                return Ok(None);
            }
            Some(false) => Some(vec![Range::now(0, bytes, Claim::Lacks(Confidence::Exact))]),
            None => None,
        };
        let subject = self.subject(name, stat)?;
        self.opened_with(&subject, Some(&file), resident).map(Some)
    }

    /// Whether the page cache and a device of this machine know all about a regular file, so that asking runs no command, asks no
    /// other machine and recalls nothing.
    pub fn is_plain(&mut self, name: &Path, stat: &Stat) -> bool {
        if self.has_rules() || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return false;
        }
        // Files come by thousands from one file system.
        if let Some((device, plain)) = self.last_asked
            && device == stat.st_dev
        {
            return plain;
        }
        let path = self.needs_path(stat.st_dev).then(|| name.canonicalize().ok()).flatten();
        let plain = self.home_of(stat.st_dev, path.as_deref()).kind == Kind::Local;
        self.last_asked = Some((stat.st_dev, plain));
        plain
    }

    /// SLEDs of an open file, whose position stays where it is. No other descriptor of it is opened, so that the process keeps its
    /// record locks; holes are told where the file system knows extents (not on tmpfs).
    ///
    /// # Errors
    /// It is no regular file.
    pub fn file(&mut self, file: &File) -> Result<Survey, Error> {
        let name = by_descriptor(file);
        let stat = rustix::fs::fstat(file).map_err(|error| Error::io(&name, error.into()))?;
        let subject = Subject { lent: true, ..self.subject(&name, stat)? };
        self.opened(&subject, Some(file))
    }

    /// SLEDs of a file that is held but not open (`O_PATH`).
    pub(crate) fn held(&mut self, file: &OwnedFd) -> Result<Survey, Error> {
        let by = by_descriptor(file);
        let stat = rustix::fs::fstat(file).map_err(|error| Error::io(&by, error.into()))?;
        let name = std::fs::read_link(&by).unwrap_or_else(|_| by.clone());
        self.examined(&name, &by, stat)
    }

    /// The home of the files with this device number, and what it costs: what `probe` measures and the table keeps.
    ///
    /// # Errors
    /// There is nothing at the path.
    pub fn home(&mut self, path: &Path) -> Result<(Home, Row), Error> {
        let stat = rustix::fs::stat(path).map_err(|error| Error::io(path, error.into()))?;
        let path = path.canonicalize().ok();
        let home = self.home_of(stat.st_dev, path.as_deref());
        let rule = path.as_deref().and_then(|path| self.config.rule(path)).cloned();
        let row = self.row(&home, rule.as_ref());
        Ok((Arc::unwrap_or_clone(home), row))
    }

    fn examined(&mut self, name: &Path, open_as: &Path, stat: Stat) -> Result<Survey, Error> {
        let subject = self.subject(name, stat)?;
        if let Some(survey) = self.unopened(&subject) {
            return Ok(survey);
        }
        let file = self.open(CWD, open_as, &subject.stat).map_err(|error| Error::io(name, error))?;
        // Between the look and the opening, another file may have taken its place.
        let stat = rustix::fs::fstat(&file).map_err(|error| Error::io(name, error.into()))?;
        if (stat.st_dev, stat.st_ino) != (subject.stat.st_dev, subject.stat.st_ino) {
            let why = format!("{}: was replaced at this moment, ask again", name.display());
            return Err(Error::new(ErrorKind::Changed, why));
        }
        self.opened(&Subject { stat, ..subject }, Some(&file))
    }

    /// Opens for looking: without waiting for anybody, and without leaving a mark where that is allowed.
    fn open(&self, folder: BorrowedFd<'_>, path: impl Arg + Copy, stat: &Stat) -> io::Result<File> {
        let plain = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        if self.user.is_root() || self.user.as_raw() == stat.st_uid {
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

    /// Whether the home of the first file with this number is found by its path only.
    fn needs_path(&self, device: u64) -> bool {
        rustix::fs::major(device) == 0 && !self.homes.contains_key(&device)
    }

    fn home_of(&mut self, device: u64, path: Option<&Path>) -> Arc<Home> {
        if let Some(home) = self.homes.get(&device) {
            return home.clone();
        }
        let mut home = Home::of(device, path, &self.mounts);
        if home.file_system.is_empty() {
            // Mounted since we looked.
            self.mounts = Mounts::read().unwrap_or_default();
            home = Home::of(device, path, &self.mounts);
        }
        let home = Arc::new(home);
        self.homes.insert(device, home.clone());
        home
    }

    /// What a home costs: as the user says of the mount, of the device, as was measured, as the user says of such devices, or
    /// as is assumed of them.
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
        let row = subject.rule.as_ref().and_then(|rule| rule.row.as_deref()).unwrap_or(Table::ARCHIVE);
        let doubtful = rule.is_none() && subject.home.kind == Kind::Network;
        let recall = Recall { rule: rule.unwrap_or_default(), archive: self.zone(row) };
        match told(&recall, &target, &mut notes) {
            Some(ranges) if !ranges.is_empty() => Some(self.survey(subject, &[ranges], notes)),
            Some(_) if doubtful && target.bytes > 0 && target.allocated_bytes == 0 => {
                notes.push("has a size and no blocks: opening it might recall it (see `recall` in the configuration)".into());
                Some(self.survey(subject, &[vec![Range::now(0, target.bytes, Claim::Unknown)]], notes))
            }
            Some(_) => None,
            None => Some(self.survey(subject, &[vec![Range::now(0, target.bytes, Claim::Unknown)]], notes)),
        }
    }

    /// The answer for an open file.
    fn opened(&mut self, subject: &Subject<'_>, file: Option<&File>) -> Result<Survey, Error> {
        self.opened_with(subject, file, None)
    }

    /// The same; `resident` is what the page cache said, if it was asked.
    fn opened_with(
        &mut self,
        subject: &Subject<'_>,
        file: Option<&File>,
        resident: Option<Vec<Range>>,
    ) -> Result<Survey, Error> {
        let target = subject.target(file);
        let mut notes = Vec::new();
        let mut layers = Vec::new();
        let page_cache = PageCache { memory: self.zone(Table::MEMORY) };
        let resident = match (resident, subject.home.kind) {
            (Some(told), _) => told,
            (None, Kind::Memory) => Vec::new(), // below is memory already
            (None, _) => page_cache.ranges(&target)?,
        };
        let all_here =
            matches!(resident[..], [Range { bytes, claim: Claim::Has { .. }, .. }] if bytes == target.bytes);
        if !all_here {
            let row = self.row(&subject.home, subject.rule.as_ref());
            layers.push(device(subject, row).ranges(&target)?);
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
        let line =
            self.lines.entry(remote.server.clone()).or_insert_with(|| Line::new(&remote.server)).clone();
        let network = *self.row(&subject.home, Some(rule)).at(0);
        Some(Remote { mount: rule.path.clone(), prefix: remote.prefix.clone(), network, line })
    }

    fn cache_file(&mut self, subject: &Subject<'_>) -> Option<CacheFile> {
        let rule = subject.rule.as_ref()?;
        let cache = rule.cache.clone()?;
        let (_, row) = self.home(&cache).ok()?;
        Some(CacheFile { mount: rule.path.clone(), cache, zone: *row.at(0) })
    }

    /// Lays the answers over each other, the last on top, over what nobody knows.
    fn survey(&self, subject: &Subject<'_>, layers: &[Vec<Range>], notes: Vec<String>) -> Survey {
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
                Sled { offset: 0, bytes, latency, bandwidth, level, confidence, age: Duration::ZERO },
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

/// The bottom: what the file system's device costs.
fn device(subject: &Subject<'_>, row: Row) -> Device {
    let said = subject.rule.as_ref().and_then(|rule| rule.level);
    let level = said.unwrap_or(match subject.home.kind {
        Kind::Memory => Level::Memory,
        Kind::Local => Level::Device,
        Kind::Network => Level::Network,
    });
    // Nobody knows what a network costs that was never measured.
    let measured = row.origin != Origin::Assumed || subject.home.kind != Kind::Network;
    let confidence = if measured { Confidence::Exact } else { Confidence::Unknown };
    let holes = match subject.home.kind {
        Kind::Network => Holes::Unasked,
        _ if subject.lent => Holes::ByExtents,
        _ => Holes::BySeeking,
    };
    Device { level, row, confidence, holes }
}

/// What a provider knows; if it cannot be asked, a note says why.
fn told(provider: &dyn Provider, target: &Target<'_>, notes: &mut Vec<String>) -> Option<Vec<Range>> {
    match provider.ranges(target) {
        Ok(ranges) => Some(ranges),
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
