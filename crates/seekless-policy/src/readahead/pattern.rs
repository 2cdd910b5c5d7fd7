//! Patterns of access. Each is a module of its own: it recognises one way of reading, and says what
//! to fetch for it. An algorithm asks its patterns in turn, and the first that recognises the call
//! decides. So a new pattern is a new file, and a line in the list of an algorithm.

pub(super) mod context;
pub(super) mod expected;
pub(super) mod fault;
pub(super) mod interleaved;
pub(super) mod oversize;
pub(super) mod random;
pub(super) mod sequential;

use super::{Ahead, PageNo, Trigger};

/// What is kept of an open file: the last window, and where the last read ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    /// The first page of the last window.
    pub(super) first: PageNo,
    /// The pages of the last window; 0 before the first.
    pub(super) pages: u64,
    /// How many of its pages lie from its marker to its end.
    pub(super) lead: u64,
    /// The page that the last read ended in. `None` before the first read.
    pub(super) previous: Option<PageNo>,
}

impl State {
    /// The page after the last window.
    pub(super) fn end(&self) -> PageNo {
        self.first + self.pages
    }

    /// The page that carries the marker of the last window, if there is one.
    pub(super) fn marker(&self) -> PageNo {
        self.end() - self.lead
    }
}

/// A page of a read that is missing or carries a marker.
pub(super) struct Call<'a> {
    /// The page.
    pub(super) page: PageNo,
    /// How many pages the read asks for from this one on.
    pub(super) asked: u64,
    pub(super) why: Trigger,
    /// The largest window.
    pub(super) max: u64,
    pub(super) state: &'a State,
    pub(super) ahead: &'a dyn Ahead,
}

impl Call<'_> {
    /// Whether the page carried a marker: what it asks for comes before it is needed.
    pub(super) fn is_async(&self) -> bool {
        self.why == Trigger::Marker
    }
}

/// What to do about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// Fetch this window, and remember it. Its marker lies `lead` pages before its end.
    Window { first: PageNo, pages: u64, lead: u64 },
    /// Fetch this, without a marker, and remember nothing.
    Once { first: PageNo, pages: u64 },
    /// Fetch nothing.
    Nothing,
}

/// Decides about a call that has the pattern.
pub(super) type Pattern = fn(&Call<'_>) -> Option<Decision>;
