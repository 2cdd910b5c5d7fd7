//! Byte ranges of a file, seen in the direction in which a stream goes.
//!
//! A backward stream is a forward stream of the file seen in a mirror. So each pattern is written
//! once, for streams that go forward, and its windows are mirrored back when they are submitted.

use crate::readahead::options::PAGE_BYTES;
use crate::readahead::{PageNo, Read, Window};
use std::ops::Range;

/// Where the mirror stands: no file is longer. A multiple of the page.
const MIRROR_BYTES: u64 = 1 << 62;
const MIRROR_PAGES: PageNo = MIRROR_BYTES / PAGE_BYTES;

/// Which way a stream goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Facing {
    Forward,
    Backward,
}

/// Both ways, in the order in which they are looked up.
pub(super) const BOTH: [Facing; 2] = [Facing::Forward, Facing::Backward];

/// The bytes from `start` up to `end`, which is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) start: u64,
    pub(super) end: u64,
}

impl Span {
    /// The bytes of a read, as far as a file can have them.
    pub(super) fn of(read: Read) -> Self {
        let start = read.offset.min(MIRROR_BYTES - 1);
        Self { start, end: start.saturating_add(read.bytes.max(1)).min(MIRROR_BYTES) }
    }

    /// The bytes of a page.
    pub(super) fn of_page(page: PageNo) -> Self {
        let start = page.min(MIRROR_PAGES - 1) * PAGE_BYTES;
        Self { start, end: start + PAGE_BYTES }
    }

    pub(super) fn bytes(self) -> u64 {
        self.end - self.start
    }

    pub(super) fn first_page(self) -> PageNo {
        self.start / PAGE_BYTES
    }

    pub(super) fn last_page(self) -> PageNo {
        (self.end - 1) / PAGE_BYTES
    }

    /// The number of pages that have bytes of it.
    pub(super) fn pages(self) -> u64 {
        self.last_page() - self.first_page() + 1
    }

    /// The span as a stream that goes this way sees it. Twice is the span itself.
    pub(super) fn facing(self, facing: Facing) -> Self {
        match facing {
            Facing::Forward => self,
            Facing::Backward => {
                Self { start: MIRROR_BYTES - self.end, end: MIRROR_BYTES - self.start }
            }
        }
    }
}

impl Facing {
    /// A page as a stream that goes this way sees it. Twice is the page itself.
    pub(super) fn page(self, page: PageNo) -> PageNo {
        match self {
            Facing::Forward => page,
            Facing::Backward => MIRROR_PAGES - 1 - page.min(MIRROR_PAGES - 1),
        }
    }

    /// Pages as a stream that goes this way sees them. Twice is the pages themselves.
    pub(super) fn pages(self, pages: Range<PageNo>) -> Range<PageNo> {
        match self {
            Facing::Forward => pages,
            Facing::Backward if pages.is_empty() => 0..0,
            Facing::Backward => self.page(pages.end - 1)..self.page(pages.start) + 1,
        }
    }

    /// The first page after the file, seen this way, of a file of `pages` pages.
    pub(super) fn end(self, pages: u64) -> PageNo {
        match self {
            Facing::Forward => pages.min(MIRROR_PAGES),
            Facing::Backward => MIRROR_PAGES,
        }
    }

    /// A window that was planned as this way sees the file, as it is in the file.
    pub(super) fn window(self, seen: Window) -> Window {
        match self {
            Facing::Forward => seen,
            Facing::Backward => Window {
                first: self.page(seen.first + u64::from(seen.pages) - 1),
                pages: seen.pages,
                marker: seen.marker.map(|page| self.page(page)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readahead::Handle;

    #[test]
    fn a_mirrored_window_covers_the_same_pages() {
        let span = Span { start: 8 * PAGE_BYTES, end: 11 * PAGE_BYTES };
        let seen = span.facing(Facing::Backward);
        assert_eq!(seen.facing(Facing::Backward), span);
        assert_eq!(seen.pages(), 3);
        let window =
            Window { first: seen.first_page(), pages: 3, marker: Some(Facing::Backward.page(10)) };
        let real = Window { first: 8, pages: 3, marker: Some(10) };
        assert_eq!(Facing::Backward.window(window), real);
        assert_eq!(Facing::Backward.end(20), Facing::Backward.page(0) + 1);
    }

    #[test]
    fn a_read_past_what_a_file_can_have_is_cut() {
        let read = Read { file: Handle(0), offset: u64::MAX, bytes: u64::MAX };
        let span = Span::of(read);
        assert_eq!((span.bytes(), span.end), (1, MIRROR_BYTES));
        assert_eq!(Span::of(Read { offset: 5, bytes: 0, ..read }).bytes(), 1);
    }
}
