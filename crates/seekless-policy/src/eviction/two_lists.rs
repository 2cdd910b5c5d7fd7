//! Linux's page cache: an inactive and an active list, and the distance of a refault.

use super::{Eviction, Id, Needs, Outcome, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::segments::Segments;

/// Newcomers and deactivated pages; reclaimed from the back.
const INACTIVE: usize = 0;
/// Pages used twice, or refaulted soon.
const ACTIVE: usize = 1;
/// Shadow entries of reclaimed pages.
const SHADOWS: usize = 2;
/// Pages of 4 KiB in a GiB, as a power of two.
const GIB_PAGE_BITS: u32 = 18;

/// The page cache of Linux since 3.15 (`mm/workingset.c`, `mm/vmscan.c`, `mm/swap.c`; Weiner, "mm:
/// thrash detection-based file cache sizing", 2014). It is modelled for files read by system call,
/// with one memory group and no swap.
///
/// - **Idea:** newcomers enter an inactive list. A second use activates a page; other pages leave
///   at the end of the list. When the inactive list gets short, the active list gives its oldest
///   pages back. A reclaimed page leaves a shadow with the time, counted in evictions and
///   activations. If the page returns within as many of those as there are active pages, a longer
///   inactive list would have kept it, and it is activated at once.
/// - **Cost per request:** O(1) amortised.
/// - **Memory:** 18 bytes an id.
/// - **Ghosts:** at most the capacity: an older shadow can activate nothing.
/// - **Shines** on file servers with scans. **Fails** on loops between the sizes of inactive list
///   and cache, and it keeps no order of use within the active list.
///
/// **Modelled:**
///
/// - The referenced flag. The first use sets it, the second activates and clears it. A use of an
///   active page sets it, and it survives deactivation.
/// - Reclaim from the end of the inactive list without regard to that flag, as for clean pages that
///   are not mapped.
/// - One active page is deactivated for each page reclaimed, while the inactive list is low or
///   after a refault that activated. Low means: inactive × ratio < active, with the ratio √(10 ×
///   GiB of both), and 1 below a GiB.
/// - The refault distance, on the age that counts evictions and activations, compared to the active
///   list.
///
/// **Not modelled:** mapped pages and their page-table bits, executable pages, anonymous memory and
/// swap (with them the distance is compared to more), multi-generational LRU, large folios. Nor
/// batches (32 pages a round, the per-processor lists of 15 that delay activation), the watermarks
/// that keep some memory free, dirty pages that reclaim skips, several memory groups.
///
/// Pages only: [`Needs::unit_weights`]. A [`Use::Prefetch`] enters without the flag and
/// [`Use::FirstUse`] sets it, so both together are one use. Cost is ignored.
#[derive(Clone, Debug)]
pub struct TwoLists {
    capacity: u64,
    lists: Segments<3, 2>,
    referenced: Vec<bool>,
    /// The age when each shadow was made.
    evicted_at: Vec<u64>,
    /// Evictions and activations so far: the kernel's `nonresident_age`.
    age: u64,
    /// A refault has activated a page since the last reclaim.
    refaulted: bool,
}

impl TwoLists {
    /// An empty cache of `capacity` pages.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self {
            capacity,
            lists: Segments::new(),
            referenced: Vec::new(),
            evicted_at: Vec::new(),
            age: 0,
            refaulted: false,
        }
    }

    /// The kernel's `mark_page_accessed`.
    #[inline]
    fn touch(&mut self, id: Id, list: usize) {
        let referenced = &mut self.referenced[id as usize];
        if list == ACTIVE || !*referenced {
            *referenced = true;
            return;
        }
        *referenced = false;
        self.lists.move_to(ACTIVE, id);
        self.age += 1;
    }

    /// The kernel's `inactive_is_low`.
    fn inactive_is_low(&self) -> bool {
        let ratio = (10 * (self.lists.resident() >> GIB_PAGE_BITS)).isqrt().max(1);
        self.lists.size(INACTIVE) * ratio < self.lists.size(ACTIVE)
    }

    fn deactivate_one(&mut self) {
        if let Some(oldest) = self.lists.back(ACTIVE) {
            self.lists.move_to(INACTIVE, oldest);
        }
    }

    fn trim_shadows<P: Pool + ?Sized>(&mut self, pool: &mut P) {
        while self.lists.size(SHADOWS) > self.capacity {
            let Some(oldest) = self.lists.pop(SHADOWS) else { return };
            pool.forget(oldest);
        }
    }
}

impl Eviction for TwoLists {
    fn needs(&self) -> Needs {
        Needs { unit_weights: true, ..Needs::NONE }
    }

    fn grow(&mut self, ids: u32) {
        self.lists.grow(ids);
        column::grow(&mut self.referenced, ids, false);
        column::grow(&mut self.evicted_at, ids, 0);
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        let id = request.id;
        let place = self.lists.list_of(id);
        if let Some(list @ (INACTIVE | ACTIVE)) = place {
            match request.kind {
                Use::FirstUse => self.referenced[id as usize] = true,
                _ => self.touch(id, list),
            }
            return Outcome::Hit;
        }
        if self.capacity == 0 {
            return Outcome::Bypassed;
        }
        let mut list = INACTIVE;
        if place == Some(SHADOWS) {
            let distance = self.age - self.evicted_at[id as usize];
            self.lists.remove(id);
            if distance <= self.lists.size(ACTIVE) {
                list = ACTIVE;
                self.age += 1;
                self.refaulted = true;
            }
        }
        self.shrink_to(self.capacity - 1, pool);
        self.lists.push(list, id, 1);
        self.referenced[id as usize] = request.kind != Use::Prefetch;
        Outcome::Admitted
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        let challenged = std::mem::take(&mut self.refaulted);
        if challenged || self.inactive_is_low() || self.lists.is_empty(INACTIVE) {
            self.deactivate_one();
        }
        let Some(victim) = self.lists.back(INACTIVE) else { return false };
        self.lists.move_to(SHADOWS, victim);
        self.evicted_at[victim as usize] = self.age;
        self.age += 1;
        pool.evict(victim);
        self.trim_shadows(pool);
        true
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        self.capacity = capacity;
        self.shrink_to(capacity, pool);
        self.trim_shadows(pool);
    }

    fn remove(&mut self, id: Id) {
        self.lists.remove(id);
    }

    fn resident_weight(&self) -> u64 {
        self.lists.resident()
    }
}
