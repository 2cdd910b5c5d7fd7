//! A file on the walk: its path and what is known of it. Each fact is read at most once.

use super::cost::Cost;
use rustix::fs::{AtFlags, CWD, FileType, Stat, statat};
use rustix::io::Errno;
use std::cell::OnceCell;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::rc::Rc;

/// A file on the walk.
#[derive(Debug)]
pub(super) struct Entry<'a> {
    /// The path as find prints it, with a NUL at its end.
    pub(super) path: &'a CStr,
    /// The offset of its last component.
    pub(super) name_at: usize,
    rest: &'a CStr,
    /// The length of the argument below which it was found.
    pub(super) root_bytes: usize,
    /// Its depth below that argument.
    pub(super) depth: usize,
    /// The open folder that holds it. It is `None` for an argument, whose path is relative to the
    /// working directory.
    pub(super) folder: Option<Rc<OwnedFd>>,
    /// The type from the folder's list, if that has it.
    pub(super) listed: Option<FileType>,
    /// Whether a symbolic link is followed.
    pub(super) follow: bool,
    stat: OnceCell<Result<Stat, Errno>>,
    /// What reading it costs, once computed.
    pub(super) cost: OnceCell<Cost>,
}

impl<'a> Entry<'a> {
    pub(super) fn new(path: &'a CStr, name_at: usize, root_bytes: usize, depth: usize) -> Self {
        let (folder, listed, stat, cost) = (None, None, OnceCell::new(), OnceCell::new());
        // The end of a C string is a C string.
        let rest = CStr::from_bytes_with_nul(&path.to_bytes_with_nul()[name_at..]).unwrap_or(c"");
        Entry { path, name_at, rest, root_bytes, depth, folder, listed, follow: false, stat, cost }
    }

    /// Stores attributes that were read ahead.
    pub(super) fn know(&self, stat: Stat) {
        let _ = self.stat.set(Ok(stat));
    }

    /// The attributes, if they were read successfully.
    pub(super) fn known(&self) -> Option<&Stat> {
        self.stat.get()?.as_ref().ok()
    }

    /// The path without its NUL.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.path.to_bytes()
    }

    /// The part after the last slash; an argument keeps one slash at its end.
    pub(super) fn name(&self) -> &'a [u8] {
        let name = &self.bytes()[self.name_at..];
        let end = name.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
        &name[..name.len().min(end + 1)]
    }

    /// The folder to which [`Entry::below`] is relative.
    pub(super) fn base(&self) -> BorrowedFd<'_> {
        self.folder.as_ref().map_or(CWD, |folder| folder.as_fd())
    }

    /// Its name relative to [`Entry::base`].
    pub(super) fn below(&self) -> &'a CStr {
        if self.folder.is_some() { self.rest } else { self.path }
    }

    /// Its last component as a C string.
    pub(super) fn rest(&self) -> &'a CStr {
        self.rest
    }

    /// The attributes. If links are followed, those of the link's target, if it exists.
    pub(super) fn stat(&self) -> Result<&Stat, Errno> {
        self.stat.get_or_init(|| self.ask(self.follow)).as_ref().map_err(|&error| error)
    }

    /// The error if there is no such file, or if a followed link has no target. It is not checked
    /// if the folder's list says that the file is not a link.
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
                // A link without a target stands for itself; a loop of links is an error.
                Err(Errno::NOENT | Errno::NOTDIR) => own(),
                other => other,
            },
            false => own(),
        }
    }

    /// The type; it comes from the folder's list, without a system call, if that has it.
    pub(super) fn file_type(&self) -> Result<FileType, Errno> {
        match self.listed {
            Some(listed)
                if self.stat.get().is_none() && !(self.follow && listed == FileType::Symlink) =>
            {
                Ok(listed)
            }
            _ => self.stat().map(|stat| FileType::from_raw_mode(stat.st_mode)),
        }
    }

    /// The type at the other end of a link. If links are not followed, that is the target's type,
    /// otherwise the link's own.
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

/// The letter that `-type` and `%y` use.
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
