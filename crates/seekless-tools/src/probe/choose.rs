//! Which files to read: the one named, or the largest below a folder, all on one device.

use crate::{Error, ErrorKind, Result};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// Files to read of a folder.
const FILES_MAX: usize = 16;
/// Smaller ones have no room for reads of several sizes.
const BYTES_MIN: u64 = 1 << 20;
/// A folder is not searched further than this.
const ENTRIES_MAX: usize = 200_000;
const SEARCH_MAX: Duration = Duration::from_secs(2);
/// What was written later may still be on its way to the device, and reading it past the cache
/// would push it there.
const SETTLED: Duration = Duration::from_secs(60);

/// Refuses what has no device that could be measured: a pipe, a terminal, a device without places.
pub(super) fn check(path: &Path) -> Result<fs::Metadata> {
    let failed =
        |error| Error::because(ErrorKind::Io, format!("cannot examine {}", path.display()), error);
    let about = fs::metadata(path).map_err(failed)?;
    if about.is_file() || about.is_dir() || about.file_type().is_block_device() {
        return Ok(about);
    }
    let why = format!(
        "{} is no file, folder or block device, and cannot be measured: name a large file on the \
         device",
        path.display()
    );
    Err(Error::new(ErrorKind::Invalid, why))
}

/// The file or block device named; of a folder the largest, settled files below it.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    let about = check(path)?;
    if !about.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let found = largest(path, about.dev());
    if found.is_empty() {
        let why = format!(
            "nothing below {} is larger than 1 MiB and older than a minute: name a large file on the device",
            path.display()
        );
        return Err(Error::new(ErrorKind::Missing, why));
    }
    Ok(found)
}

/// The largest files on that device, largest first. What cannot be looked into is left out.
fn largest(path: &Path, device: u64) -> Vec<PathBuf> {
    let (started, now) = (Instant::now(), SystemTime::now());
    let mut kept: BinaryHeap<Reverse<(u64, PathBuf)>> = BinaryHeap::new();
    let mut folders = vec![path.to_owned()];
    let mut entries = 0;
    while let Some(folder) = folders.pop() {
        let Ok(listing) = fs::read_dir(&folder) else { continue };
        for entry in listing.flatten() {
            entries += 1;
            if entries > ENTRIES_MAX || started.elapsed() > SEARCH_MAX {
                folders.clear();
                break;
            }
            // Not of what a link points to: that may be elsewhere.
            let Ok(about) = entry.metadata() else { continue };
            if about.dev() != device {
                continue;
            }
            if about.is_dir() {
                folders.push(entry.path());
            } else if is_wanted(&about, now) {
                kept.push(Reverse((about.blocks() * 512, entry.path())));
                if kept.len() > FILES_MAX {
                    kept.pop();
                }
            }
        }
    }
    kept.into_sorted_vec()
        .into_iter()
        .map(|Reverse((_, path))| path)
        .filter(|path| fs::File::open(path).is_ok())
        .collect()
}

fn is_wanted(about: &fs::Metadata, now: SystemTime) -> bool {
    let settled =
        about.modified().is_ok_and(|when| now.duration_since(when).is_ok_and(|age| age >= SETTLED));
    about.is_file() && about.blocks() * 512 >= BYTES_MIN && settled
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::Write;

    #[test]
    fn the_largest_settled_files_come_first_and_holes_do_not_count() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).expect("a folder");
        fs::create_dir(folder.path().join("deep")).expect("made");
        let old = SystemTime::now() - Duration::from_secs(3600);
        let make = |name: &str, mib: usize, when: SystemTime| {
            let mut file = File::create(folder.path().join(name)).expect("made");
            file.write_all(&vec![1; mib << 20]).expect("room");
            file.sync_all().expect("synced");
            file.set_modified(when).expect("set");
        };
        make("small", 0, old);
        make("two", 2, old);
        make("deep/three", 3, old);
        make("fresh", 4, SystemTime::now());
        let hole = File::create(folder.path().join("hole")).expect("made");
        hole.set_len(1 << 30).expect("sparse");
        hole.set_modified(old).expect("set");
        std::os::unix::fs::symlink("two", folder.path().join("link")).expect("made");
        let names: Vec<_> = files(folder.path()).expect("found");
        assert_eq!(names, [folder.path().join("deep/three"), folder.path().join("two")]);
        assert_eq!(
            files(&folder.path().join("fresh")).expect("named"),
            [folder.path().join("fresh")]
        );
        assert!(files(Path::new("/dev/null")).is_err());
    }
}
