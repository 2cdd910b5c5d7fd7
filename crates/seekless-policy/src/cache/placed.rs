//! A cache of files that also says where in one region of memory each file lies. The region is as
//! large as the cache, so a file may find no place in one piece although its bytes are free: then
//! the policy gives up further victims until there is one.

use super::{Cache, Config, Sink};
use crate::Result;
use crate::allocator::{Allocator, Lifetime, Place};
use crate::eviction::{Eviction, Id, Outcome, Request};

/// Buffers of decoded files begin at multiples of this many bytes: a cache line.
pub const GRANULE_BYTES: u64 = 64;

/// What a region could not use, seen each time a file found no place in one piece.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waste {
    /// How often a file found no place.
    pub refusals: u64,
    /// The mean share of the region that held no byte of a file then, from 0 to 1.
    pub mean_share: f64,
    /// The largest such share.
    pub max_share: f64,
}

/// A policy, the bypass rule, and the places of all resident files.
#[derive(Debug)]
pub struct PlacedCache<E> {
    cache: Cache<E>,
    places: Places,
    waste: Waste,
}

/// The places of the resident files.
#[derive(Debug)]
struct Places {
    region: Allocator,
    by_id: Vec<Option<Resident>>,
    /// Sum of the weights, which are not rounded up as places are.
    weight: u64,
}

#[derive(Clone, Copy, Debug)]
struct Resident {
    place: Place,
    weight: u64,
}

impl<E: Eviction> PlacedCache<E> {
    /// An empty cache around an empty `policy` of `bytes` bytes, and a region of as many.
    ///
    /// # Errors
    /// As [`Cache::new`].
    ///
    /// # Panics
    /// As [`Allocator::new`]: a region of 2^38 bytes or more.
    pub fn new(policy: E, bytes: u64) -> Result<Self> {
        let region = Allocator::new(bytes, GRANULE_BYTES);
        let places = Places { region, by_id: Vec::new(), weight: 0 };
        let cache = Cache::new(policy, Config::files(bytes))?;
        Ok(Self { cache, places, waste: Waste::default() })
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub fn grow(&mut self, ids: u32) {
        self.cache.grow(ids);
        self.places.by_id.resize(self.places.by_id.len().max(ids as usize), None);
    }

    /// One request, whose fetch completes at once. An admitted file has a place afterwards.
    pub fn access(&mut self, request: &Request) -> Outcome {
        let outcome = self.cache.access_with(request, &mut self.places);
        match outcome {
            Outcome::Admitted if self.place(request) => Outcome::Admitted,
            Outcome::Admitted => Outcome::Bypassed,
            Outcome::Hit | Outcome::Bypassed => outcome,
        }
    }

    /// Where `id` lies, if it is resident.
    #[must_use]
    pub fn place_of(&self, id: Id) -> Option<Place> {
        self.places.by_id.get(id as usize)?.map(|resident| resident.place)
    }

    /// What the region could not use so far.
    #[must_use]
    pub fn waste(&self) -> Waste {
        self.waste
    }

    /// The region.
    #[must_use]
    pub fn region(&self) -> &Allocator {
        &self.places.region
    }

    /// Finds a place for a file that was just admitted. False if it was itself the next victim.
    fn place(&mut self, request: &Request) -> bool {
        let Request { id, weight, .. } = *request;
        while self.cache.resident(id) {
            let place = self.places.region.allocate(weight, GRANULE_BYTES, Lifetime::Short);
            if let Some(place) = place {
                self.places.by_id[id as usize] = Some(Resident { place, weight });
                self.places.weight += weight;
                return true;
            }
            self.note_refusal();
            self.cache.policy.evict_one(&mut self.cache.frames.pool(&mut self.places));
        }
        false
    }

    fn note_refusal(&mut self) {
        let region = self.cache.config.capacity.max(1);
        let share = 1.0 - self.places.weight as f64 / region as f64;
        let waste = &mut self.waste;
        waste.refusals += 1;
        waste.mean_share += (share - waste.mean_share) / waste.refusals as f64;
        waste.max_share = waste.max_share.max(share);
    }
}

impl Sink for Places {
    fn dropped(&mut self, id: Id) {
        if let Some(resident) = self.by_id[id as usize].take() {
            self.region.free(resident.place);
            self.weight -= resident.weight;
        }
    }

    fn write_back(&mut self, _id: Id) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eviction::{Landlord, Lru};
    use proptest::prelude::*;

    const REGION: u64 = 64 << 10;

    proptest! {
        /// The places of all resident files are apart, and each is large enough.
        #[test]
        fn resident_files_share_no_byte(
            requests in prop::collection::vec((0u32..60, 0usize..4), 1..400)
        ) {
            let mut cache = PlacedCache::new(Landlord::new(REGION), REGION).unwrap();
            cache.grow(60);
            for (id, _) in requests {
                let request = Request::file(id, u64::from(id * id * 11 % 9_000));
                let outcome = cache.access(&request);
                prop_assert_eq!(cache.place_of(id).is_some(), outcome != Outcome::Bypassed);
                let mut places: Vec<_> = (0..60).filter_map(|id| cache.place_of(id)).collect();
                places.retain(|place| place.bytes > 0);
                places.sort_by_key(|place| place.offset);
                let ends = |place: &Place| place.offset + place.bytes;
                prop_assert!(places.windows(2).all(|two| ends(&two[0]) <= two[1].offset));
                prop_assert!(places.last().is_none_or(|place| ends(place) <= REGION));
                let used: u64 = places.iter().map(|place| place.bytes).sum();
                prop_assert_eq!(cache.region().account().used_bytes, used);
            }
        }
    }

    #[test]
    fn a_file_without_a_place_in_one_piece_costs_further_victims() {
        let mut cache = PlacedCache::new(Lru::new(1024), 1024).unwrap();
        cache.grow(20);
        (0..16).for_each(|id| assert!(cache.access(&Request::file(id, 64)) == Outcome::Admitted));
        // Of the odd files, room for two comes free, but not side by side.
        (0..16).filter(|id| id % 2 == 0).for_each(|id| {
            assert_eq!(cache.access(&Request::file(id, 64)), Outcome::Hit);
        });
        assert_eq!(cache.access(&Request::file(16, 128)), Outcome::Admitted);
        let odd = (0..16).filter(|id| id % 2 == 1 && cache.place_of(*id).is_some()).count();
        assert_eq!(odd, 0, "all odd files had to go, and one that lay between two of them");
        assert_eq!(cache.waste().refusals, 7);
    }
}
