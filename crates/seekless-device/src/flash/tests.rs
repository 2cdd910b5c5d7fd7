//! The drive against times computed by hand, and its translation against a plain map.

use super::*;
use crate::SplitMix64;

const US: Nanos = 1_000;

/// Two channels of two dies of one plane. A page of 4000 bytes takes 40 µs over the bus and 4 µs
/// over the link.
fn small() -> FlashParameters {
    FlashParameters {
        capacity_bytes: 4 * 64 * 4000,
        channels: 2,
        dies: 2,
        planes: 1,
        page_bytes: 4000,
        pages_per_block: 8,
        chunk_bytes: 4000,
        mapping: Mapping::Static,
        read_ns: 100 * US,
        program_ns: 500 * US,
        erase_ns: 2000 * US,
        bus_bytes_per_second: 100_000_000,
        link_bytes_per_second: 1_000_000_000,
        overhead_ns: 5 * US,
        write_buffer_bytes: 0,
        over_provisioning_percent: 50,
        filled_percent: 0,
        garbage: Garbage { start_blocks: 1, stop_blocks: 1 },
    }
}

fn io(tag: u64, write: bool, offset: u64, bytes: u64) -> Io {
    Io { tag, write, offset, bytes }
}

/// Ends in microseconds of reads or writes of whole pages that are all made at 0, by tag.
fn at_once(parameters: FlashParameters, write: bool, pages: &[(u64, u64)]) -> Vec<Nanos> {
    let mut flash = Flash::new(parameters).unwrap();
    let mut ends = vec![0; pages.len()];
    for (tag, &(first, count)) in (0..).zip(pages) {
        flash.submit(0, io(tag, write, first * 4000, count * 4000));
    }
    flash.advance(Nanos::MAX, &mut |end, io| ends[io.tag as usize] = end / US);
    ends
}

#[test]
fn a_read_takes_firmware_cells_bus_and_link() {
    assert_eq!(at_once(small(), false, &[(0, 1)]), [5 + 100 + 40 + 4]);
    // Four pages of four dies: two at once on each bus, then the four over the link.
    assert_eq!(at_once(small(), false, &[(0, 4)]), [5 + 100 + 2 * 40 + 4]);
    // The fifth is on the first die again: its cells and its bus once more.
    assert_eq!(at_once(small(), false, &[(0, 5)]), [5 + 100 + 40 + 100 + 40 + 4]);
    let part = FlashParameters { ..small() };
    let mut flash = Flash::new(part).unwrap();
    flash.submit(0, io(0, false, 3000, 500));
    assert_eq!(flash.next_event(), Some((5 + 100 + 5) * US + 500), "500 bytes of one page");
}

#[test]
fn the_link_limits_many_pages() {
    let slow = FlashParameters { link_bytes_per_second: 10_000_000, ..small() };
    // 400 µs a page over the link, behind the first page.
    assert_eq!(at_once(slow, false, &[(0, 4)]), [5 + 100 + 40 + 4 * 400]);
}

#[test]
fn reads_of_one_die_wait_for_each_other_and_others_do_not() {
    // Pages 0 and 4 lie on one die, 1 on another channel, 2 on the other die of the first channel.
    let ends = at_once(small(), false, &[(0, 1), (4, 1), (1, 1), (2, 1)]);
    assert_eq!(ends, [149, 149 + 140, 15 + 100 + 40 + 4, 20 + 100 + 40 + 4]);
}

#[test]
fn a_chunk_keeps_pages_together() {
    let chunks = FlashParameters { chunk_bytes: 8000, ..small() };
    let ends = at_once(chunks, false, &[(0, 1), (1, 1), (2, 1)]);
    assert_eq!(ends, [149, 149 + 140, 15 + 100 + 40 + 4], "0 and 1 on one die");
}

#[test]
fn planes_of_a_die_work_at_once_and_share_the_bus() {
    let planes = FlashParameters { planes: 2, dies: 1, ..small() };
    assert_eq!(at_once(planes, false, &[(0, 1), (2, 1)]), [149, 10 + 100 + 40 + 4]);
}

#[test]
fn a_write_ends_when_it_is_programmed_or_in_the_buffer() {
    assert_eq!(at_once(small(), true, &[(0, 1)]), [5 + 4 + 40 + 500]);
    let buffered = FlashParameters { write_buffer_bytes: 8000, ..small() };
    // Two pages have room; the third waits until the first is programmed, the fourth until the
    // second.
    let ends = at_once(buffered, true, &[(0, 1), (1, 1), (2, 1), (3, 1)]);
    assert_eq!(ends, [9, 14, 549, 554]);
}

#[test]
fn a_read_waits_for_the_program_of_its_die() {
    let mut flash = Flash::new(FlashParameters { write_buffer_bytes: 1 << 20, ..small() }).unwrap();
    flash.submit(0, io(0, true, 0, 4000));
    flash.submit(20 * US, io(1, false, 0, 4000));
    let mut ends = Vec::new();
    flash.advance(Nanos::MAX, &mut |end, io| ends.push((io.tag, end / US)));
    assert_eq!(ends, [(0, 9), (1, 549 + 144)]);
}

#[test]
fn pages_mapped_in_write_order_go_to_all_dies() {
    let mapping = |mapping| FlashParameters { mapping, ..small() };
    // Four pages that all belong to the first die.
    let pages = [(0, 1), (4, 1), (8, 1), (12, 1)];
    let last = |mapping_of| at_once(mapping(mapping_of), true, &pages).into_iter().max();
    assert_eq!(last(Mapping::Static), Some(9 + 4 * 540));
    assert_eq!(last(Mapping::WriteOrder), Some(14 + 2 * 40 + 500), "two over each bus");
}

/// Overwrites random pages of a full drive. Returns the pages moved for each page written.
fn moved_share(over_provisioning_percent: u32, mapping: Mapping) -> f64 {
    let parameters = FlashParameters {
        capacity_bytes: 4 * 1024 * 4000,
        over_provisioning_percent,
        filled_percent: 100,
        mapping,
        ..small()
    };
    let (mut flash, mut draws) = (Flash::new(parameters).unwrap(), SplitMix64::new(1));
    let mut now = 0;
    const WRITES: u64 = 40_000;
    for tag in 0..WRITES {
        flash.submit(now, io(tag, true, draws.below(4096) * 4000, 4000));
        flash.advance(Nanos::MAX, &mut |end, _| now = end);
    }
    flash.moved_pages() as f64 / WRITES as f64
}

#[test]
fn less_spare_room_moves_more_pages() {
    for mapping in [Mapping::Static, Mapping::WriteOrder] {
        let shares = [100, 50, 25, 10].map(|percent| moved_share(percent, mapping));
        assert!(shares.is_sorted(), "{shares:?}");
        // Greedy collection of random writes: less than 1 / (2 × spare share) in all.
        assert!(shares[0] > 0.01 && shares[0] < 0.5, "{shares:?}");
        assert!(shares[3] > 1.5 && shares[3] < 6.0, "{shares:?}");
    }
}

#[test]
fn collecting_garbage_holds_up_its_die() {
    let full = FlashParameters { filled_percent: 100, ..small() };
    let mut flash = Flash::new(full).unwrap();
    let (mut slowest, mut now) = (0, 0);
    for tag in 0..2000 {
        flash.submit(now, io(tag, true, tag % 64 * 4 * 4000, 4000));
        let begun = now;
        flash.advance(Nanos::MAX, &mut |end, _| now = end);
        slowest = slowest.max(now - begun);
    }
    // Pages written round and round leave whole blocks invalid: an erase, and nothing to move.
    assert_eq!(slowest, (549 + 2000) * US);
    assert_eq!(flash.moved_pages(), 0);
}

#[test]
fn no_page_is_lost_and_no_block_holds_two() {
    for mapping in [Mapping::Static, Mapping::WriteOrder] {
        for filled_percent in [0, 37, 100] {
            let parameters = FlashParameters { filled_percent, mapping, ..small() };
            let mut translation = Translation::new(&parameters);
            let mut draws = SplitMix64::new(3);
            let filled = 256 * u64::from(filled_percent) / 100;
            let mut written: Vec<bool> = (0..256).map(|page| page < filled).collect();
            for _ in 0..5_000 {
                let page = draws.below(256);
                written[page as usize] = true;
                translation.write(page);
                translation.check_whole(&written);
            }
        }
    }
}

#[test]
fn numbers_that_no_drive_has_are_refused() {
    let bad = [
        FlashParameters { channels: 0, ..small() },
        FlashParameters { chunk_bytes: 4001, ..small() },
        FlashParameters { filled_percent: 101, ..small() },
        FlashParameters { over_provisioning_percent: 0, ..small() },
        FlashParameters { capacity_bytes: 1 << 60, ..small() },
        FlashParameters { garbage: Garbage { start_blocks: 0, stop_blocks: 1 }, ..small() },
        FlashParameters { garbage: Garbage { start_blocks: 2, stop_blocks: 1 }, ..small() },
    ];
    for parameters in bad {
        assert!(Flash::new(parameters.clone()).is_err(), "{parameters:?}");
    }
}
