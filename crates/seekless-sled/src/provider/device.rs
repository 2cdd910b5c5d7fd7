//! The device itself, below all other providers. Holes and reserved extents cost nothing. The rest
//! costs what the zone of the disk says in which an extent lies.

use super::claim::{Claim, Presence, Provider, Target};
use crate::{Confidence, Error, Level};
use seekless_device::Row;
use seekless_sys::extents::{Extent, extents};
use std::fs::File;
use std::path::Path;

/// The most extents that are looked at in one file. What follows them counts as data at the cost of
/// the first zone.
const EXTENTS_MAX: usize = 16_384;

/// A file system on a device, in memory or behind a network.
#[derive(Clone, Debug)]
pub struct Device {
    /// The level that delivers.
    pub level: Level,
    /// The device's costs.
    pub row: Row,
    /// How sure the level is.
    pub confidence: Confidence,
    /// How holes are found.
    pub holes: Holes,
}

/// How the holes of a file are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holes {
    /// Not at all: over a network the question may be expensive.
    Unasked,
    /// By its extents (FIEMAP), which some file systems do not know. For a file that belongs to
    /// another part of the program: its position stays, and no second descriptor is opened, because
    /// closing that would release the process's record locks.
    ByExtents,
    /// By its extents, or by seeking (tmpfs), which moves the file's position.
    BySeeking,
}

impl Provider for Device {
    fn name(&self) -> &'static str {
        "device"
    }

    fn claims(&self, target: &Target<'_>) -> Result<Vec<Claim>, Error> {
        let Some(file) = target.file.filter(|_| self.holes != Holes::Unasked) else {
            return Ok(self.data(0, target.bytes, None));
        };
        let said = |error| Error::io(target.path.unwrap_or(Path::new("?")), error);
        let found = extents(file, 0..target.bytes, EXTENTS_MAX).map_err(said)?;
        Ok(match found {
            Some(found) => self.laid_out(&found.list, found.end, target.bytes),
            None if self.holes == Holes::ByExtents => self.data(0, target.bytes, None),
            None => match data_ranges(file, target.bytes) {
                Some((list, end)) => self.laid_out(&list, end, target.bytes),
                None => self.data(0, target.bytes, None),
            },
        })
    }
}

impl Device {
    /// The ranges of a file whose extents are known up to the offset `known`.
    fn laid_out(&self, extents: &[Extent], known: u64, bytes: u64) -> Vec<Claim> {
        let mut claims = Vec::with_capacity(extents.len() + 1);
        let mut at = 0;
        for extent in extents {
            let start = extent.offset.clamp(at, bytes);
            let end = extent.offset.saturating_add(extent.bytes).clamp(start, bytes);
            hole(&mut claims, at, start);
            if extent.unwritten {
                hole(&mut claims, start, end);
            } else {
                let place = extent.place.map(|place| place.saturating_add(start - extent.offset));
                claims.extend(self.data(start, end, place));
            }
            at = end;
        }
        let known = known.clamp(at, bytes);
        hole(&mut claims, at, known);
        claims.extend(self.data(known, bytes, None));
        claims
    }

    /// Data from `start` to `end`, stored from byte `place` of the device on: a range for each zone
    /// that it touches.
    fn data(&self, start: u64, end: u64, place: Option<u64>) -> Vec<Claim> {
        let mut claims = Vec::new();
        let mut at = start;
        while at < end {
            let byte = place.map_or(0, |place| place.saturating_add(at - start));
            let zone_end = place.and_then(|_| self.row.zone_end(byte));
            let next = zone_end.map_or(end, |zone_end| end.min(at.saturating_add(zone_end - byte)));
            let presence = Presence::at(self.level, self.row.at(byte), self.confidence);
            claims.push(Claim::now(at, next - at, presence));
            at = next;
        }
        claims
    }
}

fn hole(claims: &mut Vec<Claim>, start: u64, end: u64) {
    if start < end {
        claims.push(Claim::now(start, end - start, Presence::hole()));
    }
}

/// The ranges with data, and the offset up to which they are known, where FIEMAP is not available
/// (tmpfs). `None` where seeking does not help either. Moves the file's position.
pub(super) fn data_ranges(file: &File, bytes: u64) -> Option<(Vec<Extent>, u64)> {
    use rustix::fs::{SeekFrom, seek};
    let (mut list, mut at) = (Vec::new(), 0);
    while at < bytes {
        if list.len() >= EXTENTS_MAX {
            return Some((list, at));
        }
        let start = match seek(file, SeekFrom::Data(at)) {
            Ok(start) if start >= at => start,
            Err(rustix::io::Errno::NXIO) => break, // only a hole is left
            _ => return None,
        };
        let end = seek(file, SeekFrom::Hole(start)).ok().filter(|&end| end > start)?;
        list.push(Extent {
            offset: start,
            bytes: end - start,
            place: None,
            unwritten: false,
            placeless: None,
        });
        at = end;
    }
    Some((list, bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_device::{Origin, Zone};
    use std::os::unix::fs::FileExt;

    fn disk() -> Device {
        let zone = |from_byte, bytes_per_second| Zone {
            from_byte,
            latency_ns: 8,
            latency_p90_ns: None,
            bytes_per_second,
        };
        let row = Row { origin: Origin::Given, zones: vec![zone(0, 200), zone(1000, 100)] };
        Device { level: Level::Device, row, confidence: Confidence::Exact, holes: Holes::BySeeking }
    }

    fn shape(ranges: &[Claim]) -> Vec<(u64, u64, f64)> {
        let bandwidth = |claim: &Claim| match claim.presence {
            Presence::Here { bandwidth, .. } => bandwidth,
            _ => 0.0,
        };
        ranges.iter().map(|range| (range.offset, range.bytes, bandwidth(range))).collect()
    }

    #[test]
    fn an_extent_across_two_zones_costs_what_each_does() {
        let extent = |offset, bytes, place, unwritten| Extent {
            offset,
            bytes,
            place,
            unwritten,
            placeless: None,
        };
        let list = [
            extent(0, 100, Some(950), false),
            extent(200, 50, Some(5000), true),
            extent(250, 1000, None, false),
        ];
        let shape = shape(&disk().laid_out(&list, 1300, 1400));
        let none = f64::INFINITY;
        let expected = [
            (0, 50, 200.0),
            (50, 50, 100.0),
            (100, 100, none),
            (200, 50, none),
            (250, 1000, 200.0),
            (1250, 50, none),
            (1300, 100, 200.0),
        ];
        assert_eq!(shape, expected);
    }

    #[test]
    fn extents_that_stick_out_or_overlap_still_cover_the_file_once() {
        let extent = |offset, bytes| Extent {
            offset,
            bytes,
            place: Some(u64::MAX - 5),
            unwritten: false,
            placeless: None,
        };
        let ranges =
            disk().laid_out(&[extent(10, 100), extent(50, u64::MAX), extent(7, 3)], u64::MAX, 500);
        let mut end = 0;
        for range in &ranges {
            assert_eq!(range.offset, end);
            end = range.end();
        }
        assert_eq!(end, 500);
    }

    #[test]
    fn data_is_found_behind_a_hole() {
        let file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).expect("a file");
        file.set_len(1 << 40).expect("a hole");
        file.write_all_at(b"x", 1 << 30).expect("written");
        let (list, end) = data_ranges(&file, 1 << 40).expect("an answer");
        assert_eq!((list.len(), end), (1, 1 << 40));
        assert!(list[0].offset <= 1 << 30);
    }

    #[test]
    fn a_programs_file_does_not_move() {
        use std::io::Seek;
        for folder in [env!("CARGO_MANIFEST_DIR"), "/dev/shm"] {
            let Ok(mut file) = tempfile::tempfile_in(folder) else {
                eprintln!("skipped: no file may be made in {folder}");
                continue;
            };
            file.set_len(1 << 30).expect("a hole");
            file.seek(std::io::SeekFrom::Start(7)).expect("moved");
            let target =
                Target { file: Some(&file), path: None, bytes: 1 << 30, allocated_bytes: 0 };
            Device { holes: Holes::ByExtents, ..disk() }.claims(&target).expect("an answer");
            assert_eq!(file.stream_position().expect("known"), 7);
        }
    }
}
