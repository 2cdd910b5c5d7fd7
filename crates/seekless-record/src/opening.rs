//! An open that was notified: its thread went on, and what came of it is found out later.

use crate::descriptions::Moment;
use crate::inspect::{self, Found};
use rustix::fs::FileType;
use rustix::io::Errno;

/// What the thread is about to open.
#[derive(Clone, Debug)]
pub(crate) struct Opening {
    pub(crate) at: Moment,
    /// The absolute name, as the program passed it.
    pub(crate) name: Vec<u8>,
    pub(crate) flags: i32,
}

/// What came of it, as far as a look at the name shows.
#[derive(Debug)]
pub(crate) enum Outcome {
    /// There is such a file.
    Opened(Found),
    /// It failed with this error number.
    Failed(i32),
    /// Only the file system could say, and it is not asked.
    Unknown,
    /// Its absolute name is longer than the kernel takes, so it cannot be looked up.
    TooLong,
}

/// Whether flags of an open allow reads only.
pub(crate) fn is_read_only(flags: i32) -> bool {
    flags & (libc::O_ACCMODE | libc::O_PATH) == libc::O_RDONLY
}

impl Opening {
    pub(crate) fn appends(&self) -> bool {
        self.flags & libc::O_APPEND != 0
    }

    /// Looks at the name, after the call.
    pub(crate) fn outcome(&self) -> Outcome {
        if self.name.len() >= libc::PATH_MAX as usize {
            return Outcome::TooLong;
        }
        let found = match inspect::named(&self.name, self.flags & libc::O_NOFOLLOW != 0) {
            Ok(found) => found,
            Err(Errno::AGAIN | Errno::NOSYS | Errno::PERM) => return Outcome::Unknown,
            Err(error) => return Outcome::Failed(error.raw_os_error()),
        };
        let wants_directory = self.flags & libc::O_DIRECTORY != 0;
        let writes = self.flags & libc::O_ACCMODE != libc::O_RDONLY;
        let is_path_only = self.flags & libc::O_PATH != 0;
        match found.kind {
            FileType::Symlink if !is_path_only => Outcome::Failed(libc::ELOOP),
            FileType::Directory if writes => Outcome::Failed(libc::EISDIR),
            FileType::Directory => Outcome::Opened(found),
            _ if wants_directory => Outcome::Failed(libc::ENOTDIR),
            _ if !is_path_only && !found.is_permitted(self.flags) => Outcome::Failed(libc::EACCES),
            _ => Outcome::Opened(found),
        }
    }
}
