//! A cache of files that also says where in one region of memory each file lies. The region is an
//! address space of four times the cache's capacity, so a file hardly ever lacks a place in one
//! piece. What counts is the memory of the pages that its places touch. If that exceeds its bound,
//! or a file finds no place, the policy gives up further victims.

use super::{Cache, Config, Sink};
use crate::Result;
use crate::cache::allocator::{Allocator, Lifetime, Place};
use crate::eviction::{Eviction, Id, Outcome, Request};

/// Buffers of decoded files begin at multiples of this many bytes: a cache line.
pub const GRANULE_BYTES: u64 = 64;

/// The unit in which memory is given back to the operating system.
pub const PAGE_BYTES: u64 = 4096;

/// The region's share of addresses for each byte of the cache.
const ADDRESS_SPACE: u64 = 4;

/// Files below this lie at the one end of the region and others at its other end, so that a small
/// file, which a policy often keeps for longer, does not part the room of large ones.
const SMALL_BYTES: u64 = 64 << 10;

/// What was lost by the way in which files lie in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waste {
    /// The share of the touched memory, or of a region that is no larger than the cache, that held
    /// no byte of a file, from 0 to 1: its mean over the admitted files since the cache was first
    /// full.
    pub mean_share: f64,
    /// The largest such share.
    pub max_share: f64,
    /// Over how many admitted files that is the mean.
    pub admitted: u64,
    /// Victims beyond those that the capacity asked for.
    pub victims: u64,
}

/// A policy, the bypass rule, and the places of all resident files.
#[derive(Debug)]
pub struct PlacedCache<E> {
    cache: Cache<E>,
    places: Places,
    /// Most memory that the touched pages may take. Without a bound all of the region is the
    /// cache's.
    bound_bytes: Option<u64>,
    waste: Waste,
}

/// The places of the resident files.
#[derive(Debug)]
struct Places {
    region: Allocator,
    by_id: Vec<Option<Resident>>,
    /// Sum of the weights, which are not rounded up as places are.
    weight: u64,
    /// How many files had a place and were evicted.
    dropped: u64,
}

#[derive(Clone, Copy, Debug)]
struct Resident {
    place: Place,
    weight: u64,
}

impl<E: Eviction> PlacedCache<E> {
    /// An empty cache around an empty `policy` of `bytes` bytes. Its memory takes at most a 32nd
    /// more, and 64 KiB.
    ///
    /// # Errors
    /// As [`Cache::new`].
    ///
    /// # Panics
    /// As [`Allocator::new`]: a cache of 2^36 bytes or more.
    pub fn new(policy: E, bytes: u64) -> Result<Self> {
        let bound_bytes = bytes + bytes / 32 + (64 << 10);
        Self::with_region(policy, bytes, bytes * ADDRESS_SPACE, Some(bound_bytes))
    }

    /// An empty cache whose region has just its size, as Wassenberg 2006 has it (section 3.5.1).
    /// A file that no free part holds costs further victims, until one does.
    ///
    /// # Errors
    /// As [`Cache::new`].
    ///
    /// # Panics
    /// As [`Allocator::new`]: a cache of 2^38 bytes or more.
    pub fn in_its_size(policy: E, bytes: u64) -> Result<Self> {
        Self::with_region(policy, bytes, bytes, None)
    }

    fn with_region(policy: E, bytes: u64, region: u64, bound_bytes: Option<u64>) -> Result<Self> {
        let region = Allocator::new(region, GRANULE_BYTES, PAGE_BYTES);
        let places = Places { region, by_id: Vec::new(), weight: 0, dropped: 0 };
        let cache = Cache::new(policy, Config::files(bytes))?;
        Ok(Self { cache, places, bound_bytes, waste: Waste::default() })
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
        while self.cache.resident(id) && !self.places.put(id, weight) {
            self.evict_one();
        }
        while self.cache.resident(id) && self.is_over_bound() {
            self.evict_one();
        }
        self.note_waste();
        self.cache.resident(id)
    }

    fn evict_one(&mut self) {
        self.waste.victims += 1;
        self.cache.policy.evict_one(&mut self.cache.frames.pool(&mut self.places));
    }

    fn is_over_bound(&self) -> bool {
        self.bound_bytes.is_some_and(|bound| self.places.region.account().resident_bytes > bound)
    }

    fn note_waste(&mut self) {
        let account = self.places.region.account();
        let taken = match self.bound_bytes {
            Some(_) => account.resident_bytes,
            None => account.used_bytes + account.free_bytes,
        };
        if self.places.dropped == 0 || taken == 0 {
            return;
        }
        let share = 1.0 - self.places.weight as f64 / taken as f64;
        let waste = &mut self.waste;
        waste.admitted += 1;
        waste.mean_share += (share - waste.mean_share) / waste.admitted as f64;
        waste.max_share = waste.max_share.max(share);
    }
}

impl Places {
    /// Gives a file a place; false if no free part of the region is large enough.
    fn put(&mut self, id: Id, weight: u64) -> bool {
        let lifetime = if weight < SMALL_BYTES { Lifetime::Long } else { Lifetime::Short };
        let Some(place) = self.region.allocate(weight, GRANULE_BYTES, lifetime) else {
            return false;
        };
        self.by_id[id as usize] = Some(Resident { place, weight });
        self.weight += weight;
        true
    }
}

impl Sink for Places {
    fn dropped(&mut self, id: Id) {
        if let Some(resident) = self.by_id[id as usize].take() {
            self.region.free(resident.place);
            self.weight -= resident.weight;
            self.dropped += 1;
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
                prop_assert!(places.last().is_none_or(|place| ends(place) <= 4 * REGION));
                let used: u64 = places.iter().map(|place| place.bytes).sum();
                prop_assert_eq!(cache.region().account().used_bytes, used);
            }
        }
    }

    #[test]
    fn a_file_that_finds_no_place_in_a_region_of_the_caches_size_costs_further_victims() {
        let kib = |id, kib: u64| Request::file(id, kib << 10);
        let mut cache = PlacedCache::in_its_size(Lru::new(4 << 10), 4 << 10).unwrap();
        cache.grow(6);
        (0..4).for_each(|id| assert_eq!(cache.access(&kib(id, 1)), Outcome::Admitted));
        // The first and the third are the oldest; what they leave is in two pieces.
        cache.access(&kib(1, 1));
        cache.access(&kib(3, 1));
        assert_eq!(cache.access(&kib(4, 2)), Outcome::Admitted);
        assert_eq!(cache.waste().victims, 1);
        assert_eq!(cache.place_of(1), None);
        assert!((cache.waste().mean_share - 0.25).abs() < 1e-9);
    }

    #[test]
    fn memory_beyond_its_bound_costs_further_victims() {
        let bytes = 1 << 20;
        let mut cache = PlacedCache::new(Lru::new(bytes), bytes).unwrap();
        let files = 3 * bytes as u32 / 64;
        cache.grow(files);
        // One file of each page stays in use: all pages are touched, for a 64th of their bytes.
        for id in 0..files {
            cache.access(&Request::file(id, 64));
            for kept in (0..id).step_by(64) {
                cache.access(&Request::file(kept, 64));
            }
            let resident = cache.region().account().resident_bytes;
            assert!(resident <= bytes + bytes / 32 + (64 << 10), "{resident}");
        }
        assert!(cache.waste().victims > 0);
        assert!(cache.waste().max_share > 0.1);
    }
}
