//! The exact windows of small cases.

use super::patterns::streams;
use crate::readahead::host::Host;
use crate::readahead::{Fate, Handle, Lead, Options, PageNo, Streams, Window};
use seekless_device::Costs;

/// A request costs 8 pages, so a window of 64 is worth it.
const PLAIN: Costs = Costs { request_ns: 32_768, bytes_per_second: 1_000_000_000, depth: 1 };
/// A request costs a third of a page, when 32 are made at once.
const DRIVE: Costs = Costs { request_ns: 100_000, bytes_per_second: 1_250_000_000, depth: 32 };
/// A request costs 183 pages.
const VOLUME: Costs = Costs { request_ns: 5_000_000, bytes_per_second: 150_000_000, depth: 1 };

fn host(max_pages: u32, costs: Costs) -> Host {
    with_lead(max_pages, costs, Lead::Auto)
}

fn with_lead(max_pages: u32, costs: Costs, lead: Lead) -> Host {
    let mut host = Host::new(Streams::new(Options { max_pages, lead }), 1 << 18);
    host.file.costs = costs;
    host
}

fn window(first: PageNo, pages: u32, marker: Option<PageNo>) -> Window {
    Window { first, pages, marker }
}

fn ranges(windows: &[Window]) -> Vec<(PageNo, u32)> {
    windows.iter().map(|window| (window.first, window.pages)).collect()
}

/// The windows of these reads of one page each.
fn windows(max_pages: u32, costs: Costs, pages: impl IntoIterator<Item = PageNo>) -> Vec<Window> {
    let mut host = host(max_pages, costs);
    host.read_each(pages);
    host.file.windows
}

#[test]
fn a_forward_stream_begins_at_its_second_read_and_grows_as_in_linux() {
    assert_eq!(
        windows(64, PLAIN, 1000..1100),
        [
            window(1000, 1, None),
            window(1001, 4, Some(1002)),
            window(1005, 8, Some(1005)),
            window(1013, 16, Some(1013)),
            window(1029, 32, Some(1029)),
            window(1061, 64, Some(1061)),
            window(1125, 64, Some(1125)),
        ]
    );
}

#[test]
fn a_backward_stream_is_a_forward_one_in_the_mirror() {
    assert_eq!(
        windows(64, PLAIN, (1000..1100).rev()),
        [
            window(1099, 1, None),
            window(1095, 4, Some(1097)),
            window(1087, 8, Some(1094)),
            window(1071, 16, Some(1086)),
            window(1039, 32, Some(1070)),
            window(975, 64, Some(1038)),
            window(911, 64, Some(974)),
        ]
    );
}

#[test]
fn reads_that_do_not_begin_at_pages_are_runs_too() {
    let read = |host: &mut Host, turn: u64| {
        host.read_bytes(Handle(0), 4_096_000 + 1000 * turn, 1000);
    };
    let mut forward = host(64, PLAIN);
    (0..20).for_each(|turn| read(&mut forward, turn));
    assert_eq!(ranges(&forward.file.windows), [(1000, 1), (1000, 4), (1004, 8), (1012, 16)]);
    let mut backward = host(64, PLAIN);
    (0..20).rev().for_each(|turn| read(&mut backward, turn));
    assert_eq!(ranges(&backward.file.windows), [(1004, 1), (1001, 4), (993, 8), (977, 16)]);
}

#[test]
fn a_stream_starts_from_the_size_of_its_reads() {
    let mut host = host(1024, PLAIN);
    (0..3).for_each(|turn| host.read(1000 + 16 * turn, 16));
    assert_eq!(
        host.file.windows,
        [window(1000, 16, None), window(1016, 64, Some(1032)), window(1080, 64, Some(1080))]
    );
}

#[test]
fn the_start_of_a_file_opens_a_window_and_its_ends_close_them() {
    let mut host = host(64, PLAIN);
    host.file.pages = 40;
    host.read_each(0..40);
    assert_eq!(
        host.file.windows,
        [
            window(0, 4, Some(1)),
            window(4, 8, Some(4)),
            window(12, 16, Some(12)),
            window(28, 12, None),
        ]
    );
    let backward = windows(64, PLAIN, (0..10).rev());
    assert_eq!(ranges(&backward), [(9, 1), (5, 4), (0, 5)]);
    assert_eq!(backward[2].marker, None);
}

#[test]
fn a_stride_is_read_through_where_a_request_is_dearer_than_the_gap() {
    let through = windows(256, VOLUME, (0..20).map(|turn| 1000 + 16 * turn));
    assert_eq!(ranges(&through[..4]), [(1000, 1), (1016, 1), (1032, 45), (1077, 90)]);
    let backward = windows(256, VOLUME, (0..20).map(|turn| 1000 - 16 * turn));
    assert_eq!(ranges(&backward[..4]), [(1000, 1), (984, 1), (924, 45), (834, 90)]);
}

#[test]
fn a_stride_is_read_element_by_element_where_requests_are_cheap() {
    let elements = windows(256, DRIVE, (0..6).map(|turn| 1000 + 16 * turn));
    let places: Vec<(PageNo, u32)> =
        (0..elements.len() as u64).map(|n| (1000 + 16 * n, 1)).collect();
    assert_eq!(ranges(&elements), places);
    // Three are seen, then two are fetched. When half of them are left, the window is of eight.
    assert_eq!(elements.len(), 3 + 2 + 7);
}

/// The start of a file is taken for a run. That an element lies where its window ended does not
/// make the stride one, where a window has no room for two elements and their gaps.
#[test]
fn a_stride_from_the_start_of_a_file_is_no_run() {
    let stride = windows(32, VOLUME, (0..40).map(|turn| 16 * turn));
    let large: Vec<_> = stride.iter().filter(|window| window.pages > 1).collect();
    assert!(stride.len() > 30 && large.len() <= 3, "{large:?}");
}

#[test]
fn a_stride_stands_reads_that_do_not_fit_and_elements_left_out() {
    let mut host = host(256, DRIVE);
    let stride = |turn: u64| 1000 + 16 * turn;
    host.read_each((0..4).map(stride));
    let fetched = host.file.ios.len();
    host.read_each([stride(4), 1069, 70_000, stride(5), stride(7), stride(8)]);
    let alone: Vec<_> = host.file.ios[fetched..].iter().filter(|io| io.start % 16 != 8).collect();
    assert_eq!(alone, [&(1069..1070), &(70_000..70_001)]);
    assert!(host.file.ios.contains(&(stride(12)..stride(12) + 1)));
}

#[test]
fn random_reads_fetch_what_they_ask_for_in_one_request() {
    let mut host = host(256, VOLUME);
    for page in [70_000, 1000, 200_000, 30_000, 1500, 90_000, 199_000, 130_000] {
        host.read(page, 7);
    }
    assert!(host.file.windows.iter().all(|window| window.pages == 7 && window.marker.is_none()));
    assert_eq!(host.file.windows.len(), 8);
}

#[test]
fn a_disturbance_does_not_change_the_windows_of_a_stream() {
    let quiet = windows(64, PLAIN, 1000..1200);
    for far in [[90_000, 200_000], [1300, 1500], [1300, 800], [1250, 1251]] {
        let mut host = host(64, PLAIN);
        for page in 1000..1200 {
            host.read(page, 1);
            if page == 1050 || page == 1100 {
                host.read(far[usize::from(page == 1100)], 1);
            }
        }
        let own = |window: &&Window| quiet.contains(window);
        let windows: Vec<Window> = host.file.windows.iter().filter(own).copied().collect();
        assert_eq!(windows, quiet, "{far:?}");
        assert!(host.file.windows.len() <= quiet.len() + 2, "{far:?}: {:?}", host.file.windows);
    }
}

#[test]
fn a_run_that_skips_twice_is_sparse_and_keeps_its_windows() {
    let mut host = host(64, VOLUME);
    host.read_each(1000..1020);
    let fetched = host.file.ios.len();
    host.read_each([1024, 1027, 1031, 1032, 1040, 1043, 1049, 1050, 1057, 1060, 1070, 1075, 1082]);
    let later = &host.file.ios[fetched..];
    assert!(later.iter().all(|io| io.end - io.start > 30), "whole windows: {later:?}");
    assert!(host.file.alone.is_empty());
}

#[test]
fn runs_of_one_length_are_fetched_whole_and_not_past_their_end() {
    let mut host = host(1024, VOLUME);
    for start in [1000, 9000, 5000] {
        host.read_each(start..start + 100);
    }
    host.read_each(20_000..20_001);
    host.read_each(20_001..20_100);
    host.take();
    host.read_each(40_000..40_100);
    assert_eq!(ranges(&host.file.windows), [(40_000, 100)]);
    host.take();
    host.read_each(40_100..40_102);
    assert!(host.file.ios[0].end > 40_103, "a run that goes on is read on: {:?}", host.file.ios);
}

#[test]
fn streams_start_larger_where_others_went_on() {
    let mut host = host(256, PLAIN);
    for first in [1000, 50_000, 100_000] {
        host.read_each(first..first + 200);
    }
    host.take();
    host.read_each([150_000, 150_001]);
    assert_eq!(ranges(&host.file.windows)[0], (150_000, 1));
    assert!(host.file.windows[1].pages >= 16, "{:?}", host.file.windows);
}

#[test]
fn a_reader_that_waits_gets_larger_windows() {
    let sizes = |fate: Fate| {
        let mut host = host(512, Costs { request_ns: 8192, ..PLAIN });
        host.fate_of_use = fate;
        host.read_each(1000..3000);
        host.file.windows.iter().map(|window| window.pages).max()
    };
    assert_eq!(sizes(Fate::InTime), Some(32));
    assert_eq!(sizes(Fate::Late), Some(512));
}

#[test]
fn a_window_that_is_lost_is_fetched_again_and_the_next_is_half_as_large() {
    let mut host = host(64, PLAIN);
    host.read_each(1000..1100);
    host.take();
    host.evict(1100..1300);
    host.read_each(1100..1101);
    assert_eq!(ranges(&host.file.windows), [(1100, 32)]);
}

#[test]
fn many_streams_share_the_budget() {
    let mut host = host(2048, VOLUME);
    host.file.budget_pages = 8000;
    for (at, (page, _)) in streams(200, 1, 1, 60).into_iter().enumerate() {
        match at {
            4000 => drop(host.take()),
            8000 => break,
            _ => host.read(page, 1),
        }
    }
    let largest = host.file.windows.iter().map(|window| window.pages).max();
    assert_eq!(largest, Some(8000 / (2 * 200)));
}

#[test]
fn a_congested_device_is_left_alone_and_asked_again_later() {
    let mut host = host(64, PLAIN);
    host.read_each(1000..1003);
    host.file.congested = true;
    host.take();
    host.read_each(1003..1005);
    assert_eq!(host.file.windows, []);
    host.file.congested = false;
    host.read_each(1005..1006);
    assert_eq!(host.file.windows.len(), 1);
}

#[test]
fn faults_follow_a_run_by_its_markers() {
    let mut host = host(64, PLAIN);
    (1000..1200).for_each(|page| host.fault(page));
    let faults = host.file.windows.iter().filter(|window| window.marker.is_none()).count();
    assert!(faults <= 2, "{:?}", host.file.windows);
    assert_eq!(host.file.windows.last().map(|window| window.pages), Some(64));
    assert!(host.file.alone.is_empty());
}

/// Then the reader misses where the last window ended, and no call has shown how it came there.
#[test]
fn faults_follow_a_run_without_markers() {
    let forward: Vec<PageNo> = (1000..1200).collect();
    let backward: Vec<PageNo> = forward.iter().rev().copied().collect();
    for pages in [forward, backward] {
        let mut host = with_lead(64, PLAIN, Lead::Off);
        pages.into_iter().for_each(|page| host.fault(page));
        let sizes: Vec<u32> = host.file.windows.iter().map(|window| window.pages).collect();
        assert_eq!(sizes[3..6], [16, 32, 64], "{sizes:?}");
    }
}

#[test]
fn a_read_longer_than_a_window_is_fetched_window_by_window() {
    let mut host = host(64, PLAIN);
    host.read(1000, 300);
    let pages: u32 = host.file.windows.iter().map(|window| window.pages).sum();
    assert_eq!((pages, host.file.unused()), (300, 0), "and not past its end");
    assert!(host.file.windows.iter().all(|window| window.pages <= 64));
}

#[test]
fn a_lead_that_is_off_fetches_only_what_is_missing() {
    let mut host = with_lead(64, PLAIN, Lead::Off);
    host.read_each(1000..1100);
    assert!(host.file.windows.iter().all(|window| window.marker.is_none()));
    assert_eq!(ranges(&host.file.windows)[..4], [(1000, 1), (1001, 4), (1005, 8), (1013, 16)]);
}

#[test]
fn a_handle_that_is_used_again_knows_nothing() {
    let mut host = host(64, PLAIN);
    host.read_each(1000..1010);
    host.readahead.close(Handle(0));
    host.readahead.open(Handle(0));
    host.evict(0..2000);
    host.take();
    host.read_each(1010..1011);
    assert_eq!(host.file.windows, [window(1010, 1, None)]);
}

/// A reader that waits for one stream waits for the device, which the other streams share: their
/// windows may be twice as large as without. A request costs 8 pages here.
#[test]
fn a_wait_for_one_stream_makes_the_windows_of_the_others_larger() {
    let largest = |is_late: bool| {
        let mut host = host(2048, PLAIN);
        host.read_each(1000..1400);
        for page in 100_000..100_020 {
            host.fate_of_use = if is_late { Fate::Late } else { Fate::InTime };
            host.read(page, 1);
        }
        host.fate_of_use = Fate::InTime;
        host.file.windows.clear();
        host.read_each(1400..1600);
        host.file.windows.iter().map(|window| window.pages).max()
    };
    assert_eq!((largest(false), largest(true)), (Some(64), Some(128)));
}
