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

/// Whether a file system of this type is mounted, as far as can be told.
pub(super) fn is_mounted(kind: &[u8]) -> bool {
    let Ok(mounts) = std::fs::read("/proc/self/mountinfo") else { return true };
    // The type follows the dash that ends the optional fields (proc_pid_mountinfo(5)).
    let kinds = mounts.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut fields = line.split(|&byte| byte == b' ').skip_while(|field| *field != b"-");
        fields.nth(1)
    });
    kind == b"afs" || kinds.into_iter().any(|mounted| mounted == kind)
}
