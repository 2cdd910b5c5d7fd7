//! FIFO: the page that entered first leaves first.

use super::Request;
use super::one_list::{List, ListRule, OneList};
use super::resident::Resident;

/// First in, first out (folklore). Belady, "A study of replacement algorithms for a virtual-storage
/// computer", 1966, shows that a larger cache may miss more.
///
/// - **Idea:** a queue. A hit changes nothing, so hits need no lock and no writes.
/// - **Cost per request:** O(1); a hit reads one word.
/// - **Memory:** 8 bytes an id; 16 once a weight other than 1 was seen. No ghosts.
/// - **Shines** where hits must be cheap and reuse is far apart. **Fails** on pages that are used
///   all the time: they leave as soon as pages that are used once.
///
/// Weights: evicts until the newcomer fits. [`Use`](super::Use) and cost are ignored.
pub type Fifo = Resident<OneList<FifoRule>>;

/// The rule of [`Fifo`].
#[derive(Clone, Copy, Debug, Default)]
pub struct FifoRule;

impl ListRule for FifoRule {
    const FOLDS_HITS: bool = true;

    #[inline]
    fn hit(&mut self, _list: &mut List, _request: &Request) {}
}
