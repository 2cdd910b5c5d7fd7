//! Extents as they were read, kept so that entries read ahead with a requested one cost no second request.

use seekless_engine::AlignedBuf;
use seekless_policy::eviction::Id;
use seekless_policy::extents::Span;
use seekless_policy::kept_reads::{Found, KeptReads, Slot};
use std::ops::Range;
use std::sync::Arc;

/// Bytes of the archive as the device gave them.
pub(crate) struct Extent {
    offset: u64,
    buffer: AlignedBuf,
}

impl Extent {
    pub(crate) fn new(offset: u64, buffer: AlignedBuf) -> Self {
        Self { offset, buffer }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    pub(crate) fn into_buffer(self) -> AlignedBuf {
        self.buffer
    }

    /// The bytes that the device gave.
    pub(crate) fn span(&self) -> Span {
        Span { offset: self.offset, bytes: self.buffer.len() as u64 }
    }

    /// Where `span` lies in [`Extent::bytes`]; `Err` has how many of its bytes are here at most.
    pub(crate) fn range(&self, span: Span) -> Result<Range<usize>, u64> {
        let held = self.span();
        if span.offset < held.offset {
            return Err(0);
        }
        if span.end() > held.end() {
            return Err(held.end().saturating_sub(span.offset));
        }
        let start = (span.offset - held.offset) as usize;
        Ok(start..start + span.bytes as usize)
    }
}

pub(crate) fn covers(outer: Span, inner: Span) -> bool {
    outer.offset <= inner.offset && inner.end() <= outer.end()
}

/// The extents that [`KeptReads`] decides to keep. The decisions are its own; here are the bytes.
pub(crate) struct ExtentCache {
    decisions: KeptReads,
    /// By slot.
    extents: Vec<Option<Arc<Extent>>>,
}

impl ExtentCache {
    /// Holds nothing yet, and later at most `capacity` bytes; for an archive of `entries` entries.
    pub(crate) fn new(capacity: u64, entries: u32) -> Self {
        let mut decisions = KeptReads::new(capacity);
        decisions.grow(entries);
        Self { decisions, extents: Vec::new() }
    }

    /// Keeps an extent in which `unused` entries have not been asked for, if that is worth while. Adds the extents that
    /// made room for it to `released`.
    pub(crate) fn insert(&mut self, extent: &Arc<Extent>, unused: &[Id], released: &mut Vec<Arc<Extent>>) {
        let Self { decisions, extents } = self;
        let dropped = |slot: Slot| released.extend(extents[slot as usize].take());
        let Some(slot) = decisions.insert(extent.span().bytes, unused, dropped) else { return };
        if slot as usize == extents.len() {
            extents.push(None);
        }
        extents[slot as usize] = Some(extent.clone());
    }

    /// Whether entry `id` was read ahead and not yet asked for.
    pub(crate) fn has(&self, id: Id) -> bool {
        self.decisions.has(id)
    }

    /// The extent that holds all of entry `id`, if it was read ahead and not yet asked for.
    pub(crate) fn take(&mut self, id: Id) -> Option<Arc<Extent>> {
        match self.decisions.take(id)? {
            Found::Kept(slot) => self.extents[slot as usize].clone(),
            Found::Last(slot) => self.extents[slot as usize].take(),
        }
    }

    #[cfg(test)]
    fn bytes(&self) -> u64 {
        self.decisions.bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn extent(offset: u64, bytes: usize) -> Arc<Extent> {
        let mut buffer = AlignedBuf::with_capacity(bytes);
        buffer.set_len(bytes);
        Arc::new(Extent::new(offset, buffer))
    }

    #[test]
    fn an_extent_goes_when_its_last_unused_entry_was_asked_for() {
        let mut cache = ExtentCache::new(100, 10);
        cache.insert(&extent(0, 60), &[4, 5], &mut Vec::new());
        assert!(cache.take(6).is_none());
        assert!(cache.take(4).is_some());
        assert!(cache.take(4).is_none(), "asked for once: the file cache has it now");
        assert_eq!(cache.bytes(), 60);
        assert!(cache.take(5).is_some());
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn the_least_recently_used_extent_makes_room() {
        let mut cache = ExtentCache::new(100, 10);
        let mut released = Vec::new();
        cache.insert(&extent(0, 40), &[0, 1], &mut released);
        cache.insert(&extent(40, 40), &[2, 3], &mut released);
        assert!(cache.take(0).is_some());
        cache.insert(&extent(80, 40), &[4], &mut released);
        assert_eq!(released.len(), 1);
        assert!(cache.take(2).is_none() && cache.take(1).is_some() && cache.take(4).is_some());
        cache.insert(&extent(0, 101), &[9], &mut released);
        assert!(cache.take(9).is_none(), "larger than the cache");
    }

    #[test]
    fn what_is_read_again_is_served_from_the_newer_extent() {
        let mut cache = ExtentCache::new(100, 10);
        let (old, new) = (extent(0, 40), extent(20, 40));
        cache.insert(&old, &[1, 2], &mut Vec::new());
        cache.insert(&new, &[2, 3], &mut Vec::new());
        assert!(cache.take(2).is_some_and(|found| Arc::ptr_eq(&found, &new)));
        assert!(cache.has(1) && !cache.has(2) && cache.has(3));
        assert!(cache.take(1).is_some_and(|found| Arc::ptr_eq(&found, &old)));
        assert_eq!(cache.bytes(), 40);
    }

    #[test]
    fn a_range_outside_says_how_much_is_here() {
        let extent = extent(100, 50);
        assert_eq!(extent.range(Span { offset: 110, bytes: 5 }), Ok(10..15));
        assert_eq!(extent.range(Span { offset: 140, bytes: 20 }), Err(10));
        assert_eq!(extent.range(Span { offset: 90, bytes: 20 }), Err(0));
        assert!(covers(extent.span(), Span { offset: 149, bytes: 1 }));
    }
}
