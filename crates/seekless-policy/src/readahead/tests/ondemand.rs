//! Wu 2010 and Linux 2.6.24.

use super::*;

/// Table 2 and Fig. 5: cp reads page after page.
#[test]
fn cp_opens_the_windows_of_table_2() {
    let mut host = host("ondemand", 32);
    let seen = |host: &mut Host| host.take().0;
    host.read(0, 1);
    assert_eq!(seen(&mut host), [window(0, 4, Some(1))], "4 pages, 3 of them ahead");
    host.read(1, 1);
    assert_eq!(seen(&mut host), [window(4, 8, Some(4))], "8 pages, all ahead");
    host.read_each(2..4);
    assert_eq!(seen(&mut host), []);
    host.read(4, 1);
    assert_eq!(seen(&mut host), [window(12, 16, Some(12))]);
    host.read_each(5..28);
    assert_eq!(seen(&mut host), [window(28, 32, Some(28))]);
    host.read_each(28..100);
    assert_eq!(ranges(&seen(&mut host)), [(60, 32), (92, 32), (124, 32)]);
    assert!(host.file.alone.is_empty());
}

/// Fig. 7: random reads among those of a stream disturb it only before its window is open.
#[test]
fn random_reads_do_not_disturb_a_stream() {
    let mut host = host("ondemand", 32);
    host.read_each([1, 56, 72]);
    assert_eq!(host.file.windows, [window(1, 1, None), window(56, 1, None), window(72, 1, None)]);
    host.take();
    host.read_each([2, 3]);
    assert_eq!(host.take().0, [window(2, 1, None), window(3, 4, Some(4))]);
    // {..., 67, 4, 60, 5, ...}: the windows grow as if nothing came between.
    host.read_each([67, 4, 60, 5, 400, 6, 500, 7, 8]);
    let opened: Vec<Window> =
        host.take().0.into_iter().filter(|window| window.marker.is_some()).collect();
    assert_eq!(opened, [window(7, 8, Some(7)), window(15, 16, Some(15))]);
}

/// Fig. 7, last sentence of section 3.3: a stream from the start of the file is never disturbed.
#[test]
fn a_stream_from_the_start_is_not_disturbed_at_all() {
    let undisturbed = |disturb: bool| {
        let mut host = host("ondemand", 32);
        for page in 0..200 {
            host.read(page, 1);
            if disturb {
                host.read(5000 + 37 * page, 1);
            }
        }
        let windows = host.take().0;
        windows.into_iter().filter(|window| window.first < 5000).collect::<Vec<_>>()
    };
    assert_eq!(undisturbed(true), undisturbed(false));
}

/// Fig. 6 b: two threads on one descriptor, {1, 51, 52, 53, 54, 2, 3, ...}.
#[test]
fn two_streams_on_one_descriptor_each_keep_their_windows() {
    let mut host = host("ondemand", 32);
    host.read_each([1, 51, 52, 53, 54, 2, 3]);
    assert_eq!(
        ranges(&host.take().0),
        [(1, 1), (51, 1), (52, 4), (56, 8), (2, 1), (3, 4)],
        "stream B at 52, its marker at 53; stream A at 3"
    );
    // A's marker is at 4; B's window is the last one no more, its marker is at 56.
    host.read_each([55, 4, 56, 5, 57, 6]);
    assert_eq!(ranges(&host.take().0), [(7, 8), (64, 16)], "each recovers and grows");
    for step in 0..200 {
        host.read_each([58 + step, 7 + step]);
    }
    assert!(host.file.alone.is_empty());
    let sizes: Vec<u32> = host.take().0.iter().map(|window| window.pages).collect();
    assert_eq!(sizes, [16, 32, 32, 32, 32, 32, 32, 32, 32]);
}

#[test]
fn a_first_window_that_was_overwritten_is_recovered_smaller() {
    // Rule 3 after an initial window: 3 pages are left of 4, so the next has next(3) and not 8.
    let mut host = host("ondemand", 32);
    host.read(0, 1);
    host.read_each([1000, 1001]);
    host.take();
    host.read(1, 1);
    assert_eq!(host.take().0, [window(4, 6, Some(4))]);
}

#[test]
fn a_backward_step_is_random_and_a_repeat_is_sequential() {
    let mut host = host("ondemand", 32);
    host.read_each([100, 99, 98]);
    assert_eq!(host.take().0, [100, 99, 98].map(|page| window(page, 1, None)));
    host.evict([98]);
    host.read(98, 1);
    assert_eq!(host.take().0, [window(98, 4, Some(99))]);
}

#[test]
fn page_0_opens_a_window_only_as_the_first_read() {
    let mut host = host("ondemand", 32);
    host.read_each([50, 0]);
    assert_eq!(host.take().0, [window(50, 1, None), window(0, 1, None)]);
}

/// Table 1, third line: reads that do not meet on the border of a page.
#[test]
fn unaligned_reads_are_sequential() {
    let mut host = host("ondemand", 32);
    host.read_bytes(Handle(0), 10 * 4096, 6000);
    host.read_bytes(Handle(0), 10 * 4096 + 6000, 6000);
    assert_eq!(host.take().0, [window(10, 2, None), window(12, 4, Some(13))]);
}

/// Definition 3: more than the largest window is asked for at once.
#[test]
fn an_oversize_read_keeps_windows_of_the_largest_size_in_flight() {
    let mut host = host("ondemand", 32);
    host.read(1000, 128);
    assert_eq!(
        host.file.windows,
        [
            window(1000, 32, Some(1000)),
            window(1032, 32, Some(1032)),
            window(1064, 32, Some(1064)),
            window(1096, 32, Some(1096)),
            window(1128, 32, Some(1128)),
        ],
        "the marker is on the page that is read: the next window is asked for at once"
    );
    assert!(host.file.alone.is_empty());
}

/// A read that got less than it asked for is retried from where it stopped.
#[test]
fn a_retried_read_goes_on_where_it_stopped() {
    let (mut whole, mut retried) = (host("ondemand", 32), host("ondemand", 32));
    whole.read(0, 64);
    for first in (0..64).step_by(2) {
        retried.read(first, 2);
    }
    assert_eq!(ranges(&whole.take().0), [(0, 32), (32, 32), (64, 32)]);
    let (windows, _) = retried.take();
    assert_eq!(ranges(&windows), [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32), (92, 32)]);
    assert!(retried.file.alone.is_empty());
}

/// Fig. 3, lines 5 to 10: the marker is cleared first, so a congested trigger is lost.
#[test]
fn a_marker_met_while_congested_is_lost_and_a_miss_is_not() {
    let mut host = host("ondemand", 32);
    host.read(0, 1);
    host.file.congested = true;
    host.read(1, 1);
    host.file.congested = false;
    host.read_each([1, 2, 3]);
    assert_eq!(ranges(&host.take().0), [(0, 4)], "the marker at 1 is gone");
    host.file.congested = true;
    host.read(4, 1);
    assert_eq!(host.take().0, [window(4, 8, Some(4))], "a miss fetches, congested or not");
}

/// Rule 1 fires on a miss too: it moves the window on, and the page is read alone.
#[test]
fn a_miss_on_the_expected_page_is_read_alone() {
    let mut host = host("ondemand", 32);
    host.read_each(0..2);
    host.take();
    host.evict([4]);
    host.read(4, 1);
    assert_eq!(host.file.windows, [window(12, 16, Some(12))]);
    assert_eq!(host.file.alone, [4]);
}

/// Thrashing: pages that were evicted before their use begin again with a small window, and it
/// grows again.
#[test]
fn an_evicted_window_shrinks_and_grows_again() {
    let mut host = host("ondemand", 32);
    host.read_each(0..28);
    host.take();
    host.evict(28..200);
    host.read(28, 1);
    host.take();
    host.evict(29..200);
    host.read_each(29..100);
    let sizes: Vec<u32> = host.take().0.iter().map(|window| window.pages).collect();
    assert_eq!(sizes[..4], [4, 8, 16, 32]);
}

#[test]
fn what_is_cached_beyond_the_largest_window_stops_a_lost_stream() {
    let mut host = host("ondemand", 32);
    host.read(0, 1);
    // Another reader has fetched the next 128 KiB, and the state belongs to another stream.
    host.read(500, 64);
    host.read_each(4..40);
    host.take();
    host.read(1, 1);
    assert_eq!(host.take().0, [], "the first hole is more than 32 pages away");
}

/// A file of five pages: a window stops at the end of the file.
#[test]
fn a_window_stops_at_the_end_of_the_file() {
    let mut host = host("ondemand", 32);
    host.file.pages = 5;
    host.read_each(0..5);
    assert_eq!(host.file.ios, [0..4, 4..5]);
}

#[test]
fn the_lead_says_where_the_marker_lies() {
    let markers = |lead| {
        let mut host = with_lead("ondemand", 32, lead);
        host.read_each(0..40);
        host.file.windows.iter().map(|window| window.marker).collect::<Vec<_>>()
    };
    assert_eq!(markers(Lead::Auto)[..3], [Some(1), Some(4), Some(12)]);
    assert_eq!(markers(Lead::Pages(2))[..3], [Some(2), Some(10), Some(26)]);
    assert_eq!(markers(Lead::Pages(1000))[..3], [Some(0), Some(4), Some(12)]);
    let off = with_lead("ondemand", 32, Lead::Off);
    let mut host = off;
    host.read_each(0..60);
    assert_eq!(
        host.file.windows,
        [window(0, 4, None), window(4, 8, None), window(12, 16, None), window(28, 32, None)]
    );
}

#[test]
fn the_budget_limits_the_window() {
    let mut host = host("ondemand", 256);
    host.file.budget_pages = 32;
    host.read_each(0..100);
    assert!(host.file.windows.iter().all(|window| window.pages <= 32));
    assert_eq!(ranges(&host.file.windows)[..3], [(0, 4), (4, 8), (12, 16)]);
}
