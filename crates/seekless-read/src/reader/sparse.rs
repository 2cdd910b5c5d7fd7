//! Holes of sparse files: zeros that lie in no block. They are reported, not delivered, so nothing
//! is read or cached for them.

use super::options::Options;
use crate::Records;
use rustix::fs::SeekFrom;
use seekless_sys::memory::page_bytes;
use std::fs::File;
use std::ops::Range;

/// Shorter holes are read like data: that costs no more than to ask for them.
const HOLE_BYTES_MIN: u64 = 256 << 10;
/// So often a file is asked for its next hole; what lies behind is read like data.
const QUESTIONS_MAX: usize = 4 << 10;

/// The long holes of a file, each without its first page: that is delivered, and ends the record
/// before the hole.
pub(super) fn holes(options: &Options, file: &File, range: Range<u64>) -> Vec<Range<u64>> {
    let reported = options.holes && ends_with_nul(options.records);
    match reported && range.end - range.start >= HOLE_BYTES_MIN {
        true => long_holes(file, range),
        false => Vec::new(),
    }
}

/// Whether each zero of a hole is a record of its own, or stands alone.
fn ends_with_nul(records: Records) -> bool {
    match records {
        Records::None => true,
        Records::Delimiter(delimiter) => delimiter == 0,
        Records::Either(one, other) => one == 0 || other == 0,
        Records::Fixed { .. } => false,
    }
}

fn long_holes(file: &File, range: Range<u64>) -> Vec<Range<u64>> {
    let mut holes = Vec::new();
    let mut at = range.start;
    for _ in 0..QUESTIONS_MAX {
        // A file system that knows no holes answers with the end.
        let Ok(start) = rustix::fs::seek(file, SeekFrom::Hole(at)) else { break };
        if start >= range.end {
            break;
        }
        // An error: no data follows, the hole ends with the file.
        let end = rustix::fs::seek(file, SeekFrom::Data(start)).unwrap_or(range.end).min(range.end);
        let rest = (start + 1).next_multiple_of(page_bytes());
        if rest + HOLE_BYTES_MIN <= end {
            holes.push(rest..end);
        }
        if end >= range.end {
            break;
        }
        at = end;
    }
    holes
}

/// What lies between the holes.
pub(super) fn between(holes: &[Range<u64>], range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let starts = std::iter::once(range.start).chain(holes.iter().map(|hole| hole.end));
    let ends = holes.iter().map(|hole| hole.start).chain(std::iter::once(range.end));
    starts.zip(ends).map(|(start, end)| start..end).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::FileExt;

    #[test]
    fn long_holes_are_found_and_what_lies_between_them() {
        let file = tempfile::tempfile().unwrap();
        let all = 40 * HOLE_BYTES_MIN;
        file.set_len(all).unwrap();
        for (at, bytes) in
            [(0, 100), (9 * HOLE_BYTES_MIN, 100), (9 * HOLE_BYTES_MIN + (64 << 10), 100)]
        {
            file.write_all_at(&vec![b'x'; bytes], at).unwrap();
        }
        if rustix::fs::seek(&file, SeekFrom::Hole(0)).is_ok_and(|hole| hole == all) {
            return eprintln!("skipped: the file system of temporary files knows no holes");
        }
        let holes = long_holes(&file, 0..all);
        assert_eq!(holes.len(), 2, "{holes:?}");
        assert_eq!((holes[0].end, holes[1].end), (9 * HOLE_BYTES_MIN, all));
        let mut bytes = vec![0; (all) as usize];
        file.read_exact_at(&mut bytes, 0).unwrap();
        assert!(holes.iter().all(|hole| {
            bytes[hole.start as usize - 1..hole.end as usize].iter().all(|&byte| byte == 0)
        }));
        let parts: Vec<_> = between(&holes, 0..all).collect();
        assert_eq!(parts, [0..holes[0].start, holes[0].end..holes[1].start]);
        assert_eq!(between(&[], 3..9).collect::<Vec<_>>(), vec![Range { start: 3, end: 9 }]);
    }

    #[test]
    fn only_where_a_nul_ends_a_record_holes_may_be_passed_over() {
        assert!(ends_with_nul(Records::None) && ends_with_nul(Records::Delimiter(0)));
        assert!(
            ends_with_nul(Records::Either(b'\n', 0)) && !ends_with_nul(Records::Delimiter(b'\n'))
        );
        assert!(!ends_with_nul(Records::Fixed { origin: 0, bytes: 4 }));
    }
}
