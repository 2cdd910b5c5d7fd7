//! Makes the folder for the database and the recordings, if the disk has room for them.

use super::Setting;
use anyhow::{Context, Result, ensure};
use seekless::device::units::format_bytes;
use std::path::{Path, PathBuf};

/// The size of SQLite's database for each row, which takes 58 bytes.
pub(super) const BYTES_PER_ROW: u64 = 100;
/// The same for the largest of the other stores, redb with half of each page free, and a copy.
pub(super) const BYTES_PER_ROW_FURTHER: u64 = 300;
/// The size of a recording and its spool, which may lie on the same disk: four to five calls at 110
/// bytes, and as many again where pages are written.
const BYTES_PER_STATEMENT: u64 = 900;

/// Checks that `parent`, or the system's temporary folder, has room, and returns it.
pub(super) fn found(
    parent: Option<&Path>,
    setting: &Setting,
    bytes_per_row: u64,
) -> Result<PathBuf> {
    let parent = parent.map_or_else(std::env::temp_dir, Path::to_path_buf);
    let free =
        free_bytes(&parent).with_context(|| format!("cannot look at {}", parent.display()))?;
    let needed = setting.rows * bytes_per_row + setting.statements * BYTES_PER_STATEMENT;
    ensure!(
        free >= needed,
        "{} has {} free and this needs up to {}: name another folder with --dir, or fewer --rows and --statements",
        parent.display(),
        format_bytes(free),
        format_bytes(needed)
    );
    Ok(parent)
}

fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
