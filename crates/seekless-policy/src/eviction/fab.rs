//! FAB: pages leave by the erase block, the fullest block first.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::key_order::KeyOrder;

/// Pages of a flash block of 128 KiB.
const BLOCK_PAGES: u32 = 32;
/// Pages of a group in Ozen's program: 16 KiB.
const OZEN_PAGES: u32 = 4;
/// In no group.
const NOWHERE: u32 = u32::MAX;

/// Which group leaves first: one with all pages dirty (Ozen's rule only), then the one with most
/// pages, then the least recently used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    not_all_dirty: bool,
    missing: u32,
    last_use: u64,
}

/// Resident pages of one block.
#[derive(Clone, Copy, Debug, Default)]
struct Group {
    /// Number of the block: key divided by the block's pages.
    block: u64,
    pages: u32,
    dirty: u32,
    last_use: u64,
}

impl Group {
    fn rank(&self, block_pages: u32, ozen: bool) -> Rank {
        Rank {
            not_all_dirty: !ozen || self.dirty < block_pages,
            missing: block_pages.saturating_sub(self.pages),
            last_use: self.last_use,
        }
    }
}

/// Flash-aware buffer management (Jo, Kang, Park, Kim and Lee, "FAB: flash-aware buffer management
/// policy for portable media players", IEEE Transactions on Consumer Electronics 52(2), 2006).
///
/// - **Idea:** flash erases whole blocks, so a block should be written whole. The victim is the
///   block with the most resident pages; of equals, the least recently used. All its pages leave,
///   in ascending order.
/// - **Cost per request:** a hit O(1); a miss O(log n).
/// - **Memory:** 25 bytes an id, 16 to 32 a resident page, 52 a block with any. No ghosts.
/// - **Shines** on long sequential writes, as of media files. **Fails** on everything else: blocks
///   that are read in sequence and used all the time are the fullest.
///
/// Blocks are 32 pages (128 KiB) unless said otherwise. A use or a newcomer makes its block the
/// most recent. Needs keys that place neighbours together. Pages only: it refuses weights.
/// [`Use::FirstUse`] does not refresh. Cost is ignored. [`Fab::as_published`] is Ozen's program.
#[derive(Clone, Debug)]
pub struct Fab {
    capacity: u64,
    used: u64,
    block_pages: u32,
    ozen: bool,
    requests: u64,
    order: KeyOrder,
    /// The group of each resident id.
    group_of: Vec<u32>,
    dirty: Vec<bool>,
    groups: Vec<Group>,
    free: Vec<u32>,
    /// Groups by rank. A hit raises a rank, which the heap sees when the group reaches its root.
    /// All other changes are reported to it at once.
    queue: IndexedHeap<Rank>,
}

impl Fab {
    /// An empty cache of `capacity` pages, over blocks of 32 pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self::with_block(capacity, BLOCK_PAGES)
    }

    /// As [`Fab::new`], over blocks of another number of pages, at least 1.
    #[must_use]
    pub fn with_block(capacity: u64, pages: u32) -> Self {
        Self {
            capacity,
            used: 0,
            block_pages: pages.max(1),
            ozen: false,
            requests: 0,
            order: KeyOrder::new(),
            group_of: Vec::new(),
            dirty: Vec::new(),
            groups: Vec::new(),
            free: Vec::new(),
            queue: IndexedHeap::new(),
        }
    }

    /// As Ozen's program has it: groups of 4 pages; a group with all pages dirty leaves first; a
    /// newcomer does not refresh its group.
    #[must_use]
    pub fn as_published(capacity: u64) -> Self {
        Self { ozen: true, ..Self::with_block(capacity, OZEN_PAGES) }
    }

    /// Notes in the queue that a group's rank may have fallen.
    fn requeue(&mut self, group: u32) {
        let rank = self.groups[group as usize].rank(self.block_pages, self.ozen);
        match (self.groups[group as usize].pages, self.queue.contains(group)) {
            (0, _) => {
                self.queue.remove(group);
                self.free.push(group);
            }
            (_, true) => self.queue.change(group, rank),
            (_, false) => self.queue.push(group, rank),
        }
    }

    fn set_dirty(&mut self, id: Id, dirty: bool) {
        if std::mem::replace(&mut self.dirty[id as usize], dirty) == dirty {
            return;
        }
        let group = self.group_of[id as usize];
        let count = &mut self.groups[group as usize].dirty;
        *count = if dirty { *count + 1 } else { *count - 1 };
        if self.ozen && *count + 1 >= self.block_pages {
            self.requeue(group);
        }
    }

    /// The group of a page that has just been inserted: its neighbour's, or a new one.
    fn find_group(&mut self, id: Id, key: u64) -> u32 {
        let block = key / u64::from(self.block_pages);
        for neighbour in [self.order.before(id), self.order.after(id)].into_iter().flatten() {
            let group = self.group_of[neighbour as usize];
            if self.groups[group as usize].block == block {
                return group;
            }
        }
        let fresh = Group { block, last_use: self.requests, ..Group::default() };
        if let Some(group) = self.free.pop() {
            self.groups[group as usize] = fresh;
            return group;
        }
        self.groups.push(fresh);
        (self.groups.len() - 1) as u32
    }

    fn load(&mut self, request: &Request) {
        self.order.insert(request.id, request.key);
        let group = self.find_group(request.id, request.key);
        self.group_of[request.id as usize] = group;
        let members = &mut self.groups[group as usize];
        members.pages += 1;
        if !self.ozen {
            members.last_use = self.requests;
        }
        self.used += 1;
        self.requeue(group);
        self.set_dirty(request.id, request.kind == Use::Write);
    }

    fn hit(&mut self, request: &Request) {
        if request.kind == Use::FirstUse {
            return;
        }
        self.groups[self.group_of[request.id as usize] as usize].last_use = self.requests;
        if request.kind == Use::Write {
            self.set_dirty(request.id, true);
        }
    }
}

impl Eviction for Fab {
    fn needs(&self) -> Needs {
        Needs { state: self.ozen, neighbours: true, unit_weights: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.group_of, ids, NOWHERE);
        column::grow(&mut self.dirty, ids, false);
        self.order.grow(ids);
        self.queue.grow(ids);
    }

    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        self.requests += 1;
        if self.order.contains(request.id) {
            self.hit(request);
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        if self.used >= self.capacity {
            self.evict_one(pool);
        }
        self.load(request);
        Outcome::Admitted
    }

    /// Evicts one block: all its pages.
    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let (groups, block_pages, ozen) = (&self.groups, self.block_pages, self.ozen);
        let rank = |group: u32| groups[group as usize].rank(block_pages, ozen);
        let Some((_, group)) = self.queue.settle_root(rank) else { return false };
        self.queue.remove(group);
        self.free.push(group);
        let first = self.groups[group as usize].block * u64::from(block_pages);
        let last = first.saturating_add(u64::from(block_pages) - 1);
        let Self { order, group_of, dirty, used, .. } = self;
        order.remove_range(first, last, |page| {
            group_of[page as usize] = NOWHERE;
            dirty[page as usize] = false;
            *used -= 1;
            pool.discard(page);
        });
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        while self.used > capacity && self.evict_one(pool) {}
    }

    fn remove(&mut self, id: Id) {
        if !self.order.contains(id) {
            return;
        }
        self.set_dirty(id, false);
        self.order.remove(id);
        let group = std::mem::replace(&mut self.group_of[id as usize], NOWHERE);
        self.groups[group as usize].pages -= 1;
        self.used -= 1;
        self.requeue(group);
    }

    fn cleaned(&mut self, id: Id) {
        if self.order.contains(id) {
            self.set_dirty(id, false);
        }
    }

    fn resident_weight(&self) -> u64 {
        self.used
    }
}
