//! What has been seen of the program so far: pages of files by their inodes, and names. No file is
//! opened before the program's end, and no file system's server is asked, since the program may be
//! that server.

use crate::faults::now_ns;
use crate::paths::{self, Paths};
use hashbrown::{HashMap, HashSet};
use rustix::fs::{AtFlags, CWD, StatxFlags};
use seekless_trace::PageSet;
use seekless_watch::first_needs::{Event, FileId, Kind};
use std::ffi::OsStr;
use std::fs;
use std::hash::BuildHasher;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

pub(super) type Fast = foldhash::fast::RandomState;

/// Pages of which some were new to the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) file: u32,
    pub(super) first: u64,
    pub(super) last: u64,
    pub(super) time_ns: u64,
    pub(super) kind: Kind,
}

/// A name that was looked up, and the file that it opened.
#[derive(Debug)]
pub(super) struct Look {
    pub(super) name: Vec<u8>,
    pub(super) opened: Option<FileId>,
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(super) started_ns: u64,
    /// The program has been executed. What came before is the recorder's own child.
    live: bool,
    paths: Paths,
    /// The names of what was opened, and of current directories: paths may go from there.
    folders: HashMap<FileId, Vec<u8>, Fast>,
    /// Looks by their hashes, since most come again.
    known: HashSet<u64, Fast>,
    pub(super) looks: Vec<Look>,
    pub(super) listed: HashSet<FileId, Fast>,
    pub(super) executed: Vec<Vec<u8>>,
    numbers: HashMap<FileId, u32, Fast>,
    /// Files of which pages are needed, by first appearance.
    pub(super) files: Vec<FileId>,
    pages: PageSet,
    pub(super) touches: Vec<Touch>,
    /// Files that the program was started with, or whose open was not seen.
    pub(super) inherited: Vec<(FileId, Vec<u8>)>,
    /// Names that cannot be made absolute.
    pub(super) lost: u64,
    /// Names and files that are new since the last call of `take_new`.
    new: u32,
    /// Names are unseen now: a new file is named as its process has it.
    pub(crate) is_blind: bool,
}

impl Seen {
    /// Of a child that waits to become the program.
    pub(super) fn from_now(pid: i32) -> Self {
        let mut seen = Self {
            started_ns: now_ns(),
            inherited: links(&format!("/proc/{pid}/fd")),
            ..Self::default()
        };
        let here = std::env::current_dir().ok().and_then(|here| Some((id_of(&here)?, here)));
        if let Some((id, here)) = here {
            seen.folders.insert(id, here.into_os_string().into_encoded_bytes());
        }
        seen
    }

    pub(crate) fn note(&mut self, event: Event<'_>) {
        self.live |= matches!(event, Event::Executed { .. });
        if !self.live {
            return;
        }
        match event {
            Event::Pages { time_ns, pid, kind, file, first, last } => {
                let file = self.number(file, pid);
                if self.pages.add(file, first..last.saturating_add(1)).is_some() {
                    self.touches.push(Touch { file, first, last, time_ns, kind });
                }
            }
            Event::Named { pid, name, base, opened, .. } => {
                self.looked_up(pid, name, base, opened);
            }
            Event::Moved { pid, name, folder, result: 0, .. } => self.moved(pid, name, folder),
            Event::Moved { .. } => {} // it could not
            Event::Listed { folder, .. } => _ = self.listed.insert(folder),
            Event::Executed { pid, name, base, .. } => {
                let name = self.absolute(pid, name, base);
                self.executed.extend(name);
            }
        }
    }

    /// Whether there was anything new since the last call.
    pub(crate) fn take_new(&mut self) -> bool {
        std::mem::take(&mut self.new) > 0
    }

    fn number(&mut self, file: FileId, pid: i32) -> u32 {
        if let Some(number) = self.numbers.get(&file) {
            return *number;
        }
        self.new += 1;
        if self.is_blind && !self.folders.contains_key(&file) {
            let found = held(pid).into_iter().find(|(id, _)| *id == file);
            self.inherited.extend(found);
        }
        self.numbers.insert(file, self.files.len() as u32);
        self.files.push(file);
        (self.files.len() - 1) as u32
    }

    fn looked_up(&mut self, pid: i32, name: &[u8], base: Option<FileId>, opened: Option<FileId>) {
        let base = base.filter(|_| name.first() != Some(&b'/'));
        let hash = self.known.hasher().hash_one((name, base, opened));
        if name.is_empty() || !self.known.insert(hash) {
            return;
        }
        self.new += 1;
        let Some(name) = self.absolute(pid, name, base) else { return };
        if let Some(opened) = opened {
            self.folders.insert(opened, name.clone());
        }
        if !paths::is_special(&name) {
            self.looks.push(Look { name, opened });
        }
    }

    fn absolute(&mut self, pid: i32, name: &[u8], base: Option<FileId>) -> Option<Vec<u8>> {
        if name.first() == Some(&b'/') {
            return Some(self.paths.absolute(b"/", name));
        }
        let known = base.filter(|base| !self.folders.contains_key(base));
        if let Some((base, folder)) = known.and_then(|base| Some((base, current(pid, base)?))) {
            self.folders.insert(base, folder);
        }
        let folder = base.and_then(|base| self.folders.get(&base));
        self.lost += u64::from(folder.is_none());
        Some(self.paths.absolute(folder?, name))
    }

    /// A relative name goes from the former directory, which the kernel no longer knows: from one
    /// of those that are known here.
    fn moved(&mut self, pid: i32, name: &[u8], folder: FileId) {
        if self.folders.contains_key(&folder) {
            return;
        }
        let found = match name.first() {
            Some(b'/') => Some(self.paths.absolute(b"/", name)),
            _ => current(pid, folder).or_else(|| {
                let names = self.folders.values().map(|base| self.paths.absolute(base, name));
                let is_it =
                    |name: &Vec<u8>| id_of(Path::new(OsStr::from_bytes(name))) == Some(folder);
                names.collect::<Vec<_>>().into_iter().find(is_it)
            }),
        };
        match found {
            Some(found) => _ = self.folders.insert(folder, found),
            None => self.lost += 1,
        }
    }
}

/// The current directory of a process, if it still is the one that is meant.
fn current(pid: i32, folder: FileId) -> Option<Vec<u8>> {
    let path = fs::read_link(format!("/proc/{pid}/cwd")).ok()?;
    (id_of(&path)? == folder).then(|| path.into_os_string().into_encoded_bytes())
}

/// What the kernel knows of it without asking its file system's server.
pub(super) fn id_of(path: &Path) -> Option<FileId> {
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT;
    let found = rustix::fs::statx(CWD, path, flags, StatxFlags::INO).ok()?;
    Some(FileId::new(found.stx_dev_major, found.stx_dev_minor, found.stx_ino))
}

/// The files that a process has open or mapped, by their names.
fn held(pid: i32) -> Vec<(FileId, Vec<u8>)> {
    ["fd", "map_files"].iter().flat_map(|kind| links(&format!("/proc/{pid}/{kind}"))).collect()
}

/// The files that the links in this folder are to.
fn links(folder: &str) -> Vec<(FileId, Vec<u8>)> {
    let links = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = links.filter_map(|entry| fs::read_link(entry.path()).ok());
    let mut names: Vec<_> =
        names.filter(|name| name.is_absolute() && !name.starts_with("/dev")).collect();
    names.dedup();
    let names = names.into_iter();
    let names = names.map(|name| (id_of(&name), name.into_os_string().into_encoded_bytes()));
    names.filter_map(|(id, name)| Some((id?, name))).collect()
}
