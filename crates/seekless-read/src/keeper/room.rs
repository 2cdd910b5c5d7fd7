//! Whether what is read may stay in the page cache: looked up once, then counted down.

use crate::growth::Growth;
use crate::headroom::Headroom;
use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

/// With less to fetch it is not worth asking how full the cache is.
const ASKED_BYTES: u64 = 1 << 20;
/// After so many bytes it is asked how many of them were kept.
const STEP_BYTES: u64 = 4 << 20;
/// Files remembered as ours.
const FILES_MAX: usize = 64;

/// What is believed of the page cache, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It takes all that is missing without pushing anything out.
    Enough,
    /// It takes so many bytes.
    Free(u64),
    /// Nobody knows: what is read is kept as long as the count of what is cached grows.
    Trial(Growth),
    /// What came in would push out what was kept.
    Full,
}

impl Room {
    /// Judges by what is missing and what is cached of the file, and by how much of the cache is `ours`: a cache that is full
    /// of others' pages is another matter, for whether they give way shows only by trying.
    pub(super) fn judge(
        absent: u64,
        cached: u64,
        ours: u64,
        look: impl FnOnce() -> Option<Headroom>,
    ) -> Room {
        if absent < ASKED_BYTES {
            return Room::Enough;
        }
        let Some(now) = look() else { return Room::trial(cached) };
        match now.before_full() {
            _ if now.takes(absent) => Room::Enough,
            0 if now.is_full_of(ours) => Room::Full,
            0 => Room::trial(cached),
            free => Room::Free(free),
        }
    }

    fn trial(cached: u64) -> Room {
        Room::Trial(Growth::from(cached))
    }

    /// Notes bytes that were read to be kept; `cached` tells how many are cached of the file now.
    pub(super) fn kept(&mut self, bytes: u64, cached: impl FnOnce() -> Option<u64>) {
        match self {
            Room::Enough | Room::Full => {}
            Room::Free(left) if *left > bytes => *left -= bytes,
            Room::Free(_) => *self = cached().map_or(Room::Full, Room::trial),
            Room::Trial(growth) => {
                if growth.is_over(bytes, STEP_BYTES, cached) {
                    *self = Room::Full;
                }
            }
        }
    }
}

/// What this process last knew of its files to be cached: by device and inode, the newest last.
static OURS: Mutex<VecDeque<((u64, u64), u64)>> = Mutex::new(VecDeque::new());

/// Notes that so much of a file is cached, and returns what that makes of all this process has read: a program that reads one
/// file after the other must not push out the first for the second.
pub(super) fn ours(file: (u64, u64), cached: u64) -> u64 {
    let mut files = OURS.lock().unwrap_or_else(PoisonError::into_inner);
    files.retain(|(of, _)| *of != file);
    if files.len() == FILES_MAX {
        files.pop_front();
    }
    files.push_back((file, cached));
    files.iter().fold(0, |sum, (_, cached)| sum.saturating_add(*cached))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn judged(absent: u64, ours: u64, free: u64, cached: u64) -> Room {
        Room::judge(absent, ours, ours, || Some(Headroom { free, cached }))
    }

    #[test]
    fn room_is_judged_by_what_is_free_and_by_whose_the_rest_is() {
        assert_eq!(judged(100 * MIB, 0, 132 * MIB, 0), Room::Enough);
        assert_eq!(judged(100 * MIB, 0, 116 * MIB, 0), Room::Free(100 * MIB));
        assert_eq!(judged(100 * MIB, 90 * MIB, MIB, 100 * MIB), Room::Full);
        assert_eq!(judged(100 * MIB, 50 * MIB, MIB, 100 * MIB), Room::trial(50 * MIB));
        assert_eq!(Room::judge(MIB - 1, 0, 0, || unreachable!()), Room::Enough);
        assert_eq!(Room::judge(MIB, 7, 7, || None), Room::trial(7));
    }

    #[test]
    fn what_is_free_is_counted_down_and_then_tried_until_nothing_grows() {
        let mut room = Room::Free(5 * MIB);
        room.kept(2 * MIB, || unreachable!());
        room.kept(2 * MIB, || unreachable!());
        assert_eq!(room, Room::Free(MIB));
        room.kept(2 * MIB, || Some(6 * MIB));
        for cached in [10 * MIB, 11 * MIB, 14 * MIB] {
            room.kept(2 * MIB, || unreachable!());
            room.kept(2 * MIB, || Some(cached));
        }
        assert_eq!(room, Room::trial(14 * MIB), "a strike is forgotten when the count grows again");
        room.kept(4 * MIB, || Some(15 * MIB));
        room.kept(4 * MIB, || Some(15 * MIB));
        assert_eq!(room, Room::Full);
        room.kept(4 * MIB, || unreachable!());
        let mut untold = Room::Free(0);
        untold.kept(MIB, || None);
        assert_eq!(untold, Room::Full);
    }

    #[test]
    fn the_files_of_the_process_are_added_up_once_each() {
        let (first, second) = ((u64::MAX, 1), (u64::MAX, 2));
        let before = ours(first, 0);
        assert!(ours(first, 5 << 50) >= 5 << 50);
        assert!(ours(second, 1 << 50) >= 6 << 50);
        ours(second, 0);
        assert!(ours(first, 0) < before + (1 << 50));
    }
}
