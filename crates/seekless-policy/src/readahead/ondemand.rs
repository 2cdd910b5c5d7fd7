//! Wu, Xi and Xu 2010, as Linux 2.6.24 has it: one window an open file, and a marker in the cache
//! that says where to ask for the next.
//!
//! It differs from the paper's text where the kernel does: small windows grow by four, and a first
//! window is a power of two ([`size`](super::size)). A window of the largest size 0 fetches what is
//! asked for, where the kernel fetches page by page.

use super::matcher::Algorithm;
use super::options::PAGE_BYTES;
use super::pattern::{Pattern, expected, fault, interleaved, oversize, random, sequential};

const PATTERNS: &[Pattern] = &[
    fault::around,
    expected::by_marker_or_miss,
    interleaved::recovered,
    sequential::follows,
    oversize::marks_first,
    random::as_asked,
];

/// What makes it, for a matcher.
pub(super) static ALGORITHM: Algorithm = Algorithm {
    patterns: PATTERNS,
    // The page that the last byte lies in.
    previous: |end_byte| (end_byte - 1) / PAGE_BYTES,
    adjust: |_, decision| decision,
    congested_miss_pages: None,
    ends_at_end_of_file: false,
};
