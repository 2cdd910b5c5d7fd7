//! The mapped files, and which of their pages have been touched.

use crate::paths;
use crate::sink::Rows;
use crate::tracer::Settings;
use hashbrown::HashMap;
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags};
use seekless_sys::page_faults::Mapped;
use seekless_trace::{FileId, PageSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::sync::Arc;

/// A mapped file's number, by first appearance.
pub(super) type FileNo = u32;

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
    touched: PageSet,
}

impl Files {
    pub(super) fn new(settings: Arc<Settings>) -> Self {
        let (numbers, files) = (HashMap::default(), Vec::new());
        Self { settings, numbers, files, touched: PageSet::default() }
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
        self.files.push(File { number: rows.file(name), bytes, device, inode });
        Some((self.files.len() - 1) as FileNo)
    }

    /// Notes that a range of a file is mapped now. Gives the part of it from the first to the last
    /// page that were not touched before.
    pub(super) fn touch(&mut self, file: FileNo, offset: u64, bytes: u64) -> Option<Touch> {
        let end = self.get(file).bytes.map_or(offset + bytes, |size| size.min(offset + bytes));
        let pages = offset / PAGE_BYTES..end.div_ceil(PAGE_BYTES);
        let (first, last) = self.touched.add(file, pages)?;
        let (offset, end) = (first * PAGE_BYTES, ((last + 1) * PAGE_BYTES).min(end));
        Some(Touch { file, offset, bytes: end - offset })
    }
}

/// The name of a mapped file, and the file itself as `stat` tells it. A removed file's name is
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
