//! Linux 6.x, on a file system without large folios.

use super::*;

#[test]
fn cp_opens_the_same_windows_as_in_2_6_24() {
    let mut host = host("linux", 32);
    host.read_each(0..100);
    assert_eq!(
        host.file.windows[..4],
        [
            window(0, 4, Some(1)),
            window(4, 8, Some(4)),
            window(12, 16, Some(12)),
            window(28, 32, Some(28))
        ]
    );
}

#[test]
fn page_0_opens_a_window_whenever_it_is_missing() {
    let mut host = host("linux", 32);
    host.read_each([50, 0]);
    assert_eq!(host.take().0, [window(50, 1, None), window(0, 4, Some(1))]);
}

#[test]
fn a_read_that_fills_its_first_window_puts_the_marker_in_its_middle() {
    let mut host = host("linux", 32);
    host.read(1000, 64);
    assert_eq!(host.file.windows[0], window(1000, 32, Some(1016)));
    assert!(host.file.alone.is_empty());
}

/// Streams whose reads never come one after another are found by the pages before a miss.
#[test]
fn a_stream_is_found_in_the_cache() {
    let mut host = host("linux", 32);
    for step in 0..3 {
        for stream in 0..10 {
            host.read(1000 + stream * 1000 + 10 + step, 1);
        }
    }
    let found: Vec<_> = host.file.windows[20..].to_vec();
    let expected: Vec<_> =
        (0..10).map(|stream| window(1012 + stream * 1000, 3, Some(1014 + stream * 1000))).collect();
    assert_eq!(
        found, expected,
        "2 cached pages before the third read, and the page that it asks for"
    );
    assert!(host.file.windows[..20].iter().all(|window| window.pages == 1));
}

#[test]
fn a_file_that_is_cached_from_its_start_counts_twice() {
    let mut host = host("linux", 32);
    host.read(0, 1);
    host.evict(1..4);
    host.read(3000, 1);
    host.read(1, 2);
    assert_eq!(host.take().0[2..], [window(1, 2, None)], "one page is no more than is asked for");
    host.read(3000, 1);
    host.read(3, 1);
    assert_eq!(host.take().0, [window(3, 7, Some(9))], "3 pages from the start count as 6");
}

#[test]
fn a_marker_without_state_searches_from_the_next_page_and_adds_the_read() {
    let mut host = host("linux", 32);
    host.read(0, 1);
    host.read(1000, 1);
    host.read(1001, 1);
    host.take();
    // Pages 1 to 3 are cached after the marker at 1: 3 and the 1 that is asked for, times 2.
    host.read(1, 1);
    assert_eq!(host.take().0, [window(4, 8, Some(4))]);
}

#[test]
fn only_a_marker_moves_the_window_on() {
    let mut host = host("linux", 32);
    host.read_each(0..2);
    host.take();
    host.evict([4]);
    host.read(4, 1);
    // 4 pages from the start of the file count twice, and 1 is asked for.
    assert_eq!(host.take().0, [window(4, 9, Some(12))]);
}

#[test]
fn a_window_that_a_marker_asked_for_ends_on_four_pages() {
    let mut host = host("linux", 32);
    host.read_each(1..12);
    // 2 opens 2..6; its marker at 3 asks for 8 from 6 on, which would end at 14.
    assert_eq!(
        host.take().0,
        [
            window(1, 1, None),
            window(2, 4, Some(3)),
            window(6, 6, Some(6)),
            window(12, 12, Some(12)),
        ]
    );
}

#[test]
fn a_window_that_reaches_the_end_of_the_file_has_no_marker() {
    let mut host = host("linux", 32);
    host.file.pages = 10;
    host.read_each(0..10);
    assert_eq!(host.take().0, [window(0, 4, Some(1)), window(4, 8, None)]);
}

#[test]
fn congestion_shrinks_a_miss_to_one_page() {
    let mut host = host("linux", 32);
    host.file.congested = true;
    host.read(0, 2);
    assert_eq!(host.take().0, [window(0, 1, None), window(1, 1, None)]);
}

#[test]
fn a_fault_reads_around_the_page() {
    use crate::readahead::{Read, Trigger};
    let mut host = host("linux", 32);
    let read = Read { file: Handle(0), offset: 100 * 4096, bytes: 1 };
    host.readahead.on_page(read, 100, Trigger::Fault, &mut host.file);
    assert_eq!(host.take().0, [window(84, 32, Some(108))]);
}
