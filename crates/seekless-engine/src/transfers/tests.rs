//! Both ways move the bytes that they are asked for, and say how each transfer ended.

use super::*;
use std::os::unix::fs::FileExt;

type Make = fn(Vec<File>, Slots) -> io::Result<Box<dyn Transfers>>;
const BOTH: [Make; 2] = [transfers, transfers_by_threads];

fn slots(count: u32) -> Slots {
    Slots { count, bytes: 8192, pattern: b"@".to_vec() }
}

fn all(transfers: &mut dyn Transfers, count: usize) -> Vec<Transferred> {
    let mut ended = Vec::new();
    while ended.len() < count {
        transfers.turn(Wait::ForOne, &mut ended).unwrap();
    }
    ended.sort_by_key(|transferred| transferred.slot);
    ended
}

#[test]
fn reads_end_with_their_bytes_and_at_the_end_of_the_file_with_fewer() {
    for make in BOTH {
        let file = tempfile::tempfile().unwrap();
        file.set_len(10_000).unwrap();
        let mut transfers = make(vec![file], slots(3)).unwrap();
        for (slot, offset) in [(0, 0), (1, 8192), (2, 1 << 20)] {
            transfers.push(Transfer { slot, file: 0, write: false, offset, bytes: 8192 });
        }
        let results = all(&mut *transfers, 3).into_iter().map(|ended| ended.result);
        assert_eq!(
            results.collect::<Vec<_>>(),
            [Ok(8192), Ok(1808), Ok(0)],
            "{}",
            transfers.name()
        );
    }
}

#[test]
fn writes_write_the_pattern_where_they_are_asked_to() {
    for make in BOTH {
        let file = tempfile::tempfile().unwrap();
        file.set_len(3 * 8192).unwrap();
        let mut transfers = make(vec![file.try_clone().unwrap()], slots(1)).unwrap();
        transfers.push(Transfer { slot: 0, file: 0, write: true, offset: 8192, bytes: 4096 });
        assert_eq!(all(&mut *transfers, 1)[0].result, Ok(4096));
        let mut bytes = vec![0; 3 * 8192];
        file.read_exact_at(&mut bytes, 0).unwrap();
        let written = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'@');
        let places: Vec<usize> = written.map(|(place, _)| place).collect();
        assert_eq!((places[0], places.len()), (8192, 4096), "{}", transfers.name());
    }
}

#[test]
fn a_write_after_a_read_in_the_same_slot_writes_the_pattern_too() {
    for make in BOTH {
        let file = tempfile::tempfile().unwrap();
        file.set_len(16 << 20).unwrap();
        let mut transfers = make(vec![file.try_clone().unwrap()], slots(1)).unwrap();
        for (write, offset) in [(false, 0), (true, 8192), (false, 0), (true, 12 << 20)] {
            transfers.push(Transfer { slot: 0, file: 0, write, offset, bytes: 8192 });
            assert_eq!(all(&mut *transfers, 1)[0].result, Ok(8192));
        }
        for offset in [8192, 12 << 20] {
            let mut bytes = vec![0; 8192];
            file.read_exact_at(&mut bytes, offset).unwrap();
            assert!(bytes.iter().all(|&byte| byte == b'@'), "{}", transfers.name());
        }
    }
}

#[test]
fn a_start_hands_over_without_a_turn() {
    for make in BOTH {
        let file = tempfile::tempfile().unwrap();
        file.set_len(4096).unwrap();
        let mut transfers = make(vec![file.try_clone().unwrap()], slots(1)).unwrap();
        transfers.push(Transfer { slot: 0, file: 0, write: true, offset: 0, bytes: 4096 });
        transfers.start();
        let mut byte = [0];
        for _ in 0..5000 {
            file.read_exact_at(&mut byte, 4095).unwrap();
            if byte == *b"@" {
                break;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(byte, *b"@", "{}", transfers.name());
        assert_eq!(all(&mut *transfers, 1)[0].result, Ok(4096), "{}", transfers.name());
    }
}

#[test]
fn a_failure_is_told_with_its_slot() {
    for make in BOTH {
        let folder = File::open("/").unwrap();
        let mut transfers = make(vec![folder], slots(2)).unwrap();
        transfers.push(Transfer { slot: 1, file: 0, write: false, offset: 0, bytes: 4096 });
        let ended = all(&mut *transfers, 1);
        assert_eq!(ended, [Transferred { slot: 1, result: Err(Errno::ISDIR) }]);
    }
}

#[test]
fn a_wait_with_a_limit_ends_without_a_transfer() {
    for make in BOTH {
        let mut transfers = make(vec![tempfile::tempfile().unwrap()], slots(1)).unwrap();
        let mut ended = Vec::new();
        transfers.turn(Wait::AtMost(Duration::from_millis(1)), &mut ended).unwrap();
        transfers.turn(Wait::AtMost(Duration::ZERO), &mut ended).unwrap();
        transfers.turn(Wait::ForOne, &mut ended).unwrap();
        assert_eq!(ended, []);
    }
}

#[test]
fn dropping_it_with_transfers_in_flight_waits_for_them() {
    for make in BOTH {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        let mut transfers = make(vec![file], slots(64)).unwrap();
        for slot in 0..64 {
            let offset = u64::from(slot) * 8192;
            transfers.push(Transfer { slot, file: 0, write: false, offset, bytes: 8192 });
        }
        transfers.turn(Wait::AtMost(Duration::ZERO), &mut Vec::new()).unwrap();
    }
}

#[test]
fn too_much_memory_is_refused() {
    let wanted = Slots { count: 100_000, bytes: 1 << 20, pattern: Vec::new() };
    let error = transfers(Vec::new(), wanted).map(|_| ()).unwrap_err();
    assert!(error.to_string().contains("smaller depth"), "{error}");
}
