//! Reads are those of `pread`, and leave the page cache as they should.

use super::*;
use proptest::prelude::*;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::OnceLock;

const MIB: u64 = 1 << 20;
const FILE_BYTES: u64 = 9 * MIB + 1234;

fn full() -> Option<Headroom> {
    Some(Headroom { free: 0, cached: 0 })
}

fn roomy() -> Option<Headroom> {
    Some(Headroom { free: 1 << 40, cached: 0 })
}

fn tight() -> Option<Headroom> {
    Some(Headroom { free: 20 * MIB, cached: 1 << 40 })
}

fn untold() -> Option<Headroom> {
    None
}

fn byte(at: u64) -> u8 {
    (at % 251) as u8
}

fn written() -> File {
    let mut file = tempfile::tempfile_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(&(0..FILE_BYTES).map(byte).collect::<Vec<_>>()).unwrap();
    file.sync_data().unwrap();
    file
}

fn cached(file: &File, range: Range<u64>) -> u64 {
    residency::count(file.as_fd(), range.start, range.end - range.start).unwrap().cached
        * page_bytes()
}

/// A file with exactly these ranges (whole pages) cached, or `None` where that cannot be had.
fn cached_in_part(ranges: &[Range<u64>]) -> Option<File> {
    let file = written();
    residency::drop_cached(file.as_fd()).unwrap();
    if residency::resident_bytes(file.as_fd()).unwrap() != Some(0) {
        eprintln!("skipped: the file stays in the page cache (tmpfs?)");
        return None;
    }
    for range in ranges {
        let map = GuardedMap::new(&file, range.start, (range.end - range.start) as usize).unwrap();
        map.populate();
    }
    let wanted: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let found = cached(&file, 0..FILE_BYTES);
    if found != wanted {
        eprintln!("skipped: {found} bytes are cached of {wanted}");
    }
    (found == wanted).then_some(file)
}

fn check(keeper: &Keeper, file: &File, range: Range<u64>) {
    let mut buffer = vec![0xff; (range.end - range.start) as usize];
    let read = keeper.read(file, &mut buffer, range.start).unwrap() as u64;
    assert_eq!(
        read,
        range.end.min(FILE_BYTES).saturating_sub(range.start.min(FILE_BYTES)),
        "{range:?}"
    );
    let right = |(at, &found): (usize, &u8)| {
        found == if (at as u64) < read { byte(range.start + at as u64) } else { 0xff }
    };
    assert!(buffer.iter().enumerate().all(right), "{range:?}");
}

fn leaves_nothing(file: &File) -> bool {
    let known = fill(file, &mut [0; 1], 0, Caching::Leave).is_ok();
    if !known {
        eprintln!("skipped: no RWF_DONTCACHE here");
    }
    known
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_read_is_that_of_pread(
        parts in prop::collection::vec((0..2400_u64, 1..400_u64), 0..4),
        reads in prop::collection::vec((0..FILE_BYTES + 5000, 0..3 * MIB, any::<bool>()), 1..8),
        room in prop::sample::select(vec![full as fn() -> _, roomy, tight, untold]),
    ) {
        static FILE: OnceLock<File> = OnceLock::new();
        let file = FILE.get_or_init(written);
        residency::drop_cached(file.as_fd()).unwrap();
        for (page, pages) in parts {
            let start = (page * page_bytes()).min(FILE_BYTES / page_bytes() * page_bytes());
            let bytes = (pages * page_bytes()).min(FILE_BYTES - start);
            if let Some(map) = GuardedMap::new(file, start, bytes as usize) {
                map.populate();
            }
        }
        let keeper = Keeper::with_headroom(file, room).unwrap();
        for (offset, bytes, search) in reads {
            if search {
                let mut found = vec![0; bytes.min(64 << 10) as usize];
                let mut expected = found.clone();
                let read = keeper.search(file, &mut found, offset).unwrap();
                prop_assert_eq!(read, file.read_at(&mut expected, offset).unwrap());
                prop_assert!(found == expected);
            }
            check(&keeper, file, offset..offset + bytes);
        }
    }
}

#[test]
fn in_a_full_cache_what_is_cached_stays_and_nothing_comes_in() {
    let parts = [0..MIB, 2 * MIB + 4096..3 * MIB, 8 * MIB..9 * MIB];
    // The kernel may reclaim a page meanwhile, but hardly each time.
    for turn in 0..3 {
        let Some(file) = cached_in_part(&parts) else { return };
        if !leaves_nothing(&file) {
            return;
        }
        let keeper = Keeper::with_headroom(&file, full).unwrap();
        let before = cached(&file, 0..FILE_BYTES);
        for step in [100_000, 3 * MIB] {
            for start in (0..FILE_BYTES).step_by(step as usize) {
                check(&keeper, &file, start..start + step);
            }
            keeper.search(&file, &mut [0; 9000], 5 * MIB + 77).unwrap();
            check(&keeper, &file, 5 * MIB..5 * MIB + 20_000);
        }
        let stay = |part: &Range<u64>| cached(&file, part.clone()) == part.end - part.start;
        let after = cached(&file, 0..FILE_BYTES);
        assert!(after <= before, "{after} bytes are cached in place of {before}");
        if after == before && parts.iter().all(stay) {
            return;
        }
        eprintln!("turn {turn}: {after} bytes are cached in place of {before}");
    }
    panic!("what is cached does not stay");
}

#[test]
fn while_there_is_room_whole_folios_come_in_until_it_is_spent() {
    let Some(file) = cached_in_part(&[]) else { return };
    if !leaves_nothing(&file) || folios::bring_in(&file, 0..FOLIO_BYTES).is_none() {
        return eprintln!("skipped: no such faults in this kernel");
    }
    // 4 MiB free beyond the slack; then two steps of 4 MiB that show no growth would follow, but
    // the file is not so long.
    let keeper = Keeper::with_headroom(&file, tight).unwrap();
    check(&keeper, &file, 3 * MIB..3 * MIB + 10);
    assert_eq!(cached(&file, 0..FILE_BYTES), 2 * FOLIO_BYTES, "the folio around");
    assert_eq!(lock(&keeper.room).as_ref().map(Room::belief), Some(Belief::Free(2 * MIB)));
    check(&keeper, &file, 8 * MIB..8 * MIB + 10);
    assert_eq!(
        cached(&file, 4 * MIB..FILE_BYTES),
        (MIB + 1234).next_multiple_of(page_bytes()),
        "no more than the file has"
    );
}

#[test]
fn a_search_and_the_read_after_it_ask_the_device_once() {
    let Some(file) = cached_in_part(&[]) else { return };
    let keeper = Keeper::with_headroom(&file, full).unwrap();
    check(&keeper, &file, 0..10);
    keeper.search(&file, &mut [0; 5000], MIB - 1).unwrap();
    let held =
        lock(&keeper.pieces).at(MIB - 4096, stamp_of(&file)).map(|(piece, at)| (piece.len(), at));
    assert_eq!(held, Some((12288, 0)));
    check(&keeper, &file, MIB - 9000..MIB + 9000);
    // Another state of the file is another file.
    file.write_all_at(&[9; 4], MIB).unwrap();
    let mut now = [0; 4];
    keeper.read(&file, &mut now, MIB).unwrap();
    assert_eq!(now, [9; 4]);
}

fn stamp_of(file: &File) -> Stamp {
    let about = file.metadata().unwrap();
    (about.len(), about.mtime(), about.mtime_nsec())
}

#[test]
fn threads_read_at_the_same_time() {
    let file = written();
    for room in [full, roomy, tight, untold] {
        residency::drop_cached(file.as_fd()).unwrap();
        let keeper = Keeper::with_headroom(&file, room).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let (keeper, file) = (&keeper, &file);
                scope.spawn(move || {
                    for start in (thread * 50_000..FILE_BYTES).step_by(200_000) {
                        check(keeper, file, start..start + 50_000);
                    }
                });
            }
        });
    }
}

#[test]
fn another_file_is_refused_and_a_shorter_one_read_to_its_end() {
    let file = written();
    let keeper = Keeper::with_headroom(&file, full).unwrap();
    check(&keeper, &file, 0..MIB);
    let error = keeper.read(&tempfile::tempfile().unwrap(), &mut [0; 8], 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Changed);
    file.set_len(5000).unwrap();
    assert_eq!(keeper.read(&file, &mut [0; 8192], 0).unwrap(), 5000);
    assert_eq!(keeper.read(&file, &mut [0; 8192], 5000).unwrap(), 0);
}

#[test]
fn what_is_held_is_let_go_when_it_was_read() {
    let Some(file) = cached_in_part(&[0..2 * MIB, 4 * MIB..6 * MIB]) else { return };
    let keeper = Keeper::with_headroom(&file, roomy).unwrap();
    let all = std::iter::once(0..FILE_BYTES);
    assert_eq!(keeper.hold(&file, all.clone(), 0), 0);
    assert_eq!(keeper.hold(&file, all, 3 * MIB), 3 * MIB);
    assert_eq!(lock(&keeper.hold).ranges(), [4 * MIB..6 * MIB, MIB..2 * MIB]);
    check(&keeper, &file, 0..2 * MIB);
    assert_eq!(lock(&keeper.hold).bytes(), 2 * MIB);
    keeper.finish(&file);
    assert_eq!(lock(&keeper.hold).bytes(), 0);
}
