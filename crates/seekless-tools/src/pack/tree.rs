//! What lies below a folder, by name. Links are kept, or count as what they point at, which must
//! lie in the folder too.

use super::Options;
use super::exclude::Exclude;
use super::links::{self, Links};
use super::node::{Identity, failed};
pub(super) use super::node::{Node, Stamp};
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{FileTime, LinkMap, PREDICTION, check_name};
use seekless_policy::eviction::Id;
use serde::Serialize;
use std::collections::BTreeMap;
use std::error::Error as _;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
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
    /// Canonical; of an archive its path.
    pub(super) dir: PathBuf,
    /// Files and links that are kept, sorted by the bytes of their names. An order of them is a
    /// list of their places here.
    pub(super) nodes: Vec<Node>,
    /// The folders below it, sorted likewise. A pack has them behind all files, so that the files
    /// lie as if there were no folders.
    pub(super) folders: Vec<Folder>,
    /// Where links lead.
    links: LinkMap,
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
    /// Of an archive that is repacked: its entries, by the reason that each is left out.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reasons: BTreeMap<&'static str, u64>,
}

impl LeftOut {
    /// What of an archive is left out; the example says all of it.
    pub(super) fn of_archive(without: &seekless_pack::LeftOut) -> Self {
        let examples = if without.is_empty() { Vec::new() } else { vec![without.words()] };
        let reasons = without.entries.clone();
        Self { count: reasons.values().sum(), examples, reasons }
    }
}

/// Examples that are kept of what is left out.
const EXAMPLES: usize = 5;

/// A folder below the one that is packed.
pub(super) struct Folder {
    pub(super) node: Node,
    /// Whether the pack has nothing in it.
    pub(super) is_empty: bool,
}

impl Tree {
    /// The tree of these nodes and folders, which are sorted by name.
    pub(super) fn new(
        dir: PathBuf,
        nodes: Vec<Node>,
        folders: Vec<Folder>,
        left_out: LeftOut,
        excluded: u64,
    ) -> Self {
        let links = links::map(&dir, nodes.iter().filter_map(Node::named_link));
        Self { dir, nodes, folders, links, left_out, excluded, walked: Instant::now() }
    }

    /// Walks `dir`, leaving out the file at `pack`, with which it is compared, and what `exclude`
    /// holds, and a prediction that was unpacked there. What a pack cannot hold is left
    /// out and noted, or an error if `options` are strict.
    pub(super) fn walk(
        dir: &Path,
        pack: Option<&Path>,
        exclude: &Exclude,
        options: &Options,
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
        let pack =
            pack.and_then(|pack| fs::metadata(pack).ok()).map(|metadata| Identity::of(&metadata));
        let mut walk = Walk {
            dir: &dir,
            pack,
            exclude,
            strict: options.strict,
            links: options.links,
            nodes: Vec::new(),
            folders: Vec::new(),
            above: Vec::new(),
            left_out: LeftOut::default(),
            excluded: 0,
        };
        walk.folder(&dir, "", &metadata)?;
        let Walk { mut nodes, mut folders, left_out, mut excluded, .. } = walk;
        nodes.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        // What an unpacked pack has left there is of that pack.
        if let Ok(place) = place_of(&nodes, PREDICTION) {
            nodes.remove(place);
            folders.retain(|folder| {
                !PREDICTION.starts_with(&folder.node.name) || has_below(&nodes, &folder.node.name)
            });
            excluded += 1;
        }
        folders.sort_unstable_by(|a, b| a.node.name.cmp(&b.node.name));
        Ok(Self::new(dir, nodes, folders, left_out, excluded))
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

    /// The number of the file or link that a pack calls `name`.
    pub(super) fn find(&self, name: &str) -> Option<Id> {
        place_of(&self.nodes, name).ok().map(|place| place as Id)
    }

    /// The number of the file at the path `name`, along the links that are kept.
    pub(super) fn find_file(&self, name: &str) -> Option<Id> {
        let file = self.find(&self.links.follow(name).ok()?)?;
        (!self.nodes[file as usize].is_link()).then_some(file)
    }

    /// Puts links behind files, in the order that they have: nothing loads them, so files lie as if
    /// there were none, and one read brings all links.
    pub(super) fn put_links_last(&self, order: &mut [Id]) {
        // This sort keeps the order of what is alike.
        order.sort_by_key(|id| self.nodes[*id as usize].is_link());
    }

    /// How many links there are.
    pub(super) fn link_count(&self) -> u64 {
        self.nodes.iter().filter(|node| node.is_link()).count() as u64
    }

    /// The folder that a pack calls `name`, which ends in `/`.
    pub(super) fn folder(&self, name: &str) -> Option<&Folder> {
        let by_name = |folder: &Folder| folder.node.name.as_str().cmp(name);
        self.folders.binary_search_by(by_name).ok().map(|place| &self.folders[place])
    }

    /// How many folders have nothing in them.
    pub(super) fn empty_folders(&self) -> u64 {
        self.folders.iter().filter(|folder| folder.is_empty).count() as u64
    }
}

/// The place of `name` among nodes that are sorted, or the one that it would have.
fn place_of(nodes: &[Node], name: &str) -> std::result::Result<usize, usize> {
    nodes.binary_search_by(|node| node.name.as_str().cmp(name))
}

/// Whether one of these sorted nodes lies below `folder`, whose name ends in `/`.
fn has_below(nodes: &[Node], folder: &str) -> bool {
    let (Ok(place) | Err(place)) = place_of(nodes, folder);
    nodes.get(place).is_some_and(|node| node.name.starts_with(folder))
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
    pack: Option<Identity>,
    exclude: &'a Exclude,
    strict: bool,
    links: Links,
    nodes: Vec<Node>,
    folders: Vec<Folder>,
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
        let before = (self.nodes.len(), self.folders.len());
        for entry in fs::read_dir(path).map_err(|error| failed("read the folder", path, error))? {
            let entry = entry.map_err(|error| failed("read the folder", path, error))?;
            match self.entry(&entry.path(), prefix) {
                Ok(()) => {}
                Err(Refusal::Odd(why)) if !self.strict => self.leave_out(&why),
                Err(Refusal::Odd(why) | Refusal::Failed(why)) => return Err(why),
            }
        }
        if !prefix.is_empty() {
            let is_empty = (self.nodes.len(), self.folders.len()) == before;
            match self.node(prefix.to_owned(), path.to_owned(), metadata) {
                Ok(node) => self.folders.push(Folder { node, is_empty }),
                // What it holds has been refused for the same name.
                Err(Refusal::Odd(_)) if !is_empty => {}
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
        if link.is_symlink() && self.links == Links::Keep {
            return self.link(name, path, &link);
        }
        let path = if link.is_symlink() { self.target(path)? } else { path.to_owned() };
        let metadata = if link.is_symlink() {
            fs::metadata(&path).map_err(|error| failed("read", &path, error))?
        } else {
            link
        };
        if self.pack == Some(Identity::of(&metadata)) {
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
        let node = self.node(name, path, &metadata)?;
        self.nodes.push(node);
        Ok(())
    }

    /// Adds a link as it is.
    fn link(&mut self, name: String, path: &Path, metadata: &Metadata) -> Walked<()> {
        let text = fs::read_link(path).map_err(|error| failed("read the link", path, error))?;
        let text = text.into_os_string().into_vec();
        let mut node = self.node(name, path.to_owned(), metadata)?;
        node.stamp = Stamp::of_link(metadata, &text);
        node.link = Some(text.into());
        self.nodes.push(node);
        Ok(())
    }

    fn node(&self, name: String, path: PathBuf, metadata: &Metadata) -> Walked<Node> {
        let said = |error| {
            Error::because(ErrorKind::Pack, format!("cannot pack {}", path.display()), error)
        };
        check_name(&name).map_err(|error| Refusal::Odd(said(error)))?;
        if self.nodes.len() + self.folders.len() == ENTRIES_MAX {
            let why =
                format!("{} holds more than 50 million files; pack its parts", self.dir.display());
            return Err(Refusal::Failed(Error::new(ErrorKind::Invalid, why)));
        }
        Ok(Node { name, path, stamp: Stamp::of(metadata), link: None, packed: None })
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

/// An error, and the errors behind it.
fn with_reasons(error: &Error) -> String {
    let reasons = std::iter::successors(error.source(), |reason| (*reason).source());
    reasons.fold(error.to_string(), |words, reason| format!("{words}: {reason}"))
}
