//! Moves one file by an exchange of its blocks with those of a donor, and checks it afterwards.

use super::donor::Donor;
use super::find::{Found, Looks, is_written};
use super::sum::{sum, sum_on_device};
use super::{OrReason, Report, order};
use rustix::fs::{Mode, OFlags, fstat};
use rustix::io::Errno;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::exchange::{Blocks, exchange};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A file that was changed in the last so many seconds may change again with the same time.
const SETTLED_S: i64 = 1;

/// A file that was moved.
#[derive(Debug)]
pub(super) struct Moved {
    /// Which.
    pub(super) number: usize,
    /// Where it lies in the donor.
    pub(super) offset: u64,
    pub(super) before: Before,
}

/// What a file was before it was moved.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    looks: Looks,
    sum: (u32, u64),
    /// Whether its time of change would show a change.
    is_settled: bool,
}

/// Moves a file to where the donor lies from an offset on. What fails leaves it where it was.
///
/// # Errors
/// Why it stays, in words.
pub(super) fn move_file(found: &Found, donor: &Donor, offset: u64) -> OrReason<Before> {
    let file = open(&found.path).map_err(why_not)?;
    let looks = Looks::of(&fstat(&file).map_err(|_| "cannot be examined")?);
    if looks != found.looks {
        return Err("changed meanwhile");
    }
    if let Some(why) = is_written(&file) {
        return Err(why);
    }
    let before = Before {
        looks,
        sum: sum(&file).map_err(|_| "cannot be read")?,
        is_settled: is_settled(&looks),
    };
    let writable = reopen(&file).map_err(why_not)?;
    let blocks = Blocks {
        file_first: 0,
        donor_first: offset / found.block_bytes,
        count: found.laid_bytes() / found.block_bytes,
    };
    let (done, result) = exchange(&writable, &donor.file, blocks);
    result.map(|()| before).map_err(|error| {
        // The donor has the old blocks: the file goes back to them.
        let _ = exchange(&writable, &donor.file, Blocks { count: done, ..blocks });
        why_not(error)
    })
}

fn is_settled(looks: &Looks) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    i64::try_from(now).is_ok_and(|now| now - looks.modified.0 > SETTLED_S)
}

fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// Opens the very file for writing too, whatever its name leads to by now.
fn reopen(file: &File) -> io::Result<File> {
    let path = format!("/proc/self/fd/{}", file.as_raw_fd());
    OpenOptions::new().read(true).write(true).open(path)
}

fn why_not(error: io::Error) -> &'static str {
    match Errno::from_io_error(&error) {
        Some(Errno::TXTBSY) => "a program that runs, or swapped to",
        Some(Errno::ACCESS | Errno::PERM) => "not writable by this user",
        Some(Errno::ROFS) => "on a file system that is mounted read-only",
        Some(Errno::NOENT | Errno::NOTDIR) => "no longer there",
        Some(Errno::NOSPC | Errno::DQUOT) => "with no room for its block map",
        Some(Errno::OPNOTSUPP | Errno::NOTTY | Errno::INVAL) => super::find::ELSEWHERE,
        Some(Errno::BUSY) => "busy",
        _ => "refused by the file system",
    }
}

/// Checks a moved file, once it is on the device: its bytes, size, inode and times are as before.
/// Notes where it lies now.
pub(super) fn check(
    found: &mut Found,
    moved: &Moved,
    donor: &Donor,
    report: &mut Report,
) -> Result<()> {
    let before = &moved.before;
    let unreadable = |error| Error::unreadable(&found.path, error);
    let file = match open(&found.path) {
        // It was removed meanwhile, so there is nothing to check.
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            report.leave_out("changed meanwhile", 1);
            return Ok(());
        }
        opened => opened.map_err(unreadable)?,
    };
    let looks = || fstat(&file).map(|stat| Looks::of(&stat)).map_err(io::Error::from);
    let sum = sum_on_device(&file).map_err(unreadable)?;
    let is_same = looks().map_err(unreadable)? == before.looks;
    if is_same && sum != before.sum && before.is_settled {
        return Err(differs(&found.path));
    }
    found.look_again(&file);
    let expected = donor.part(moved.offset, found.laid_bytes());
    match () {
        () if !is_same || sum != before.sum => report.leave_out("changed meanwhile", 1),
        () if !order::lie_alike(&found.extents, &expected) => {
            report.leave_out("moved elsewhere by the file system", 1);
        }
        () => {
            report.moved += 1;
            report.moved_bytes += found.looks.bytes;
        }
    }
    Ok(())
}

fn differs(path: &Path) -> Error {
    let message = format!(
        "{} has other bytes than before it was moved, though nobody wrote it: take it from a \
         backup, and check the device and the memory of this machine",
        path.display()
    );
    Error::new(ErrorKind::Differs, message)
}
