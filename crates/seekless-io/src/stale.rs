//! Whether a pack is older than the files that it was made of.

use crate::{Result, Store};
use seekless_pack::PREDICTION;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

impl Store {
    /// The files of the first archive that `folder`, from which it was packed, has no longer as
    /// they were packed, by size and time; in archive order. Files that are new in the folder are
    /// not told. Looks at each file, but reads none.
    ///
    /// # Errors
    /// [`Open`](crate::ErrorKind::Open) if there is no such folder.
    pub fn changed_since(&self, folder: impl AsRef<Path>) -> Result<Vec<String>> {
        let folder = folder.as_ref();
        std::fs::read_dir(folder).map_err(|error| crate::Error::open_folder(folder, error))?;
        let index = self.index();
        let mut changed = Vec::new();
        for (entry, number) in index.entries().zip(0..) {
            let name = index.name(number);
            if name == PREDICTION {
                continue;
            }
            let found = std::fs::metadata(folder.join(name));
            if !found.is_ok_and(|found| entry.looks_like(found.len(), found.mtime())) {
                changed.push(name.to_owned());
            }
        }
        Ok(changed)
    }
}
