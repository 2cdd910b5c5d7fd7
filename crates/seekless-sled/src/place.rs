//! Where a file lies: its mount, the device below it, and the key of that device in the device
//! table.

mod sysfs;

use rustix::fs::{major, minor};
use seekless_device::Table;
use seekless_device::units::format_rate;
use seekless_sys::cgroup::{Groups, ReadLimits};
use seekless_sys::mounts::Mounts;
use std::path::Path;

/// A file system and what delivers its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    /// What delivers its bytes.
    pub kind: Kind,
    /// The key of its row in the device table: device, model, file system, and the control group's
    /// throttle.
    pub key: String,
    /// The type of the file system; empty if no mount with this device number is known.
    pub file_system: String,
    /// The kernel's name of the device or share.
    pub source: String,
    /// The row to assume as long as the table has no row of that key.
    pub assumed: &'static str,
}

/// What delivers the bytes of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Memory itself: tmpfs and the like.
    Memory,
    /// A device of this machine.
    Local,
    /// Another machine, or a program (FUSE) whose source of data is unknown.
    Network,
}

const IN_MEMORY: [&str; 5] = ["tmpfs", "ramfs", "devtmpfs", "hugetlbfs", "rootfs"];
const OVER_NETWORK: [&str; 18] = [
    "nfs",
    "nfs4",
    "cifs",
    "smb3",
    "smbfs",
    "9p",
    "virtiofs",
    "ceph",
    "afs",
    "coda",
    "glusterfs",
    "lustre",
    "gpfs",
    "beegfs",
    "pvfs2",
    "orangefs",
    "fuse",
    "ncpfs",
];

impl Kind {
    fn of(file_system: &str) -> Kind {
        if IN_MEMORY.contains(&file_system) {
            Kind::Memory
        } else if OVER_NETWORK.contains(&file_system) || file_system.starts_with("fuse.") {
            Kind::Network
        } else {
            Kind::Local
        }
    }
}

impl Home {
    /// The home of files with this `st_dev`. The path, absolute, identifies the mount where the
    /// number is not a device's (btrfs).
    pub(crate) fn of(device: u64, path: Option<&Path>, mounts: &Mounts) -> Home {
        let numbers = (major(device), minor(device));
        let mount = mounts.of(numbers, path);
        let file_system = mount.map_or(String::new(), |mount| mount.kind.clone());
        let source = mount.map_or(String::new(), |mount| mount.source.clone());
        match Kind::of(&file_system) {
            Kind::Memory => {
                let key = Table::MEMORY.to_owned();
                Home { kind: Kind::Memory, key, file_system, source, assumed: Table::MEMORY }
            }
            Kind::Network => {
                let key = format!("{source} {file_system}");
                Home { kind: Kind::Network, key, file_system, source, assumed: Table::NETWORK }
            }
            Kind::Local => local(numbers, file_system, source),
        }
    }

    /// Whether its cost can be measured for the device table.
    #[must_use]
    pub fn is_device(&self) -> bool {
        self.kind != Kind::Memory
    }
}

/// A home on a device of this machine. An anonymous device number is replaced by that of the device
/// which the mount names.
fn local(numbers: (u32, u32), file_system: String, source: String) -> Home {
    let numbers = sysfs::exists(numbers).then_some(numbers).or_else(|| sysfs::numbers_of(&source));
    let Some(numbers) = numbers else {
        let key = format!("{source} {file_system}").trim().to_owned();
        return Home { kind: Kind::Local, key, file_system, source, assumed: Table::VIRTUAL };
    };
    let device = sysfs::look(numbers);
    let mut key =
        format!("{}:{} {} {file_system}", numbers.0, numbers.1, device.name).trim_end().to_owned();
    if let Ok(groups) = Groups::of_this_process() {
        key += &throttled(groups.read_limits(device.disk));
    }
    let assumed = device.assumed();
    Home { kind: Kind::Local, key, file_system, source, assumed }
}

/// What a key says of limits: ` at 200MB/s`, ` at 500/s`, ` at 200MB/s 500/s`, or nothing.
fn throttled(limits: ReadLimits) -> String {
    let requests = limits.requests_per_second.map(|requests| format!("{requests}/s"));
    let words: Vec<String> =
        limits.bytes_per_second.map(format_rate).into_iter().chain(requests).collect();
    if words.is_empty() { String::new() } else { format!(" at {}", words.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_part_of_the_key() {
        let key = |bytes_per_second, requests_per_second| {
            throttled(ReadLimits { bytes_per_second, requests_per_second })
        };
        assert_eq!(key(Some(200_000_000), Some(500)), " at 200MB/s 500/s");
        assert_eq!(key(Some(1_000_000), None), " at 1MB/s");
        assert_eq!(key(None, None), "");
    }

    #[test]
    fn the_kind_of_a_file_system_says_who_delivers() {
        let kinds = ["ext4", "tmpfs", "nfs4", "fuse.sshfs", "fuseblk", "btrfs", ""].map(Kind::of);
        use Kind::{Local, Memory, Network};
        assert_eq!(kinds, [Local, Memory, Network, Network, Local, Local, Local]);
    }

    #[test]
    fn this_crate_lies_somewhere_and_its_home_keeps_its_name() {
        use std::os::unix::fs::MetadataExt;
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let device = folder.metadata().expect("it is there").dev();
        let mounts = Mounts::read().expect("a Linux system");
        let home = Home::of(device, Some(folder), &mounts);
        assert!(!home.key.is_empty());
        assert_eq!(home, Home::of(device, Some(folder), &mounts));
    }

    #[test]
    fn an_anonymous_device_of_nothing_known_is_a_local_one_of_unknown_cost() {
        let mounts = Mounts::parse("40 27 0:77 / /layered rw - overlay overlay rw,lowerdir=/a\n");
        let home = Home::of(rustix::fs::makedev(0, 77), None, &mounts);
        assert_eq!((home.kind, home.key.as_str()), (Kind::Local, "overlay overlay"));
        let home = Home::of(rustix::fs::makedev(0, 78), None, &mounts);
        assert_eq!((home.kind, home.file_system.as_str()), (Kind::Local, ""));
    }
}
