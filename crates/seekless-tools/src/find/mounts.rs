//! The type of the file system that a device number belongs to.

use std::collections::HashMap;

/// Types by device number, from /proc/self/mountinfo.
#[derive(Debug, Default)]
pub(super) struct Mounts {
    types: Option<HashMap<u64, String>>,
}

impl Mounts {
    /// The type of the file system that has this `st_dev`, as mount(8) names it.
    pub(super) fn type_of(&mut self, device: u64) -> &str {
        let types = self.types.get_or_insert_with(read);
        types.get(&device).map_or("unknown", String::as_str)
    }
}

fn read() -> HashMap<u64, String> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

/// A line: `36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw`.
fn parse(line: &str) -> Option<(u64, String)> {
    let (before, after) = line.split_once(" - ")?;
    let (major, minor) = before.split(' ').nth(2)?.split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    Some((device, after.split(' ').next()?.to_owned()))
}
