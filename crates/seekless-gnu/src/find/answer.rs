//! Answers tests from a file's name, type and attributes alone. The answers do not depend on when
//! or by which thread they are computed.

use super::entry::Entry;
use super::expression::{Glob, Test};
use crate::clib::locale::{c_string, glob_matches};
use rustix::fs::Stat;
use rustix::io::Errno;

/// Answers a test of the name, the type from the folder's list, or the attributes. Returns `None`
/// for all other tests.
///
/// # Errors
/// The file's attributes are needed and cannot be read.
pub(super) fn plainly(test: &Test, entry: &Entry<'_>) -> Result<Option<bool>, Errno> {
    Ok(Some(match test {
        Test::True => true,
        Test::False => false,
        Test::Name(glob) => name_matches(glob, entry),
        Test::Path(glob) => glob_matches(&glob.pattern, entry.path, glob.ignore_case),
        Test::Regex(regex) => regex.matches_all(entry.bytes()),
        Test::Type(kinds) => kinds.contains(&entry.file_type()?),
        Test::Size { unit_bytes, bound } => {
            bound.holds((entry.stat()?.st_size as u64).div_ceil(*unit_bytes))
        }
        Test::Time(stamp, window) => window.holds(stamp.of(entry.stat()?)),
        Test::Newer(stamp, than) => stamp.of(entry.stat()?) > *than,
        Test::Used(used) => used.holds(entry.stat()?),
        Test::Permissions(permissions) => {
            permissions.hold(entry.stat()?.st_mode, entry.is_folder())
        }
        Test::Owner(bound) => bound.holds(entry.stat()?.st_uid.into()),
        Test::Group(bound) => bound.holds(entry.stat()?.st_gid.into()),
        Test::Links(bound) => bound.holds(link_count(entry.stat()?)),
        Test::Inode(bound) => bound.holds(entry.stat()?.st_ino),
        Test::SameFile { device, inode } => {
            let stat = entry.stat()?;
            (stat.st_dev, stat.st_ino) == (*device, *inode)
        }
        _ => return Ok(None),
    }))
}

/// How many names the file has: a number of 64 or 32 bits, by architecture.
#[cfg_attr(target_arch = "x86_64", expect(clippy::useless_conversion, reason = "64 bits there"))]
fn link_count(stat: &Stat) -> u64 {
    stat.st_nlink.into()
}

/// Matches the last component against a pattern. A slash at the end of an argument is ignored,
/// unless it is the whole argument.
fn name_matches(glob: &Glob, entry: &Entry<'_>) -> bool {
    match entry.name() {
        [name @ .., b'/'] if !name.is_empty() => {
            glob_matches(&glob.pattern, &c_string(name), glob.ignore_case)
        }
        b"/" => glob_matches(&glob.pattern, c"/", glob.ignore_case),
        _ => glob_matches(&glob.pattern, entry.rest(), glob.ignore_case),
    }
}
