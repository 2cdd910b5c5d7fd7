//! What lies below a folder, by name. Links count as what they point at, which must lie in the
//! folder too.

use super::exclude::Exclude;
use crate::error::{Error, ErrorKind, Result};
use seekless_pack::{About, FileTime, PREDICTION, check_name};
use seekless_policy::eviction::Id;
use serde::Serialize;
use std::error::Error as _;
use std::fs::{self, File, Metadata};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Links to folders could multiply a tree without bound; this many entries are some 10 GB of
/// memory.
const ENTRIES_MAX: usize = 50_000_000;

/// A file modified so long ago was not modified by a clock that differs from ours.
const SETTLED: Duration = Duration::from_secs(86_400);
/// The same of a time in whole seconds. File systems that keep no others have the clock of this
/// machine, and other such times were set by programs.
const SETTLED_WHOLE: Duration = Duration::from_secs(5);

/// A folder and all that it holds.
pub(super) struct Tree {
    /// Canonical.
    pub(super) dir: PathBuf,
    /// Files and empty folders, sorted by the bytes of their names. An order of them is a list of
    /// their places here.
    pub(super) nodes: Vec<Node>,
    pub(super) left_out: LeftOut,
    pub(super) excluded: u64,
    walked: Instant,
}

/// What a folder holds and a pack cannot: pipes, sockets, devices, links that lead nowhere or out,
/// names that cannot stand in an archive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    /// How many.
    pub count: u64,
    /// The first five, each with its reason.
    pub examples: Vec<String>,
}

/// Examples that are kept of what is left out.
const EXAMPLES: usize = 5;

/// A file or an empty folder.
pub(super) struct Node {
    /// In the archive: relative to the folder, with `/`; that of a folder ends in one.
    pub(super) name: String,
    /// On disk, links resolved.
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
}

/// What must not change while a file is packed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    identity: Identity,
    pub(super) modified: FileTime,
    pub(super) mode: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl Stamp {
    fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: if metadata.is_dir() { 0 } else { metadata.len() },
            identity: Identity::of(metadata),
            modified: FileTime::new(metadata.mtime(), metadata.mtime_nsec()),
            mode: metadata.mode(),
        }
    }
}

impl Node {
    pub(super) fn is_dir(&self) -> bool {
        self.name.ends_with('/')
    }

    pub(super) fn about(&self) -> About {
        let FileTime { seconds, ns } = self.stamp.modified;
        About::named(self.name.as_str()).mode(self.stamp.mode).modified(seconds).modified_ns(ns)
    }

    /// Fails if `file`, opened by this node's path, is not as it was when the folder was walked.
    pub(super) fn check_unchanged(&self, file: &File) -> Result<()> {
        let metadata = file.metadata().map_err(|error| failed("read", &self.path, error))?;
        if Stamp::of(&metadata) == self.stamp { Ok(()) } else { Err(self.changed()) }
    }

    pub(super) fn changed(&self) -> Error {
        let why = format!(
            "{} changed while it was packed; pack again when nothing writes there",
            self.path.display()
        );
        Error::new(ErrorKind::Differs, why)
    }
}

impl Tree {
    /// Walks `dir`, leaving out the file at `out` (its own output, from an earlier time) and what
    /// `exclude` holds, and a prediction that was unpacked there. What a pack cannot hold is left
    /// out and noted, or an error if `strict`.
    pub(super) fn walk(
        dir: &Path,
        out: Option<&Path>,
        exclude: &Exclude,
        strict: bool,
    ) -> Result<Self> {
        let dir = fs::canonicalize(dir).map_err(|error| failed("read the folder", dir, error))?;
        let metadata =
            fs::metadata(&dir).map_err(|error| failed("read the folder", &dir, error))?;
        if !metadata.is_dir() {
            return Err(Error::new(
                ErrorKind::Invalid,
                format!("{} is not a folder: name the folder to pack", dir.display()),
            ));
        }
        let out =
            out.and_then(|out| fs::metadata(out).ok()).map(|metadata| Identity::of(&metadata));
        let mut walk = Walk {
            dir: &dir,
            out,
            exclude,
            strict,
            nodes: Vec::new(),
            above: Vec::new(),
            left_out: LeftOut::default(),
            excluded: 0,
        };
        walk.folder(&dir, "", &metadata)?;
        let Walk { mut nodes, left_out, excluded, .. } = walk;
        // What an unpacked pack has left there is of that pack.
        let found = nodes.len();
        nodes.retain(|node: &Node| node.name != PREDICTION);
        let excluded = excluded + (found - nodes.len()) as u64;
        nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(Self { dir, nodes, left_out, excluded, walked: Instant::now() })
    }

    /// Waits until a file that is written to from now on has another time than it had when the
    /// folder was walked. Only then is content read for a pack: a time in the pack proves that the
    /// content has not changed since. It takes 20 ms if a file is new, 2 s if one has a time in
    /// whole seconds and that is now, and none else.
    pub(super) fn let_times_settle(&self) {
        let now = SystemTime::now();
        let waits = self.nodes.iter().map(|node| wait_of(node.stamp.modified, now));
        let due = self.walked + waits.max().unwrap_or_default();
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
    }

    /// The number of the file that a pack calls `name`.
    pub(super) fn find(&self, name: &str) -> Option<Id> {
        let place = self.nodes.binary_search_by(|node| node.name.as_str().cmp(name)).ok()?;
        Some(place as Id)
    }
}

/// How long after the walk a file with this time can be written to without having another.
fn wait_of(modified: FileTime, now: SystemTime) -> Duration {
    let step = Duration::from_nanos(modified.step_ns());
    let since_1970 = Duration::new(modified.seconds.unsigned_abs(), modified.ns);
    if modified.seconds < 0 {
        return Duration::ZERO;
    }
    let Some(modified_at) = UNIX_EPOCH.checked_add(since_1970) else { return Duration::ZERO };
    let away = now.duration_since(modified_at).unwrap_or_else(|ahead| ahead.duration());
    let settled = if modified.in_steps().ns == 0 { SETTLED_WHOLE } else { SETTLED };
    if away < settled { step } else { Duration::ZERO }
}

struct Walk<'a> {
    dir: &'a Path,
    out: Option<Identity>,
    exclude: &'a Exclude,
    strict: bool,
    nodes: Vec<Node>,
    /// The folders that we are in: meeting one again is a loop of links.
    above: Vec<Identity>,
    left_out: LeftOut,
    excluded: u64,
}

/// Why something is not packed: a pack cannot hold it, which need not stop the others, or the job
/// failed.
enum Refusal {
    Odd(Error),
    Failed(Error),
}

type Walked<T> = std::result::Result<T, Refusal>;

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Failed(error)
    }
}

impl Walk<'_> {
    /// Adds what `path` holds, under `prefix` (empty or ending in `/`).
    fn folder(&mut self, path: &Path, prefix: &str, metadata: &Metadata) -> Result<()> {
        let identity = Identity::of(metadata);
        self.above.push(identity);
        let before = self.nodes.len();
        for entry in fs::read_dir(path).map_err(|error| failed("read the folder", path, error))? {
            let entry = entry.map_err(|error| failed("read the folder", path, error))?;
            match self.entry(&entry.path(), prefix) {
                Ok(()) => {}
                Err(Refusal::Odd(why)) if !self.strict => self.leave_out(&why),
                Err(Refusal::Odd(why) | Refusal::Failed(why)) => return Err(why),
            }
        }
        if self.nodes.len() == before && !prefix.is_empty() {
            match self.push(prefix.to_owned(), path.to_owned(), metadata) {
                Ok(()) => {}
                Err(Refusal::Odd(why)) if !self.strict => self.leave_out(&why),
                Err(Refusal::Odd(why) | Refusal::Failed(why)) => return Err(why),
            }
        }
        self.above.pop();
        Ok(())
    }

    fn leave_out(&mut self, why: &Error) {
        self.left_out.count += 1;
        if self.left_out.examples.len() < EXAMPLES {
            self.left_out.examples.push(with_reasons(why));
        }
    }

    fn entry(&mut self, path: &Path, prefix: &str) -> Walked<()> {
        let Some(last) = path.file_name().and_then(|name| name.to_str()) else {
            return Err(refused(path, "has a name that is not UTF-8; rename it"));
        };
        let name = format!("{prefix}{last}");
        if self.exclude.holds(&name) {
            self.excluded += 1;
            return Ok(());
        }
        let link = fs::symlink_metadata(path).map_err(|error| failed("read", path, error))?;
        let path = if link.is_symlink() { self.target(path)? } else { path.to_owned() };
        let metadata = if link.is_symlink() {
            fs::metadata(&path).map_err(|error| failed("read", &path, error))?
        } else {
            link
        };
        if self.out == Some(Identity::of(&metadata)) {
            return Ok(());
        }
        if metadata.is_dir() {
            if self.above.contains(&Identity::of(&metadata)) {
                return Err(refused(
                    &path,
                    "is reached again through a link below itself; remove the link",
                ));
            }
            return Ok(self.folder(&path, &format!("{name}/"), &metadata)?);
        }
        if !metadata.is_file() {
            return Err(refused(&path, special(&metadata)));
        }
        self.push(name, path, &metadata)
    }

    fn push(&mut self, name: String, path: PathBuf, metadata: &Metadata) -> Walked<()> {
        let said = |error| {
            Error::because(ErrorKind::Pack, format!("cannot pack {}", path.display()), error)
        };
        check_name(&name).map_err(|error| Refusal::Odd(said(error)))?;
        if self.nodes.len() == ENTRIES_MAX {
            let why =
                format!("{} holds more than 50 million files; pack its parts", self.dir.display());
            return Err(Refusal::Failed(Error::new(ErrorKind::Invalid, why)));
        }
        self.nodes.push(Node { name, path, stamp: Stamp::of(metadata) });
        Ok(())
    }

    fn target(&self, link: &Path) -> Walked<PathBuf> {
        let target = fs::canonicalize(link).map_err(|error| {
            let why = format!(
                "the link {} points at nothing that can be packed; remove or repair it",
                link.display()
            );
            Refusal::Odd(Error::because(ErrorKind::Missing, why, error))
        })?;
        if !target.starts_with(self.dir) {
            let why = format!(
                "is a link to {}, outside of {}; copy it in or remove it",
                target.display(),
                self.dir.display()
            );
            return Err(refused(link, &why));
        }
        Ok(target)
    }
}

fn special(metadata: &Metadata) -> &'static str {
    let kind = metadata.file_type();
    if kind.is_fifo() {
        "is a pipe, which a pack cannot hold; remove it"
    } else if kind.is_socket() {
        "is a socket, which a pack cannot hold; remove it"
    } else {
        "is a device, which a pack cannot hold; remove it"
    }
}

fn refused(path: &Path, why: &str) -> Refusal {
    Refusal::Odd(Error::new(ErrorKind::Invalid, format!("{} {why}", path.display())))
}

fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
    Error::because(ErrorKind::Io, format!("cannot {what} {}", path.display()), error)
}

/// An error, and the errors behind it.
fn with_reasons(error: &Error) -> String {
    let reasons = std::iter::successors(error.source(), |reason| (*reason).source());
    reasons.fold(error.to_string(), |words, reason| format!("{words}: {reason}"))
}
