//! `seekless cool`: drops files from the page cache, so that anybody can try a cold start.

use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::{Coldness, Dropping, make_cold};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// What was dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cooled {
    /// The files, and what is left of them.
    pub coldness: Coldness,
    /// Files and folders that were left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
}

/// Drops the files, and those below the folders, of `paths`. Links are not followed. Nothing is
/// written, but for what programs had written to these files and the device does not have yet.
///
/// # Errors
/// One of `paths` is not there, a file cannot be examined, or `cancel` is set.
pub fn cool(paths: &[PathBuf], everything: bool, cancel: &AtomicBool) -> Result<Cooled> {
    let mut walk = Walk { files: Vec::new(), left_out: BTreeMap::new(), cancel };
    for path in paths {
        let found = fs::metadata(path).map_err(|error| Error::unreadable(path, error))?;
        match found.is_dir() {
            true => walk.folder(path)?,
            false => walk.file(path),
        }
    }
    let dropping = if everything { Dropping::Machine } else { Dropping::Files };
    let coldness = make_cold(&walk.files, dropping).map_err(|error| {
        Error::because(ErrorKind::Measure, "the files cannot be dropped", error)
    })?;
    Ok(Cooled { coldness, left_out: walk.left_out })
}

struct Walk<'a> {
    files: Vec<PathBuf>,
    left_out: BTreeMap<&'static str, u64>,
    cancel: &'a AtomicBool,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) -> Result<()> {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Error::new(ErrorKind::Interrupted, "stopped: nothing was dropped"));
            }
            let Ok(entries) = fs::read_dir(&folder) else {
                self.leave_out("a folder that cannot be listed");
                continue;
            };
            for entry in entries.flatten() {
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                    Ok(kind) if kind.is_file() => self.file(&entry.path()),
                    _ => self.leave_out("no regular file"),
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path) {
        match openable(path) {
            Ok(true) => self.files.push(path.to_owned()),
            Ok(false) => self.leave_out("no regular file"),
            Err(_) => self.leave_out("cannot be opened"),
        }
    }

    fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }
}

/// Whether it is a regular file. A pipe is not opened, which would wait for its writer.
fn openable(path: &Path) -> io::Result<bool> {
    if !fs::metadata(path)?.is_file() {
        return Ok(false);
    }
    File::open(path).map(|_| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sys::residency::resident_bytes;
    use std::os::fd::AsFd;

    #[test]
    fn files_below_a_folder_are_dropped_and_keep_what_was_written() {
        let folder = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let below = folder.path().join("a/b");
        fs::create_dir_all(&below).unwrap();
        let path = below.join("file");
        fs::write(&path, vec![7; 100_000]).unwrap();
        std::os::unix::fs::symlink(&path, below.join("link")).unwrap();
        let paths = [folder.path().to_owned()];
        let cooled = cool(&paths, false, &AtomicBool::new(false)).unwrap();
        assert_eq!(cooled.coldness.files, 1);
        assert_eq!(cooled.left_out, [("no regular file", 1)].into());
        let left = resident_bytes(File::open(&path).unwrap().as_fd()).unwrap();
        assert!(left.is_none_or(|bytes| bytes == cooled.coldness.resident_bytes_after_drop));
        assert_eq!(fs::read(&path).unwrap(), vec![7; 100_000]);
    }

    #[test]
    fn what_is_not_there_is_an_error_that_names_it() {
        let error = cool(&["/not/there".into()], false, &AtomicBool::new(false)).unwrap_err();
        assert!(error.to_string().contains("/not/there"), "{error}");
    }
}
