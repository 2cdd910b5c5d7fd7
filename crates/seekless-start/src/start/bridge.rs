//! Reads of what lies between those of a wave: where a request costs more than the bytes of a small
//! gap, to read through it makes one request of two.

use super::plan::{Bridged, Plan, PlannedFile, PlannedRead};
use crate::warm::bring::Recorded;
use seekless_policy::layout::extents::Extent;
use seekless_trace::{ProfiledFile, unescape_path};
use std::ffi::OsString;
use std::ops::Range;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

const PAGE_BYTES: u64 = 4096;

/// A read of a wave, and where it lies.
#[derive(Clone)]
struct Placed {
    lies: Range<u64>,
    read: PlannedRead,
    /// Its place in the order of the wave.
    turn: usize,
}

/// Adds reads to the plan that bridge gaps of at most so many bytes, each beside the first read
/// that it joins. `between` are files that no run needed.
pub(super) fn bridge(plan: &mut Plan, between: &[ProfiledFile], gap_bytes: u64) {
    let mut between: Vec<&ProfiledFile> =
        between.iter().filter(|file| file.place.is_some()).collect();
    between.sort_by_key(|file| file.place);
    let (first, early) = (plan.first_reads, plan.early_reads());
    let reads = plan.reads.clone();
    let (mut bridged, mut before_first) = (Bridged::default(), 0);
    let (mut from, mut all) = (0, Vec::with_capacity(reads.len()));
    while from < reads.len() {
        let end = plan.wave_end(from).max(from + 1);
        let wave = &reads[from..end];
        for (read, bridges) in wave.iter().zip(bridges(plan, wave, &between, gap_bytes)) {
            all.push(*read);
            bridged.reads += bridges.len() as u64;
            bridged.bytes += bridges.iter().map(|read| read.extent.bytes).sum::<u64>();
            if from < first {
                before_first += bridges.len();
            } else if from < early {
                bridged.early_reads += bridges.len();
            }
            all.extend(bridges);
        }
        from = end;
    }
    plan.reads = all;
    plan.first_reads += before_first;
    plan.bridged = bridged;
}

/// By read of a wave, the reads that bridge gaps beside it.
fn bridges(
    plan: &mut Plan,
    wave: &[PlannedRead],
    between: &[&ProfiledFile],
    gap_bytes: u64,
) -> Vec<Vec<PlannedRead>> {
    let mut added: Vec<Vec<PlannedRead>> = vec![Vec::new(); wave.len()];
    let placed = placed(plan, wave);
    for (one, next) in placed.iter().zip(placed.iter().skip(1)) {
        let gap = one.lies.end..next.lies.start;
        if gap.is_empty() || gap.end - gap.start > gap_bytes {
            continue;
        }
        let turn = one.turn.min(next.turn);
        for part in covered(plan, between, one, next).into_iter().flatten() {
            let (file, extent) = part.of(plan, one, next);
            added[turn].push(PlannedRead { file, extent, ..wave[turn] });
        }
    }
    added
}

/// The reads of a wave of which the place is known, by place.
fn placed(plan: &Plan, wave: &[PlannedRead]) -> Vec<Placed> {
    let placed = |(turn, read): (usize, &PlannedRead)| {
        let start = plan.files[read.file].place?.checked_add(read.extent.offset)?;
        let end = start.checked_add(read.extent.bytes.next_multiple_of(PAGE_BYTES))?;
        Some(Placed { lies: start..end, read: *read, turn })
    };
    let mut placed: Vec<Placed> = wave.iter().enumerate().filter_map(placed).collect();
    placed.sort_by_key(|read| read.lies.start);
    placed
}

/// A part of a gap.
enum Part<'a> {
    /// More of the file before it.
    Tail(u64),
    Between(&'a ProfiledFile),
    /// More of the file behind it.
    Head(u64),
}

/// The parts that cover a gap whole, if there are such.
fn covered<'a>(
    plan: &Plan,
    between: &[&'a ProfiledFile],
    one: &Placed,
    next: &Placed,
) -> Option<Vec<Part<'a>>> {
    let (mut at, end) = (one.lies.end, next.lies.start);
    let mut parts = Vec::new();
    let file = &plan.files[one.read.file];
    let file_end = file.recorded.bytes?.next_multiple_of(PAGE_BYTES).checked_add(file.place?)?;
    let tail = file_end.min(end).saturating_sub(at);
    if tail > 0 {
        parts.push(Part::Tail(tail));
        at += tail;
    }
    let head = plan.files[next.read.file].place?.max(at);
    let first = between.partition_point(|file| file.place < Some(at));
    for file in &between[first..] {
        if at >= head || file.place != Some(at) {
            break;
        }
        at += file.bytes?.next_multiple_of(PAGE_BYTES);
        parts.push(Part::Between(file));
    }
    if at == head && head < end {
        parts.push(Part::Head(end - head));
        at = end;
    }
    (at == end).then_some(parts)
}

impl Part<'_> {
    /// The number of the file and the bytes that are read of it.
    fn of(self, plan: &mut Plan, one: &Placed, next: &Placed) -> (usize, Extent) {
        match self {
            Self::Tail(bytes) => {
                let offset = one.read.extent.offset + (one.lies.end - one.lies.start);
                let left = plan.files[one.read.file].recorded.bytes.unwrap_or(0) - offset;
                (one.read.file, Extent { offset, bytes: bytes.min(left) })
            }
            Self::Head(bytes) => {
                (next.read.file, Extent { offset: next.read.extent.offset - bytes, bytes })
            }
            Self::Between(file) => {
                let path = PathBuf::from(OsString::from_vec(unescape_path(&file.name)));
                let recorded = Recorded { bytes: file.bytes, identity: file.identity };
                plan.files.push(PlannedFile { path, recorded, hoped: false, place: file.place });
                let extent = Extent { offset: 0, bytes: file.bytes.unwrap_or(0) };
                (plan.files.len() - 1, extent)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIB: u64 = 1 << 10;

    fn file(name: &str, place: u64, bytes: u64) -> PlannedFile {
        let recorded = Recorded { bytes: Some(bytes), identity: None };
        PlannedFile { path: name.into(), recorded, hoped: false, place: Some(place) }
    }

    fn between(name: &str, place: u64, bytes: u64) -> ProfiledFile {
        let (bytes, place) = (Some(bytes), Some(place));
        ProfiledFile { name: name.to_owned(), bytes, place, ..ProfiledFile::default() }
    }

    fn read(file: usize, offset: u64, bytes: u64) -> PlannedRead {
        PlannedRead { file, extent: Extent { offset, bytes }, needed_ns: 7 }
    }

    fn ranges(plan: &Plan) -> Vec<(&str, u64, u64)> {
        let range = |read: &PlannedRead| {
            let name = plan.files[read.file].path.to_str().unwrap();
            (name, read.extent.offset, read.extent.bytes)
        };
        plan.reads.iter().map(range).collect()
    }

    #[test]
    fn a_gap_is_bridged_by_the_files_on_both_sides_and_those_between() {
        let files = vec![file("b", 64 * KIB, 16 * KIB), file("a", 0, 30_000)];
        let reads = vec![read(0, 8 * KIB, 8 * KIB), read(1, 0, 4 * KIB)];
        let mut plan = Plan { files, reads, ..Plan::default() };
        let others = [between("y", 40 * KIB, 24 * KIB), between("x", 32 * KIB, 5000)];
        bridge(&mut plan, &others, 128 * KIB);
        let bytes = 30_000 - 4096 + 5000 + 24 * KIB + 8 * KIB;
        assert_eq!(plan.bridged, Bridged { reads: 4, bytes, early_reads: 4 });
        let expected = [
            ("b", 8 * KIB, 8 * KIB),
            ("a", 4096, 30_000 - 4096),
            ("x", 0, 5000),
            ("y", 0, 24 * KIB),
            ("b", 0, 8 * KIB),
            ("a", 0, 4 * KIB),
        ];
        assert_eq!(ranges(&plan), expected);
        assert_eq!(plan.count_joined(), 1, "both are one request, with what lies between");
    }

    #[test]
    fn a_gap_that_is_not_covered_or_costs_more_stays() {
        let plan = || Plan {
            files: vec![file("a", 0, 4 * KIB), file("b", 64 * KIB, 4 * KIB)],
            reads: vec![read(0, 0, 4 * KIB), read(1, 0, 4 * KIB)],
            ..Plan::default()
        };
        let whole = between("x", 4 * KIB, 60 * KIB);
        let part = between("x", 4 * KIB, 52 * KIB);
        for (other, gap_bytes, reads) in
            [(&whole, 60 * KIB, 3), (&whole, 59 * KIB, 2), (&part, 60 * KIB, 2)]
        {
            let mut plan = plan();
            bridge(&mut plan, std::slice::from_ref(other), gap_bytes);
            assert_eq!(plan.reads.len(), reads, "{other:?} {gap_bytes}");
        }
    }
}
