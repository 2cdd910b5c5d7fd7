//! The one-pass curve is the simulator's, size by size, and the list's, request by request.

use super::*;
use crate::simulate;
use proptest::prelude::*;
use seekless_policy::eviction::Id;

fn simulated(requests: &Requests, capacity: u64) -> (f64, f64) {
    let figures = simulate(requests, &Case { policy: "lru".into(), capacity }).unwrap();
    (figures.miss_ratio, figures.byte_miss_ratio)
}

fn found(point: &Point) -> (f64, f64) {
    (point.miss_ratio, point.byte_miss_ratio)
}

/// How often a list of the latest ids, first the latest, does not have the id among its first
/// `capacity`.
fn naive_misses(ids: &[Id], capacity: usize) -> u64 {
    let mut list: Vec<Id> = Vec::new();
    let mut misses = 0;
    for &id in ids {
        let at = list.iter().position(|&there| there == id);
        misses += u64::from(at.is_none_or(|at| at >= capacity));
        at.map(|at| list.remove(at));
        list.insert(0, id);
    }
    misses
}

proptest! {
    #[test]
    fn pages_at_every_size(ids in prop::collection::vec(0..50u32, 0..600)) {
        let requests = Requests::from_pages(ids.clone());
        let sizes: Vec<u64> = (0..55).map(|pages| pages * 4096 + 17).collect();
        let curve = exact_lru(&requests, &sizes).unwrap();
        let all = LruMisses::of(&requests).unwrap();
        for (pages, (point, &capacity)) in curve.points.iter().zip(&sizes).enumerate() {
            prop_assert_eq!(found(point), simulated(&requests, capacity));
            prop_assert_eq!(all.at(pages as u64), naive_misses(&ids, pages));
        }
    }

    #[test]
    fn files_of_any_weight_at_every_size_bypass_included(
        ids in prop::collection::vec(0..30u32, 0..400),
        bytes in prop::collection::vec(0..90u64, 30),
    ) {
        let requests = Requests::from_files(&ids, &bytes);
        let sizes: Vec<u64> = (0..700).step_by(7).collect();
        let curve = exact_lru(&requests, &sizes).unwrap();
        for (point, &capacity) in curve.points.iter().zip(&sizes) {
            prop_assert_eq!((capacity, found(point)), (capacity, simulated(&requests, capacity)));
        }
    }
}

#[test]
fn no_requests_miss_nothing() {
    let requests = Requests::from_pages(Vec::new());
    let curve = exact_lru(&requests, &[4096, 0]).unwrap();
    assert_eq!(curve.points.iter().map(found).collect::<Vec<_>>(), [(0.0, 0.0); 2]);
    assert_eq!(LruMisses::of(&requests).unwrap().at(u64::MAX), 0);
}

#[test]
fn weights_have_no_list_of_all_sizes() {
    let requests = Requests::from_files(&[0, 1], &[5, 6]);
    assert_eq!(LruMisses::of(&requests).unwrap_err().kind(), ErrorKind::Usage);
}
