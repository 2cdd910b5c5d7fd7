//! What came into the page cache of mapped files while the program ran. It stands in for page
//! faults where the kernel refuses them, as in many containers: a file is looked at when it is
//! mapped, while the program is stopped, and again at the end. What was cached before is not seen.

use crate::faults::Askable;
use crate::inspect::LOCAL;
use hashbrown::HashMap;
use rustix::fs::{major, minor};
use seekless_sys::mounts::Mounts;
use seekless_trace::{Access, Op};
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const PAGE_BYTES: u64 = 4096;

/// The mapped files, by device and inode.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    files: HashMap<(u64, u64), Option<Mapped>, foldhash::fast::RandomState>,
    /// By device: whether its files may be opened.
    local: HashMap<u64, bool>,
}

/// A file, and what of it was cached when it was first mapped, in pages.
#[derive(Debug)]
struct Mapped {
    file: Askable,
    before: Vec<Range<u64>>,
    map: Access,
}

/// What is known at the end.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    /// `fault` rows, with the time and the thread of the first mapping of their file.
    pub(crate) rows: Vec<Access>,
    /// Files of which a part was cached before.
    pub(crate) warm: u64,
    /// Files of which nothing is known.
    pub(crate) unreported: u64,
}

impl Arrivals {
    /// Looks at a file that has just been mapped, for the first time if `map` is its first.
    pub(crate) fn mapped(&mut self, name: &[u8], map: Access) {
        let (Some(device), Some(inode), Some(bytes)) = (map.device, map.inode, map.file_bytes)
        else {
            return;
        };
        if self.files.contains_key(&(device, inode)) {
            return;
        }
        let path = Path::new(OsStr::from_bytes(name));
        let file = self.is_local(device).then(|| Askable::local(path, inode));
        let looked = file.and_then(|file| {
            let before = file.cached(&(0..bytes.div_ceil(PAGE_BYTES)))?;
            Some(Mapped { file, before, map })
        });
        self.files.insert((device, inode), looked);
    }

    /// Whether no program serves the files of this device.
    fn is_local(&mut self, device: u64) -> bool {
        *self.local.entry(device).or_insert_with(|| {
            let number = (major(device), minor(device));
            let of_local_kind = |mounts: Mounts| {
                let mount = mounts.of(number, None);
                mount.is_some_and(|mount| LOCAL.contains(&mount.kind.as_str()))
            };
            number.0 != 0 || Mounts::read().is_ok_and(of_local_kind)
        })
    }

    /// Looks again at each file.
    pub(crate) fn finish(self) -> Arrived {
        let mut arrived = Arrived::default();
        for mapped in self.files.into_values() {
            let Some(Mapped { file, before, map }) = mapped else {
                arrived.unreported += 1;
                continue;
            };
            let bytes = map.file_bytes.unwrap_or(0);
            let Some(after) = file.cached(&(0..bytes.div_ceil(PAGE_BYTES))) else {
                arrived.unreported += 1;
                continue;
            };
            arrived.warm += u64::from(!before.is_empty());
            arrived.rows.extend(without(&after, &before).map(|pages| {
                let (start, end) = (pages.start * PAGE_BYTES, bytes.min(pages.end * PAGE_BYTES));
                let offset = i64::try_from(start).unwrap_or(0);
                let bytes = end.saturating_sub(start);
                Access { op: Op::Fault, offset, bytes, latency_ns: None, ..map }
            }));
        }
        arrived
    }
}

/// The parts of `ranges` that are in none of `others`; both are in order.
fn without<'a>(
    ranges: &'a [Range<u64>],
    others: &'a [Range<u64>],
) -> impl Iterator<Item = Range<u64>> + 'a {
    ranges.iter().flat_map(|range| {
        let mut parts = Vec::new();
        let mut start = range.start;
        for other in others.iter().filter(|it| it.end > range.start && it.start < range.end) {
            if other.start > start {
                parts.push(start..other.start);
            }
            start = start.max(other.end);
        }
        if start < range.end {
            parts.push(start..range.end);
        }
        parts
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::fs::{FileExt, MetadataExt};

    #[test]
    fn parts_that_were_there_before_are_left_out() {
        let ranges = |list: &[(u64, u64)]| -> Vec<Range<u64>> {
            list.iter().map(|&(start, end)| start..end).collect()
        };
        let left = |one: &[(u64, u64)], other: &[(u64, u64)]| -> Vec<(u64, u64)> {
            let (one, other) = (ranges(one), ranges(other));
            without(&one, &other).map(|range| (range.start, range.end)).collect()
        };
        assert_eq!(left(&[(0, 10), (20, 30)], &[(3, 5), (8, 22)]), [(0, 3), (5, 8), (22, 30)]);
        assert_eq!(left(&[(0, 10)], &[(0, 10)]), []);
        assert_eq!(left(&[(0, 10)], &[]), [(0, 10)]);
        assert_eq!(left(&[], &[(0, 1)]), []);
    }

    #[test]
    fn what_comes_into_the_cache_after_the_mapping_has_rows() {
        const BYTES: usize = 1 << 20;
        let mut file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&[7; BYTES]).unwrap();
        file.as_file().sync_all().unwrap();
        let fd = file.as_file();
        seekless_sys::residency::drop_cached(fd.as_fd()).unwrap();
        if seekless_sys::residency::resident_bytes(fd.as_fd()).unwrap() != Some(0) {
            return eprintln!(
                "skipped: the file cannot be dropped from the cache, or is not reported"
            );
        }
        let about = fd.metadata().unwrap();
        let map = Access {
            time_ns: 5,
            file_bytes: Some(BYTES as u64),
            device: Some(about.dev()),
            inode: Some(about.ino()),
            ..Access::new(Op::Map, 3)
        };
        let name = file.path().canonicalize().unwrap();
        let mut arrivals = Arrivals::default();
        arrivals.mapped(name.as_os_str().as_bytes(), map);
        fd.read_exact_at(&mut [0; 4096], 512 << 10).unwrap();
        arrivals.mapped(name.as_os_str().as_bytes(), map); // a second mapping changes nothing
        let Arrived { rows, warm, unreported } = arrivals.finish();
        if unreported > 0 {
            return eprintln!("skipped: this file system does not tell what is cached");
        }
        assert_eq!(warm, 0);
        let covers = |row: &Access| {
            (row.offset..row.offset + row.bytes as i64).contains(&(512 << 10))
                && row.op == Op::Fault
                && (row.time_ns, row.file) == (5, 3)
        };
        assert!(rows.iter().any(covers), "{rows:?}");
    }
}
