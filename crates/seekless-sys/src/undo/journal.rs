//! The steps on disk, for the run that finds them after a process and its guardian were killed.
//!
//! A file `undo-XXXXXX` in the state folder. Its first line is the kernel's boot id: after a
//! restart there is nothing left to put back. Then comes a line for each step. Its fields stand
//! between tabs, and odd bytes in them are written as `\ooo`. The file is locked as long as the
//! process that wrote it, or its guardian, lives.

use super::step::{Kind, Step, failure, take_all};
use crate::escape::{escaped, unescaped};
use crate::home;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::ffi::{CString, OsStr};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const PREFIX: &str = "undo-";
/// A longer file is no journal.
const BYTES_MAX: u64 = 1 << 20;

/// A journal that is written and locked.
#[derive(Debug)]
pub(super) struct Journal {
    path: CString,
    lock: File,
}

impl Journal {
    /// Writes the steps into a new journal.
    pub(super) fn write(steps: &[Step]) -> io::Result<Self> {
        let folder = folder()?;
        fs::create_dir_all(&folder).map_err(|error| unwritable(&folder, error))?;
        Self::write_in(&folder, steps).map_err(|error| unwritable(&folder, error))
    }

    pub(super) fn write_in(folder: &Path, steps: &[Step]) -> io::Result<Self> {
        // Under another name until it is locked, so that no other run takes it for a leftover.
        let mut draft = tempfile::Builder::new().prefix(".undo-").tempfile_in(folder)?;
        flock(draft.as_file(), FlockOperation::NonBlockingLockExclusive)?;
        draft.write_all(format(steps, &boot_id()).as_bytes())?;
        let name = draft
            .path()
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .replace(".undo-", PREFIX);
        let path = folder.join(name);
        let c_path = CString::new(path.as_os_str().as_bytes())?;
        let lock = draft.persist(&path).map_err(|error| error.error)?;
        Ok(Journal { path: c_path, lock })
    }

    /// Takes the steps, and removes the file if none failed; else the number and error of the first
    /// that did. Allocates nothing and takes no lock.
    pub(super) fn followed(&self, steps: &[Step]) -> Result<(), (usize, Errno)> {
        take_all(steps).inspect(|()| self.remove())
    }

    fn remove(&self) {
        let _ = rustix::fs::unlink(self.path.as_c_str());
    }
}

impl AsRawFd for Journal {
    fn as_raw_fd(&self) -> RawFd {
        self.lock.as_raw_fd()
    }
}

/// What a run that was killed had left changed.
#[derive(Debug)]
pub struct Leftover {
    /// What puts it back, in words: `write 32 to /sys/fs/ext4/sda1/inode_readahead_blks`.
    pub steps: Vec<String>,
    /// Why it could not all be put back; the journal stays then, and the next run tries again.
    pub failed: Option<io::Error>,
}

/// Puts back what runs that were killed have left changed, and says what that was. What a run that
/// is still alive has changed is left alone.
#[must_use]
pub fn leftovers() -> Vec<Leftover> {
    folder().map_or_else(|_| Vec::new(), |folder| leftovers_in(&folder))
}

pub(super) fn leftovers_in(folder: &Path) -> Vec<Leftover> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_journal = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.as_bytes().starts_with(PREFIX.as_bytes()))
    };
    let mut journals: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(is_journal).collect();
    journals.sort_unstable();
    journals.iter().filter_map(|path| leftover(path)).collect()
}

/// `None` where nothing is left to put back.
fn leftover(path: &Path) -> Option<Leftover> {
    let lost = |error| {
        let what = format!("cannot read the journal {}: {error}; remove it", path.display());
        Some(Leftover { steps: Vec::new(), failed: Some(io::Error::other(what)) })
    };
    let mut file = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        Err(error) => return lost(error),
    };
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    if file.metadata().is_ok_and(|found| found.nlink() == 0) {
        return None; // another run has just put it back
    }
    let mut text = String::new();
    if let Err(error) = (&mut file).take(BYTES_MAX).read_to_string(&mut text) {
        return lost(error);
    }
    let Some((boot, steps)) = parse(&text) else {
        return lost(io::Error::new(io::ErrorKind::InvalidData, "it is not understood"));
    };
    let journal = Journal { path: CString::new(path.as_os_str().as_bytes()).ok()?, lock: file };
    if boot != boot_id() {
        journal.remove();
        return None;
    }
    let failed =
        journal.followed(&steps).err().map(|(number, error)| failure(&steps[number], error));
    Some(Leftover { steps: steps.iter().map(Step::to_string).collect(), failed })
}

fn folder() -> io::Result<PathBuf> {
    home::state().ok_or_else(|| {
        let why =
            "there is no place to write down what will be changed: set HOME or XDG_STATE_HOME";
        io::Error::new(io::ErrorKind::NotFound, why)
    })
}

fn unwritable(folder: &Path, error: io::Error) -> io::Error {
    let what = format!(
        "cannot write down in {} what will be changed, so that it could be put back after a crash: {error}; set \
         XDG_STATE_HOME to a folder that can be written",
        folder.display()
    );
    io::Error::new(error.kind(), what)
}

fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}

fn format(steps: &[Step], boot_id: &str) -> String {
    let mut text = format!("{boot_id}\n");
    for step in steps {
        let field = |bytes: &[u8]| escaped(OsStr::from_bytes(bytes));
        text += &match &step.0 {
            Kind::Write { text, path } => {
                format!("write\t{}\t{}\n", field(text), field(path.as_bytes()))
            }
            Kind::RemoveFolder(path) => format!("remove-folder\t{}\n", field(path.as_bytes())),
            Kind::Unmount(path) => format!("unmount\t{}\n", field(path.as_bytes())),
        };
    }
    text
}

/// The boot id, and the steps.
fn parse(text: &str) -> Option<(&str, Vec<Step>)> {
    let (boot, lines) = text.split_once('\n')?;
    let steps = lines.lines().map(parse_step).collect::<Option<Vec<_>>>()?;
    Some((boot, steps))
}

fn parse_step(line: &str) -> Option<Step> {
    let bytes = |field: &str| unescaped(field).into_vec();
    let path = |field: &str| CString::new(bytes(field)).ok();
    let kind = match *line.split('\t').collect::<Vec<_>>() {
        ["write", text, at] => Kind::Write { text: bytes(text), path: path(at)? },
        ["remove-folder", at] => Kind::RemoveFolder(path(at)?),
        ["unmount", at] => Kind::Unmount(path(at)?),
        _ => return None,
    };
    Some(Step(kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_read_as_they_were_written() {
        let odd = "/a\tb\nc\\d é";
        let steps = vec![
            Step::write("254:0 rbps=max riops=max", odd).unwrap(),
            Step::remove_folder(odd).unwrap(),
            Step::unmount(OsStr::from_bytes(b"/\xFF")).unwrap(),
        ];
        assert_eq!(parse(&format(&steps, "boot")), Some(("boot", steps)));
        assert_eq!(parse("boot\nremove-folder\n"), None);
        assert_eq!(parse("boot\nreformat\t/\n"), None);
        assert_eq!(parse(""), None);
    }
}
