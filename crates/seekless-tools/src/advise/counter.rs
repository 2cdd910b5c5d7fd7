//! What a block device has served, by the kernel's counter. It counts what other programs read
//! meanwhile, too.

use rustix::fs::{major, minor};
use std::fs;
use std::path::PathBuf;

const SECTOR_BYTES: u64 = 512;

/// Requests to read, and the bytes of these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Served {
    pub(super) requests: u64,
    pub(super) bytes: u64,
}

/// A block device, if it is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Counter {
    stat: Option<PathBuf>,
}

impl Counter {
    /// Of the device with this number.
    pub(super) fn of(device: u64) -> Self {
        let (major, minor) = (major(device), minor(device));
        let stat = PathBuf::from(format!("/sys/dev/block/{major}:{minor}/stat"));
        Self { stat: stat.exists().then_some(stat) }
    }

    /// What it has served since it came; `None` if it is no block device.
    pub(super) fn read(&self) -> Option<Served> {
        served(&fs::read_to_string(self.stat.as_ref()?).ok()?)
    }
}

/// Reads a line of /sys/dev/block/*/stat (Documentation/block/stat.rst).
fn served(line: &str) -> Option<Served> {
    let mut fields = line.split_ascii_whitespace().map(str::parse::<u64>);
    let requests = fields.next()?.ok()?;
    let sectors = fields.nth(1)?.ok()?;
    Some(Served { requests, bytes: sectors.checked_mul(SECTOR_BYTES)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_sectors_of_reads_are_the_first_and_the_third_field() {
        let line = "    1203       17    40000      900       80        2   ...";
        assert_eq!(served(line), Some(Served { requests: 1203, bytes: 20_480_000 }));
        assert_eq!(served("7"), None);
        assert_eq!(Counter::default().read(), None);
    }
}
