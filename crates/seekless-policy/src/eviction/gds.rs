//! GreedyDual-Size: Landlord with full restoring, in a queue for each worth.

mod files;
mod pages;

use super::{Eviction, Id, Needs, Outcome, Pool, Request};
use files::Files;
use pages::Pages;

/// GreedyDual-Size (Cao and Irani, "Cost-aware WWW proxy caching algorithms", USITS 1997).
///
/// - **Idea:** credit = cost / weight, restored in full by each use; the least credit leaves and all others pay that much
///   rent, by an offset that rises instead of visits ([`Landlord`](super::Landlord) tells more). Exact: it equals
///   `landlord@full` to the last victim.
/// - **Queues:** the offset never falls, so files of one cost and weight leave in the order of their last use. A queue for
///   each such worth (up to 1,024; others stand alone) and a heap of the queues' heads. While every weight and cost is 1 it
///   is LRU, runs as that, and only notes the offsets.
/// - **Cost per request:** a hit O(1), a miss O(log q) of q different worths; a file whose worth is new to it also looks it
///   up in a map. O(1) for pages.
/// - **Memory:** 16 bytes an id for pages; for files 56, and 32 a resident file that stands alone. No ghosts.
/// - **Shines** and **fails** as Landlord does.
///
/// [`Use::FirstUse`](super::Use::FirstUse) restores nothing. A hit keeps the weight that was admitted and takes the request's cost.
#[derive(Clone, Debug)]
pub struct Gds {
    ids: u32,
    stage: Stage,
}

#[derive(Clone, Debug)]
enum Stage {
    Pages(Pages),
    Files(Files),
}

impl Gds {
    /// An empty cache of `capacity` units of weight.
    #[must_use]
    pub fn new(capacity: u64) -> Self {
        Self { ids: 0, stage: Stage::Pages(Pages::new(capacity)) }
    }

    /// The first file that is no page. Once in a cache's life.
    #[cold]
    fn leave_pages(&mut self) {
        if let Stage::Pages(pages) = &self.stage {
            self.stage = Stage::Files(Files::from_pages(pages, self.ids));
        }
    }
}

impl Eviction for Gds {
    fn needs(&self) -> Needs {
        Needs::default()
    }

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
            Stage::Pages(pages) => {
                pages.capacity = capacity;
                pages.shrink_to(capacity, pool);
            }
            Stage::Files(files) => {
                files.capacity = capacity;
                files.make_room(0, pool);
            }
        }
    }

    fn remove(&mut self, id: Id) {
        match &mut self.stage {
            Stage::Pages(pages) => pages.remove(id),
            Stage::Files(files) => files.remove(id),
        }
    }

    fn resident_weight(&self) -> u64 {
        match &self.stage {
            Stage::Pages(pages) => pages.used,
            Stage::Files(files) => files.used,
        }
    }
}
