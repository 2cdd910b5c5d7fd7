//! Files of plain file systems: all their bytes are in the page cache or on a device of this
//! machine. A warm tree has thousands, so one question to the kernel has to do for most.

use super::{Asked, Survey, Surveyor};
use crate::provider::{Claim, Presence};
use crate::{Confidence, Error, Kind};
use rustix::fs::{FileType, Stat};
use seekless_sys::residency::all_or_nothing;
use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;

impl Surveyor {
    /// As [`at`](Self::at), but `None` if all of the file is in this machine's memory. Most files
    /// of a warm tree are, and one question shows it, without allocating an answer.
    ///
    /// # Errors
    /// As [`path`](Self::path).
    pub fn at_unless_in_memory(
        &mut self,
        folder: BorrowedFd<'_>,
        below: &CStr,
        name: &Path,
        stat: Stat,
    ) -> Result<Option<Survey>, Error> {
        if !self.is_plain(name, &stat) {
            return self.at(folder, below, name, stat).map(Some);
        }
        let file = self.open(folder, below, Some(&stat)).map_err(|error| Error::io(name, error))?;
        self.plain_unless_in_memory(name, file, stat)
    }

    /// Like [`at_unless_in_memory`](Self::at_unless_in_memory), for a caller that has no `stat` of
    /// the file: asking the open file costs a third of asking its name. Also returns that `stat`.
    ///
    /// `None` unless the file lies on the same file system as the last one, and that is plain (see
    /// [`is_plain`](Self::is_plain)); also for a file that cannot be opened or is not regular. The
    /// caller then asks `stat` first.
    pub fn opened_unless_in_memory(
        &mut self,
        folder: BorrowedFd<'_>,
        below: &CStr,
        name: &Path,
    ) -> Option<(Stat, Option<Survey>)> {
        let Asked { device, slowest: Some(_), .. } = self.last_asked? else { return None };
        if self.config.has_rules() {
            return None;
        }
        let file = self.open(folder, below, None).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        if stat.st_dev != device || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return None;
        }
        Some((stat, self.plain_unless_in_memory(name, file, stat).ok()?))
    }

    /// The survey of an open file of a plain file system, unless all of it is in memory. An empty
    /// file is: it has no bytes elsewhere.
    fn plain_unless_in_memory(
        &mut self,
        name: &Path,
        file: File,
        stat: Stat,
    ) -> Result<Option<Survey>, Error> {
        let bytes = u64::try_from(stat.st_size).unwrap_or(0);
        if bytes == 0 {
            seekless_sys::files::close(file);
            return Ok(None);
        }
        let all = all_or_nothing(file.as_fd(), bytes);
        if let Some(asked) = self.last_asked.as_mut().filter(|asked| asked.device == stat.st_dev) {
            asked.counted |= all.is_some();
        }
        let resident = match all {
            Some(true) => {
                seekless_sys::files::close(file);
                return Ok(None);
            }
            Some(false) => Some(vec![Claim::now(0, bytes, Presence::Absent(Confidence::Exact))]),
            None => None,
        };
        let subject = self.subject(name, stat)?;
        self.opened_with(&subject, Some(&file), resident).map(Some)
    }

    /// Whether the page cache and a device of this machine know all about a regular file. Then
    /// asking runs no command, asks no other machine and recalls nothing.
    pub fn is_plain(&mut self, name: &Path, stat: &Stat) -> bool {
        if self.config.has_rules() || FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile
        {
            return false;
        }
        if let Some(asked) = &self.last_asked
            && asked.device == stat.st_dev
        {
            return asked.slowest.is_some();
        }
        let path = self.needs_path(stat.st_dev).then(|| name.canonicalize().ok()).flatten();
        let home = self.home_of(stat.st_dev, path.as_deref());
        let plain = home.kind == Kind::Local;
        let slowest = plain.then(|| self.slowest(&self.row(&home, None)));
        self.last_asked = Some(Asked { device: stat.st_dev, slowest, counted: false });
        plain
    }
}
