//! Limits on reading a disk, and counts of what was read: the controller `blkio` of version 1, `io`
//! of version 2.

use super::{Group, Groups, Version};
use std::fs;
use std::io;
use std::path::Path;

const V1_BYTES: &str = "blkio.throttle.read_bps_device";
const V1_REQUESTS: &str = "blkio.throttle.read_iops_device";

/// How fast a disk may be read. `None` is as fast as it can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadLimits {
    /// Bytes a second.
    pub bytes_per_second: Option<u64>,
    /// Requests a second, before neighbours are joined.
    pub requests_per_second: Option<u64>,
}

/// What a group has read of a disk since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadsServed {
    /// Requests, before neighbours are joined.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Groups {
    /// How fast this process may read `disk` (major and minor number of a whole disk): the
    /// narrowest limits of its groups and of those around them.
    #[must_use]
    pub fn read_limits(&self, disk: (u32, u32)) -> ReadLimits {
        let groups = self.version_1("blkio").into_iter().chain(self.version_2());
        groups.flat_map(|group| group.upwards().map(|folder| group.limits_of(folder, disk))).fold(
            ReadLimits::default(),
            |narrowest, limits| ReadLimits {
                bytes_per_second: narrower(narrowest.bytes_per_second, limits.bytes_per_second),
                requests_per_second: narrower(
                    narrowest.requests_per_second,
                    limits.requests_per_second,
                ),
            },
        )
    }
}

fn narrower(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    one.into_iter().chain(other).min()
}

impl Group {
    pub(super) fn limits_of(&self, folder: &Path, disk: (u32, u32)) -> ReadLimits {
        let text = |file: &str| fs::read_to_string(folder.join(file)).unwrap_or_default();
        match self.version {
            Version::One(_) => ReadLimits {
                bytes_per_second: v1_value(&text(V1_BYTES), disk, ""),
                requests_per_second: v1_value(&text(V1_REQUESTS), disk, ""),
            },
            Version::Two => {
                let text = text("io.max");
                ReadLimits {
                    bytes_per_second: v2_value(&text, disk, "rbps"),
                    requests_per_second: v2_value(&text, disk, "riops"),
                }
            }
        }
    }

    /// The files of `folder`, a group of this hierarchy, and what to write into each so that reads
    /// of `disk` are limited.
    #[must_use]
    pub fn limiting(&self, disk: (u32, u32), limits: ReadLimits) -> Vec<(&'static str, String)> {
        let (major, minor) = disk;
        match self.version {
            // In version 1 the number 0 stands for no limit.
            Version::One(_) => {
                [(V1_REQUESTS, limits.requests_per_second), (V1_BYTES, limits.bytes_per_second)]
                    .map(|(file, limit)| (file, format!("{major}:{minor} {}", limit.unwrap_or(0))))
                    .into()
            }
            Version::Two => {
                let word =
                    |limit: Option<u64>| limit.map_or("max".to_owned(), |limit| limit.to_string());
                let (bytes, requests) =
                    (word(limits.bytes_per_second), word(limits.requests_per_second));
                vec![("io.max", format!("{major}:{minor} rbps={bytes} riops={requests}"))]
            }
        }
    }

    /// What the processes of `folder`, a group of this hierarchy, have read of `disk`.
    ///
    /// # Errors
    /// A file of counts cannot be read.
    pub fn served(&self, folder: &Path, disk: (u32, u32)) -> io::Result<ReadsServed> {
        let text = |file: &str| {
            let path = folder.join(file);
            fs::read_to_string(&path).map_err(|error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            })
        };
        Ok(match self.version {
            Version::One(_) => ReadsServed {
                requests: v1_value(&text("blkio.throttle.io_serviced")?, disk, "Read ")
                    .unwrap_or(0),
                bytes: v1_value(&text("blkio.throttle.io_service_bytes")?, disk, "Read ")
                    .unwrap_or(0),
            },
            Version::Two => {
                let text = text("io.stat")?;
                ReadsServed {
                    requests: v2_value(&text, disk, "rios").unwrap_or(0),
                    bytes: v2_value(&text, disk, "rbytes").unwrap_or(0),
                }
            }
        })
    }
}

/// The number in the lines `8:16 200000000` or, with `word`, `8:16 Read 4497`.
fn v1_value(text: &str, disk: (u32, u32), word: &str) -> Option<u64> {
    of_disk(text, disk).find_map(|rest| rest.strip_prefix(word)?.trim().parse().ok())
}

/// A number in the line `8:16 rbps=200000000 wbps=max riops=max wiops=max`; `None` for `max`.
fn v2_value(text: &str, disk: (u32, u32), name: &str) -> Option<u64> {
    let words = of_disk(text, disk).flat_map(str::split_whitespace);
    words.filter_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok()).next()
}

/// What follows the disk's numbers in its lines.
fn of_disk(text: &str, disk: (u32, u32)) -> impl Iterator<Item = &str> {
    text.lines().filter_map(move |line| {
        let (device, rest) = line.split_once(' ')?;
        let (major, minor) = device.split_once(':')?;
        (major.parse() == Ok(disk.0) && minor.parse() == Ok(disk.1)).then_some(rest)
    })
}
