//! Sparse files: their holes are reported and not read.

use super::*;
use rustix::fs::SeekFrom;
use std::os::unix::fs::FileExt;

const MIB: u64 = 1 << 20;
const BYTES: u64 = 12 * MIB + 77;
/// What is not a hole.
const WRITTEN: [(u64, &str); 4] =
    [(0, "a line\nand "), (MIB + 3, "another\n"), (5 * MIB - 2, "over an edge"), (9 * MIB, "x\ny")];

fn sparse() -> Option<NamedTempFile> {
    let file = NamedTempFile::new().unwrap();
    file.as_file().set_len(BYTES).unwrap();
    WRITTEN
        .iter()
        .for_each(|(at, text)| file.as_file().write_all_at(text.as_bytes(), *at).unwrap());
    let hole = rustix::fs::seek(file.as_file(), SeekFrom::Hole(0)).is_ok_and(|hole| hole < BYTES);
    if !hole {
        eprintln!("skipped: the file system of temporary files knows no holes");
    }
    hole.then_some(file)
}

#[test]
fn holes_are_told_of_in_whole_records_and_not_read() {
    let Some(file) = sparse() else { return };
    let text = std::fs::read(file.path()).unwrap();
    for records in [Records::None, Records::Delimiter(0), Records::Either(b'\n', 0)] {
        for cached in [&[true][..], &[false], &[true, true, false]] {
            let options = Options { holes: true, ..options(records, 64 << 10) };
            let (mut reader, made) = over(options, Made::new(cached));
            reader.add_path(file.path());
            let (mut received, mut passed) = (Received::default(), 0);
            while let Some(event) = reader.next() {
                if let Event::Hole { bytes, .. } = event {
                    passed += bytes;
                }
                received.take(event);
            }
            assert_eq!(received.ends[&0], (BYTES, 0), "{records:?}");
            assert!(received.content(0) == text, "{records:?} {cached:?}");
            assert!(passed > 11 * MIB, "{passed}");
            let reads = made.reads.lock().unwrap();
            assert!(
                reads
                    .iter()
                    .all(|at| WRITTEN.iter().any(|(start, _)| at.abs_diff(*start) < MIB / 2))
            );
            assert_eq!(reader.statistics().bytes, BYTES);
        }
    }
}

#[test]
fn zeros_that_are_part_of_a_record_are_delivered() {
    let Some(file) = sparse() else { return };
    let options = Options { holes: true, ..options(Records::Delimiter(b'\n'), 64 << 10) };
    let (mut reader, _) = over(options, Made::new(&[false]));
    reader.add_path(file.path());
    let mut bytes = 0;
    while let Some(event) = reader.next() {
        match event {
            Event::Chunk(chunk) => bytes += chunk.bytes.len() as u64,
            other => assert!(matches!(other, Event::End { .. }), "{other:?}"),
        }
    }
    assert_eq!(bytes, BYTES);
}
