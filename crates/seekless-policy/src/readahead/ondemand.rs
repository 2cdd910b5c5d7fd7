//! Wu, Xi and Xu 2010, as Linux 2.6.24 has it: one window an open file, and a marker in the cache
//! that says where to ask for the next.
//!
//! It differs from the paper's text where the kernel does: small windows grow by four, and a first
//! window is a power of two ([`size`](super::size)). A window of the largest size 0 fetches what is
//! asked for, where the kernel fetches page by page.

use super::matcher::{Algorithm, Matcher};
use super::options::{Options, PAGE_BYTES};
use super::pattern::{Pattern, expected, fault, interleaved, oversize, random, sequential};
use super::{Ahead, Handle, PageNo, Read, Readahead, Trigger};

const PATTERNS: &[Pattern] = &[
    fault::around,
    expected::by_marker_or_miss,
    interleaved::recovered,
    sequential::follows,
    oversize::marks_first,
    random::as_asked,
];

static ALGORITHM: Algorithm = Algorithm {
    patterns: PATTERNS,
    // The page that the last byte lies in.
    previous: |end_byte| (end_byte - 1) / PAGE_BYTES,
    adjust: |_, decision| decision,
    congested_miss_pages: None,
    ends_at_end_of_file: false,
};

/// The readahead of Linux 2.6.24.
#[derive(Debug)]
pub struct OnDemand(Matcher);

impl OnDemand {
    /// Knows no file yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        Self(Matcher::new(&ALGORITHM, options))
    }
}

impl Readahead for OnDemand {
    fn open(&mut self, file: Handle) {
        self.0.open(file);
    }

    fn close(&mut self, file: Handle) {
        self.0.close(file);
    }

    fn on_page(&mut self, read: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        self.0.on_page(read, page, why, ahead);
    }

    fn on_read_end(&mut self, read: Read, end_byte: u64) {
        self.0.on_read_end(read, end_byte);
    }
}
