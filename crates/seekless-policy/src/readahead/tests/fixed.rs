//! McCarthy's rule, and its gate.

use super::*;

/// Pages that were fetched in all.
fn fetched(host: &Host) -> u64 {
    host.file.ios.iter().map(|io| io.end - io.start).sum()
}

#[test]
fn a_miss_fetches_the_15_pages_that_follow() {
    let mut host = host("ahead-15", 32);
    host.read(100, 2);
    host.read(118, 1);
    host.read(90, 1);
    assert_eq!(ranges(&host.file.windows), [(100, 17), (118, 16), (90, 16)]);
    assert_eq!(host.file.ios, [100..117, 118..134, 90..100], "those at hand are left out");
}

#[test]
fn the_gate_closes_where_nothing_is_used_and_opens_again() {
    let run = |name| {
        let mut host = host(name, 32);
        // Nothing of what follows is used: 1,000 reads, each 50 pages from the last.
        (0..1000).for_each(|turn| host.read(50 * turn, 1));
        let useless = fetched(&host);
        host.take();
        (200_000..201_600).for_each(|page| host.read(page, 1));
        (useless, host.file.ios.len())
    };
    assert_eq!(run("ahead-15"), (16_000, 100));
    let (useless, reads) = run("ahead-15@gate");
    assert!(useless < 2500, "{useless} pages for 1,000 reads");
    assert!((100..250).contains(&reads), "{reads} reads for 1,600 pages in sequence");
}

#[test]
fn a_gate_stays_open_where_a_saved_request_is_worth_many_pages() {
    // A request costs as much as 98 pages; one of each 16 pages is used.
    let mut host = host("ahead-15@gate", 32);
    for turn in 0..1000 {
        host.read_each([50 * turn, 50 * turn + 9]);
    }
    assert_eq!(host.file.windows.len(), 1000);
    assert_eq!(fetched(&host), 16_000);
}
