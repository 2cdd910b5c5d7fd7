use super::*;
use proptest::prelude::*;
use std::collections::BTreeSet;

const REGION: u64 = 1 << 16;
const PAGE: u64 = 1024;

#[derive(Clone, Debug)]
enum Act {
    Allocate { bytes: u64, alignment: u64, lifetime: Lifetime },
    Free(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let bytes = prop_oneof![4 => 1u64..2_000, 1 => 0u64..40_000];
    let alignment = prop_oneof![4 => Just(64u64), 1 => Just(512), 1 => Just(4096)];
    let lifetime = prop_oneof![3 => Just(Lifetime::Short), 1 => Just(Lifetime::Long)];
    let allocate = (bytes, alignment, lifetime)
        .prop_map(|(bytes, alignment, lifetime)| Act::Allocate { bytes, alignment, lifetime });
    let act = prop_oneof![3 => allocate, 2 => any::<usize>().prop_map(Act::Free)];
    prop::collection::vec(act, 1..300)
}

/// The free parts of the region as the places in use leave them.
fn gaps(places: &[Place]) -> Vec<Place> {
    let mut places: Vec<_> = places.iter().filter(|place| place.bytes > 0).collect();
    places.sort_by_key(|place| place.offset);
    let (mut gaps, mut end) = (Vec::new(), 0);
    for place in places {
        assert!(place.offset >= end, "{place:?} begins before {end}");
        gaps.push(Place { offset: end, bytes: place.offset - end });
        end = place.offset + place.bytes;
    }
    assert!(end <= REGION);
    gaps.push(Place { offset: end, bytes: REGION - end });
    gaps.retain(|gap| gap.bytes > 0);
    gaps
}

/// The pages that a place touches.
fn touched(places: &[Place]) -> BTreeSet<u64> {
    let used = places.iter().filter(|place| place.bytes > 0);
    used.flat_map(|place| place.offset / PAGE..(place.offset + place.bytes).div_ceil(PAGE))
        .collect()
}

fn has_room(gap: &Place, bytes: u64, alignment: u64) -> bool {
    gap.offset.next_multiple_of(alignment) + bytes <= gap.offset + gap.bytes
}

proptest! {
    #[test]
    fn places_are_apart_and_nothing_is_refused_that_fits(acts in acts()) {
        let mut region = Allocator::new(REGION, 64, PAGE);
        let mut places = Vec::new();
        for act in acts {
            match act {
                Act::Allocate { bytes, alignment, lifetime } => {
                    let found = gaps(&places).iter().any(|gap| has_room(gap, bytes, alignment));
                    let place = region.allocate(bytes, alignment, lifetime);
                    prop_assert_eq!(place.is_some(), found || bytes == 0);
                    if let Some(place) = place {
                        prop_assert_eq!(place.bytes, bytes.next_multiple_of(64));
                        prop_assert!(place.offset.is_multiple_of(alignment));
                        places.push(place);
                    }
                }
                Act::Free(which) if !places.is_empty() => {
                    let before = touched(&places);
                    let pages = region.free(places.swap_remove(which % places.len()));
                    let gone: Vec<u64> = before.difference(&touched(&places)).copied().collect();
                    prop_assert_eq!(gone, Vec::from_iter(pages.start / PAGE..pages.end / PAGE));
                }
                Act::Free(_) => {}
            }
            let (account, gaps) = (region.account(), gaps(&places));
            let free: u64 = gaps.iter().map(|gap| gap.bytes).sum();
            prop_assert_eq!((account.used_bytes, account.free_bytes), (REGION - free, free));
            prop_assert_eq!(account.resident_bytes, touched(&places).len() as u64 * PAGE);
            // What was never used is not joined with its neighbours.
            prop_assert!(account.free_blocks >= gaps.len() as u64);
            prop_assert!(account.free_blocks <= gaps.len() as u64 + 2);
        }
        for place in places.drain(..) {
            region.free(place);
        }
        let _ = region.allocate(REGION, 64, Lifetime::Short);
        prop_assert_eq!(region.account().used_bytes, REGION);
    }
}

fn short(region: &mut Allocator, bytes: u64) -> Place {
    region.allocate(bytes, 64, Lifetime::Short).unwrap()
}

#[test]
fn the_whole_region_is_used_before_any_part_again() {
    let mut region = Allocator::new(REGION, 64, PAGE);
    let first = short(&mut region, 64);
    region.free(first);
    let rest: Vec<_> = (1..REGION / 64).map(|_| short(&mut region, 64).offset).collect();
    assert_eq!(rest, (1..REGION / 64).map(|number| number * 64).collect::<Vec<_>>());
    assert_eq!(short(&mut region, 64), first);
}

#[test]
fn of_blocks_that_fit_equally_well_the_one_with_the_lowest_address_is_taken() {
    let mut region = Allocator::new(REGION, 64, PAGE);
    let places: Vec<_> = (0..REGION / 64).map(|_| short(&mut region, 64)).collect();
    for at in [900, 20, 400] {
        region.free(places[at]);
    }
    let again: Vec<_> = (0..3).map(|_| short(&mut region, 1).offset / 64).collect();
    assert_eq!(again, [20, 400, 900]);
}

#[test]
fn a_smaller_block_is_preferred_to_a_lower_address() {
    let mut region = Allocator::new(REGION, 64, PAGE);
    let places: Vec<_> = (0..REGION / 64).map(|_| short(&mut region, 64)).collect();
    for place in places[10..30].iter().chain(&places[500..502]) {
        region.free(*place);
    }
    assert_eq!(short(&mut region, 128).offset, places[500].offset);
    assert_eq!(short(&mut region, 128).offset, places[10].offset);
}

#[test]
fn buffers_of_a_long_life_lie_at_the_other_end() {
    let mut region = Allocator::new(REGION, 64, PAGE);
    short(&mut region, 1000);
    let long = region.allocate(1000, 512, Lifetime::Long).unwrap();
    assert_eq!(long.offset, REGION - 1024);
    let next = region.allocate(64, 64, Lifetime::Long).unwrap();
    assert_eq!(next.offset, long.offset - 64);
}

#[test]
fn what_exceeds_the_region_is_refused() {
    let mut region = Allocator::new(REGION, 64, PAGE);
    for bytes in [REGION + 1, u64::MAX] {
        assert_eq!(region.allocate(bytes, 64, Lifetime::Short), None);
    }
}
