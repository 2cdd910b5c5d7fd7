//! LRU-WSR: a dirty page gets a second chance before it leaves; a clean page does not.

use super::one_list::{List, ListRule, OneList};
use super::resident::Resident;
use super::{Id, Needs, Pool, Request};
use crate::arrays::column;

/// LRU with write sequence reordering (Jung, Shim, Park, Kang and Cha, "LRU-WSR: integration of LRU
/// and writes sequence reordering for flash memory", IEEE Transactions on Consumer Electronics
/// 54(3), 2008).
///
/// - **Idea:** a write costs flash more than a read. At the LRU end a clean page leaves. A dirty
///   page is marked *cold* and moves to the front once; with the mark it leaves. A hit clears the
///   mark.
/// - **Cost per request:** a hit O(1); a miss O(1) amortised, since each page that moves to the
///   front was hit or loaded since.
/// - **Memory:** 9 bytes an id; 17 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hot pages are written again and again. **Fails** when nearly all pages are
///   dirty, where it is a slower LRU, and where reads cost more than writes.
///
/// The owner must say which pages are dirty. Weights: evicts until the newcomer fits.
/// [`Use::FirstUse`](super::Use::FirstUse) promotes nothing. Cost is ignored.
pub type LruWsr = Resident<OneList<LruWsrRule>>;

/// The rule of [`LruWsr`].
#[derive(Clone, Debug, Default)]
pub struct LruWsrRule {
    cold: Vec<bool>,
}

impl ListRule for LruWsrRule {
    const NEEDS: Needs = Needs { state: true, ..Needs::NONE };

    fn grow(&mut self, ids: u32) {
        column::grow(&mut self.cold, ids, false);
    }

    #[inline]
    fn hit(&mut self, list: &mut List, request: &Request) {
        self.cold[request.id as usize] = false;
        list.move_to_front(request.id);
    }

    #[inline]
    fn entered(&mut self, request: &Request) {
        self.cold[request.id as usize] = false;
    }

    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, pool: &P) -> Option<Id> {
        loop {
            let last = list.back()?;
            if !pool.state(last).dirty || self.cold[last as usize] {
                return Some(last);
            }
            self.cold[last as usize] = true;
            list.move_to_front(last);
        }
    }
}
