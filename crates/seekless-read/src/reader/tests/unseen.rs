//! File systems whose cached pages cannot be counted through the descriptor are read as by any
//! other program: from front to back by one thread, and nothing is asked again and again.

use super::*;

const MIB: u64 = 1 << 20;

/// Reads a file that is not cached. Returns what was asked of the system.
fn read_cold(made: Made) -> Arc<Made> {
    let content = text(9 << 20);
    let mut file = NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
    file.write_all(&content).unwrap();
    let (mut reader, made) = over(Options::default(), made);
    let number = reader.add_path(file.path());
    assert!(all(&mut reader).content(number) == content);
    made
}

#[test]
fn what_cannot_be_seen_is_read_from_the_front_by_one_thread_without_a_count() {
    let enough = Some(Headroom { free: 4 << 30, cached: 0 });
    let full_of_others = Some(Headroom { free: 0, cached: 1 << 30 });
    for room in [None, enough, full_of_others] {
        for known in [true, false] {
            let made = read_cold(Made { seen: false, known, room, ..Made::new(&[false]) });
            let reads = made.reads.lock().unwrap();
            assert_eq!(*reads, (0..9).map(|read| read * MIB).collect::<Vec<_>>());
            assert_eq!(made.readers.lock().unwrap().len(), 1);
            assert_eq!(made.counts.load(Ordering::Relaxed), 0, "{room:?}, {known}");
        }
    }
}

#[test]
fn what_can_be_seen_is_counted_while_it_is_unknown_whether_it_stays() {
    let made = read_cold(Made::new(&[false]));
    assert!(made.counts.load(Ordering::Relaxed) > 1);
}

#[test]
fn cached_bytes_are_read_first_though_they_are_not_counted_again() {
    let made = Made { seen: false, ..Made::new(&[vec![false; 512], vec![true; 512]].concat()) };
    let made = read_cold(made);
    assert_eq!(made.reads.lock().unwrap()[0], 2 * MIB);
    assert_eq!(made.counts.load(Ordering::Relaxed), 0);
}
