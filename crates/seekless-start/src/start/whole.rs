//! What a whole start is expected to ask of its devices: all names that it looks up and all bytes
//! that it needs, as far as they are not in memory, with help and without.
//!
//! What is in memory is seen without asking a device for anything (`openat2` with
//! `RESOLVE_CACHED`), and before any file is opened: so the same state gives the same figures.

use super::Options;
use super::candidates::Candidate;
use super::devices::Devices;
use super::plan::{Decision, Plan, Waits};
use crate::warm::bring::{is_name_known, open_known};
use seekless_device::{ColdFiles, Content, Costs, Fetch, Geometry, Layout, LookUps};
use seekless_job::ext4;
use seekless_policy::foresight::start::{self, Device, Need, Wait};
use seekless_trace::{Look, LookKind, Profile, unescape_path};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// Blocks of a folder's list of names, where its size is not known.
const BLOCKS: u64 = 1;

/// Requests for a block of inodes with those around it: ext4 asks for the block itself apart from
/// those that it reads ahead before and behind it, and the kernel does not join these (seen at
/// `block_rq_issue`, Linux 6.18).
const INODES_AHEAD: u64 = 3;

/// Questions for a file that the helper opens and closes.
const OPENING: u64 = 2;

/// What is not in memory of what a start needs.
pub(super) struct Seen {
    /// Of each candidate.
    missing: Vec<Vec<Need>>,
    names: u64,
    /// By device.
    for_names: BTreeMap<usize, ForNames>,
    look_ups: Option<LookUps>,
}

/// What it costs to look names up: by the program, and by the helper.
struct ForNames {
    alone: Wait,
    brought: Wait,
    /// Whether the file system asks for each; then it also asks for each file that is opened.
    asks: bool,
}

/// A name that is looked up.
struct Name {
    path: PathBuf,
    kind: LookKind,
    inode: Option<u64>,
    bytes: Option<u64>,
}

/// Sees what is in memory.
pub(super) fn see(
    profile: &Profile,
    files: &[Candidate],
    options: &Options,
    devices: &mut Devices,
) -> Seen {
    let missing = files.iter().map(missing).collect();
    let names = names(profile, files);
    let is_seen = |name: &Name| !options.hidden.hides(&name.path);
    let mut by_device: BTreeMap<usize, Vec<Name>> = BTreeMap::new();
    for name in names.into_iter().filter(is_seen) {
        by_device.entry(devices.of(&name.path)).or_default().push(name);
    }
    let look_ups = options.look_ups;
    let mut seen = Seen { missing, names: 0, for_names: BTreeMap::new(), look_ups };
    for (number, names) in by_device {
        let known = devices.known(number);
        let Some(point) = &known.mounted else { continue };
        let (count, for_names) = match (ext4::geometry(point), look_ups) {
            (None, Some(look_ups)) => ForNames::asked(&names, look_ups),
            (geometry, _) => {
                let geometry = Geometry { joins: known.joins, ..geometry.unwrap_or_default() };
                ForNames::read(&names, (point, geometry), &known.device.costs)
            }
        };
        seen.names += count;
        seen.for_names.insert(number, for_names);
    }
    seen
}

impl ForNames {
    /// Of a file system that reads blocks with names and inodes; and how many are not in memory.
    fn read(names: &[Name], (point, geometry): (&Path, Geometry), costs: &Costs) -> (u64, Self) {
        let (count, requests, bytes) = Tree::of(point, names, &geometry).ask(names, geometry);
        let wait = |at_once| Wait::of(requests, bytes, at_once, costs);
        (count, Self { alone: wait(1), brought: wait(costs.depth), asks: false })
    }

    /// Of one that asks for each name; and how many it will ask for.
    fn asked(names: &[Name], look_ups: LookUps) -> (u64, Self) {
        let count = names.iter().filter(|name| !is_name_known(&name.path)).count() as u64;
        let wait = |each_ns| asked(count, each_ns);
        let (alone, brought) = (wait(look_ups.alone_ns), wait(look_ups.together_ns));
        (count, Self { alone, brought, asks: true })
    }
}

/// The wait for answers that need no device.
fn asked(count: u64, each_ns: u64) -> Wait {
    Wait { seconds: count as f64 * each_ns as f64 / 1e9, ..Wait::default() }
}

/// What it costs to look at these folders, of which the inodes are given.
pub(super) fn for_folders<'a>(
    folders: impl Iterator<Item = (&'a Path, u64)>,
    devices: &mut Devices,
) -> Wait {
    let mut by_device: BTreeMap<usize, BTreeMap<PathBuf, u64>> = BTreeMap::new();
    for (path, inode) in folders {
        let of_device = by_device.entry(devices.of(path)).or_default();
        for above in path.ancestors().skip(1) {
            of_device.entry(above.to_owned()).or_insert(inode); // they lie beside one another
        }
        of_device.insert(path.to_owned(), inode);
    }
    let mut wait = Wait::default();
    for (number, folders) in by_device {
        let Some(point) = devices.known(number).mounted.clone() else { continue };
        let joins = devices.known(number).joins;
        let geometry = Geometry { joins, ..ext4::geometry(&point).unwrap_or_default() };
        let name = |(path, inode): (PathBuf, u64)| Name {
            path,
            kind: LookKind::Folder,
            inode: Some(inode),
            bytes: None,
        };
        let names: Vec<Name> = folders.into_iter().map(name).collect();
        let (_, requests, bytes) = Tree::of(&point, &names, &geometry).ask(&names, geometry);
        let costs = &devices.known(number).device.costs;
        wait = wait.and(Wait::of(requests, bytes, 1, costs));
    }
    wait
}

/// What is not cached of a file. Of one that has changed the program reads what is there now: that
/// is taken to be as much.
fn missing(file: &Candidate) -> Vec<Need> {
    let opened = match open_known(&file.path, &file.recorded) {
        None => return file.needs.clone(),
        Some(Err("no longer there")) => return Vec::new(),
        Some(Err(_)) => return file.needs.clone(),
        Some(Ok(opened)) => opened,
    };
    let is_cached =
        |need: &&Need| opened.cached(need.extent).is_some_and(|bytes| bytes >= need.extent.bytes);
    file.needs.iter().filter(|need| !is_cached(need)).copied().collect()
}

/// The names that a start looks up. A profile of an earlier release knows those of its files alone,
/// whose folders are taken to lie beside them.
fn names(profile: &Profile, files: &[Candidate]) -> Vec<Name> {
    if !profile.looks.is_empty() {
        return profile.looks.iter().map(Name::of).collect();
    }
    let mut names = Vec::new();
    for file in files {
        let inode = file.recorded.identity.map(|identity| identity.inode);
        let mut ways: Vec<&Path> = file.path.ancestors().skip(1).collect();
        ways.reverse();
        let folder =
            |way: &Path| Name { path: way.to_owned(), kind: LookKind::Folder, inode, bytes: None };
        names.extend(ways.into_iter().map(folder));
        let path = file.path.clone();
        names.push(Name { path, kind: LookKind::Name, inode: inode.or(Some(0)), bytes: None });
    }
    names
}

impl Name {
    fn of(look: &Look) -> Self {
        let path = PathBuf::from(OsString::from_vec(unescape_path(&look.name)));
        Self { path, kind: look.kind, inode: look.inode, bytes: look.bytes }
    }

    fn is_folder(&self) -> bool {
        matches!(self.kind, LookKind::Folder | LookKind::Listed)
    }
}

/// The folders of one file system.
struct Tree<'a> {
    layout: Layout,
    folders: HashMap<&'a Path, usize>,
}

impl<'a> Tree<'a> {
    /// The folders at and below a mount's place. Those above lie on other devices.
    fn of(point: &Path, names: &'a [Name], geometry: &Geometry) -> Self {
        let mut tree = Self { layout: Layout::default(), folders: HashMap::new() };
        for name in names.iter().filter(|name| name.is_folder()) {
            let path = name.path.as_path();
            if tree.folders.contains_key(path) {
                continue;
            }
            let bytes = name.bytes.map(|bytes| bytes.div_ceil(geometry.block_bytes).max(1));
            let (inode, blocks) = (name.inode.unwrap_or(0), bytes.unwrap_or(BLOCKS));
            let above = path.parent().filter(|_| path != point);
            let above = above.and_then(|above| tree.folders.get(above)).copied();
            let number = match (above, path.file_name()) {
                (Some(above), Some(own)) => {
                    tree.layout.add_folder(above, own.as_bytes(), inode, blocks)
                }
                _ => tree.layout.add_root(inode, blocks),
            };
            tree.folders.insert(path, number);
        }
        tree
    }

    /// How many names are not in memory, and the requests and bytes that they cost.
    fn ask(&self, names: &[Name], geometry: Geometry) -> (u64, u64, u64) {
        let mut files = ColdFiles::new(&self.layout, geometry);
        for (path, number) in &self.folders {
            if is_name_known(path) {
                files.know(*number);
            }
        }
        let (mut count, mut requests, mut bytes) = (0, 0, 0);
        let mut tell = |fetch: Fetch| {
            let is_ahead = fetch.content == Content::Inodes && fetch.bytes > geometry.block_bytes;
            requests += if is_ahead { INODES_AHEAD } else { 1 };
            bytes += fetch.bytes;
        };
        for name in names.iter().filter(|name| !is_name_known(&name.path)) {
            count += 1;
            if let Some(number) = self.folders.get(name.path.as_path()) {
                match name.kind {
                    LookKind::Listed => files.list(*number, &mut tell),
                    _ => files.walk_to(*number, &mut tell),
                }
            } else if let (Some(above), Some(own)) = (name.path.parent(), name.path.file_name())
                && let Some(folder) = self.folders.get(above)
            {
                files.look_for(*folder, own.as_bytes(), name.inode, &mut tell);
            }
        }
        (count, requests, bytes)
    }
}

impl Seen {
    /// Sums up the start alone and with what the plan brings in.
    pub(super) fn sum(
        self,
        files: &[Candidate],
        plan: &Plan,
        devices: &Devices,
        decision: &mut Decision,
    ) {
        let (mut alone, mut brought, mut left) =
            (Wait::default(), Wait::default(), Wait::default());
        for for_names in self.for_names.values() {
            alone = alone.and(for_names.alone);
            match plan.names.len() {
                0 => left = left.and(for_names.alone),
                _ => brought = brought.and(for_names.brought),
            }
        }
        let in_plan = plan.brought_in();
        for (file, missing) in files.iter().zip(&self.missing) {
            let number = devices.number_of(&file.path);
            let known = devices.known(number);
            let of = |device: &Device| start::expect(missing, file.bytes(), false, device);
            if missing.is_empty() {
                continue;
            }
            let plain = of(&known.device).plain;
            alone = alone.and(plain);
            if in_plan.contains(file.path.as_path()) {
                let hoped = known.hoped().filter(|_| decision.tries);
                brought = brought.and(of(&hoped.unwrap_or(known.device)).warmed);
                let asks = self.for_names.get(&number).is_some_and(|it| it.asks);
                if let Some(look_ups) = self.look_ups.filter(|_| asks) {
                    brought = brought.and(asked(OPENING, look_ups.together_ns));
                }
            } else {
                left = left.and(plain);
            }
        }
        let Decision { request_ns, bytes_per_second, at_once, .. } = *decision;
        let costs = Costs { request_ns, bytes_per_second, depth: at_once };
        let through = Wait::of(0, plan.bridged.bytes, at_once, &costs);
        brought = brought.without(plan.joined, at_once, &costs).and(through);
        decision.names = self.names;
        (decision.plain, decision.warmed) = (alone.into(), brought.and(left).into());
        (decision.brought_in, decision.left_to_program) = (Waits::from(brought), left.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_asked_for_take_their_own_time() {
        let folder = tempfile::tempdir().unwrap();
        let name = |path: PathBuf| Name { path, kind: LookKind::Name, inode: None, bytes: None };
        // The folder was just made, and its name is in memory; the other two are not there.
        let known = name(folder.path().to_owned());
        let names = [known, name(folder.path().join("a")), name(folder.path().join("b"))];
        let look_ups = LookUps { alone_ns: 500_000_000, together_ns: 250_000_000 };
        let (count, ForNames { alone, brought, asks }) = ForNames::asked(&names, look_ups);
        assert_eq!((count, asks), (2, true));
        assert_eq!((alone.seconds, brought.seconds, alone.requests), (1.0, 0.5, 0));
    }
}
