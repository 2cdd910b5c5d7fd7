//! A file that the walk has come to: its path, and what is known of it, asked no more than once.

use super::latency::Cost;
use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};
use rustix::io::Errno;
use std::cell::OnceCell;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// A file on the walk.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// As find prints it, with a NUL at its end.
    pub(super) path: &'a CStr,
    /// Where its last component starts.
    pub(super) name_at: usize,
    rest: &'a CStr,
    /// Length of the argument below which it was found.
    pub(super) root_bytes: usize,
    /// How far below that.
    pub(super) depth: usize,
    /// The open folder that holds it; `None` for an argument, whose path is looked up from where find runs.
    pub(super) folder: Option<Rc<OwnedFd>>,
    /// The type that the folder's list tells, if it does.
    pub(super) listed: Option<FileType>,
    /// Whether a link is looked through.
    pub(super) follow: bool,
    stat: OnceCell<Result<Stat, Errno>>,
    /// What reading it costs, once asked.
    pub(super) cost: OnceCell<Cost>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(path: &'a CStr, name_at: usize, root_bytes: usize, depth: usize) -> Self {
        let (folder, listed, stat, cost) = (None, None, OnceCell::new(), OnceCell::new());
        // The rest of a C string is one.
        let rest = CStr::from_bytes_with_nul(&path.to_bytes_with_nul()[name_at..]).unwrap_or(c"");
        Entry { path, name_at, rest, root_bytes, depth, folder, listed, follow: false, stat, cost }
    }

    /// What stat told somebody else a moment ago.
    pub(super) fn know(&self, stat: Stat) {
        let _ = self.stat.set(Ok(stat));
    }

    /// What stat told, if it was asked and told.
    pub(super) fn known(&self) -> Option<&Stat> {
        self.stat.get()?.as_ref().ok()
    }

    /// The path without its NUL.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.path.to_bytes()
    }

    /// What follows the last slash; an argument keeps one slash at its end.
    pub(super) fn name(&self) -> &'a [u8] {
        let name = &self.bytes()[self.name_at..];
        let end = name.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
        &name[..name.len().min(end + 1)]
    }

    /// The folder to look it up from.
    pub(super) fn base(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, |folder| folder.as_fd())
    }

    /// Its name below [`Entry::base`].
    pub(super) fn below(&self) -> &'a CStr {
        if self.folder.is_some() { self.rest } else { self.path }
    }

    /// Its last component as a C string.
    pub(super) fn rest(&self) -> &'a CStr {
        self.rest
    }

    /// What stat tells: of a link's target where links are followed and it has one.
    pub(super) fn stat(&self) -> Result<&Stat, Errno> {
        self.stat.get_or_init(|| self.ask(self.follow)).as_ref().map_err(|&error| error)
    }

    /// Why there is no file, or a link that is looked through leads to none. Of what the folder lists as no link it is not asked.
    pub(super) fn lost(&self) -> Option<Errno> {
        match self.listed {
            Some(listed) if listed != FileType::Symlink => None,
            _ if !self.follow => self.stat().err(),
            _ => match self.stat() {
                Ok(stat) if FileType::from_raw_mode(stat.st_mode) != FileType::Symlink => None,
                _ => statat(self.base(), self.below(), AtFlags::empty()).err(),
            },
        }
    }

    fn ask(&self, follow: bool) -> Result<Stat, Errno> {
        let own = || statat(self.base(), self.below(), AtFlags::SYMLINK_NOFOLLOW);
        match follow {
            true => match statat(self.base(), self.below(), AtFlags::empty()) {
                // A link to nowhere is itself; one that only leads round is an error.
                Err(Errno::NOENT | Errno::NOTDIR) => own(),
                other => other,
            },
            false => own(),
        }
    }

    /// Its type, from the folder's list if that tells, without a call.
    pub(super) fn file_type(&self) -> Result<FileType, Errno> {
        match self.listed {
            Some(listed) if self.stat.get().is_none() && !(self.follow && listed == FileType::Symlink) => {
                Ok(listed)
            }
            _ => self.stat().map(|stat| FileType::from_raw_mode(stat.st_mode)),
        }
    }

    /// The type on the other side of a link: of its target where links are not followed, of the link where they are.
    pub(super) fn other_type(&self) -> Result<FileType, Errno> {
        if self.file_type()? != FileType::Symlink && !self.follow {
            return self.file_type();
        }
        let stat = self.ask(!self.follow)?;
        Ok(FileType::from_raw_mode(stat.st_mode))
    }

    pub(super) fn is_folder(&self) -> bool {
        self.file_type() == Ok(FileType::Directory)
    }
}

/// The letter of `-type` and `%y`.
pub(super) fn type_letter(kind: FileType) -> char {
    match kind {
        FileType::RegularFile => 'f',
        FileType::Directory => 'd',
        FileType::Symlink => 'l',
        FileType::BlockDevice => 'b',
        FileType::CharacterDevice => 'c',
        FileType::Fifo => 'p',
        FileType::Socket => 's',
        _ => 'U',
    }
}
