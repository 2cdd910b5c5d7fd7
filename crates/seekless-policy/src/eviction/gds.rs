//! GreedyDual-Size: Landlord with full restoring. It is as fast as LRU while all files are equal.

mod pages;

use super::{Eviction, Id, Landlord, Outcome, Pool, Request};
use pages::{Pages, to_files};

/// GreedyDual-Size (Cao and Irani, "Cost-aware WWW proxy caching algorithms", USITS 1997).
///
/// - **Idea:** credit = cost / weight, restored in full by each use. The file of least credit
///   leaves, and all others pay that much rent: an offset rises instead, see
///   [`Landlord`](super::Landlord). While costs do not change it equals `landlord@full` exactly.
/// - **Pages:** the offset never falls, so files of one cost and weight leave in the order of their
///   last use. While every weight and cost is 1 it runs as LRU and only notes the offsets. From the
///   first other file on it runs as Landlord. A queue for each cost and weight, with a heap of
///   their heads, was slower than Landlord's radix heap, for 64 weights as for 50,000.
/// - **Cost per request:** O(1) for pages, else as Landlord.
/// - **Memory:** 16 bytes an id for pages; for files as Landlord. No ghosts.
/// - **Shines** and **fails** as Landlord does.
///
/// [`Use::FirstUse`](super::Use::FirstUse) restores nothing. A hit keeps the weight that was
/// admitted and takes the request's cost. If the cost is lower than before, credit is taken away,
/// unlike in Landlord.
#[derive(Clone, Debug)]
pub struct Gds {
    ids: u32,
    /// Whether a lower cost than before takes credit away.
    takes_back: bool,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Pages(Pages),
    Files(Landlord),
}

impl Gds {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { ids: 0, takes_back: true, stage: Stage::Pages(Pages::new(capacity)) }
    }

    /// The same, but a lower cost than before takes no credit away: [`Landlord::full_restore`] at
    /// the speed of LRU for pages.
    #[must_use]
    pub fn full_landlord(capacity: u64) -> Self {
        Self { takes_back: false, ..Self::new(capacity) }
    }

    /// Called for the first file whose weight or cost is not 1, once in the life of a cache.
    #[cold]
    fn leave_pages(&mut self) {
        if let Stage::Pages(pages) = &self.stage {
            self.stage = Stage::Files(to_files(pages, self.ids, self.takes_back));
        }
    }
}

impl Eviction for Gds {
    fn grow(&mut self, ids: u32) {
        self.ids = self.ids.max(ids);
        match &mut self.stage {
            Stage::Pages(pages) => pages.grow(ids),
            Stage::Files(files) => files.grow(ids),
        }
    }

    #[inline]
    fn request<P: Pool + ?Sized>(&mut self, request: &Request, pool: &mut P) -> Outcome {
        if let Stage::Pages(pages) = &mut self.stage {
            if request.weight == 1 && request.cost == 1 {
                return pages.request(request, pool);
            }
            self.leave_pages();
        }
        match &mut self.stage {
            Stage::Pages(pages) => pages.request(request, pool),
            Stage::Files(files) => files.request(request, pool),
        }
    }

    fn evict_one<P: Pool + ?Sized>(&mut self, pool: &mut P) -> bool {
        match &mut self.stage {
            Stage::Pages(pages) => pages.evict_one(pool),
            Stage::Files(files) => files.evict_one(pool),
        }
    }

    fn set_capacity<P: Pool + ?Sized>(&mut self, capacity: u64, pool: &mut P) {
        match &mut self.stage {
            Stage::Pages(pages) => pages.set_capacity(capacity, pool),
            Stage::Files(files) => files.set_capacity(capacity, pool),
        }
    }

    fn remove(&mut self, id: Id) {
        match &mut self.stage {
            Stage::Pages(pages) => pages.remove(id),
            Stage::Files(files) => files.remove(id),
        }
    }

    fn weight_of(&self, id: Id) -> Option<u64> {
        match &self.stage {
            Stage::Pages(pages) => pages.weight_of(id),
            Stage::Files(files) => files.weight_of(id),
        }
    }

    fn reweigh(&mut self, request: &Request) {
        if request.weight != 1 {
            self.leave_pages();
        }
        if let Stage::Files(files) = &mut self.stage {
            files.reweigh(request);
        }
    }

    fn resident_weight(&self) -> u64 {
        match &self.stage {
            Stage::Pages(pages) => pages.resident_weight(),
            Stage::Files(files) => files.resident_weight(),
        }
    }
}
