//! The type of the file system that a device number belongs to.

use rustix::fs::{major, minor};
use std::collections::HashMap;

/// Types by device number, each looked up once.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    all: Option<seekless_sled::Mounts>,
    types: HashMap<u64, String>,
}

impl Mounts {
    /// The type of the file system that has this `st_dev`, as mount(8) names it.
    pub(super) fn type_of(&mut self, device: u64) -> &str {
        let all = &mut self.all;
        self.types.entry(device).or_insert_with(|| {
            let all = all.get_or_insert_with(|| seekless_sled::Mounts::read().unwrap_or_default());
            let mount = all.of((major(device), minor(device)), None);
            mount.map_or_else(|| "unknown".to_owned(), |mount| mount.kind.clone())
        })
    }
}
