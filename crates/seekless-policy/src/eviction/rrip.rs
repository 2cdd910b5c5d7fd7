//! RRIP: a newcomer is taken for one whose next use is far away until it proves otherwise.

mod insertion;

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::bits::BitTree;
use insertion::Insertion;

/// Predictions are 0 (soon) to 3 (far): the paper's M = 2 bits.
const FAR: usize = 3;
const CLASSES: usize = FAR + 1;
/// In no slot.
const ABSENT: u32 = u32::MAX;

/// Re-reference interval prediction, with priority to hits (Jaleel, Theobald, Steely and Emer, "High performance cache
/// replacement using re-reference interval prediction", ISCA 2010): static, bimodal, and the duel of both.
///
/// - **Idea:** each page has a prediction of 0 to 3. A hit sets 0; the first page in slot order with 3 leaves; if there is
///   none, all age by 1 until there is. *Static* (`rrip`) brings newcomers in at 2, so a scan leaves before what was hit.
///   *Bimodal* brings them in at 3 but for one in 32 at 2, so that part of a loop larger than the cache stays. The *duel*
///   (`brrip`; the paper's DRRIP) dedicates one id in 64 to each, counts their misses, and lets all others follow the one
///   with fewer.
/// - **Cost per request:** O(log n) with a base of 64: ageing renames four classes instead of visiting pages, and the
///   first slot of a class is found in a tree of bits.
/// - **Memory:** 4 bytes an id, and 5.7 a resident page. No ghosts.
/// - **Shines** on scans between reuse (static) and on loops (bimodal). **Fails** on plain recency: the order within a
///   class is by slot, not by time.
///
/// The paper's sets of 16 ways are one set of all pages here, so the duel's dedicated ids share it with the others. Pages
/// only: it refuses weights. [`Use::FirstUse`] promotes nothing. Cost is ignored. Same seed, same victims.
#[derive(Clone, Debug)]
pub struct Rrip {
    capacity: u64,
    used: u64,
    insertion: Insertion,
    /// The page in each slot; a newcomer takes the lowest free one, which is its victim's.
    pages: Vec<Id>,
    /// Which class each slot is in.
    classes: Vec<u8>,
    /// The slot of each id.
    slots: Vec<u32>,
    free: BitTree,
    /// Slots of each class. Prediction `p` is class `(p + first_class) % 4`, so ageing is one subtraction.
    members: [BitTree; CLASSES],
    first_class: usize,
    ids: usize,
}

impl Rrip {
    /// Static RRIP in an empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with(capacity, Insertion::Static)
    }

    /// Bimodal RRIP alone: one newcomer in 32, drawn from `seed`, is given a chance.
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
        Self {
            capacity,
            used: 0,
            insertion,
            pages: Vec::new(),
            classes: Vec::new(),
            slots: Vec::new(),
            free: BitTree::new(),
            members: Default::default(),
            first_class: 0,
            ids: 0,
        }
    }

    #[inline]
    fn class(&self, prediction: usize) -> usize {
        (prediction + self.first_class) % CLASSES
    }

    #[inline]
    fn hit(&mut self, slot: usize) {
        let soon = self.class(0);
        let class = std::mem::replace(&mut self.classes[slot], soon as u8) as usize;
        if class != soon {
            self.members[class].remove(slot);
            self.members[soon].insert(slot);
        }
    }

    fn load(&mut self, id: Id) {
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
        self.used += 1;
    }
}

impl Eviction for Rrip {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::default() }
    }

    fn grow(&mut self, ids: u32) {
        if ids as usize > self.slots.len() {
            self.slots.resize(ids as usize, ABSENT);
        }
        self.ids = self.slots.len();
        self.grow_slots();
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let slot = self.slots[request.id as usize];
        if slot != ABSENT {
            if request.kind != Use::FirstUse {
                self.hit(slot as usize);
            }
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        if self.used >= self.capacity {
            self.evict_one(pool);
        }
        self.load(request.id);
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let occupied = |&prediction: &usize| self.members[self.class(prediction)].first().is_some();
        let Some(oldest) = (0..CLASSES).rev().find(occupied) else {
            return false;
        };
        // All age until the oldest are at 3; the classes above them are empty and become those below.
        self.first_class = (self.first_class + CLASSES - (FAR - oldest)) % CLASSES;
        let Some(slot) = self.members[self.class(FAR)].first() else {
            return false;
        };
        let victim = self.pages[slot];
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.used > capacity && self.evict_one(pool) {}
        self.grow_slots();
    }

    fn remove(&mut self, id: Id) {
        let slot = std::mem::replace(&mut self.slots[id as usize], ABSENT);
        if slot != ABSENT {
            let slot = slot as usize;
            self.members[self.classes[slot] as usize].remove(slot);
            self.free.insert(slot);
            self.used -= 1;
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}

impl Rrip {
    /// Slots for as many pages as can be resident at once.
    fn grow_slots(&mut self) {
        let slots = self.ids.min(usize::try_from(self.capacity).unwrap_or(usize::MAX));
        self.free.grow(slots);
        self.members.iter_mut().for_each(|members| members.grow(slots));
    }
}
