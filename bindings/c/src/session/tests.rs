//! Sessions: each byte once, whole records, buffers of any size.

use super::*;
use std::io::Write;

fn file(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file
}

#[test]
fn a_record_longer_than_the_buffer_comes_in_pieces_or_is_refused() {
    let mut text = vec![b'a'; 10_000];
    text.extend(b"\nbb\n");
    let file = file(&text);
    let mut session =
        Session::new(&file, Wanted::records(4096, Records::Delimiter(b'\n'))).unwrap();
    assert_eq!(session.buffer_bytes(), 4096);
    let failure = session.next_read(&file, 4096, true).unwrap_err();
    assert_eq!((failure.errno, failure.needed_bytes), (libc::ERANGE, 10_001));
    let mut next = |whole, buffer| session.next_read(&file, buffer, whole).unwrap();
    assert_eq!(next(false, 4096), Some(0..4096), "what was refused is not lost");
    assert_eq!(next(true, 8192), Some(4096..10_001));
    assert_eq!(next(true, 8192), Some(10_001..10_004));
    assert_eq!(next(true, 8192), None);
}

#[test]
fn elements_are_numbered_from_the_first() {
    let file = file(&[0; 1003]);
    let unit = Elements::new(3, 8, -1).unwrap();
    let mut session = Session::new(&file, Wanted::elements(unit.bytes(50).unwrap(), unit)).unwrap();
    assert_eq!(session.buffer_bytes(), 400);
    assert_eq!(session.next_read(&file, 100, false).unwrap_err().errno, libc::EINVAL);
    assert_eq!(session.next_elements(&file, 0).unwrap_err().errno, libc::EINVAL);
    assert_eq!(session.next_elements(&file, 20).unwrap(), Some((0, 20)));
    assert_eq!(session.next_elements(&file, 1000).unwrap(), Some((20, 50)));
    assert_eq!(session.next_elements(&file, 1000).unwrap(), Some((70, 50)));
    assert_eq!(session.next_elements(&file, 1000).unwrap(), Some((120, 5)), "125 of 8 bytes fit");
    assert_eq!(session.next_elements(&file, 1000).unwrap(), None);
}

#[test]
fn elements_beyond_the_file_are_none() {
    let file = file(&[0; 10]);
    for (origin, count) in [(11, -1), (8, 5), (i64::MAX, -1), (0, 0)] {
        let unit = Elements::new(origin, 4, count).unwrap();
        let mut session = Session::new(&file, Wanted::elements(0, unit)).unwrap();
        assert_eq!(session.next_elements(&file, 4).unwrap(), None, "{origin}");
    }
}

#[test]
fn a_buffer_holds_whole_pages_or_whole_records() {
    let sizes = [(0, 262_144), (1, 4096), (5000, 8192), (u64::MAX, 1 << 30)];
    for (preferred, expected) in sizes {
        assert_eq!(Wanted::records(preferred, Records::None).buffer_bytes(), expected);
    }
    let rows = Elements::new(0, 3000, -1).unwrap();
    assert_eq!(Wanted::fixed(10_000, rows).buffer_bytes(), 9000);
    assert_eq!(Wanted::fixed(10, rows).buffer_bytes(), 3000);
}
