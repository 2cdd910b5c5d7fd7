//! A bounded hold on cached ranges, so that a SLED stays true until its range has been read.
//!
//! The paper's SLEDs describe an instant. It names "a lock or reservation mechanism" as a way to
//! lengthen their life (Van Meter and Gao 2000, section 3.4). Here that is a mapping, locked as far
//! as RLIMIT_MEMLOCK allows. A locked page is not pushed out. A page that is only mapped is not
//! dropped by advice, and gets a second chance.

use crate::cached::is_cached;
use seekless_sys::guarded::GuardedMap;
use seekless_sys::memory::page_bytes;
use std::fs::File;
use std::ops::Range;

/// The most windows held: each is a mapping.
const WINDOWS_MAX: usize = 16;

/// Ranges of a file that are held in memory until this value is dropped.
#[derive(Debug, Default)]
pub struct Hold {
    windows: Vec<Window>,
    ranges: Vec<Range<u64>>,
    bytes: u64,
    locked_bytes: u64,
}

#[derive(Debug)]
struct Window {
    _map: GuardedMap,
    is_locked: bool,
}

impl Hold {
    /// Holds cached `ranges`, which ascend, up to `bytes_max`. The last come first: they are read
    /// last and are at risk for longest. A range that is not cached whole is not held, because a
    /// hold must not move data.
    #[must_use]
    pub fn on(
        file: &File,
        ranges: impl DoubleEndedIterator<Item = Range<u64>>,
        bytes_max: u64,
    ) -> Hold {
        let mut hold = Hold::default();
        for range in ranges.rev().take(WINDOWS_MAX) {
            let left = bytes_max - hold.bytes;
            let start = range.start.max(range.end.saturating_sub(left)).div_ceil(page_bytes())
                * page_bytes();
            if start < range.end {
                hold.take(file, start..range.end);
            }
        }
        hold
    }

    fn take(&mut self, file: &File, range: Range<u64>) {
        let bytes = range.end - range.start;
        let cached = is_cached(file, range.start, bytes);
        let Some(map) = cached.then(|| map(file, &range)).flatten() else { return };
        map.populate();
        let is_locked = map.lock();
        self.locked_bytes += if is_locked { bytes } else { 0 };
        self.bytes += bytes;
        self.ranges.push(range);
        self.windows.push(Window { _map: map, is_locked });
    }

    /// Releases each held range whose end lies in `read`: ranges are read in order.
    pub fn let_go(&mut self, read: &Range<u64>) {
        let ends_in = |range: &Range<u64>| read.start < range.end && range.end <= read.end;
        while let Some(at) = self.ranges.iter().position(ends_in) {
            let (range, window) = (self.ranges.remove(at), self.windows.remove(at));
            self.bytes -= range.end - range.start;
            self.locked_bytes -= if window.is_locked { range.end - range.start } else { 0 };
        }
    }

    /// The bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes that are locked. The rest is only mapped, because RLIMIT_MEMLOCK does not allow
    /// more.
    #[must_use]
    pub fn locked_bytes(&self) -> u64 {
        self.locked_bytes
    }

    /// The held ranges, the last first.
    #[must_use]
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }
}

fn map(file: &File, range: &Range<u64>) -> Option<GuardedMap> {
    GuardedMap::new(file, range.start, usize::try_from(range.end - range.start).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sys::residency;
    use std::io::Write;
    use std::iter::once;
    use std::os::fd::AsFd;
    use std::slice;

    const MIB: u64 = 1 << 20;

    fn cached_file() -> Option<File> {
        let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        file.write_all(&vec![3; 8 << 20]).unwrap();
        file.sync_data().unwrap();
        let probe = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        residency::drop_cached(probe.as_fd()).unwrap();
        residency::resident_bytes(file.as_fd()).unwrap().is_some().then_some(file)
    }

    fn cached(file: &File, range: Range<u64>) -> u64 {
        residency::count(file.as_fd(), range.start, range.end - range.start).unwrap().cached
            * page_bytes()
    }

    #[test]
    fn what_is_held_outlives_an_order_to_drop_it_and_what_is_let_go_does_not() {
        let Some(file) = cached_file() else {
            return eprintln!("skipped: nothing shows what is cached");
        };
        let mut hold = Hold::on(&file, [0..2 * MIB, 3 * MIB..8 * MIB].into_iter(), 6 * MIB);
        assert_eq!(hold.ranges(), [3 * MIB..8 * MIB, MIB..2 * MIB]);
        assert_eq!(hold.bytes(), 6 * MIB);
        assert!(hold.locked_bytes() <= hold.bytes());
        let locked = hold.locked_bytes();
        hold.let_go(&(5 * MIB..7 * MIB));
        assert_eq!(
            (hold.bytes(), hold.locked_bytes()),
            (6 * MIB, locked),
            "its end is still to come"
        );
        residency::drop_cached(file.as_fd()).unwrap();
        for range in hold.ranges() {
            assert_eq!(cached(&file, range.clone()), range.end - range.start);
        }
        hold.let_go(&(0..2 * MIB));
        assert_eq!(hold.ranges(), slice::from_ref(&(3 * MIB..8 * MIB)));
        assert_eq!(hold.bytes(), 5 * MIB);
        hold.let_go(&(7 * MIB..8 * MIB));
        assert_eq!((hold.bytes(), hold.locked_bytes()), (0, 0));
        residency::drop_cached(file.as_fd()).unwrap();
        if cached(&file, 0..8 * MIB) != 0 {
            eprintln!("skipped in part: the file stays in the page cache (tmpfs?)");
        }
    }

    #[test]
    fn nothing_is_brought_in_by_a_hold() {
        let Some(file) = cached_file() else {
            return eprintln!("skipped: nothing shows what is cached");
        };
        residency::drop_cached(file.as_fd()).unwrap();
        let before = cached(&file, 0..8 * MIB);
        let hold = Hold::on(&file, once(0..8 * MIB), 8 * MIB);
        assert_eq!(hold.bytes() > 0, before == 8 * MIB);
        assert_eq!(cached(&file, 0..8 * MIB), before);
    }

    #[test]
    fn a_hold_is_bounded() {
        let Some(file) = cached_file() else {
            return eprintln!("skipped: nothing shows what is cached");
        };
        assert_eq!(Hold::on(&file, once(0..8 * MIB), 0).bytes(), 0);
        let end = Hold::on(&file, once(0..8 * MIB - 5), page_bytes() + 904);
        assert_eq!(end.ranges().first(), Some(&(8 * MIB - page_bytes()..8 * MIB - 5)));
    }
}
