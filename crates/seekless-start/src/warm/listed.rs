//! The files below folders that a list names, as vmtouch takes them. Links are not followed, so
//! that a walk stays in its folder and ends.

use super::{Options, interrupted};
use seekless_job::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// Some hundred megabytes of names.
const FILES_MAX: u64 = 1_000_000;

/// What was found in all listed folders.
#[derive(Debug, Default)]
pub(super) struct Listed {
    /// Names so far.
    names: u64,
    /// What is no file to bring in, by reason.
    pub(super) left_out: BTreeMap<&'static str, u64>,
}

impl Listed {
    /// Calls `add` with each regular file below a folder, by name. Folders are passed
    /// over in which nothing may be brought in.
    ///
    /// # Errors
    /// There are too many files, or the caller asked to stop. What cannot be read is counted.
    pub(super) fn walk(
        &mut self,
        folder: &Path,
        options: &Options,
        add: &mut dyn FnMut(&Path, &Metadata),
    ) -> Result<()> {
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            if !may_hold(&options.within, &folder) {
                continue;
            }
            let names = self.names(&folder, options)?;
            let mut folders = Vec::new();
            for path in names {
                match path.symlink_metadata() {
                    Ok(found) if found.is_dir() => folders.push(path),
                    Ok(found) if found.is_file() => add(&path, &found),
                    Ok(found) if found.is_symlink() => self.leave_out("a link in a listed folder"),
                    Ok(_) => self.leave_out("not a regular file"),
                    Err(_) => self.leave_out("no longer there"),
                }
            }
            waiting.extend(folders.into_iter().rev());
        }
        Ok(())
    }

    /// What lies in a folder, sorted.
    fn names(&mut self, folder: &Path, options: &Options) -> Result<Vec<PathBuf>> {
        let mut names = Vec::new();
        let Ok(entries) = std::fs::read_dir(folder) else {
            self.leave_out("a folder that cannot be read");
            return Ok(names);
        };
        for entry in entries.map_while(std::io::Result::ok) {
            if options.cancel.load(Ordering::Relaxed) {
                return Err(interrupted());
            }
            self.names += 1;
            if self.names > FILES_MAX {
                return Err(too_many(folder));
            }
            names.push(entry.path());
        }
        names.sort_unstable();
        Ok(names)
    }

    fn leave_out(&mut self, why: &'static str) {
        *self.left_out.entry(why).or_default() += 1;
    }
}

/// Whether a folder is, holds, or lies below one of the folders given, or none are.
fn may_hold(within: &[PathBuf], folder: &Path) -> bool {
    let meets = |root: &PathBuf| folder.starts_with(root) || root.starts_with(folder);
    within.is_empty() || within.iter().any(meets)
}

fn too_many(folder: &Path) -> Error {
    let message = format!(
        "the listed folders hold over {FILES_MAX} files, the last in {}: list fewer folders",
        folder.display()
    );
    Error::new(ErrorKind::Invalid, message)
}
