//! The mapped files, and which of their pages have been touched.

use super::cached::Askable;
use crate::paths;
use crate::sink::Rows;
use crate::tracer::{KnownFile, Settings};
use hashbrown::HashMap;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use seekless_trace::{FileId, PageSet};
use seekless_watch::page_faults::Mapped;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// A mapped file's number, by first appearance.
pub(super) type FileNo = u32;

/// The part of a file that one fault maps, as far as it is cached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: FileNo,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// The offset that was touched, which it maps in any case.
    pub(super) touched: u64,
}

const PAGE_BYTES: u64 = 4096;

/// A mapped file.
#[derive(Clone, Copy, Debug)]
pub(super) struct File {
    pub(super) number: FileId,
    /// Its size, if the file under its name is still the one that was mapped.
    pub(super) bytes: Option<u64>,
    pub(super) device: u64,
    pub(super) inode: u64,
}

/// Bytes of a file that were touched for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Touch {
    pub(super) file: FileNo,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

pub(super) struct Files {
    settings: Arc<Settings>,
    /// By device and inode, as the kernel's records have them; `None` is not recorded.
    numbers: HashMap<(u64, u64), Option<FileNo>, foldhash::fast::RandomState>,
    files: Vec<File>,
    askable: Vec<Option<Askable>>,
    touched: PageSet,
}

impl Files {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        Self {
            settings,
            numbers: HashMap::default(),
            files: Vec::new(),
            askable: Vec::new(),
            touched: PageSet::default(),
        }
    }

    /// All files so far, also those that are not recorded.
    pub(super) fn known(&self) -> impl Iterator<Item = KnownFile> {
        self.numbers.iter().map(|(&(device, inode), number)| {
            let file = number.map(|number| self.get(number));
            let bytes = file.and_then(|file| file.bytes);
            KnownFile { device, inode, bytes, file: file.map(|file| file.number) }
        })
    }

    pub(super) fn get(&self, file: FileNo) -> File {
        self.files[file as usize]
    }

    /// The number of a mapped file. `None` for memory without a file, and for files that are not
    /// recorded.
    pub(super) fn number(&mut self, mapped: &Mapped, rows: &Rows) -> Option<FileNo> {
        if mapped.inode == 0 {
            return None;
        }
        let key = (mapped.device, mapped.inode);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let number = self.add(mapped, rows);
        self.numbers.insert(key, number);
        number
    }

    fn add(&mut self, mapped: &Mapped, rows: &Rows) -> Option<FileNo> {
        let (name, found) = identify(mapped);
        if !self.settings.names_file(name) {
            return None;
        }
        let File { bytes, device, inode, .. } = found;
        let path = Path::new(OsStr::from_bytes(name));
        self.askable.push(bytes.and_then(|_| Askable::new(path, device, inode)));
        self.files.push(File { number: rows.file(name), bytes, device, inode });
        Some((self.files.len() - 1) as FileNo)
    }

    /// Notes what a fault maps, and appends the parts of it that were not touched before. A part
    /// goes from its first to its last such page.
    pub(super) fn touch(&mut self, place: Place, touches: &mut Vec<Touch>) {
        let Place { file, offset, bytes, touched } = place;
        let size = self.get(file).bytes.unwrap_or(u64::MAX);
        let pages = offset / PAGE_BYTES..size.min(offset + bytes).div_ceil(PAGE_BYTES);
        if self.touched.has_all(file, pages.clone()) {
            return;
        }
        let asked = self.askable[file as usize].as_ref().and_then(|file| file.cached(&pages));
        let page = touched / PAGE_BYTES;
        let mapped = match asked {
            Some(mut cached) => {
                if !cached.iter().any(|cached| cached.contains(&page)) {
                    cached.push(page..page + 1);
                }
                cached
            }
            None => vec![pages],
        };
        for pages in mapped {
            if let Some((first, last)) = self.touched.add(file, pages) {
                let (offset, end) = (first * PAGE_BYTES, size.min((last + 1) * PAGE_BYTES));
                touches.push(Touch { file, offset, bytes: end.saturating_sub(offset) });
            }
        }
    }
}

/// The name of a mapped file, and the file itself as `stat` shows it. A removed file's name is
/// without the mark that the kernel puts behind it.
fn identify(mapped: &Mapped) -> (&[u8], File) {
    let unknown = File { number: 0, bytes: None, device: mapped.device, inode: mapped.inode };
    let name = mapped.name.as_slice();
    if let Some(found) = stat(name).filter(|found| found.inode == mapped.inode) {
        return (name, found);
    }
    (name.strip_suffix(b" (deleted)").unwrap_or(name), unknown)
}

/// What the kernel knows of a file without asking its file system's server.
fn stat(name: &[u8]) -> Option<File> {
    if paths::is_special(name) {
        return None;
    }
    let flags = AtFlags::STATX_DONT_SYNC | AtFlags::NO_AUTOMOUNT | AtFlags::SYMLINK_NOFOLLOW;
    let wanted = StatxFlags::TYPE | StatxFlags::INO | StatxFlags::SIZE;
    let stat = rustix::fs::statx(CWD, OsStr::from_bytes(name), flags, wanted).ok()?;
    let regular = FileType::from_raw_mode(stat.stx_mode.into()).is_file();
    Some(File {
        number: 0,
        bytes: regular.then_some(stat.stx_size),
        device: rustix::fs::makedev(stat.stx_dev_major, stat.stx_dev_minor),
        inode: stat.stx_ino,
    })
}
