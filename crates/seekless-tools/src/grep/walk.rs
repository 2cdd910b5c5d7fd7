//! Which files are searched: operands, and with -r all that lies below them, in the order in which folders list them.

use super::{Filter, Options};
use crate::gnu::words;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What to do with a folder that is named or met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Directories {
    /// Try to read it as a file, which fails.
    #[default]
    Read,
    /// Pass over it.
    Skip,
    /// Search what lies below.
    Recurse,
}

/// What to do with devices, sockets and named pipes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Devices {
    /// Read those named, pass over those met.
    #[default]
    ReadNamed,
    /// Read all.
    Read,
    /// Pass over all.
    Skip,
}

/// What is searched.
#[derive(Clone, Debug, Default)]
pub struct Search {
    /// Names as they were typed; none means standard input, or the folder one is in with `recurse`.
    pub operands: Vec<OsString>,
    /// Folders.
    pub directories: Directories,
    /// Follow all symbolic links, not only those named.
    pub follow: bool,
    /// Devices.
    pub devices: Devices,
    /// Names of files.
    pub files: Filter,
    /// Names of folders.
    pub folders: Filter,
    /// The device and inode of the output, if it is a file that this may make grow.
    pub output: Option<(u64, u64)>,
}

/// One thing to search, or to say, in its turn.
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
    /// The message after the program's name.
    Problem(Vec<u8>),
}

pub(super) fn problem(name: &[u8], what: &str) -> Vec<u8> {
    [name, b": ", what.as_bytes()].concat()
}

struct Walker<'a> {
    search: &'a Search,
    options: &'a Options,
    items: Vec<Item>,
    /// The folders that one is in: a link to one of them would have no end.
    above: Vec<(u64, u64)>,
}

/// All that is to be searched, in order.
pub(super) fn items(search: &Search, options: &Options) -> Vec<Item> {
    let mut walker = Walker { search, options, items: Vec::new(), above: Vec::new() };
    if search.operands.is_empty() {
        match search.directories {
            Directories::Recurse => walker.folder(Path::new("."), b""),
            _ => walker.standard(),
        }
    }
    for operand in &search.operands {
        match operand.as_bytes() {
            b"-" => walker.standard(),
            _ => walker.operand(operand),
        }
    }
    walker.items
}

impl Walker<'_> {
    fn standard(&mut self) {
        match standard() {
            Ok(Item::Standard { file, start, regular, bytes }) => {
                let same = file.metadata().is_ok_and(|data| self.is_output(&data));
                let at_end = start >= bytes;
                if same && !at_end {
                    self.same_as_output(&self.options.label.clone());
                } else if file.metadata().is_ok_and(|data| data.is_dir()) {
                    self.items.push(Item::Problem(problem(&self.options.label, "Is a directory")));
                } else {
                    self.items.push(Item::Standard { file, start, regular, bytes });
                }
            }
            Ok(other) => self.items.push(other),
            Err(error) => self.items.push(Item::Problem(problem(&self.options.label, &words(&error)))),
        }
    }

    fn operand(&mut self, operand: &OsStr) {
        let (name, path) = (operand.as_bytes(), Path::new(operand));
        let data = match fs::metadata(path) {
            Ok(data) => data,
            Err(_) if self.search.files.leaves_out(name, true) => return,
            Err(error) => return self.items.push(Item::Problem(problem(name, &words(&error)))),
        };
        if data.is_dir() {
            let left_out =
                self.search.directories == Directories::Skip || self.search.folders.leaves_out(name, true);
            return match self.search.directories {
                _ if left_out => {}
                Directories::Recurse => self.folder(path, &folder_prefix(name)),
                _ => self.items.push(Item::Problem(problem(name, "Is a directory"))),
            };
        }
        let device = is_device(data.file_type());
        if self.search.files.leaves_out(name, true) || (device && self.search.devices == Devices::Skip) {
            return;
        }
        match self.is_output(&data) {
            true => self.same_as_output(name),
            false => {
                self.items.push(Item::File { path: path.to_owned(), name: name.to_vec(), bytes: data.len() })
            }
        }
    }

    /// Everything below a folder; `prefix` is what names in it begin with.
    fn folder(&mut self, path: &Path, prefix: &[u8]) {
        let identity = fs::metadata(path).map(|data| (data.dev(), data.ino())).unwrap_or_default();
        let listing = fs::read_dir(path).and_then(Iterator::collect::<io::Result<Vec<_>>>);
        let entries = match listing {
            Ok(entries) => entries,
            Err(error) => {
                let name = if prefix.is_empty() { b"." } else { prefix.strip_suffix(b"/").unwrap_or(prefix) };
                return self.items.push(Item::Problem(problem(name, &words(&error))));
            }
        };
        self.above.push(identity);
        for entry in entries {
            let name = [prefix, entry.file_name().as_bytes()].concat();
            match entry.file_type() {
                Ok(kind) => self.entry(&entry, kind, name),
                Err(error) => self.items.push(Item::Problem(problem(&name, &words(&error)))),
            }
        }
        self.above.pop();
    }

    fn entry(&mut self, entry: &fs::DirEntry, kind: FileType, name: Vec<u8>) {
        let (mut kind, path) =
            (kind, if name.starts_with(b"/") { entry.path() } else { OsStr::from_bytes(&name).into() });
        if kind.is_symlink() {
            if !self.search.follow {
                return;
            }
            kind = match fs::metadata(&path) {
                Ok(data) if data.is_dir() && self.above.contains(&(data.dev(), data.ino())) => {
                    return self
                        .items
                        .push(Item::Problem(problem(&name, "warning: recursive directory loop")));
                }
                Ok(data) => data.file_type(),
                Err(error) => return self.items.push(Item::Problem(problem(&name, &words(&error)))),
            };
        }
        let base = entry.file_name();
        if kind.is_dir() {
            if !self.search.folders.leaves_out(base.as_bytes(), false) {
                self.folder(&path, &[&name[..], b"/"].concat());
            }
            return;
        }
        let device = is_device(kind) && self.search.devices != Devices::Read;
        if device || self.search.files.leaves_out(base.as_bytes(), false) {
            return;
        }
        // The size is for the progress bar alone, and not worth a call for each file of a tree.
        let output =
            self.search.output.is_some() && fs::metadata(&path).is_ok_and(|data| self.is_output(&data));
        match output {
            true => self.same_as_output(&name),
            false => self.items.push(Item::File { path, name, bytes: 0 }),
        }
    }

    fn is_output(&self, data: &fs::Metadata) -> bool {
        data.is_file() && self.search.output == Some((data.dev(), data.ino()))
    }

    fn same_as_output(&mut self, name: &[u8]) {
        self.items.push(Item::Problem(problem(name, "input file is also the output")));
    }
}

fn is_device(kind: FileType) -> bool {
    kind.is_block_device() || kind.is_char_device() || kind.is_fifo() || kind.is_socket()
}

/// A folder's name as it stands before the names in it: one slash at its end.
fn folder_prefix(name: &[u8]) -> Vec<u8> {
    let end = name.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
    [&name[..end], b"/"].concat()
}

fn standard() -> io::Result<Item> {
    let file = File::from(rustix::io::dup(rustix::stdio::stdin())?);
    let data = file.metadata()?;
    let start = rustix::fs::seek(&file, rustix::fs::SeekFrom::Current(0)).unwrap_or(0);
    let regular = data.is_file();
    Ok(Item::Standard { file, start, regular, bytes: if regular { data.len() } else { 0 } })
}
