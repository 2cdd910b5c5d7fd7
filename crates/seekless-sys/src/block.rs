//! Block devices as /sys describes them: what they have served, and who uses them.

mod loops;
mod on_disk;
mod stack;

pub(crate) use loops::Store;
pub use on_disk::OnDisk;
pub(crate) use stack::Stack;

use rustix::fs::{major, makedev, minor};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A block device: a disk or a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockDevice {
    folder: PathBuf,
}

/// What a device has served since the system started: the fields of Linux's block/stat that all
/// versions have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Reads that have ended.
    pub reads: u64,
    /// Reads that were merged with others before they reached the device.
    pub reads_merged: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Time that reads took together.
    pub read_ns: u64,
    /// Writes that have ended.
    pub writes: u64,
    /// Writes that were merged with others.
    pub writes_merged: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time that writes took together.
    pub write_ns: u64,
    /// Time in which it had anything to do.
    pub busy_ns: u64,
}

/// /sys counts sectors of this size, whatever the device has.
const SECTOR_BYTES: u64 = 512;
const MILLISECOND_NS: u64 = 1_000_000;

impl Served {
    /// What was served after `before`.
    #[must_use]
    pub fn since(&self, before: &Served) -> Served {
        Served {
            reads: self.reads.wrapping_sub(before.reads),
            reads_merged: self.reads_merged.wrapping_sub(before.reads_merged),
            read_bytes: self.read_bytes.wrapping_sub(before.read_bytes),
            read_ns: self.read_ns.wrapping_sub(before.read_ns),
            writes: self.writes.wrapping_sub(before.writes),
            writes_merged: self.writes_merged.wrapping_sub(before.writes_merged),
            write_bytes: self.write_bytes.wrapping_sub(before.write_bytes),
            write_ns: self.write_ns.wrapping_sub(before.write_ns),
            busy_ns: self.busy_ns.wrapping_sub(before.busy_ns),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let numbers: Vec<u64> =
            text.split_ascii_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[
            reads,
            reads_merged,
            read,
            read_ms,
            writes,
            writes_merged,
            write,
            write_ms,
            _,
            busy_ms,
            ..,
        ] = numbers.as_slice()
        else {
            return None;
        };
        Some(Served {
            reads,
            reads_merged,
            read_bytes: read.wrapping_mul(SECTOR_BYTES),
            read_ns: read_ms.wrapping_mul(MILLISECOND_NS),
            writes,
            writes_merged,
            write_bytes: write.wrapping_mul(SECTOR_BYTES),
            write_ns: write_ms.wrapping_mul(MILLISECOND_NS),
            busy_ns: busy_ms.wrapping_mul(MILLISECOND_NS),
        })
    }
}

impl BlockDevice {
    /// The device of this number, as `stat` gives it: `st_dev` of a file on it, or `st_rdev` of its
    /// node. `None` if no block device has it (tmpfs, overlay, btrfs, network).
    #[must_use]
    pub fn numbered(number: u64) -> Option<Self> {
        let link = format!("/sys/dev/block/{}:{}", major(number), minor(number));
        Some(BlockDevice { folder: fs::canonicalize(link).ok()? })
    }

    /// Its name, such as `vda1`.
    #[must_use]
    pub fn name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// The disk that a partition is on; a disk itself.
    #[must_use]
    pub fn whole(&self) -> Self {
        let parent = self.folder.parent().filter(|_| self.folder.join("partition").exists());
        BlockDevice { folder: parent.unwrap_or(&self.folder).to_owned() }
    }

    /// Its number.
    ///
    /// # Errors
    /// /sys does not say.
    pub fn number(&self) -> io::Result<u64> {
        let text = fs::read_to_string(self.folder.join("dev"))?;
        let numbers = text.trim().split_once(':');
        let number =
            numbers.and_then(|(one, two)| Some(makedev(one.parse().ok()?, two.parse().ok()?)));
        number.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// What it has served.
    ///
    /// # Errors
    /// /sys does not say.
    pub fn served(&self) -> io::Result<Served> {
        let text = fs::read_to_string(self.folder.join("stat"))?;
        Served::parse(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// The files and devices that the system swaps to.
pub(crate) fn swaps() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/swaps").unwrap_or_default();
    let names = text.lines().skip(1).filter_map(|line| line.split(' ').next());
    names.map(|name| Path::new(&crate::escape::unescaped(name)).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_stand_in_the_kernels_order() {
        let text = "  10 1 160 7 20 2 320 9 0 12 16 0 0 0 0 3 4\n";
        let served = Served::parse(text).unwrap();
        assert_eq!((served.reads, served.reads_merged, served.read_bytes), (10, 1, 81_920));
        assert_eq!((served.writes, served.write_bytes, served.busy_ns), (20, 163_840, 12_000_000));
        let later = Served::parse("11 1 168 8 20 2 320 9 0 13 17").unwrap().since(&served);
        assert_eq!((later.reads, later.read_bytes, later.writes), (1, 4096, 0));
        assert_eq!(Served::parse("1 2 3"), None);
    }

    #[test]
    fn a_disk_knows_itself() {
        let Some(entry) = fs::read_dir("/sys/block").ok().and_then(|mut all| all.next()) else {
            eprintln!("skipped: no /sys/block");
            return;
        };
        let folder = fs::canonicalize(entry.unwrap().path()).unwrap();
        let disk = BlockDevice { folder };
        let found = BlockDevice::numbered(disk.number().unwrap()).unwrap();
        assert_eq!((&found, found.whole(), found.name()), (&disk, disk.clone(), disk.name()));
        disk.served().unwrap();
    }

    #[test]
    fn what_is_no_device_has_none() {
        assert_eq!(BlockDevice::numbered(makedev(0, 987)), None);
    }
}
