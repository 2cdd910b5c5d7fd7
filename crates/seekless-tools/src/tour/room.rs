//! Finds a folder for the tour: on a real disk with enough space. A real disk has O_DIRECT, and a
//! page cache that can be emptied.

use super::options::Options;
use super::sample;
use seekless_device::units::format_bytes;
use seekless_job::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Bytes that the full tour needs: the tree, the pack in three orders, the traces, and a reserve.
const FULL_BYTES: u64 = 500_000_000;
/// The file system type of a tmpfs, whose files lie in memory (linux/magic.h).
const TMPFS: u64 = 0x0102_1994;

/// The folder for the tour's temporary folder: the first of `$TMPDIR` (or `/tmp`) and `/var/tmp`
/// that lies on a real disk with enough space.
///
/// # Errors
/// No folder has enough space; the message names each and what it lacks.
pub fn room_for(options: &Options) -> Result<PathBuf> {
    let wanted: Vec<PathBuf> = match std::env::var_os("TMPDIR") {
        Some(directory) if !directory.is_empty() => vec![directory.into(), "/var/tmp".into()],
        _ => vec!["/tmp".into(), "/var/tmp".into()],
    };
    first_with_room(&wanted, needed_bytes(options))
}

fn needed_bytes(options: &Options) -> u64 {
    FULL_BYTES * options.files as u64 / sample::FULL_FILES as u64
}

/// The first folder on a disk, else the first in memory. In memory the trials are not really cold.
fn first_with_room(directories: &[PathBuf], bytes: u64) -> Result<PathBuf> {
    let mut lacks = Vec::new();
    let mut in_memory = None;
    for directory in directories {
        match look(directory) {
            Ok((free, _)) if free < bytes => {
                lacks.push(format!("{} has {} free", directory.display(), format_bytes(free)));
            }
            Ok((_, false)) => return Ok(directory.clone()),
            Ok((_, true)) => in_memory = in_memory.or(Some(directory.clone())),
            Err(error) => lacks.push(format!("{}: {error}", directory.display())),
        }
    }
    in_memory.ok_or_else(|| {
        let message = format!(
            "the tour needs {} of room, but {}: give a roomy folder with --keep DIR or TMPDIR=DIR",
            format_bytes(bytes),
            lacks.join(" and ")
        );
        Error::new(ErrorKind::Missing, message)
    })
}

/// Free bytes, and whether the folder lies in memory.
fn look(directory: &Path) -> std::io::Result<(u64, bool)> {
    let statistics = rustix::fs::statvfs(directory)?;
    let kind = rustix::fs::statfs(directory)?.f_type;
    Ok((statistics.f_bavail.saturating_mul(statistics.f_frsize), kind as u64 == TMPFS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_room_is_taken() {
        let here = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(first_with_room(&["/nowhere/at/all".into(), here.clone()], 1).unwrap(), here);
    }

    #[test]
    fn no_room_is_an_error_that_says_what_each_lacks() {
        let error =
            first_with_room(&["/tmp".into(), "/nowhere/at/all".into()], u64::MAX).unwrap_err();
        let message = error.to_string();
        assert!(message.contains("/tmp has") && message.contains("/nowhere/at/all:"), "{message}");
    }
}
