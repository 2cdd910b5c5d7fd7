//! The temporary folder of a lab. It goes at the end, and when the user presses Ctrl-C.

use anyhow::Context;
use seekless_terminal::{interrupt, shown};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Calls `work` with a new folder in `parent`, and removes it. `name` is the lab's. No other thread
/// may have been started: it would end the lab on Ctrl-C before the folder is removed.
///
/// # Errors
/// Those of `work`, or the folder cannot be made or removed.
pub(crate) fn within<T>(
    parent: &Path,
    name: &str,
    work: impl FnOnce(&Path) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    std::fs::create_dir_all(parent).with_context(|| format!("cannot make {}", parent.display()))?;
    // Signals wait before there is anything to remove.
    let made = Arc::new(OnceLock::<PathBuf>::new());
    let known = Arc::clone(&made);
    let removal = interrupt::clean_when_interrupted(move || {
        let Some(path) = known.get() else { return };
        // Some hold 60,000 files, which take a while.
        eprintln!("removing {}", shown(path));
        take_away(path);
    })?;
    let folder = tempfile::Builder::new().prefix(&format!("seekless-{name}.")).tempdir_in(parent);
    let folder = folder.with_context(|| format!("cannot make a folder in {}", parent.display()))?;
    made.get_or_init(|| folder.path().to_owned());
    let worked = removal.unless_begun(work(folder.path()));
    folder.close().context("cannot remove the temporary folder")?;
    worked
}

/// Removes the folder while work may still go on in it. A file takes its place first: the work
/// would make folders anew as fast as they are removed.
fn take_away(folder: &Path) {
    let mut aside = folder.as_os_str().to_owned();
    aside.push(".removed");
    let aside = PathBuf::from(aside);
    if std::fs::rename(folder, &aside).is_ok() && File::create_new(folder).is_ok() {
        interrupt::remove(&aside);
        let _ = std::fs::remove_file(folder);
    } else {
        interrupt::remove(&aside);
        interrupt::remove(folder);
    }
}
