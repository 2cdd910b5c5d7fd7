//! RRIP: the next use of a newcomer is predicted to be far away until a hit shows otherwise.

mod insertion;

use super::resident::{Resident, Rule};
use super::{Id, Needs, Pool, Request};
use crate::arrays::bits::BitTree;
use crate::arrays::column;
use insertion::{FAR, Insertion};

const CLASSES: usize = FAR + 1;
/// In no slot.
const ABSENT: u32 = u32::MAX;

/// Re-reference interval prediction, with priority to hits (Jaleel, Theobald, Steely and Emer,
/// "High performance cache replacement using re-reference interval prediction", ISCA 2010): static,
/// bimodal, and the duel of both.
///
/// - **Idea:** each page has a prediction of 0 to 3, and a hit sets it to 0. The first page in slot
///   order with 3 leaves. If there is no such page, all predictions rise by 1 until there is.
///   *Static* (`rrip`) gives newcomers a 2, so a scan leaves before pages that were hit. *Bimodal*
///   gives them a 3, and one in 32 a 2, so part of a loop larger than the cache stays. The *duel*
///   (`brrip`; the paper's DRRIP) dedicates one id in 64 to each, counts their misses, and lets all
///   others follow the better one.
/// - **Cost per request:** O(log n) with a base of 64. Ageing renames four classes instead of
///   visiting pages, and a tree of bits finds the first slot of a class.
/// - **Memory:** 4 bytes an id, and 5.7 a resident page. No ghosts.
/// - **Shines** on scans between reuse (static) and on loops (bimodal). **Fails** on plain recency:
///   the order within a class is by slot, not by time.
///
/// The paper's sets of 16 ways are one set of all pages here, so the duel's dedicated ids share it
/// with the others. Pages only: it refuses weights. [`Use::FirstUse`](super::Use::FirstUse)
/// promotes nothing. Cost is ignored. Same seed, same victims.
pub type Rrip = Resident<RripRule>;

/// The rule of [`Rrip`].
#[derive(Clone, Debug, Default)]
pub struct RripRule {
    capacity: u64,
    insertion: Insertion,
    /// The page in each slot. A newcomer takes the lowest free slot, which is its victim's.
    pages: Vec<Id>,
    /// The class of each slot.
    classes: Vec<u8>,
    /// The slot of each id.
    slots: Vec<u32>,
    free: BitTree,
    /// Slots of each class. Prediction `p` is class `(p + first_class) % 4`, so ageing is one
    /// subtraction.
    members: [BitTree; CLASSES],
    first_class: usize,
}

impl Rrip {
    /// Bimodal RRIP alone: one newcomer in 32, drawn from `seed`, is predicted to be used sooner.
    #[must_use]
    pub fn bimodal(capacity: u64, seed: u64) -> Self {
        Self::with(capacity, Insertion::bimodal(seed))
    }

    /// The duel of static and bimodal RRIP, the paper's DRRIP.
    #[must_use]
    pub fn duel(capacity: u64, seed: u64) -> Self {
        Self::with(capacity, Insertion::duel(seed))
    }

    /// Bimodal RRIP as Ozen's program has it: no duel, one newcomer in 20, his generator.
    #[must_use]
    pub fn bimodal_as_published(capacity: u64) -> Self {
        Self::with(capacity, Insertion::ozen())
    }

    fn with(capacity: u64, insertion: Insertion) -> Self {
        Self::with_rule(capacity, RripRule { insertion, ..RripRule::default() })
    }
}

impl RripRule {
    #[inline]
    fn class(&self, prediction: usize) -> usize {
        (prediction + self.first_class) % CLASSES
    }

    /// Makes slots for as many pages as can be resident at once.
    fn grow_slots(&mut self) {
        let slots = self.slots.len().min(usize::try_from(self.capacity).unwrap_or(usize::MAX));
        self.free.grow(slots);
        self.members.iter_mut().for_each(|members| members.grow(slots));
    }
}

impl Rule for RripRule {
    const NEEDS: Needs = Needs { unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.slots, ids, ABSENT);
        self.grow_slots();
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.slots[id as usize] != ABSENT
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        let slot = self.slots[request.id as usize] as usize;
        let soon = self.class(0);
        let class = std::mem::replace(&mut self.classes[slot], soon as u8) as usize;
        if class != soon {
            self.members[class].remove(slot);
            self.members[soon].insert(slot);
        }
    }

    fn enter(&mut self, request: &Request) {
        let id = request.id;
        let prediction = self.insertion.prediction(id);
        let class = self.class(prediction);
        let slot = self.free.first().unwrap_or(self.pages.len());
        if slot == self.pages.len() {
            self.pages.push(id);
            self.classes.push(class as u8);
        } else {
            self.free.remove(slot);
            self.pages[slot] = id;
            self.classes[slot] = class as u8;
        }
        self.slots[id as usize] = slot as u32;
        self.members[class].insert(slot);
    }

    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let occupied = |&prediction: &usize| self.members[self.class(prediction)].first().is_some();
        let oldest = (0..CLASSES).rev().find(occupied)?;
        // All predictions rise until the oldest are at 3. The classes above them are empty and
        // become the lowest.
        self.first_class = (self.first_class + CLASSES - (FAR - oldest)) % CLASSES;
        let slot = self.members[self.class(FAR)].first()?;
        Some(self.pages[slot])
    }

    fn leave(&mut self, id: Id) {
        let slot = std::mem::replace(&mut self.slots[id as usize], ABSENT) as usize;
        self.members[self.classes[slot] as usize].remove(slot);
        self.free.insert(slot);
    }

    fn resize(&mut self, capacity: u64) {
        self.capacity = capacity;
        self.grow_slots();
    }
}
