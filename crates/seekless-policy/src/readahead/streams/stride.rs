//! A stride: where its elements lie.

use super::limits::Limits;
use super::span::Span;
use crate::readahead::PageNo;
use crate::readahead::options::PAGE_BYTES;

/// A stride, as the stream sees the file: it goes upward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stride {
    /// From the start of an element to the start of the next, in bytes.
    pub(super) delta: u64,
    /// The larger of the last two elements, in bytes.
    pub(super) element: u64,
}

impl Stride {
    pub(super) fn gap_bytes(self) -> u64 {
        self.delta.saturating_sub(self.element)
    }

    /// The pages of two elements and the gaps after them, if the gaps are to be read too.
    pub(super) fn read_through(self, limits: &Limits) -> Option<u64> {
        let two = self.two();
        (limits.bridges_known(self.gap_bytes()) && two <= limits.window).then_some(two)
    }

    /// The pages of two elements and the gaps after them.
    pub(super) fn two(self) -> u64 {
        self.delta.saturating_mul(2) / PAGE_BYTES + 1
    }

    /// The `number`th element after the one at `start`.
    pub(super) fn after(self, start: u64, number: u64) -> Span {
        let start = start.saturating_add(self.delta.saturating_mul(number));
        Span { start, end: start.saturating_add(self.element) }
    }

    /// How many elements after the one at `start` a read begins one: in the same page as expected.
    pub(super) fn number_of(self, start: u64, read: Span) -> Option<u64> {
        let distance = read.start.checked_sub(start)?;
        let number = (distance + self.delta / 2) / self.delta;
        let expected = self.after(start, number);
        (number > 0 && expected.first_page() == read.first_page()).then_some(number)
    }

    /// Whether a page has bytes of an element, of the one at `start` or of one after it.
    pub(super) fn has_page(self, start: u64, page: PageNo) -> bool {
        let page = Span::of_page(page);
        let Some(last) = (page.end - 1).checked_sub(start) else { return false };
        let into_element = last % self.delta;
        into_element < self.element.saturating_add(PAGE_BYTES - 1)
    }
}
