use super::*;
use proptest::prelude::*;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn need(file: u32, page: u64, pages: u64, time_ns: u64, mapped: bool) -> Need {
    let extent = Extent { offset: page * PAGE_BYTES, bytes: pages * PAGE_BYTES };
    Need { file, extent, time_ns, mapped }
}

fn device(request_ns: u64, bytes_per_second: u64, depth: u32) -> Device {
    let costs = Costs { request_ns, bytes_per_second, depth };
    Device { costs, readahead_bytes: 128 * KIB }
}

#[test]
fn what_most_runs_need_is_taken_in_the_order_of_the_newest() {
    let old = [need(0, 0, 4, 1, true), need(1, 100, 2, 2, true)];
    let middle = [need(0, 2, 4, 1, true), need(2, 0, 1, 5, true)];
    let new = [need(1, 100, 2, 3, true), need(0, 2, 1, 9, true)];
    let wanted = by_most(&[&old, &middle, &new]);
    // Page 3 of file 0 comes from the run before the newest.
    assert_eq!(wanted, [need(1, 100, 2, 3, true), need(0, 2, 1, 9, true), need(0, 3, 1, 1, true)]);
    assert_eq!(by_most(&[&old]), old);
    assert_eq!(by_most(&[]), []);
}

#[test]
fn a_touch_reads_its_surroundings_once() {
    let needs = [need(0, 100, 1, 0, true), need(0, 110, 1, 1, true), need(0, 0, 1, 2, true)];
    // Pages 84 to 115, which hold both, and 0 to 31.
    let read = plain(&needs, MIB, 128 * KIB);
    assert_eq!(read, Plain { requests: 2, bytes: 2 * 128 * KIB });
    // A file that ends before the window does.
    assert_eq!(plain(&needs[..1], 404 * KIB, 128 * KIB), Plain { requests: 1, bytes: 68 * KIB });
}

#[test]
fn reads_in_order_read_ahead_ever_more() {
    let needs: Vec<Need> = (0..8).map(|page| need(0, page, 1, page, false)).collect();
    // 4 pages, then 8.
    assert_eq!(plain(&needs, MIB, 128 * KIB), Plain { requests: 2, bytes: 48 * KIB });
}

#[test]
fn a_sparse_mapping_pays_and_a_small_file_does_not_where_requests_are_capped() {
    let capped = device(2_000_000, 150_000_000, 1);
    let sparse: Vec<Need> = (0..200).map(|at| need(0, at * 400, 16, at, true)).collect();
    let wide = Device { readahead_bytes: 8 * MIB, ..capped };
    assert!(expect(&sparse, 400 * MIB, true, &wide).pays());
    let small = [need(0, 0, 3, 0, false)];
    let expected = expect(&small, 12_000, true, &capped);
    assert_eq!((expected.plain.requests, expected.warmed.requests), (2, 2));
    assert!(!expected.pays());
    // Where several are served at once, their waits overlap.
    assert!(expect(&small, 12_000, true, &device(2_000_000, 1_000_000_000, 64)).pays());
}

#[test]
fn many_reads_must_save_the_processor_time_that_they_take() {
    let wait = |requests, seconds| Wait { requests, bytes: 0, seconds };
    assert!(worth(wait(1300, 2.3), wait(1100, 0.2)));
    assert!(worth(wait(1300, 0.15), wait(20, 0.05)));
    assert!(!worth(wait(1300, 0.15), wait(1100, 0.09)));
    assert!(!worth(wait(10, 0.03), wait(4, 0.015)), "too little");
}

#[test]
fn reads_that_are_served_at_once_are_joined_only_across_small_gaps() {
    let needs = [need(0, 0, 1, 0, true), need(0, 100, 1, 1, true)];
    let reads = |depth| expect(&needs, MIB, true, &device(2_000_000, 1_000_000_000, depth)).reads;
    assert_eq!((reads(1).len(), reads(16).len()), (1, 2));
}

#[test]
fn a_program_is_held_until_no_read_comes_late() {
    assert_eq!(head_start_ns([(10, 0), (10, 15), (10, 100)].into_iter()), 10);
    assert_eq!(head_start_ns([(10, 20), (10, 20)].into_iter()), 0);
    assert_eq!(head_start_ns([(10, 20), (50, 20)].into_iter()), 40);
}

#[test]
fn a_program_that_goes_another_way_is_noticed() {
    let mut course = Course::default();
    let verdicts: Vec<bool> =
        (0..256).filter_map(|touch| course.touched(touch < 128 && touch % 3 == 0)).collect();
    assert_eq!(verdicts, [true, true, false, false]);
}

proptest! {
    #[test]
    fn bringing_in_covers_every_need_and_no_read_is_needless(
        ranges in proptest::collection::vec((0_u64..500, 1_u64..40), 1..30),
    ) {
        let needs: Vec<Need> =
            ranges.iter().map(|&(page, pages)| need(0, page, pages, 0, true)).collect();
        let expected = expect(&needs, 4 * MIB, false, &device(100_000, 1_000_000_000, 1));
        for need in &needs {
            let page = |at| Extent { offset: at * PAGE_BYTES, bytes: PAGE_BYTES };
            let first = need.extent.offset / PAGE_BYTES;
            for at in first..first + need.extent.bytes / PAGE_BYTES {
                prop_assert!(expected.reads.iter().any(|read| read.covers(page(at))));
            }
        }
        for read in &expected.reads {
            prop_assert!(needs.iter().any(|need| need.extent.offset == read.offset));
        }
    }

    #[test]
    fn a_single_run_is_wanted_whole(
        ranges in proptest::collection::vec((0_u32..3, 0_u64..200, 1_u64..80), 0..20),
    ) {
        let needs: Vec<Need> = ranges
            .iter()
            .enumerate()
            .map(|(time, &(file, page, pages))| need(file, page, pages, time as u64, true))
            .collect();
        let pages = |needs: &[Need]| {
            let all = needs.iter().flat_map(|need| {
                let first = need.extent.offset / PAGE_BYTES;
                (first..need.extent.end().div_ceil(PAGE_BYTES)).map(move |page| (need.file, page))
            });
            all.collect::<Vec<_>>()
        };
        let mut expected = pages(&needs);
        expected.sort_unstable();
        expected.dedup();
        let mut found = pages(&by_most(&[&needs]));
        found.sort_unstable();
        prop_assert_eq!(found, expected, "each page once");
    }
}
