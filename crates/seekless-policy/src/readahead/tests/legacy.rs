//! Linux 2.6.22.

use super::*;

/// Fig. 8: {1, 2, 3, seek to 1000, back to 4, 5, 6}.
#[test]
fn a_random_read_breaks_the_stream_of_figure_8() {
    let mut host = host("legacy", 32);
    host.read_each([1, 2, 3, 1000, 4, 5, 6]);
    assert_eq!(
        ranges(&host.file.windows),
        [(1, 1), (2, 4), (6, 8), (1000, 1), (4, 1), (5, 4), (9, 8)]
    );
    assert_eq!(
        host.file.ios,
        [1..2, 2..6, 6..14, 1000..1001, 14..17],
        "of pages 9 to 16 only 14 to 16 are not cached"
    );
}

#[test]
fn a_stream_shifts_its_windows_when_it_reaches_the_second() {
    let mut host = host("legacy", 32);
    host.read_each(0..200);
    assert_eq!(
        ranges(&host.file.windows)[..5],
        [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32)],
        "page 1 opens the window ahead, pages 4, 12 and 28 the next ones"
    );
    assert!(host.file.alone.is_empty());
}

#[test]
fn the_next_window_is_asked_for_at_the_first_page_of_the_one_ahead() {
    let mut host = host("legacy", 32);
    host.read_each(0..4);
    assert_eq!(host.take().0.len(), 2);
    host.read(4, 1);
    assert_eq!(ranges(&host.take().0), [(12, 16)]);
}

#[test]
fn two_interleaved_streams_are_random_reads() {
    let mut host = host("legacy", 32);
    (0..50).for_each(|step| host.read_each([step, 1000 + step]));
    let sizes: Vec<u32> = host.file.windows.iter().map(|window| window.pages).collect();
    assert_eq!(sizes[0], 4, "page 0 is the first read");
    assert!(sizes[1..].iter().all(|&pages| pages == 1));
}

#[test]
fn a_large_read_has_two_windows_in_flight_and_calls_again_page_by_page() {
    let mut host = host("legacy", 32);
    host.read(0, 128);
    assert_eq!(
        host.file.windows,
        [
            window(0, 32, None),
            window(32, 32, Some(32)),
            window(64, 32, Some(64)),
            window(96, 32, Some(96)),
            window(128, 32, None),
        ]
    );
    assert!(host.file.alone.is_empty());
}

#[test]
fn a_part_of_a_page_again_is_nothing_new() {
    let mut host = host("legacy", 32);
    for quarter in 0..16 {
        host.read_bytes(Handle(0), quarter * 1024, 1024);
    }
    assert_eq!(ranges(&host.file.windows), [(0, 4), (4, 8)], "as four whole pages");
}

#[test]
fn a_file_that_is_cached_switches_readahead_off_until_a_page_is_missing() {
    let mut host = host("legacy", 32);
    host.read(1000, 500);
    host.read(2000, 1);
    host.take();
    host.read_each(1000..1300);
    let (windows, _) = host.take();
    let pages: u32 = windows.iter().map(|window| window.pages).sum();
    assert!((256..320).contains(&pages), "{pages} pages were found cached, then no more asked for");
    host.evict([1400]);
    host.read_each([1400, 1401, 1402]);
    assert_eq!(host.file.alone, [1400]);
    assert_eq!(host.take().0.len(), 2, "it is on again");
}

#[test]
fn a_missing_page_shrinks_the_next_window() {
    let mut host = host("legacy", 32);
    host.read_each(0..28);
    host.take();
    // The window of 28..60 is there; page 30 goes, and the next window has 32 - 2 pages.
    host.evict([30]);
    host.read_each(28..61);
    assert_eq!(ranges(&host.take().0), [(60, 32), (92, 30)]);
}

#[test]
fn a_congested_device_gets_no_window_ahead() {
    let mut host = host("legacy", 32);
    host.read(0, 1);
    host.file.congested = true;
    host.read(1, 1);
    assert_eq!(ranges(&host.take().0), [(0, 4)]);
    host.file.congested = false;
    host.read(2, 1);
    assert_eq!(ranges(&host.take().0), [(4, 8)], "it is asked for at the next read");
}
