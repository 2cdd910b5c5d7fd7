//! Linux 6.x: on-demand readahead that also looks for streams in the cache, so that a stream is
//! discovered although its reads never come one after another.
//!
//! As on a file system without large folios. Large folios make the search for a hole report it one
//! page late (in 6.18), which costs interleaved streams half their speed; this has no such defect.
//! The kernel lets a read over the largest window be as large as the device likes; here the largest
//! window is the limit, as the device's preference is unknown.

use super::matcher::Algorithm;
use super::options::PAGE_BYTES;
use super::pattern::{
    Call, Decision, Pattern, context, expected, fault, interleaved, oversize, random, sequential,
};

const PATTERNS: &[Pattern] = &[
    fault::around_with_marker,
    expected::by_marker,
    interleaved::recovered_with_read,
    sequential::follows_or_starts,
    oversize::marks_middle,
    context::after_cached_pages,
    random::as_asked,
];

/// What makes it, for a matcher.
pub(super) static ALGORITHM: Algorithm = Algorithm {
    patterns: PATTERNS,
    // The page that the next byte lies in.
    previous: |end_byte| end_byte / PAGE_BYTES,
    adjust: align_end,
    congested_miss_pages: Some(1),
    ends_at_end_of_file: true,
};

/// A window that a marker asked for ends on a multiple of this many pages, if the largest window is
/// one.
const ALIGNMENT_PAGES: u64 = 4;

/// Cuts a window that a marker asked for back to an aligned end.
fn align_end(call: &Call<'_>, decision: Decision) -> Decision {
    let Decision::Window { first, pages, .. } = decision else { return decision };
    if !call.is_async() {
        return decision;
    }
    let alignment = ALIGNMENT_PAGES.min(1 << call.max.trailing_zeros().min(63));
    let end = (first + pages) / alignment * alignment;
    let pages = if end > first { end - first } else { pages };
    Decision::Window { first, pages, lead: pages }
}
