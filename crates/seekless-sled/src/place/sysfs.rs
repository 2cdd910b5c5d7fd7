//! What sysfs says about a block device: its name, its model, and the disk that a partition is part
//! of.

use rustix::fs::{FileType, major, minor};
use seekless_device::Table;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;

/// A block device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    /// The kernel's name and, if known, the model.
    pub(crate) name: String,
    /// The device number of the whole disk: throttles are set on disks.
    pub(crate) disk: (u32, u32),
    /// The queue's `rotational` flag. It is meaningless on virtual disks.
    pub(crate) rotational: bool,
    /// The vendor; empty if unknown.
    vendor: String,
}

/// Prefixes of the kernel's names for virtual disks: virtio, Xen, a file, a network.
const VIRTUAL_NAMES: [&str; 7] = ["vd", "xvd", "loop", "nbd", "rbd", "ublkb", "zram"];
/// Vendors of virtual disks, and the model names that clouds give theirs.
const VIRTUAL_MAKERS: [&str; 8] = [
    "QEMU",
    "VBOX",
    "VMware",
    "Msft",
    "Virtual",
    "Google",
    "Amazon-Elastic-Block-Store",
    "PersistentDisk",
];

impl Device {
    /// The row to assume until the device was measured. Most virtual disks set `queue/rotational`
    /// to 1, even those on flash.
    pub(crate) fn assumed(&self) -> &'static str {
        let named = VIRTUAL_NAMES.iter().any(|prefix| self.name.starts_with(prefix));
        let made = VIRTUAL_MAKERS
            .iter()
            .any(|maker| self.vendor.contains(maker) || self.name.contains(maker));
        if named || made {
            Table::VIRTUAL
        } else if self.rotational {
            Table::DISK
        } else {
            Table::FLASH
        }
    }
}

fn folder(numbers: (u32, u32)) -> PathBuf {
    PathBuf::from(format!("/sys/dev/block/{}:{}", numbers.0, numbers.1))
}

/// Whether a block device has these numbers. Anonymous device numbers (0:N) belong to no block
/// device.
pub(crate) fn exists(numbers: (u32, u32)) -> bool {
    numbers.0 != 0 && folder(numbers).exists()
}

/// The numbers of the block device at a path such as `/dev/sda1`.
pub(crate) fn numbers_of(source: &str) -> Option<(u32, u32)> {
    let found = std::fs::metadata(source).ok().filter(|_| source.starts_with("/dev/"))?;
    let block = FileType::from_raw_mode(found.mode()) == FileType::BlockDevice;
    block.then(|| (major(found.rdev()), minor(found.rdev())))
}

pub(crate) fn look(numbers: (u32, u32)) -> Device {
    let mut folder = folder(numbers).canonicalize().unwrap_or_else(|_| folder(numbers));
    let name = folder.file_name().map_or(String::new(), |name| name.to_string_lossy().into_owned());
    let is_partition = folder.join("partition").exists();
    if is_partition {
        folder.pop();
    }
    let read = |file: &str| std::fs::read_to_string(folder.join(file)).ok();
    let model = read("device/model").or_else(|| read("dm/name")).unwrap_or_default();
    let model = model.split_whitespace().collect::<Vec<_>>().join("-");
    let disk = read("dev").and_then(|text| parse_numbers(text.trim())).unwrap_or(numbers);
    let rotational = read("queue/rotational").is_some_and(|text| text.trim() == "1");
    let name = if model.is_empty() { name } else { format!("{name} {model}") };
    let vendor = read("device/vendor").unwrap_or_default();
    Device { name, disk, rotational, vendor }
}

/// `8:16`.
pub(crate) fn parse_numbers(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_two_with_a_colon() {
        assert_eq!(parse_numbers("254:0"), Some((254, 0)));
        assert_eq!(["", "254", "a:b", ":1"].map(parse_numbers), [None; 4]);
    }

    #[test]
    fn what_is_assumed_of_a_feigned_disk_is_not_what_its_flag_says() {
        let assumed = |name: &str, vendor: &str, rotational| {
            let (name, vendor) = (name.to_owned(), vendor.to_owned());
            Device { name, disk: (0, 0), rotational, vendor }.assumed()
        };
        for (name, vendor) in [
            ("vda", ""),
            ("vdb1", "0x1af4"),
            ("xvda1", ""),
            ("loop0", ""),
            ("nbd3", ""),
            ("sda QEMU-HARDDISK", "QEMU"),
            ("sda PersistentDisk", "Google"),
            ("nvme0n1p1 Amazon-Elastic-Block-Store", ""),
        ] {
            assert_eq!(assumed(name, vendor, true), Table::VIRTUAL, "{name}");
        }
        assert_eq!(assumed("sda ST4000NM", "ATA", true), Table::DISK);
        assert_eq!(assumed("nvme0n1 Samsung-SSD", "", false), Table::FLASH);
        assert_eq!(assumed("dm-0 vg-root", "", true), Table::DISK);
    }

    #[test]
    fn every_device_of_this_machine_has_a_name() {
        let Ok(devices) = std::fs::read_dir("/sys/dev/block") else {
            eprintln!("skipped: no /sys/dev/block here");
            return;
        };
        for device in devices.flatten() {
            let numbers =
                parse_numbers(&device.file_name().to_string_lossy()).expect("two numbers");
            assert!(exists(numbers));
            assert!(!look(numbers).name.is_empty());
        }
        assert!(!exists((0, 21)));
        assert_eq!(numbers_of("/dev/null"), None, "no block device");
    }
}
