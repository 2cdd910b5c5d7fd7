//! Where to read: random places in what the files really have on the device, never in their holes.

use crate::Error;
use seekless_device::SplitMix64;
use seekless_sys::extents::{Extent, extents};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// Extents of one file that are looked at.
const EXTENTS_MAX: usize = 16_384;

/// One read to be: which file, and where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) file: usize,
    pub(super) offset: u64,
}

/// The ranges of some files that hold data on the device.
#[derive(Debug)]
pub(super) struct Places {
    ranges: Vec<Range>,
    pieces: Vec<Piece>,
}

/// A range of a file that lies in one piece on the device.
#[derive(Clone, Copy, Debug)]
struct Piece {
    range: Range,
    /// Its first byte on the device.
    byte: u64,
}

#[derive(Clone, Copy, Debug)]
struct Range {
    file: usize,
    offset: u64,
    bytes: u64,
}

impl Places {
    pub(super) fn of<P: AsRef<Path>>(files: &[P]) -> Result<Places, Error> {
        let (mut ranges, mut pieces) = (Vec::new(), Vec::new());
        for (number, path) in files.iter().enumerate() {
            let path = path.as_ref();
            let failed = |error| Error::io(path, "cannot be examined", error);
            let mut file = seekless_sys::open_seekable(path).map_err(failed)?;
            // The length in a block device's attributes is 0.
            let size = file.seek(SeekFrom::End(0)).map_err(failed)?;
            let found = extents(&file, 0..size, EXTENTS_MAX).map_err(failed)?;
            let range =
                |(offset, end): (u64, u64)| Range { file: number, offset, bytes: end - offset };
            let list = found.as_ref().map(|found| &found.list[..]);
            ranges.extend(data(list, size).into_iter().map(range));
            if file.metadata().map_err(failed)?.file_type().is_block_device() {
                pieces.push(Piece { range: range((0, size)), byte: 0 });
            }
            for extent in list.unwrap_or_default().iter().filter(|extent| !extent.unwritten) {
                let (offset, end) =
                    (extent.offset.min(size), extent.offset.saturating_add(extent.bytes).min(size));
                pieces.extend(extent.place.map(|byte| Piece { range: range((offset, end)), byte }));
            }
        }
        Ok(Places { ranges, pieces })
    }

    /// From the first to the last byte of the device that holds data; empty if that is unknown.
    pub(super) fn span(&self) -> std::ops::Range<u64> {
        let start = self.pieces.iter().map(|piece| piece.byte).min().unwrap_or(0);
        let end = self.pieces.iter().map(|piece| piece.byte.saturating_add(piece.range.bytes));
        start..end.max().unwrap_or(start)
    }

    /// Places for `count` reads one after the other, as near to that byte of the device as there is
    /// data, and the byte of the device where they start.
    pub(super) fn run_near(
        &self,
        byte: u64,
        (bytes, count): (u64, u64),
        alignment: u64,
    ) -> Option<(u64, Vec<Place>)> {
        let start = |piece: &Piece| {
            let (first, starts) = room(&piece.range, bytes * count, alignment)?;
            let wanted = piece.range.offset.saturating_add(byte.saturating_sub(piece.byte));
            let skipped = (wanted.saturating_sub(first) / alignment).min(starts - 1);
            let offset = first + skipped * alignment;
            Some((piece.byte + (offset - piece.range.offset), piece.range.file, offset))
        };
        let starts = self.pieces.iter().filter_map(start);
        let (at, file, offset) = starts.min_by_key(|(at, ..)| at.abs_diff(byte))?;
        let place = |number| Place { file, offset: offset + number * bytes };
        Some((at, (0..count).map(place).collect()))
    }

    /// A random place for a read of this many bytes; `None` if no range has room.
    pub(super) fn pick(&self, bytes: u64, alignment: u64, dice: &mut SplitMix64) -> Option<Place> {
        let starts = |range: &Range| room(range, bytes, alignment).map_or(0, |(_, count)| count);
        let total: u64 = self.ranges.iter().map(starts).sum();
        if total == 0 {
            return None;
        }
        let mut number = dice.below(total);
        for range in &self.ranges {
            let count = starts(range);
            if number < count {
                let (first, _) = room(range, bytes, alignment)?;
                return Some(Place { file: range.file, offset: first + number * alignment });
            }
            number -= count;
        }
        None
    }

    /// All places for reads one after the other, from a random one on and around.
    pub(super) fn sequence(&self, bytes: u64, alignment: u64, dice: &mut SplitMix64) -> Vec<Place> {
        let mut places: Vec<Place> = Vec::new();
        for range in &self.ranges {
            let Some((first, _)) = room(range, bytes, alignment) else { continue };
            let count = (range.offset + range.bytes - first) / bytes;
            places.extend(
                (0..count).map(|number| Place { file: range.file, offset: first + number * bytes }),
            );
        }
        if !places.is_empty() {
            let middle = dice.below(places.len() as u64) as usize;
            places.rotate_left(middle);
        }
        places
    }
}

/// The first aligned byte of a range from which this many bytes can be read, and how many such
/// first bytes there are.
fn room(range: &Range, bytes: u64, alignment: u64) -> Option<(u64, u64)> {
    let first = range.offset.checked_next_multiple_of(alignment)?;
    let last = (range.offset + range.bytes).checked_sub(bytes)?;
    Some((first, last.checked_sub(first)? / alignment + 1))
}

/// The ranges (from, to) with data; all of the file where the file system does not say.
fn data(extents: Option<&[Extent]>, size: u64) -> Vec<(u64, u64)> {
    let Some(list) = extents else { return vec![(0, size)] };
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for extent in list.iter().filter(|extent| !extent.unwritten && extent.place.is_some()) {
        let (start, end) =
            (extent.offset.min(size), extent.offset.saturating_add(extent.bytes).min(size));
        match ranges.last_mut() {
            Some(last) if last.1 == start => last.1 = end,
            _ if start < end => ranges.push((start, end)),
            _ => {}
        }
    }
    ranges
}

/// Random numbers, not the same twice: a device or a host remembers what was read.
pub(super) fn dice_from_the_clock() -> SplitMix64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    SplitMix64::new(now.as_nanos() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn places_lie_in_the_ranges_and_are_aligned(
            ranges in prop::collection::vec((0u64..100_000, 0u64..50_000), 0..5),
            bytes in 1u64..20_000,
            seed: u64,
        ) {
            let ranges: Vec<Range> = ranges.iter().enumerate().map(|(file, &(offset, bytes))| Range { file, offset, bytes }).collect();
            let (places, mut dice) = (Places { ranges: ranges.clone(), pieces: Vec::new() }, SplitMix64::new(seed));
            let fits = |place: &Place| {
                let range = ranges[place.file];
                place.offset.is_multiple_of(512) && range.offset <= place.offset && place.offset + bytes <= range.offset + range.bytes
            };
            let sequence = places.sequence(bytes, 512, &mut dice);
            match places.pick(bytes, 512, &mut dice) {
                Some(place) => prop_assert!(fits(&place)),
                None => prop_assert!(sequence.is_empty()),
            }
            if bytes.is_multiple_of(512) {
                prop_assert!(sequence.iter().all(fits));
            }
        }
    }
    #[test]
    fn a_run_lies_as_near_to_a_byte_of_the_device_as_there_is_data() {
        let piece = |offset, bytes, byte| Piece { range: Range { file: 3, offset, bytes }, byte };
        let pieces = vec![piece(0, 10_240, 1 << 20), piece(10_240, 40_960, 1 << 30)];
        let places = Places { ranges: Vec::new(), pieces };
        assert_eq!(places.span(), 1 << 20..(1 << 30) + 40_960);
        let near = |byte| {
            let (at, run) = places.run_near(byte, (4096, 2), 512).expect("there is room");
            assert!(run[0].file == 3 && run[1].offset == run[0].offset + 4096 && run.len() == 2);
            (at, run[0].offset)
        };
        assert_eq!(near(0), (1 << 20, 0));
        assert_eq!(near((1 << 20) + 5000), ((1 << 20) + 2048, 2048), "the last with room for two");
        assert_eq!(near((1 << 30) + 1100), ((1 << 30) + 1024, 11_264));
        assert_eq!(near(u64::MAX), ((1 << 30) + 32_768, 43_008));
        assert_eq!(places.run_near(0, (4096, 20), 512), None);
        assert!(Places { ranges: Vec::new(), pieces: Vec::new() }.span().is_empty());
    }
}
