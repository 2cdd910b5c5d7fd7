//! Copies of stores that a recording changes, and the bytes that a store takes on its device.

use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const BLOCK_BYTES: u64 = 512;

/// Copies a file, or a folder with all that is in it, to `to`. What was there is removed.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    remove(to)?;
    copied(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}

/// Removes a file, or a folder with all that is in it, if it exists.
pub(super) fn remove(path: &Path) -> Result<()> {
    let removed = match path.is_dir() {
        true => fs::remove_dir_all(path),
        false if path.exists() => fs::remove_file(path),
        false => Ok(()),
    };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}

/// The bytes that a file, or the files of a folder, take on the device.
pub(super) fn bytes_on_device(path: &Path) -> Result<u64> {
    let failed = || format!("cannot look at {}", path.display());
    if !path.is_dir() {
        return Ok(fs::metadata(path).with_context(failed)?.blocks() * BLOCK_BYTES);
    }
    fs::read_dir(path).with_context(failed)?.map(|entry| bytes_on_device(&entry?.path())).sum()
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    if !from.is_dir() {
        fs::copy(from, to)?;
        return Ok(());
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copied(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}
