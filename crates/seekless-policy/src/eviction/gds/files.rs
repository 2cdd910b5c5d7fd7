//! GreedyDual-Size for files of any worth: a queue for each, and a heap of their heads.

use super::pages::Pages;
use crate::eviction::{Id, Outcome, Pool, Request, Use};
use crate::heap::IndexedHeap;
use crate::queues::Queues;
use std::collections::BTreeMap;

/// Credit densities are fixed-point numbers with this many binary places, as in [`Landlord`](crate::eviction::Landlord).
const DENSITY_BITS: u32 = 64;
/// Most queues. Pages of other worths stand in the heap on their own.
const CLASSES_MAX: u32 = 1024;

/// What sets the credit of a page.
type Worth = (u64, u32);

/// Where an id stands in the queue to leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    /// High and low half of the offset at the last use plus the credit density; two halves keep the alignment at 8 bytes.
    pub(super) density: [u64; 2],
    /// Number of the request that used it last: ties go to the least recently used.
    pub(super) last_use: u64,
}

impl Rank {
    fn density(self) -> u128 {
        u128::from(self.density[0]) << 64 | u128::from(self.density[1])
    }
}

#[derive(Clone, Copy, Debug)]
struct Page {
    rank: Rank,
    weight: u64,
    /// Its queue, or [`CLASSES_MAX`] plus the id; kept when it leaves, as it will most likely come back.
    slot: u32,
    cost: u32,
}

/// Never seen.
const NO_SLOT: u32 = u32::MAX;
const UNSEEN: Page = Page { rank: Rank { density: [0; 2], last_use: 0 }, weight: 0, slot: NO_SLOT, cost: 0 };

/// Files of any weight and cost. The offset never falls, so files of one cost and weight leave in the order of their last
/// use: a queue for each such worth, and a heap of the queues' heads.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) capacity: u64,
    pub(super) used: u64,
    /// Rent per unit of weight charged so far.
    offset: u128,
    requests: u64,
    pages: Vec<Page>,
    queues: Queues,
    classes: BTreeMap<Worth, u32>,
    heads: IndexedHeap<Rank>,
}

impl Files {
    /// What is resident moves over, with its ranks.
    pub(super) fn from_pages(pages: &Pages, ids: u32) -> Self {
        let mut files = Self {
            capacity: pages.capacity,
            used: pages.used,
            offset: u128::from(pages.offset) << DENSITY_BITS,
            requests: pages.requests,
            pages: Vec::new(),
            queues: Queues::new(),
            classes: BTreeMap::new(),
            heads: IndexedHeap::new(),
        };
        files.queues.grow_queues(CLASSES_MAX);
        files.grow(ids);
        let standings: Vec<_> = pages.standings().collect();
        for &(id, rank) in standings.iter().rev() {
            files.stand(id, (1, 1), rank);
        }
        files
    }

    #[inline]
    fn is_resident(&self, id: Id) -> bool {
        match self.pages[id as usize].slot {
            NO_SLOT => false,
            slot if slot < CLASSES_MAX => self.queues.queue_of(id).is_some(),
            slot => self.heads.contains(slot),
        }
    }

    /// Where pages of this worth stand: where `id` stood before, if its worth is the same. Worths keep their queues for good.
    #[inline]
    fn slot(&mut self, id: Id, worth: Worth) -> u32 {
        let Page { weight, cost, slot: known, .. } = self.pages[id as usize];
        if worth == (weight, cost) && known != NO_SLOT {
            return known;
        }
        if let Some(&class) = self.classes.get(&worth) {
            return class;
        }
        let class = self.classes.len() as u32;
        if class == CLASSES_MAX {
            return CLASSES_MAX + id;
        }
        self.classes.insert(worth, class);
        class
    }

    /// The rank of a page that is used now.
    #[inline]
    fn rank(&self, worth: Worth) -> Rank {
        let density = self.offset + density(worth);
        Rank { density: [(density >> 64) as u64, density as u64], last_use: self.requests }
    }

    /// A use of a resident page. Its rank falls only with its cost, and then it changes place.
    #[inline]
    fn hit(&mut self, id: Id, cost: u32) {
        let Page { weight, slot, cost: old_cost, .. } = self.pages[id as usize];
        if cost != old_cost {
            self.detach(id);
            self.admit(id, (weight, cost));
            return;
        }
        self.pages[id as usize].rank = self.rank((weight, cost));
        if slot < CLASSES_MAX {
            self.queues.move_to(slot, id);
        }
    }

    /// A use of a page that stands nowhere.
    #[inline]
    fn admit(&mut self, id: Id, worth: Worth) {
        self.stand(id, worth, self.rank(worth));
    }

    #[inline]
    fn stand(&mut self, id: Id, worth: Worth, rank: Rank) {
        let slot = self.slot(id, worth);
        self.pages[id as usize] = Page { rank, weight: worth.0, slot, cost: worth.1 };
        self.attach(id, slot, rank);
    }

    #[inline]
    fn attach(&mut self, id: Id, slot: u32, rank: Rank) {
        if slot >= CLASSES_MAX {
            self.heads.push(slot, rank);
            return;
        }
        if self.queues.is_empty(slot) {
            self.heads.push(slot, rank);
        }
        self.queues.push(slot, id);
    }

    #[inline]
    fn detach(&mut self, id: Id) {
        let slot = self.pages[id as usize].slot;
        if slot >= CLASSES_MAX {
            self.heads.remove(slot);
            return;
        }
        self.queues.unlink(id);
        if self.queues.is_empty(slot) {
            self.heads.remove(slot);
        }
    }

    pub(super) fn make_room<P: Pool + ?Sized>(&mut self, weight: u64, pool: &mut P) {
        while self.used > self.capacity.saturating_sub(weight) {
            if !self.evict_one(pool) {
                return;
            }
        }
    }
}

/// The page at the head of a slot of the heap.
#[inline]
fn head(queues: &Queues, slot: u32) -> Option<Id> {
    if slot < CLASSES_MAX { queues.oldest(slot) } else { Some(slot - CLASSES_MAX) }
}

/// Credit per unit of weight. A weight of 0 counts as 1: it takes no room, yet must rank.
#[inline]
fn density((weight, cost): Worth) -> u128 {
    let credit = u128::from(cost) << DENSITY_BITS;
    if weight <= 1 { credit } else { credit / u128::from(weight) }
}

impl Files {
    pub(super) fn grow(&mut self, ids: u32) {
        if ids as usize > self.pages.len() {
            self.pages.resize(ids as usize, UNSEEN);
        }
        self.queues.grow(ids);
        self.heads.grow(ids.saturating_add(CLASSES_MAX));
    }

    #[inline]
    pub(super) fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        let id = request.id;
        if self.is_resident(id) {
            if request.kind != Use::FirstUse {
                self.hit(id, request.cost);
            }
            return Outcome::Hit;
        }
        if request.weight > self.capacity {
            return Outcome::Bypassed;
        }
        self.make_room(request.weight, pool);
        self.used += request.weight;
        self.admit(id, (request.weight, request.cost));
        Outcome::Admitted
    }

    #[inline]
    pub(super) fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let (queues, pages) = (&self.queues, &self.pages);
        let rank = |slot| head(queues, slot).map_or(Rank::default(), |id| pages[id as usize].rank);
        let Some((rank, slot)) = self.heads.settle_root(rank) else { return false };
        let Some(victim) = head(&self.queues, slot) else { return false };
        self.offset = rank.density();
        self.remove(victim);
        pool.evict(victim);
        pool.forget(victim);
        true
    }

    pub(super) fn remove(&mut self, id: Id) {
        if self.is_resident(id) {
            self.detach(id);
            self.used -= self.pages[id as usize].weight;
        }
    }
}
