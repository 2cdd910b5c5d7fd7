//! Files whose lines are only counted, in whatever order they come.

use super::{Order, Searched, Session};
use crate::grep::count::count;

impl Session<'_, '_> {
    /// Counts empty lines, if order does not matter.
    pub(super) fn counted_zeros(&mut self, searched: &mut Searched, offset: u64, bytes: u64) {
        let left = self.most() - searched.state(self.options, None).selected.min(self.most());
        let found = if self.selects_empty_lines() { bytes.min(left) } else { 0 };
        self.counted(searched, found, offset + found);
    }

    /// Counts lines, or finds the line that decides, if order does not matter.
    pub(super) fn counted_chunk(&mut self, searched: &mut Searched, offset: u64, bytes: &[u8]) {
        if self.are_empty_lines(bytes) {
            return self.counted_zeros(searched, offset, bytes.len() as u64);
        }
        let left = self.most() - searched.state(self.options, None).selected.min(self.most());
        let (found, last) = count(&mut self.matcher, self.options, bytes, left);
        if found > 0 && self.options.first_match_decides() {
            self.orders.push(Order::Pin(searched.file, offset, bytes.len() as u64));
        }
        self.counted(searched, found, offset + last as u64);
    }

    /// Adds `found` selected lines; the last of them ends at `last`.
    fn counted(&mut self, searched: &mut Searched, found: u64, last: u64) {
        let state = searched.state(self.options, None);
        state.selected += found;
        if state.selected >= self.most() {
            state.ordered.selected_to = last;
            self.stop(searched);
        }
        if found > 0 && self.options.quiet {
            self.matched = true;
            searched.source.leave_decided(last);
            self.orders.push(Order::Stop);
        }
    }

    /// How many selected lines decide, if order does not matter.
    fn most(&self) -> u64 {
        match self.options.first_match_decides() {
            true => self.options.max_count.unwrap_or(1).min(1),
            false => self.options.max_count.unwrap_or(u64::MAX),
        }
    }
}
