//! Where the copy is made, and how it gets its place.

use super::tree::Tree;
use crate::layout::{Options, find};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use seekless_job::{Error, ErrorKind, Result};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::{Builder, TempDir};

/// An empty folder beside the place, which is removed with all it holds unless it is published.
pub(super) fn begin(place: &Path, options: &Options) -> Result<TempDir> {
    if options.to.is_some() && place.symlink_metadata().is_ok() {
        let message = format!("{} is there already: name a new folder", place.display());
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parent = place.parent().unwrap_or(Path::new("/"));
    let made = Builder::new().prefix(&format!(".{name}.layout-")).tempdir_in(parent);
    made.map_err(|error| {
        let message = format!("no copy can be made in {}", parent.display());
        Error::because(ErrorKind::Io, message, error)
    })
}

/// Gives the copy its place. If it replaces the folder, that is removed once nothing of it has
/// changed since it was read. The trees are those of the folder and of the copy.
pub(super) fn publish(
    copy: TempDir,
    [tree, copied]: [&Tree; 2],
    place: &Path,
    options: &Options,
) -> Result<()> {
    let flags = match options.to {
        Some(_) => RenameFlags::NOREPLACE,
        None => {
            is_unchanged(tree, place)?; // most changes are seen before anybody sees the copy
            RenameFlags::EXCHANGE
        }
    };
    renameat_with(CWD, copy.path(), CWD, place, flags).map_err(|error| {
        let message = format!("{} cannot get its copy", place.display());
        Error::because(ErrorKind::Io, message, io::Error::from(error))
    })?;
    if options.to.is_some() {
        let _ = copy.keep(); // it has no name there any more
        return sync_parent(place);
    }
    // From here on the old folder would be removed with `copy`.
    let checked = sync_parent(place).and_then(|()| is_unchanged(tree, copy.path()));
    if let Err(error) = checked {
        back(copy, copied, place)?;
        return Err(error);
    }
    let old = copy.path().to_owned();
    copy.close().map_err(|error| {
        let message =
            format!("{} is replaced; remove the old one, {}", place.display(), old.display());
        Error::because(ErrorKind::Io, message, error)
    })
}

/// Whether the old folder, which lies at `old` by now, is as it was when its copy was made.
fn is_unchanged(tree: &Tree, old: &Path) -> Result<()> {
    // An interruption comes too late here.
    let now = Tree::read(old, &Options::default())?;
    let is_written = |path: PathBuf| {
        let file = File::open(path).ok();
        file.and_then(|file| find::is_written(&file)) == Some("open for writing")
    };
    let files = || now.entries.iter().filter(|entry| entry.kind().is_file());
    if now.is_as(tree) && !files().any(|entry| is_written(now.path(&entry.below))) {
        return Ok(());
    }
    let message = format!(
        "{} was changed while it was copied, or is open for writing: it stays as it was",
        tree.folder.display()
    );
    Err(Error::new(ErrorKind::Differs, message))
}

/// Gives the old folder its place again, and removes the copy, unless somebody wrote to that while
/// it had the place.
fn back(copy: TempDir, copied: &Tree, place: &Path) -> Result<()> {
    let exchanged = renameat_with(CWD, copy.path(), CWD, place, RenameFlags::EXCHANGE);
    if exchanged.is_ok()
        && Tree::read(copy.path(), &Options::default()).is_ok_and(|now| now.is_as(copied))
    {
        return sync_parent(place);
    }
    let kept = copy.keep();
    let message = format!(
        "{} was changed while it was copied, and so was its copy: compare it with {}, and remove \
         that one",
        place.display(),
        kept.display()
    );
    Err(Error::new(ErrorKind::Differs, message))
}

fn sync_parent(place: &Path) -> Result<()> {
    let parent = place.parent().unwrap_or(Path::new("/"));
    let synced = File::open(parent).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Error::unreadable(parent, error))
}
