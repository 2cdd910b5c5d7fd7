//! Which parts of a range of a file lie where: the extents at one time, and at other times where
//! those have no place.

use seekless_record::Snapshot;
use seekless_sys::extents::{Extents, Placeless};
use serde::Serialize;
use std::ops::Range;

/// Why a part of an access is on no device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// The file has a hole there: it reads as zeros, and the device is not asked.
    Hole,
    /// Space is reserved there and nothing was written: it reads as zeros, as a hole does.
    Unwritten,
    /// The data lies within the file's inode, or among other data.
    Inline,
    /// The data is compressed or encrypted: its bytes are not those of the file.
    Encoded,
    /// The file system has not chosen a place yet.
    Delayed,
    /// The file system does not give the place.
    Unknown,
    /// The file system is on no block device: tmpfs, overlay, btrfs, a network.
    NoDevice,
    /// The file is no longer there.
    Gone,
    /// The file may not be opened, or is not a regular file.
    Unreadable,
    /// The file has more extents than are kept.
    TooMany,
}

impl From<Placeless> for Why {
    fn from(placeless: Placeless) -> Self {
        match placeless {
            Placeless::Inline => Why::Inline,
            Placeless::Encoded => Why::Encoded,
            Placeless::Delayed => Why::Delayed,
            Placeless::Unknown => Why::Unknown,
        }
    }
}

/// A part of an access, in bytes of the file, and its place on the file system's device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) range: Range<u64>,
    pub(super) place: Result<u64, Why>,
}

/// The parts of `range` at time `time_ns`, in order. The snapshot that was taken next shows where
/// they lay; where it has no place, later and then earlier ones of the same file do.
pub(super) fn locate(
    snapshots: &[Snapshot],
    time_ns: u64,
    range: Range<u64>,
    write: bool,
) -> Vec<Piece> {
    let mut found = Vec::new();
    let next = snapshots.partition_point(|snapshot| snapshot.time_ns < time_ns);
    let Some(first) = snapshots.get(next.min(snapshots.len().wrapping_sub(1))) else {
        found.push(Piece { range, place: Err(Why::Unknown) });
        return found;
    };
    let same = |snapshot: &&Snapshot| snapshot.born_ns == first.born_ns;
    let (before, after) = snapshots.split_at(next);
    let order: Vec<&Snapshot> =
        after.iter().filter(same).chain(before.iter().rev().filter(same)).collect();
    descend(&order, range, write, &mut found);
    found
}

/// Adds the parts of `range` by the first of `order`, and asks the others for parts without place.
fn descend(order: &[&Snapshot], range: Range<u64>, write: bool, found: &mut Vec<Piece>) {
    let Some((first, others)) = order.split_first() else { return };
    for piece in pieces(&first.extents, range, write) {
        if piece.place.is_ok() || others.is_empty() {
            found.push(piece);
            continue;
        }
        let before = found.len();
        descend(others, piece.range.clone(), write, found);
        if found[before..].iter().all(|other| other.place.is_err()) {
            found.truncate(before); // no later look can show it
            found.push(piece);
        }
    }
}

/// The parts of `range`, cut where extents begin and end.
fn pieces(extents: &Extents, range: Range<u64>, write: bool) -> Vec<Piece> {
    let (mut at, end, mut found) = (range.start, range.end, Vec::new());
    let list = &extents.list;
    let end_of = |index: usize| list[index].offset.saturating_add(list[index].bytes);
    let mut index = list.partition_point(|extent| extent.offset.saturating_add(extent.bytes) <= at);
    while at < end {
        let (until, place) = match list.get(index).filter(|extent| extent.offset < end) {
            Some(extent) if extent.offset <= at => {
                let until = end_of(index).min(end);
                index += 1;
                let place = match (extent.place, extent.placeless) {
                    (Some(_), _) if extent.unwritten && !write => Err(Why::Unwritten),
                    (Some(place), _) => Ok(place + (at - extent.offset)),
                    (None, why) => Err(why.map_or(Why::Unknown, Why::from)),
                };
                (until, place)
            }
            next => {
                let until = next.map_or(end, |extent| extent.offset);
                let why = if at < extents.end { Why::Hole } else { Why::TooMany };
                (until, Err(why))
            }
        };
        if until > at {
            found.push(Piece { range: at..until, place });
        }
        at = until.max(at);
        if until == end {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use seekless_sys::extents::Extent;
    use std::sync::Arc;

    fn extent(offset: u64, bytes: u64, place: Option<u64>) -> Extent {
        let placeless = place.is_none().then_some(Placeless::Delayed);
        Extent { offset, bytes, place, unwritten: false, placeless }
    }

    fn snapshot(time_ns: u64, list: Vec<Extent>) -> Snapshot {
        let extents = Arc::new(Extents { list, end: u64::MAX });
        Snapshot { time_ns, born_ns: Some(1), extents }
    }

    fn short(pieces: &[Piece]) -> Vec<(u64, u64, Result<u64, Why>)> {
        pieces.iter().map(|piece| (piece.range.start, piece.range.end, piece.place)).collect()
    }

    #[test]
    fn a_range_is_cut_at_extents_and_holes() {
        let laid = snapshot(5, vec![extent(0, 8, Some(100)), extent(12, 4, Some(50))]);
        let found = locate(&[laid], 9, 6..20, false);
        assert_eq!(
            short(&found),
            [(6, 8, Ok(106)), (8, 12, Err(Why::Hole)), (12, 16, Ok(50)), (16, 20, Err(Why::Hole))]
        );
    }

    #[test]
    fn what_was_delayed_has_the_place_that_was_chosen_later() {
        let delayed = snapshot(5, vec![extent(0, 8, None)]);
        let placed = snapshot(9, vec![extent(0, 4, Some(100)), extent(4, 4, None)]);
        let found = locate(&[delayed.clone(), placed], 2, 0..8, true);
        assert_eq!(short(&found), [(0, 4, Ok(100)), (4, 8, Err(Why::Delayed))]);
        let mut another = snapshot(9, vec![extent(0, 8, Some(100))]);
        another.born_ns = Some(2); // of another file that got the inode
        let found = locate(&[delayed, another], 2, 0..8, true);
        assert_eq!(short(&found), [(0, 8, Err(Why::Delayed))]);
    }

    #[test]
    fn the_next_look_tells_and_not_an_older_one() {
        let looks = [5, 9].map(|time| snapshot(time, vec![extent(0, 8, Some(time * 100))]));
        let at = |time| short(&locate(&looks, time, 0..8, false))[0].2;
        assert_eq!([at(1), at(5), at(6), at(10)], [Ok(500), Ok(500), Ok(900), Ok(900)]);
    }

    #[test]
    fn reserved_space_is_written_and_not_read() {
        let mut reserved = extent(0, 8, Some(100));
        reserved.unwritten = true;
        let look = [snapshot(5, vec![reserved])];
        assert_eq!(short(&locate(&look, 1, 0..8, false)), [(0, 8, Err(Why::Unwritten))]);
        assert_eq!(short(&locate(&look, 1, 0..8, true)), [(0, 8, Ok(100))]);
    }

    proptest! {
        #[test]
        fn as_byte_by_byte(
            list in proptest::collection::vec((0_u64..6, 1_u64..9, any::<bool>()), 0..6),
            start in 0_u64..40,
            bytes in 1_u64..40,
        ) {
            let (mut at, mut extents) = (0, Vec::new());
            for (gap, bytes, placed) in list {
                at += gap;
                extents.push(extent(at, bytes, placed.then_some(1000 + 7 * at)));
                at += bytes;
            }
            let naive = |byte: u64| {
                let of = |extent: &&Extent| (extent.offset..extent.offset + extent.bytes).contains(&byte);
                extents.iter().find(of).map_or(Err(Why::Hole), |extent| {
                    extent.place.map(|place| place + byte - extent.offset).ok_or(Why::Delayed)
                })
            };
            let look = [snapshot(0, extents.clone())];
            let found = locate(&look, 0, start..start + bytes, false);
            let mut next = start;
            for piece in &found {
                prop_assert_eq!(piece.range.start, next);
                next = piece.range.end;
                for byte in piece.range.clone() {
                    let place = piece.place.map(|place| place + byte - piece.range.start);
                    prop_assert_eq!(place, naive(byte));
                }
            }
            prop_assert_eq!(next, start + bytes);
        }
    }
}
