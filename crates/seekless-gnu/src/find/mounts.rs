//! The types of file systems, by device number.

use rustix::fs::{major, minor};
use seekless_sys::mounts;
use std::collections::HashMap;

/// File system types by device number; each is looked up once.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    all: Option<mounts::Mounts>,
    types: HashMap<u64, String>,
}

impl Mounts {
    /// The type of the file system with this `st_dev`, as mount(8) names it.
    pub(super) fn type_of(&mut self, device: u64) -> &str {
        let all = &mut self.all;
        self.types.entry(device).or_insert_with(|| {
            let all = all.get_or_insert_with(|| mounts::Mounts::read().unwrap_or_default());
            let mount = all.of((major(device), minor(device)), None);
            mount.map_or_else(|| "unknown".to_owned(), |mount| mount.kind.clone())
        })
    }
}

/// Whether a file system of this type is mounted. Returns `true` if the mounts cannot be read.
pub(super) fn is_mounted(kind: &[u8]) -> bool {
    let Ok(mounts) = mounts::Mounts::read() else { return true };
    kind == b"afs" || mounts.iter().any(|mount| mount.kind.as_bytes() == kind)
}
