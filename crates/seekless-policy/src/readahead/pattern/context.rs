//! A miss just after pages that are cached: a stream has probably left them there. This discovers
//! streams whose reads never come one after another, since it looks at the cache and not at the
//! last read (Linux 2.6.31 and later).

use super::{Call, Decision};

pub(in crate::readahead) fn after_cached_pages(call: &Call<'_>) -> Option<Decision> {
    let cached = |back: &u64| call.ahead.cached(call.page - back);
    let reach = call.max.min(call.page);
    let mut history = (1..=reach).take_while(cached).count() as u64;
    if history <= call.asked {
        return None;
    }
    if history == call.page {
        // All of the file up to here is cached: it is probably read whole.
        history *= 2;
    }
    Some(Decision::Window {
        first: call.page,
        pages: (history + call.asked).min(call.max),
        lead: 1,
    })
}
