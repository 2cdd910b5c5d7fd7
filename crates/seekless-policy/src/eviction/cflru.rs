//! CFLRU: among the pages unused for long, the clean ones leave first.

use super::resident::{Resident, Rule};
use super::{Id, Needs, Pool, Request, Use};
use crate::arrays::column;
use crate::arrays::heap::IndexedHeap;
use crate::arrays::segments::Segments;
use crate::{Error, ErrorKind, Result};

/// Pages before the window, clean or dirty.
const WORKING: usize = 0;
/// Pages of the window that were clean when they entered it.
const CLEAN: usize = 1;
/// Pages of the window that were dirty when they entered it.
const DIRTY: usize = 2;
/// Share of the cache that the window takes by default.
const WINDOW: f64 = 1.0 / 3.0;

/// Clean-first LRU (Park, Jung, Kang, Kim and Lee, "CFLRU: a replacement algorithm for flash
/// memory", CASES 2006), with a window of fixed size.
///
/// - **Idea:** a write costs flash more than a read. The last pages of the LRU order are the
///   clean-first *window*. Its clean pages leave first, in LRU order, and only then its dirty ones.
/// - **Cost per request:** O(1); O(log n) for a page that is written back while it is in the
///   window.
/// - **Memory:** 22 bytes an id. No ghosts.
/// - **Shines** where hot pages are written again and again. **Fails** with a large window under
///   reads: dirty pages that are not used push out all pages that are read.
///
/// The paper leaves the size of the window to measurement. The default, a third of the cache, is
/// ours ([`Cflru::with_window`]). The owner must say which pages it writes back
/// ([`Eviction::cleaned`](super::Eviction::cleaned)). Pages only: it refuses weights.
/// [`Use::FirstUse`] promotes nothing. Cost is ignored.
pub type Cflru = Resident<CflruRule>;

/// The rule of [`Cflru`].
#[derive(Clone, Debug)]
pub struct CflruRule {
    capacity: u64,
    /// The window's share of the capacity.
    share: f64,
    lists: Segments<3, 3>,
    dirty: Vec<bool>,
    uses: u64,
    last_uses: Vec<u64>,
    /// Pages of [`DIRTY`] that were written back since they entered it, the least recently used
    /// first.
    cleaned: IndexedHeap<u64>,
}

impl Cflru {
    /// A window of another share of the cache, 0 (LRU) to 1 (no dirty page leaves before a clean
    /// one).
    pub fn with_window(capacity: u64, share: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&share) {
            let message =
                format!("CFLRU's window can be a share of 0 to 1 of the cache, not {share}");
            return Err(Error::new(ErrorKind::BadParameter, message));
        }
        Ok(Self::with_rule(capacity, CflruRule { share, ..CflruRule::default() }))
    }
}

impl Default for CflruRule {
    /// A window of a third of the cache.
    fn default() -> Self {
        Self {
            capacity: 0,
            share: WINDOW,
            lists: Segments::new(),
            dirty: Vec::new(),
            uses: 0,
            last_uses: Vec::new(),
            cleaned: IndexedHeap::new(),
        }
    }
}

impl CflruRule {
    /// Puts a page that is in no list at the front of the whole order.
    fn use_now(&mut self, request: &Request) {
        self.uses += 1;
        self.dirty[request.id as usize] |= request.kind == Use::Write;
        self.last_uses[request.id as usize] = self.uses;
        self.lists.push(WORKING, request.id, 1);
        self.fill_window();
    }

    /// Moves the last pages of the order into the window, until it has its share of the capacity.
    fn fill_window(&mut self) {
        let window = (self.capacity as f64 * self.share) as u64;
        while self.lists.size(CLEAN) + self.lists.size(DIRTY) < window {
            let Some(oldest) = self.lists.back(WORKING) else { return };
            self.lists.move_to(if self.dirty[oldest as usize] { DIRTY } else { CLEAN }, oldest);
        }
    }

    fn remove_from_list(&mut self, id: Id) {
        self.lists.remove(id);
        self.cleaned.remove(id);
    }
}

impl Rule for CflruRule {
    const NEEDS: Needs = Needs { state: true, unit_weights: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.dirty, ids, false);
        column::grow(&mut self.last_uses, ids, 0);
        self.lists.grow(ids);
        self.cleaned.grow(ids);
    }

    fn contains(&self, id: Id) -> bool {
        self.lists.list_of(id).is_some()
    }

    fn hit(&mut self, request: &Request) {
        self.remove_from_list(request.id);
        self.use_now(request);
    }

    fn enter(&mut self, request: &Request) {
        self.dirty[request.id as usize] = false;
        self.use_now(request);
    }

    /// The least recently used clean page of the window, else its dirty one. Without a window: the
    /// last page of all.
    fn victim<P: Pool + ?Sized>(&mut self, _pool: &P) -> Option<Id> {
        let came_clean = self.lists.back(CLEAN).map(|id| (self.last_uses[id as usize], id));
        let clean = came_clean.into_iter().chain(self.cleaned.root()).min();
        clean.map(|(_, id)| id).or(self.lists.back(DIRTY)).or(self.lists.back(WORKING))
    }

    fn leave(&mut self, id: Id) {
        self.remove_from_list(id);
        self.fill_window();
    }

    fn resize(&mut self, capacity: u64) {
        self.capacity = capacity;
        self.fill_window();
    }

    fn cleaned(&mut self, id: Id) {
        let was_dirty = std::mem::take(&mut self.dirty[id as usize]);
        if was_dirty && self.lists.list_of(id) == Some(DIRTY) {
            self.cleaned.push(id, self.last_uses[id as usize]);
        }
    }
}
