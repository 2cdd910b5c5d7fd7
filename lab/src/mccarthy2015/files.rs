//! His generator of files: the tree `h/t/o/k.txt`, where hto are the digits of k modulo 250, and
//! the packed file that holds the same entries one after another. As in his files the entries are
//! nulls, except for the id in the first eight bytes. With the id each way of reading can show that
//! it read the right entry.

use anyhow::Context;
use seekless::policy::eviction::Id;
use seekless::sys::residency::write_back_file_system;
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};

/// Bytes that hold the id.
pub(crate) const ID_BYTES: usize = 8;

/// The tree.
pub(crate) struct Tree {
    /// The file of each entry.
    pub(crate) paths: Vec<PathBuf>,
}

impl Tree {
    /// Makes the files below `folder`.
    pub(crate) fn make(
        folder: &Path,
        ids: &[u64],
        modulus: u64,
        bytes: usize,
    ) -> anyhow::Result<Self> {
        let paths: Vec<PathBuf> = ids.iter().map(|&id| folder.join(place(id, modulus))).collect();
        // All folders first: if a file made its own, it would bring back what Ctrl-C removes.
        let folders: BTreeSet<&Path> = paths.iter().filter_map(|path| path.parent()).collect();
        for folder in folders {
            fs::create_dir_all(folder)
                .with_context(|| format!("cannot make {}", folder.display()))?;
        }
        for (path, &id) in paths.iter().zip(ids) {
            fs::write(path, entry(id, bytes))
                .with_context(|| format!("cannot make {}", path.display()))?;
        }
        flush(folder)?;
        Ok(Self { paths })
    }
}

/// The packed file.
pub(crate) struct Packed {
    pub(crate) path: PathBuf,
    /// The place of each entry, counted in entries.
    pub(crate) slots: Vec<Id>,
    pub(crate) entry_bytes: usize,
}

impl Packed {
    /// Makes the file with the entries in this order.
    pub(crate) fn make(
        path: PathBuf,
        ids: &[u64],
        order: &[Id],
        entry_bytes: usize,
    ) -> anyhow::Result<Self> {
        let write = || {
            let mut file = BufWriter::with_capacity(1 << 20, File::create(&path)?);
            order.iter().try_for_each(|&number| {
                file.write_all(&entry(ids[number as usize], entry_bytes))
            })?;
            file.into_inner()?.sync_all()
        };
        write().with_context(|| format!("cannot make {}", path.display()))?;
        let mut slots = vec![0; ids.len()];
        order.iter().zip(0..).for_each(|(&number, slot)| slots[number as usize] = slot);
        Ok(Self { path, slots, entry_bytes })
    }

    pub(crate) fn open(&self) -> anyhow::Result<File> {
        File::open(&self.path).with_context(|| format!("cannot open {}", self.path.display()))
    }
}

/// `1/1/1/361.txt` for 361 and modulus 250.
fn place(id: u64, modulus: u64) -> String {
    let digits = id % modulus;
    format!("{}/{}/{}/{id}.txt", digits / 100, digits / 10 % 10, digits % 10)
}

/// The content of an entry.
pub(super) fn entry(id: u64, bytes: usize) -> Vec<u8> {
    let mut entry = vec![0; bytes];
    entry[..ID_BYTES].copy_from_slice(&id.to_le_bytes());
    entry
}

/// Writes the files to the device, since dirty files cannot be made cold.
fn flush(folder: &Path) -> anyhow::Result<()> {
    let flushed = File::open(folder).and_then(|folder| write_back_file_system(folder.as_fd()));
    flushed.with_context(|| format!("cannot write back {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tree_is_his() {
        assert_eq!(place(361, 250), "1/1/1/361.txt");
        assert_eq!(place(51, 250), "0/5/1/51.txt");
        assert_eq!(place(161_811, 250), "0/6/1/161811.txt");
    }
}
