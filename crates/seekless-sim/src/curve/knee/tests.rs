use super::*;
use crate::curve::{LruMisses, exact_lru};
use seekless_device::SplitMix64;

fn found(requests: &Requests) -> Option<Knee> {
    let sizes = doublings(requests, STEPS_PER_DOUBLING);
    knee(&exact_lru(requests, &sizes).unwrap())
}

/// The second derivative at every size in pages, from the misses of all sizes.
fn all_bends(requests: &Requests) -> Vec<(u64, f64)> {
    let misses = LruMisses::of(requests).unwrap();
    let ratio = |pages: u64| misses.at(pages) as f64 / requests.len() as f64;
    let bend = |pages: u64| ratio(pages / 2) - 2.0 * ratio(pages) + ratio(2 * pages);
    (UNITS_MIN..=u64::from(requests.distinct())).map(|pages| (pages, bend(pages))).collect()
}

fn of_loop() -> Requests {
    Requests::from_pages((0..60_000).map(|turn| turn % 3000).collect())
}

/// Nine of ten requests are for 500 hot pages, the others scan pages once.
fn of_scan_with_hot_set() -> Requests {
    let mut random = SplitMix64::new(5);
    let mut next = 500;
    let mut page = || {
        if random.below(10) > 0 {
            return random.below(500) as u32;
        }
        next += 1;
        next
    };
    Requests::from_pages((0..200_000).map(|_| page()).collect())
}

/// The rank of page r is r + 1, and its chance is as 1 / rank.
fn of_zipf() -> Requests {
    let mut random = SplitMix64::new(9);
    let pages = 10_000_f64;
    let mut page = || (pages.powf(random.below(1 << 30) as f64 / f64::from(1 << 30)) - 1.0) as u32;
    Requests::from_pages((0..300_000).map(|_| page()).collect())
}

#[test]
fn the_knee_of_a_loop_is_its_length() {
    let knee = found(&of_loop()).expect("a corner");
    assert_eq!((knee.capacity, knee.next_doubling), (3000 * 4096, 0.0));
    assert!(knee.is_everything && knee.last_doubling > 0.9, "{knee:?}");
}

#[test]
fn the_knee_of_a_hot_set_beside_a_scan_holds_the_hot_set() {
    let knee = found(&of_scan_with_hot_set()).expect("a corner");
    let pages = knee.capacity / 4096;
    assert!((500..4000).contains(&pages) && !knee.is_everything, "{knee:?}");
    assert!(knee.next_doubling < 0.2 * knee.last_doubling, "{knee:?}");
}

#[test]
fn the_knee_is_where_the_second_derivative_over_all_sizes_is_largest() {
    for requests in [of_loop(), of_scan_with_hot_set()] {
        let bends = all_bends(&requests);
        let most = bends.iter().map(|(_, bend)| *bend).fold(0.0, f64::max);
        let first = bends.iter().find(|(_, bend)| *bend >= NEARLY * most).unwrap().0 as f64;
        let knee = found(&requests).unwrap();
        let pages = knee.capacity as f64 / 4096.0;
        assert!((pages / first - 1.0).abs() <= 0.02, "{pages} pages, but {first} of all sizes");
        assert!((knee.bend / most - 1.0).abs() <= 0.07, "{knee:?}, but {most}");
    }
}

#[test]
fn a_curve_that_falls_evenly_has_no_corner() {
    assert_eq!(found(&of_zipf()), None);
    assert_eq!(found(&Requests::from_pages(vec![1; 9])), None);
    assert_eq!(found(&Requests::from_pages(Vec::new())), None);
}

#[test]
fn sizes_lie_two_percent_apart_and_end_with_everything() {
    let requests = Requests::from_pages((0..100_000).collect());
    let sizes = doublings(&requests, STEPS_PER_DOUBLING);
    assert_eq!(*sizes.last().unwrap(), 100_000 * 4096);
    assert!(sizes[0] / 4096 <= 25, "{}", sizes[0]);
    assert!(sizes.windows(2).all(|pair| pair[1] as f64 <= 1.06 * pair[0] as f64));
    assert!(doublings(&requests, 4).len() < sizes.len() / 8);
}
