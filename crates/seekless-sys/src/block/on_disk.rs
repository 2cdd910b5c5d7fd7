//! On which disk a block device is, and where on the disk it begins. The kernel's block layer
//! counts sectors from the start of the whole disk.

use super::SECTOR_BYTES;
use std::fs;
use std::path::{Path, PathBuf};

/// Devices may lie on others (device mapper, md), but not in circles; this bounds a walk down.
const DEPTH_MAX: u32 = 16;

/// Where a disk, or a partition of one, lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OnDisk {
    /// The kernel's name of the whole disk, such as `sda` for `/dev/sda1`.
    pub disk: String,
    /// The device number of the whole disk.
    pub number: (u32, u32),
    /// Where this device begins on the disk, in bytes; 0 unless it is a partition.
    pub start: u64,
    /// The disks at the bottom, which do the I/O: the disk itself, unless it is made of others.
    pub bottom: Vec<(u32, u32)>,
}

impl OnDisk {
    /// The device with this number; `None` if no block device has it, as those of tmpfs, overlay,
    /// btrfs and network file systems (major number 0).
    #[must_use]
    pub fn find(number: (u32, u32)) -> Option<Self> {
        let place = place(number)?;
        let is_partition = place.join("partition").exists();
        let start = if is_partition { number_in(&place.join("start"))? * SECTOR_BYTES } else { 0 };
        let whole = if is_partition { place.parent()?.to_owned() } else { place };
        let number = numbers(&fs::read_to_string(whole.join("dev")).ok()?)?;
        let mut bottom = Vec::new();
        add_bottom(&whole, number, &mut bottom, 0);
        bottom.sort_unstable();
        bottom.dedup();
        let disk = whole.file_name()?.to_string_lossy().into_owned();
        Some(Self { disk, number, start, bottom })
    }
}

/// The device's folder in sysfs.
fn place(number: (u32, u32)) -> Option<PathBuf> {
    if number.0 == 0 {
        return None;
    }
    fs::canonicalize(format!("/sys/dev/block/{}:{}", number.0, number.1)).ok()
}

/// Adds the disks under the device at `place` that are not made of others.
fn add_bottom(place: &Path, number: (u32, u32), found: &mut Vec<(u32, u32)>, depth: u32) {
    let slaves = fs::read_dir(place.join("slaves")).into_iter().flatten().flatten();
    let slaves: Vec<PathBuf> =
        slaves.filter_map(|slave| fs::canonicalize(slave.path()).ok()).collect();
    if slaves.is_empty() || depth == DEPTH_MAX {
        found.push(number);
    }
    for slave in slaves.iter().filter(|_| depth < DEPTH_MAX) {
        let whole = if slave.join("partition").exists() { slave.parent() } else { Some(&**slave) };
        let Some(whole) = whole else { continue };
        let number = fs::read_to_string(whole.join("dev")).ok().and_then(|text| numbers(&text));
        if let Some(number) = number {
            add_bottom(whole, number, found, depth + 1);
        }
    }
}

fn number_in(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// `8:16`.
fn numbers(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.trim().split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_device_of_this_machine_is_on_a_disk() {
        let Ok(devices) = fs::read_dir("/sys/dev/block") else {
            eprintln!("skipped: no /sys/dev/block here");
            return;
        };
        for device in devices.flatten() {
            let number = numbers(&device.file_name().to_string_lossy()).expect("two numbers");
            let found = OnDisk::find(number).expect("a device");
            assert!(!found.bottom.is_empty(), "{found:?}");
            if found.number == number {
                assert_eq!(found.start, 0, "{found:?}");
            }
        }
        assert_eq!(OnDisk::find((0, 21)), None);
    }
}
