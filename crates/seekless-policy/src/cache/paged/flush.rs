//! Write-back of dirty pages that stay in the cache, by a [`FlushRule`]. The owner has the clock:
//! it says when the flusher wakes, and holds up a writer that exceeds the hard limit.

use super::pages::Exit;
use super::view::{Flush, Inner, file_keys, key};
use super::{FileNo, PageCommand, PagedCache};
use crate::cache::write_back::FlushRule;
use crate::eviction::{Eviction, Id};
use crate::readahead::PageNo;
use std::ops::Range;

impl<E: Eviction> Inner<E> {
    /// A page has become dirty.
    pub(super) fn soiled(&mut self, id: Id, now: u64) {
        if self.flush.rule == FlushRule::default() {
            return;
        }
        let about = self.pages.about(id);
        self.flush.dirty.soiled(id, key(about.file, about.page), now, &self.cache);
    }

    /// Starts the write-back of the chosen pages, by their place.
    fn flush_chosen(&mut self, out: &mut Vec<PageCommand>) -> Vec<Id> {
        let mut chosen = std::mem::take(&mut self.flush.chosen);
        chosen.sort_unstable_by_key(|&id| {
            let about = self.pages.about(id);
            (about.file.0, about.page)
        });
        let mut exit = Exit { pages: &mut self.pages, out, requested: None, evicts: true };
        self.cache.flush_each(&chosen, &mut exit);
        chosen
    }
}

impl<E: Eviction> PagedCache<E> {
    /// When dirty pages are written while they stay in the cache. By default only their eviction
    /// writes them. Set it before the first write.
    pub fn set_flush_rule(&mut self, rule: FlushRule) {
        self.inner.flush.rule = rule;
    }

    /// The flusher wakes: starts to write the pages that are due at this time.
    pub fn flush_due(&mut self, now: u64, out: &mut Vec<PageCommand>) {
        let Flush { rule, dirty, chosen } = &mut self.inner.flush;
        dirty.wake(rule, now, &self.inner.cache, file_keys, chosen);
        self.inner.flush_chosen(out);
    }

    /// After a write: if too many pages are dirty, starts to write the oldest. Its writer must wait
    /// until they are no longer [in write-back](Self::in_write_back).
    pub fn hold_up(&mut self, out: &mut Vec<PageCommand>) -> Vec<Id> {
        let Flush { rule, dirty, chosen } = &mut self.inner.flush;
        dirty.hold_up(rule, &self.inner.cache, file_keys, chosen);
        self.inner.flush_chosen(out)
    }

    /// Starts to write all dirty pages of a file. Who asked must wait until the pages returned are
    /// no longer [in write-back](Self::in_write_back); those that are being written already are
    /// among them.
    pub fn sync(&mut self, file: FileNo, out: &mut Vec<PageCommand>) -> Vec<Id> {
        let mut ids = self.inner.pages.ids_within(file, &(0..PageNo::MAX));
        ids.retain(|&id| self.inner.cache.is_dirty(id) || self.in_write_back(id));
        self.inner.flush.chosen.clone_from(&ids);
        self.inner.flush_chosen(out);
        ids
    }

    /// Starts to write all dirty pages.
    pub fn flush_all(&mut self, out: &mut Vec<PageCommand>) {
        let Inner { cache, pages, flush, .. } = &mut self.inner;
        flush.chosen.extend((0..pages.ids_end()).filter(|&id| cache.is_dirty(id)));
        self.inner.flush_chosen(out);
    }

    /// Whether the device lacks something of the file: a page is dirty or in write-back.
    #[must_use]
    pub fn is_unwritten(&self, file: FileNo) -> bool {
        let ids = self.inner.pages.ids_within(file, &(0..PageNo::MAX));
        ids.into_iter().any(|id| self.is_dirty(id) || self.in_write_back(id))
    }

    /// The dirty pages of a range of a file, in their order.
    #[must_use]
    pub fn dirty_within(&self, file: FileNo, pages: Range<PageNo>) -> Vec<Id> {
        let mut ids = self.inner.pages.ids_within(file, &pages);
        ids.retain(|&id| self.is_dirty(id));
        ids
    }

    /// The pages of a range of a file that are in write-back, in their order.
    #[must_use]
    pub fn in_write_back_within(&self, file: FileNo, pages: Range<PageNo>) -> Vec<Id> {
        let mut ids = self.inner.pages.ids_within(file, &pages);
        ids.retain(|&id| self.in_write_back(id));
        ids
    }

    /// How many pages are dirty.
    #[must_use]
    pub fn dirty_pages(&self) -> u64 {
        self.inner.cache.dirty()
    }

    /// Whether the page was written to, and no write-back has started since.
    #[must_use]
    pub fn is_dirty(&self, id: Id) -> bool {
        self.inner.cache.is_dirty(id)
    }

    /// How many write-backs of the page have to end until the device has what is decided on now.
    #[must_use]
    pub fn writes_left(&self, id: Id) -> u32 {
        self.inner.cache.writes_left(id)
    }

    /// Whether a write-back of the page has started, and the device does not have all of it.
    #[must_use]
    pub fn in_write_back(&self, id: Id) -> bool {
        self.inner.cache.in_write_back(id)
    }
}
