//! Checks that the disk has room for the tree and the packed files, before the first is made.

use super::Args;
use super::trace::Trace;
use anyhow::{Context, ensure};
use seekless::device::units::format_bytes;
use std::path::Path;

/// The packed file in the order of ids, those of the further work, and the pack.
const PACKED_FILES: u64 = 5;
/// A file of the tree takes whole blocks of this size.
const BLOCK_BYTES: u64 = 4096;
/// The inode and name of a file in the tree.
const FILE_BYTES: u64 = 512;

/// Refuses a folder whose file system has too little room.
pub(crate) fn check(folder: &Path, trace: &Trace, args: &Args) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let disk = rustix::fs::statvfs(folder)
        .with_context(|| format!("cannot look at {}", folder.display()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    let needed = needed_bytes(trace.ids.len() as u64, args.file_size as u64);
    ensure!(
        free >= needed,
        "{} has {} free and the tree and packed files take {}: name another folder with --keep, or a smaller --file-size",
        folder.display(),
        format_bytes(free),
        format_bytes(needed)
    );
    Ok(())
}

fn needed_bytes(entries: u64, entry_bytes: u64) -> u64 {
    let loose = entry_bytes.next_multiple_of(BLOCK_BYTES) + FILE_BYTES;
    entries * (loose + PACKED_FILES * entry_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_takes_whole_blocks_and_is_packed_five_times() {
        assert_eq!(needed_bytes(10, 14_336), 10 * (16_384 + 512 + 5 * 14_336));
        assert_eq!(needed_bytes(1, 1), 4096 + 512 + 5);
    }

    #[test]
    fn too_large_a_tree_is_refused_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let args = Args { file_size: 1 << 50, ..Args::test() };
        let error = check(folder.path(), &Trace::small(), &args).unwrap_err().to_string();
        assert!(error.contains("free") && error.contains("--keep"), "{error}");
    }
}
