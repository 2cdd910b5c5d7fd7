//! Files that leave a cache of files together: small ones that share a read unit of the archive and
//! so, in an archive in the order of its loads, follow one another (Wassenberg 2006, section 5.3).
//! Once one of them has to be read again, the others come with it, so keeping them saves no
//! request; their room is free in larger pieces.

use crate::eviction::{Id, PageState, Pool};
use crate::layout::extents::Extent;
use std::ops::Range;

/// Which entries of an archive leave together. Takes 4 bytes an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Together {
    /// The first entry of the unit in which each lies; of one that lies alone, itself.
    first: Vec<Id>,
}

impl Together {
    /// Of the archive whose entries lie at `entries`, in the order of their offsets. Entries that
    /// lie wholly in one unit of `unit_bytes` leave together; units begin at multiples of that.
    #[must_use]
    pub fn new(entries: &[Extent], unit_bytes: u64) -> Self {
        let unit_bytes = unit_bytes.max(1);
        let unit = |entry: &Extent| {
            let unit = entry.offset / unit_bytes;
            (entry.end() <= unit.saturating_add(1).saturating_mul(unit_bytes)).then_some(unit)
        };
        let mut first: Vec<Id> = Vec::with_capacity(entries.len());
        for (id, entry) in (0..).zip(entries) {
            let before = entries.get((id as usize).wrapping_sub(1)).and_then(unit);
            let joins = before.is_some() && before == unit(entry);
            first.push(if joins { first[id as usize - 1] } else { id });
        }
        Self { first }
    }

    /// All entries of the unit in which `id` lies, itself among them.
    #[must_use]
    pub fn unit(&self, id: Id) -> Range<Id> {
        let Some(&first) = self.first.get(id as usize) else { return id..id + 1 };
        let others = self.first[first as usize..].iter().take_while(|&&of| of == first);
        first..first + others.count() as Id
    }
}

/// The units, and the victims of one decision.
#[derive(Debug)]
pub(super) struct Leaving {
    pub(super) together: Together,
    pub(super) victims: Vec<Id>,
}

/// A pool that notes the victims.
pub(super) struct Noting<'a, P> {
    pub(super) pool: P,
    pub(super) victims: &'a mut Vec<Id>,
}

impl<P: Pool> Pool for Noting<'_, P> {
    fn evict(&mut self, victim: Id) {
        self.victims.push(victim);
        self.pool.evict(victim);
    }

    fn forget(&mut self, id: Id) {
        self.pool.forget(id);
    }

    fn state(&self, id: Id) -> PageState {
        self.pool.state(id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Cache, Command, Config};
    use super::*;
    use crate::eviction::{Lru, Request};

    fn entries(bytes: &[u64]) -> Vec<Extent> {
        let mut offset = 0;
        let mut next = |&bytes: &u64| {
            offset += bytes;
            Extent { offset: offset - bytes, bytes }
        };
        bytes.iter().map(&mut next).collect()
    }

    #[test]
    fn a_unit_has_the_entries_that_lie_wholly_in_it() {
        // Units end at 100, 200, and so on.
        let together = Together::new(&entries(&[40, 30, 40, 50, 40, 100, 150, 10]), 100);
        let units: Vec<Range<Id>> = (0..8).map(|id| together.unit(id)).collect();
        assert_eq!(units, [0..2, 0..2, 2..3, 3..5, 3..5, 5..6, 6..7, 7..8]);
        let together = Together::new(&entries(&[10; 7]), 30);
        assert_eq!([together.unit(1), together.unit(5), together.unit(6)], [0..3, 3..6, 6..7]);
        assert_eq!(together.unit(99), 99..100, "what the archive does not have");
        assert_eq!(Together::new(&[], 0), Together { first: Vec::new() });
    }

    fn cache(together: bool) -> Cache<Lru> {
        let mut cache = Cache::new(Lru::new(50), Config::files(50)).unwrap();
        cache.grow(8);
        if together {
            cache.leave_together(Together::new(&entries(&[10; 8]), 30));
        }
        cache
    }

    fn load(cache: &mut Cache<Lru>, id: Id) -> Vec<Id> {
        let mut commands = Vec::new();
        cache.step(&Request::file(id, 10), &mut commands);
        if cache.in_flight(id) {
            cache.complete(id, super::super::Filled::Yes, &mut commands);
        }
        let dropped = |command: &Command| match command {
            Command::Drop(id) => Some(*id),
            _ => None,
        };
        commands.iter().filter_map(dropped).collect()
    }

    #[test]
    fn the_neighbours_of_a_victim_leave_with_it() {
        let mut alone = cache(false);
        (0..5).for_each(|id| assert!(load(&mut alone, id).is_empty()));
        assert_eq!(load(&mut alone, 6), [0]);
        let mut together = cache(true);
        (0..5).for_each(|id| assert!(load(&mut together, id).is_empty()));
        assert_eq!(load(&mut together, 6), [0, 1, 2]);
        assert_eq!(together.resident_weight(), 30);
        assert!(load(&mut together, 3).is_empty(), "it stays");
    }

    #[test]
    fn what_is_requested_now_stays() {
        let mut cache = cache(true);
        [0, 3, 4, 5, 6].into_iter().for_each(|id| assert!(load(&mut cache, id).is_empty()));
        // The victim shares the unit of the newcomer.
        assert_eq!(load(&mut cache, 1), [0]);
        assert!(cache.resident(1));
        let mut commands = Vec::new();
        assert!(cache.evict_one(&mut commands));
        assert_eq!(commands, [3, 4, 5].map(Command::Drop));
        cache.set_config(Config::files(10), &mut commands);
        assert!(cache.resident(1) && !cache.resident(6));
    }
}
