//! Whether a pack is older than the files that it was made of.

use crate::{Result, Store};
use seekless_pack::{Entry, FileTime, Likeness, PREDICTION};
use std::fs::{File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Store {
    /// The files of the first archive that `folder`, from which it was packed, has no longer as
    /// they were packed, by size and time; in archive order. Files that are new in the folder are
    /// not named. Looks at each file, and reads those whose size and time do not prove that they
    /// are the same ([`Likeness::Unproven`]). A file that cannot be read counts as changed.
    ///
    /// # Errors
    /// [`Open`](crate::ErrorKind::Open) if there is no such folder.
    pub fn changed_since(&self, folder: impl AsRef<Path>) -> Result<Vec<String>> {
        let folder = folder.as_ref();
        std::fs::read_dir(folder).map_err(|error| crate::Error::open_folder(folder, error))?;
        let index = self.index();
        let packed = std::fs::metadata(self.path()).ok().map(|found| time_of(&found));
        let mut changed = Vec::new();
        for (entry, number) in index.entries().zip(0..) {
            let name = index.name(number);
            if name == PREDICTION || entry.is_dir() {
                continue;
            }
            if !is_as_packed(&folder.join(name), &entry, packed) {
                changed.push(name.to_owned());
            }
        }
        Ok(changed)
    }
}

fn time_of(found: &Metadata) -> FileTime {
    FileTime::new(found.mtime(), found.mtime_nsec())
}

fn is_as_packed(path: &Path, entry: &Entry, packed: Option<FileTime>) -> bool {
    let Ok(found) = std::fs::metadata(path) else { return false };
    match entry.likeness(found.len(), time_of(&found), packed) {
        Likeness::Same => true,
        Likeness::Changed => false,
        Likeness::Unproven => {
            found.is_file()
                && File::open(path).and_then(|file| entry.holds(file)).is_ok_and(|holds| holds)
        }
    }
}
