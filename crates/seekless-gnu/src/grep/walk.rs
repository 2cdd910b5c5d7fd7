//! Finds the files to search: the operands and, with -r, all files below them, in the order in
//! which directories list them.

use super::{Filter, Options};
use crate::words::words;
use rustix::io::Errno;
use seekless_sys::inherited::is_closed;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, ReadDir};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirEntryExt, FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::slice::Iter;
use std::vec::IntoIter;

/// Entries of a folder that are listed at a time, as in GNU's walk.
const LISTED_MAX: usize = 100_000;
/// A folder with more entries than this is sorted by inode.
const SORTED_MIN: usize = 10_000;

/// How to treat a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Directories {
    /// Try to read it as a file, which fails.
    #[default]
    Read,
    /// Skip it.
    Skip,
    /// Search the files below it.
    Recurse,
}

/// How to treat devices, sockets and named pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Devices {
    /// Read those on the command line, skip those found below a folder.
    #[default]
    ReadNamed,
    /// Read all of them.
    Read,
    /// Skip all of them.
    Skip,
}

/// The files to search.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// File names as typed. If there are none, standard input is searched; with
    /// [`Directories::Recurse`], the current folder.
    pub operands: Vec<OsString>,
    /// How to treat folders.
    pub directories: Directories,
    /// Follow all symbolic links, not only those on the command line.
    pub follow: bool,
    /// How to treat devices.
    pub devices: Devices,
    /// Which files to search, by name.
    pub files: Filter,
    /// Which folders to enter, by name.
    pub folders: Filter,
    /// The device and inode of the output file, if the search could make it grow forever.
    pub output: Option<(u64, u64)>,
}

/// A file to search or a message to print, in its turn.
#[derive(Debug)]
pub(super) enum Item {
    File {
        path: PathBuf,
        name: Vec<u8>,
        bytes: u64,
    },
    Standard {
        file: File,
        start: u64,
        regular: bool,
        bytes: u64,
    },
    /// An error message, without the program's name.
    Problem(Vec<u8>),
    /// A warning, without the program's name.
    Warning(Vec<u8>),
}

pub(super) fn problem(name: &[u8], what: &str) -> Vec<u8> {
    [name, b": ", what.as_bytes()].concat()
}

/// Yields all files to search, in order, found on demand.
pub(super) struct Walk<'a> {
    search: &'a Search,
    options: &'a Options,
    operands: Iter<'a, OsString>,
    /// There are no operands, and standard input or the current folder is still to come.
    unnamed: bool,
    /// The folders on the way to the current one. A link to one of them would lead to an endless
    /// loop.
    folders: Vec<Folder>,
}

/// A folder and its remaining entries.
struct Folder {
    /// Device and inode.
    identity: (u64, u64),
    path: PathBuf,
    /// The prefix of names in it.
    prefix: Vec<u8>,
    entries: IntoIter<Entry>,
    /// The part that was not listed yet.
    more: Option<ReadDir>,
}

struct Entry {
    name: OsString,
    kind: io::Result<FileType>,
    inode: u64,
}

impl<'a> Walk<'a> {
    pub(super) fn new(search: &'a Search, options: &'a Options) -> Self {
        let operands = search.operands.iter();
        Walk { search, options, operands, unnamed: search.operands.is_empty(), folders: Vec::new() }
    }

    /// The file or message for the next operand; `None` if the operand is left out.
    fn operand(&mut self, operand: &OsStr) -> Option<Item> {
        let (name, path) = (operand.as_bytes(), Path::new(operand));
        if name == b"-" {
            return Some(self.standard());
        }
        let file = |bytes| Some(Item::File { path: path.to_owned(), name: name.to_vec(), bytes });
        // A file whose metadata cannot be read cannot be opened either; opening it reports the
        // error.
        let Ok(data) = fs::metadata(path) else { return file(0) };
        let search = self.search;
        if data.is_dir() {
            let left_out =
                search.directories == Directories::Skip || search.folders.leaves_out(name, true);
            return match search.directories {
                _ if left_out => None,
                Directories::Recurse => self.enter(path.to_owned(), folder_prefix(name)),
                _ => file(0),
            };
        }
        let device = is_device(data.file_type());
        if search.files.leaves_out(name, true) || (device && search.devices == Devices::Skip) {
            return None;
        }
        if self.is_output(&data) { Some(same_as_output(name)) } else { file(data.len()) }
    }

    /// Enters a folder, or returns the error.
    fn enter(&mut self, path: PathBuf, prefix: Vec<u8>) -> Option<Item> {
        let identity = fs::metadata(&path).map(|data| (data.dev(), data.ino())).unwrap_or_default();
        match fs::read_dir(&path) {
            Ok(more) => {
                let entries = Vec::new().into_iter();
                self.folders.push(Folder { identity, path, prefix, entries, more: Some(more) });
                None
            }
            Err(error) => {
                let name = if prefix.is_empty() {
                    b"."
                } else {
                    prefix.strip_suffix(b"/").unwrap_or(&prefix)
                };
                Some(Item::Problem(problem(name, &words(&error))))
            }
        }
    }

    /// The file or message for an entry of the innermost folder; `None` if the entry is left out.
    fn entry(&mut self, entry: Entry) -> Option<Item> {
        let folder = self.folders.last()?;
        let search = self.search;
        let base = entry.name.as_bytes();
        let name = [&folder.prefix[..], base].concat();
        let path = if folder.prefix.is_empty() {
            PathBuf::from(&entry.name)
        } else {
            folder.path.join(&entry.name)
        };
        let left_out = |is_folder: bool| match is_folder {
            true => search.folders.leaves_out(base, false),
            false => search.files.leaves_out(base, false),
        };
        let mut kind = match entry.kind {
            Ok(kind) => kind,
            Err(error) => return Some(Item::Problem(problem(&name, &words(&error)))),
        };
        if kind.is_symlink() {
            if !search.follow {
                return None;
            }
            kind = match fs::metadata(&path) {
                Ok(data) => data.file_type(),
                Err(_) if left_out(false) => return None,
                Err(error) => return Some(Item::Problem(problem(&name, &words(&error)))),
            };
        }
        if left_out(kind.is_dir()) {
            return None;
        }
        if kind.is_dir() {
            let identity = fs::metadata(&path).map(|data| (data.dev(), data.ino()));
            return match identity {
                Ok(identity) if search.follow && self.is_above(identity) => {
                    Some(Item::Warning(problem(&name, "warning: recursive directory loop")))
                }
                _ => self.enter(path, [&name[..], b"/"].concat()),
            };
        }
        let reads_devices = match search.devices {
            Devices::Read => true,
            Devices::ReadNamed => search.follow,
            Devices::Skip => false,
        };
        if is_device(kind) && !reads_devices {
            return None;
        }
        // Only the progress bar uses the size, which is not worth a call for each file of a tree.
        let output =
            search.output.is_some() && fs::metadata(&path).is_ok_and(|data| self.is_output(&data));
        Some(if output { same_as_output(&name) } else { Item::File { path, name, bytes: 0 } })
    }

    fn is_above(&self, identity: (u64, u64)) -> bool {
        self.folders.iter().any(|folder| folder.identity == identity)
    }

    fn standard(&self) -> Item {
        match standard() {
            Ok(Item::Standard { file, start, regular, bytes }) => {
                let same = file.metadata().is_ok_and(|data| self.is_output(&data));
                if same && start < bytes {
                    return same_as_output(&self.options.label);
                }
                Item::Standard { file, start, regular, bytes }
            }
            Ok(other) => other,
            Err(error) => Item::Problem(problem(&self.options.label, &words(&error))),
        }
    }

    fn is_output(&self, data: &fs::Metadata) -> bool {
        data.is_file() && self.search.output == Some((data.dev(), data.ino()))
    }
}

impl Iterator for Walk<'_> {
    type Item = Item;

    fn next(&mut self) -> Option<Item> {
        loop {
            let item = match self.folders.last_mut().map(Folder::next) {
                Some(Some(Ok(entry))) => self.entry(entry),
                Some(Some(Err(message))) => Some(Item::Problem(message)),
                Some(None) => {
                    self.folders.pop();
                    None
                }
                None if std::mem::take(&mut self.unnamed) => match self.search.directories {
                    Directories::Recurse => self.enter(PathBuf::from("."), Vec::new()),
                    _ => Some(self.standard()),
                },
                None => {
                    let operand = self.operands.next()?;
                    self.operand(operand)
                }
            };
            if item.is_some() {
                return item;
            }
        }
    }
}

impl Folder {
    /// The next entry, or the folder's error.
    fn next(&mut self) -> Option<Result<Entry, Vec<u8>>> {
        if let Some(entry) = self.entries.next() {
            return Some(Ok(entry));
        }
        let mut more = self.more.take()?;
        let (mut entries, mut wrong) = (Vec::new(), None);
        let ended = loop {
            if entries.len() == LISTED_MAX {
                break false;
            }
            match more.next() {
                Some(Ok(entry)) => {
                    let (name, kind, inode) = (entry.file_name(), entry.file_type(), entry.ino());
                    entries.push(Entry { name, kind, inode });
                }
                Some(Err(error)) => {
                    wrong = Some(problem(self.path.as_os_str().as_bytes(), &words(&error)));
                    break true;
                }
                None => break true,
            }
        };
        self.more = (!ended).then_some(more);
        if entries.len() > SORTED_MIN && sorts_by_inode(&self.path) {
            entries.sort_by_key(|entry| entry.inode);
        }
        self.entries = entries.into_iter();
        wrong.map(Err).or_else(|| self.entries.next().map(Ok))
    }
}

/// Whether to sort the entries of a large folder by inode, as GNU's walk does. On some file systems
/// that does not help.
fn sorts_by_inode(folder: &Path) -> bool {
    const TMPFS: u32 = 0x0102_1994;
    const NFS: u32 = 0x6969;
    const CIFS: u32 = 0xff53_4d42;
    let kind = rustix::fs::statfs(folder).map(|data| data.f_type as u32);
    kind.is_ok_and(|kind| ![TMPFS, NFS, CIFS].contains(&kind))
}

fn same_as_output(name: &[u8]) -> Item {
    Item::Problem(problem(name, "input file is also the output"))
}

fn is_device(kind: FileType) -> bool {
    kind.is_block_device() || kind.is_char_device() || kind.is_fifo() || kind.is_socket()
}

/// A folder's name with exactly one slash at its end.
fn folder_prefix(name: &[u8]) -> Vec<u8> {
    let end = name.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    [&name[..end], b"/"].concat()
}

fn standard() -> io::Result<Item> {
    if is_closed(rustix::stdio::raw_stdin()) {
        return Err(Errno::BADF.into());
    }
    let file = File::from(rustix::io::dup(rustix::stdio::stdin())?);
    let data = file.metadata()?;
    let start = rustix::fs::seek(&file, rustix::fs::SeekFrom::Current(0)).unwrap_or(0);
    let regular = data.is_file();
    Ok(Item::Standard { file, start, regular, bytes: if regular { data.len() } else { 0 } })
}
