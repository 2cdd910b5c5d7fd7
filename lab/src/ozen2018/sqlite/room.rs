//! Makes the folder for the database and the recordings, if the disk has room for them.

use super::Setting;
use anyhow::{Context, Result, ensure};
use seekless::device::units::format_bytes;
use std::path::Path;

/// The size of the database for each row. A row takes 58 bytes, and the hash table has some free
/// space.
const BYTES_PER_ROW: u64 = 100;
/// The size of a recording and its spool, which may lie on the same disk: four to five calls at 110
/// bytes, and as many again where pages are written.
const BYTES_PER_STATEMENT: u64 = 900;

/// Makes a temporary folder in `parent`, or in the system's.
pub(super) fn make(parent: Option<&Path>, setting: &Setting) -> Result<tempfile::TempDir> {
    let system = std::env::temp_dir();
    let parent = parent.unwrap_or(&system);
    let free =
        free_bytes(parent).with_context(|| format!("cannot look at {}", parent.display()))?;
    let needed = setting.rows * BYTES_PER_ROW + setting.statements * BYTES_PER_STATEMENT;
    ensure!(
        free >= needed,
        "{} has {} free and this needs up to {}: name another folder with --dir, or fewer --rows and --statements",
        parent.display(),
        format_bytes(free),
        format_bytes(needed)
    );
    let folder = tempfile::Builder::new().prefix("seekless-ozen2018-").tempdir_in(parent);
    folder.with_context(|| format!("cannot make a folder in {}", parent.display()))
}

fn free_bytes(folder: &Path) -> std::io::Result<u64> {
    let disk = rustix::fs::statvfs(folder)?;
    Ok(disk.f_bavail.saturating_mul(disk.f_frsize))
}
