//! What stands on what: partitions on disks, loop devices on devices, LVM, encryption and RAID on
//! the devices that hold their data, as /sys/class/block describes it.

use super::loops::{self, Store};
use rustix::fs::makedev;
use std::fs;
use std::io;
use std::path::Path;

/// All block devices, as they are now.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stack {
    devices: Vec<Device>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Device {
    name: String,
    number: u64,
    /// Of a partition, the name of its disk.
    disk: Option<String>,
    /// The devices that hold it: LVM, encryption, a RAID.
    holders: Vec<String>,
    /// What a loop device stores its data in.
    store: Option<Store>,
}

/// A device that stands on another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Standing {
    /// How it stands there: `part of dm-0`.
    pub(crate) words: String,
    name: String,
}

impl Stack {
    /// Reads the devices as they are now.
    ///
    /// # Errors
    /// /sys cannot be read.
    pub(crate) fn read() -> io::Result<Self> {
        Self::read_from(Path::new("/sys/class/block"), &loops::store)
    }

    /// Reads a folder like /sys/class/block. `store` says what a loop device stores its data in, by
    /// its name and its folder.
    fn read_from(folder: &Path, store: &dyn Fn(&str, &Path) -> Option<Store>) -> io::Result<Self> {
        let mut devices = Vec::new();
        for entry in fs::read_dir(folder)? {
            // A device that goes away meanwhile is none.
            let Ok(place) = fs::canonicalize(entry?.path()) else { continue };
            devices.extend(device(&place, store));
        }
        Ok(Self { devices })
    }

    /// The device of this number, its partitions, and the disk that it is a part of: a program that
    /// uses one of these uses bytes of the others.
    pub(crate) fn relatives(&self, number: u64) -> Vec<u64> {
        let Some(own) = self.devices.iter().find(|device| device.number == number) else {
            return vec![number];
        };
        let is_part = |device: &&Device| device.disk.as_deref() == Some(own.name.as_str());
        let parts = self.devices.iter().filter(is_part).map(|device| device.number);
        let disk = own.disk.as_ref().and_then(|disk| self.named(disk)).map(|disk| disk.number);
        std::iter::once(number).chain(parts).chain(disk).collect()
    }

    /// The devices that stand directly on one of these.
    pub(crate) fn on(&self, numbers: &[u64]) -> Vec<Standing> {
        let own = || self.devices.iter().filter(|device| numbers.contains(&device.number));
        let held = own()
            .flat_map(|device| &device.holders)
            .map(|name| Standing { words: format!("part of {name}"), name: name.clone() });
        let is_stored = |device: &&Device| match device.store {
            Some(Store::Device(number)) => numbers.contains(&number),
            _ => false,
        };
        let stored = self.devices.iter().filter(is_stored).map(Device::as_loop);
        held.chain(stored).filter(|it| !own().any(|device| device.name == it.name)).collect()
    }

    /// The first loop device that stores its data in this file.
    pub(crate) fn on_file(&self, file: Store) -> Option<Standing> {
        self.devices.iter().find(|device| device.store == Some(file)).map(Device::as_loop)
    }

    /// All numbers of what stands on `standing`, and of itself.
    pub(crate) fn above(&self, standing: &Standing) -> Vec<u64> {
        let mut numbers: Vec<u64> = Vec::new();
        let mut next = vec![standing.clone()];
        while let Some(one) = next.pop() {
            let Some(device) = self.named(&one.name) else { continue };
            if numbers.contains(&device.number) {
                continue;
            }
            let relatives = self.relatives(device.number);
            next.extend(self.on(&relatives));
            numbers.extend(relatives);
        }
        numbers
    }

    /// What one of these devices stores its data in, if it is a loop device; and what else stands
    /// there.
    pub(crate) fn below(&self, numbers: &[u64]) -> Option<(Store, Vec<Standing>)> {
        let own = || self.devices.iter().filter(|device| numbers.contains(&device.number));
        let store = own().find_map(|device| device.store)?;
        let mut others = match store {
            Store::Device(number) => self.on(&self.relatives(number)),
            Store::File { .. } => {
                let same = self.devices.iter().filter(|device| device.store == Some(store));
                same.map(Device::as_loop).collect()
            }
        };
        others.retain(|other| !own().any(|device| device.name == other.name));
        Some((store, others))
    }

    /// The name of the device of this number.
    pub(crate) fn name(&self, number: u64) -> Option<&str> {
        let found = self.devices.iter().find(|device| device.number == number)?;
        Some(&found.name)
    }

    fn named(&self, name: &str) -> Option<&Device> {
        self.devices.iter().find(|device| device.name == name)
    }
}

impl Device {
    fn as_loop(&self) -> Standing {
        let words = format!("the store of the loop device {}", self.name);
        Standing { words, name: self.name.clone() }
    }
}

fn device(folder: &Path, store: &dyn Fn(&str, &Path) -> Option<Store>) -> Option<Device> {
    let name = last_name(folder)?;
    let text = fs::read_to_string(folder.join("dev")).ok()?;
    let (major, minor) = text.trim().split_once(':')?;
    let number = makedev(major.parse().ok()?, minor.parse().ok()?);
    let disk = folder.join("partition").exists().then(|| last_name(folder.parent()?)).flatten();
    let holders = fs::read_dir(folder.join("holders")).into_iter().flatten().flatten();
    let holders = holders.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let store = folder.join("loop").exists().then(|| store(&name, folder)).flatten();
    Some(Device { name, number, disk, holders, store })
}

fn last_name(path: &Path) -> Option<String> {
    Some(path.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// Makes a folder like /sys/class/block. A path is a disk, or a disk and its partition.
    fn made(devices: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("class")).unwrap();
        for (path, number) in devices {
            let folder = root.path().join(path);
            fs::create_dir_all(folder.join("holders")).unwrap();
            fs::write(folder.join("dev"), format!("{number}\n")).unwrap();
            if path.contains('/') {
                fs::write(folder.join("partition"), "1\n").unwrap();
            }
            let name = folder.file_name().unwrap();
            symlink(&folder, root.path().join("class").join(name)).unwrap();
        }
        root
    }

    fn read(root: &Path, stores: &[(&str, Store)]) -> Stack {
        for (name, _) in stores {
            fs::create_dir(root.join(name).join("loop")).unwrap();
        }
        let store = |name: &str, _: &Path| {
            stores.iter().find(|(other, _)| *other == name).map(|(_, store)| *store)
        };
        Stack::read_from(&root.join("class"), &store).unwrap()
    }

    fn words(found: Vec<Standing>) -> Vec<String> {
        found.into_iter().map(|one| one.words).collect()
    }

    fn sorted(mut numbers: Vec<u64>) -> Vec<u64> {
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    #[test]
    fn partitions_holders_and_loops_stand_on_a_disk() {
        let devices = [
            ("sda", "8:0"),
            ("sda/sda1", "8:1"),
            ("sda/sda2", "8:2"),
            ("dm-0", "253:0"),
            ("loop0", "7:0"),
            ("loop0/loop0p1", "259:0"),
            ("loop1", "7:1"),
        ];
        let root = made(&devices);
        fs::write(root.path().join("sda/sda2/holders/dm-0"), "").unwrap();
        let stores =
            [("loop0", Store::Device(makedev(253, 0))), ("loop1", Store::Device(makedev(8, 1)))];
        let stack = read(root.path(), &stores);
        let disk = sorted(stack.relatives(makedev(8, 0)));
        assert_eq!(disk, sorted(vec![makedev(8, 0), makedev(8, 1), makedev(8, 2)]));
        // A partition's sibling is no relative of it.
        let part = stack.relatives(makedev(8, 1));
        assert_eq!(part, [makedev(8, 1), makedev(8, 0)]);
        let standing = stack.on(&disk);
        let of_loop = "the store of the loop device loop1";
        assert_eq!(words(standing.clone()), ["part of dm-0", of_loop]);
        assert_eq!(words(stack.on(&part)), [of_loop]);
        // A loop device on the holder, and its partition.
        let above = [makedev(253, 0), makedev(7, 0), makedev(259, 0)];
        assert_eq!(sorted(stack.above(&standing[0])), sorted(above.to_vec()));
        assert_eq!(stack.above(&standing[1]), [makedev(7, 1)]);
    }

    #[test]
    fn a_loop_device_shares_what_it_stores_its_data_in() {
        let root = made(&[("loop0", "7:0"), ("loop1", "7:1"), ("loop2", "7:2"), ("loop3", "7:3")]);
        let file = Store::File { device: 5, inode: 9 };
        let on_first = Store::Device(makedev(7, 0));
        let stores = [("loop0", file), ("loop1", on_first), ("loop2", on_first)];
        let stack = read(root.path(), &stores);
        assert_eq!(stack.on_file(file).unwrap().words, "the store of the loop device loop0");
        assert_eq!(stack.on_file(Store::File { device: 5, inode: 8 }), None);
        let (store, others) = stack.below(&[makedev(7, 1)]).unwrap();
        assert_eq!(
            (store, words(others)),
            (on_first, words(stack.on(&[makedev(7, 0)])[1..].into()))
        );
        assert_eq!(stack.below(&[makedev(7, 0)]), Some((file, vec![])));
        assert_eq!(stack.below(&[makedev(7, 3)]), None);
    }

    #[test]
    fn devices_that_stand_on_each_other_end() {
        let root = made(&[("dm-0", "253:0"), ("dm-1", "253:1")]);
        fs::write(root.path().join("dm-0/holders/dm-1"), "").unwrap();
        fs::write(root.path().join("dm-1/holders/dm-0"), "").unwrap();
        let stack = read(root.path(), &[]);
        let standing = stack.on(&[makedev(253, 0)]);
        assert_eq!(sorted(stack.above(&standing[0])), [makedev(253, 0), makedev(253, 1)]);
    }
}
