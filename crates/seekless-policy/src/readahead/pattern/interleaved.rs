//! A marker of a window that is not the last one: another stream on this open file has overwritten
//! the state, or another open file has fetched the window. The cached pages after the marker show
//! what the window was, so it is recovered from them.

use super::{Call, Decision};
use crate::readahead::{PageNo, size};

/// As Linux 2.6.24. The cached pages from the marker on were the old window.
pub(in crate::readahead) fn recovered(call: &Call<'_>) -> Option<Decision> {
    call.is_async().then(|| recover(call, call.page, 0))
}

/// As Linux 6.x. The marker's page itself is taken to be cached, and what the read asks for counts
/// to the old window.
pub(in crate::readahead) fn recovered_with_read(call: &Call<'_>) -> Option<Decision> {
    call.is_async().then(|| recover(call, call.page + 1, call.asked))
}

fn recover(call: &Call<'_>, from: PageNo, more: u64) -> Decision {
    let is_hole = |page: &PageNo| !call.ahead.cached(*page);
    // A hole further away than the largest window: enough has been fetched.
    let Some(hole) = (from..=call.page + call.max).find(is_hole) else { return Decision::Nothing };
    let pages = size::next(hole - call.page + more, call.max);
    Decision::Window { first: hole, pages, lead: pages }
}
