//! The folders that a pack stands for, with all their names.

use super::super::places::{Places, is_below};
use super::wanted::Wanted;
use seekless_mount::mirror::{About, Folder, Mirror, Name};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirEntry};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

const SET_ID: u32 = 0o6000;
/// A file that was written so long after its folder had got its names is one that is edited where
/// it lies.
const EDITED_NS: i64 = 60_000_000_000;
/// What changed so lately may change again within one tick of the file system's clock.
const TICK_NS: i64 = 100_000_000;

pub(super) struct Folders {
    pub(super) mirror: Mirror,
}

impl Folders {
    pub(super) fn of(wanted: &Wanted, places: &Places) -> Self {
        let scanned: BTreeMap<&Path, Scan> = wanted
            .folders
            .iter()
            .filter_map(|path| Some((&**path, Scan::of(path, wanted)?)))
            .collect();
        // A mount of ours takes the privileges of set-user-id programs away.
        let privileged = scanned.iter().filter(|(_, scan)| scan.has_privileged);
        let changing = privileged.map(|(path, _)| (*path).to_owned());
        let places = Places {
            own: places.own.clone(),
            changing: places.changing.iter().cloned().chain(changing).collect(),
        };
        let device = main_device(wanted);
        let is_usable = |path: &Path| scanned.get(path).is_some_and(|scan| scan.device == device);
        let mut needed: BTreeMap<PathBuf, u64> = BTreeMap::new();
        for file in &wanted.files {
            if let Some(above) = file.path.parent().filter(|above| is_usable(above)) {
                *needed.entry(above.to_owned()).or_default() += file.about.bytes;
            }
        }
        let roots = places.roots(&needed);
        let below: BTreeSet<PathBuf> = roots.iter().cloned().collect();
        let mut folders: Vec<Folder> = Vec::new();
        for (path, scan) in scanned {
            if scan.device == device && is_below(path, &below) {
                folders.extend(scan.folder);
            }
        }
        // A root has to be known, else what is not known of it is asked for at each look.
        let place = |root: &PathBuf| folders.iter().position(|folder| folder.path == *root);
        let roots = roots.iter().filter_map(place).collect();
        Self { mirror: Mirror { roots, folders } }
    }
}

/// The device that holds most of what is needed.
fn main_device(wanted: &Wanted) -> u64 {
    let mut bytes: BTreeMap<u64, u64> = BTreeMap::new();
    for file in &wanted.files {
        if let Ok(found) = fs::symlink_metadata(&file.path) {
            *bytes.entry(found.dev()).or_default() += file.about.bytes;
        }
    }
    bytes.into_iter().max_by_key(|(_, bytes)| *bytes).map_or(0, |(device, _)| device)
}

/// What was found in a folder.
struct Scan {
    device: u64,
    has_privileged: bool,
    /// `None` if its files are edited where they lie, or a name is not UTF-8.
    folder: Option<Folder>,
}

impl Scan {
    fn of(path: &Path, wanted: &Wanted) -> Option<Self> {
        let device = fs::symlink_metadata(path).ok()?.dev();
        let about = About::at(path).ok().filter(About::is_folder)?;
        let mut scan = Self { device, has_privileged: false, folder: None };
        let mut names = Some(Vec::new());
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let settled_ns = i64::try_from(now).unwrap_or(i64::MAX) - TICK_NS;
        for entry in fs::read_dir(path).ok()?.flatten() {
            let Some((name, found)) = scanned(&entry, wanted) else {
                names = None;
                continue;
            };
            let is_file = !found.is_folder() && name.link.is_none();
            scan.has_privileged |= is_file && found.mode & SET_ID != 0;
            let is_edited = is_file
                && name.about.is_some()
                && (found.modified_ns > about.changed_ns + EDITED_NS
                    || found.changed_ns > settled_ns);
            match &mut names {
                Some(names) if !is_edited => names.push(name),
                _ => names = None,
            }
        }
        let path = path.to_str().map(PathBuf::from);
        let is_settled = about.changed_ns <= settled_ns;
        scan.folder = names.zip(path).filter(|_| is_settled).map(|(names, path)| Folder {
            about,
            absent: wanted.absent_in(&path, &names),
            path,
            names,
        });
        Some(scan)
    }
}

/// A name, with its entry if a start looks at it, and that entry.
fn scanned(entry: &DirEntry, wanted: &Wanted) -> Option<(Name, About)> {
    let path = entry.path();
    let found = About::at(&path).ok()?;
    let name = entry.file_name().into_string().ok()?;
    let is_link = entry.file_type().ok()?.is_symlink();
    let link = match is_link {
        true => Some(fs::read_link(&path).ok()?.into_os_string().into_string().ok()?),
        false => None,
    };
    let is_plain = entry.file_type().ok()?.is_file();
    let is_wanted = found.is_folder() || is_link || (is_plain && wanted.names.contains(&path));
    let about = is_wanted.then_some(found);
    // A listing gives the inode of what another file system is mounted over.
    Some((Name { name, inode: entry.ino(), kind: found.mode, about, offset: None, link }, found))
}
