//! The archive block cache of Wassenberg 2006, section 4.3: a small LRU of extents as they were read, so that entries
//! read ahead with a wanted one cost no second request.

use seekless_engine::AlignedBuf;
use seekless_policy::eviction::Id;
use seekless_policy::extents::Span;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

/// Extents remembered, however small they are: what bounds the search for the one to go.
const EXTENTS_MAX: usize = 1024;

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

struct Held {
    extent: Arc<Extent>,
    /// Whole entries in it that have not been asked for yet; gone when there are none left.
    unused: Vec<Id>,
    used_last: u64,
}

/// Extents by number, and which of them has an entry.
pub(crate) struct ExtentCache {
    capacity: u64,
    bytes: u64,
    /// Counts inserts and uses: the newest number and the latest use.
    clock: u64,
    held: HashMap<u64, Held>,
    holders: HashMap<Id, u64>,
}

impl ExtentCache {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { capacity, bytes: 0, clock: 0, held: HashMap::new(), holders: HashMap::new() }
    }

    /// Keeps an extent in which `unused` entries have not been asked for. Hands those that had to go to `released`.
    pub(crate) fn insert(&mut self, extent: &Arc<Extent>, unused: Vec<Id>, released: &mut Vec<Arc<Extent>>) {
        let bytes = extent.span().bytes;
        if unused.is_empty() || bytes > self.capacity {
            return;
        }
        // Another extent may have some of them: the newer read serves.
        released.extend(unused.iter().filter_map(|&id| self.take(id)));
        while self.bytes + bytes > self.capacity || self.held.len() >= EXTENTS_MAX {
            let Some(oldest) = self.oldest() else { break };
            released.extend(self.remove(oldest));
        }
        self.clock += 1;
        self.bytes += bytes;
        self.holders.extend(unused.iter().map(|&id| (id, self.clock)));
        self.held.insert(self.clock, Held { extent: extent.clone(), unused, used_last: self.clock });
    }

    fn oldest(&self) -> Option<u64> {
        self.held.iter().min_by_key(|(_, held)| held.used_last).map(|(&number, _)| number)
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Extent>> {
        let held = self.held.remove(&number)?;
        self.bytes -= held.extent.span().bytes;
        for id in held.unused {
            self.holders.remove(&id);
        }
        Some(held.extent)
    }

    /// Whether entry `id` was read ahead and not yet asked for.
    pub(crate) fn has(&self, id: Id) -> bool {
        self.holders.contains_key(&id)
    }

    /// The extent that holds all of entry `id`, if it was read ahead and not yet asked for. Asked for once, the entry is
    /// the file cache's business; an extent without further entries goes.
    pub(crate) fn take(&mut self, id: Id) -> Option<Arc<Extent>> {
        let number = self.holders.remove(&id)?;
        let held = self.held.get_mut(&number)?;
        if let Ok(index) = held.unused.binary_search(&id) {
            held.unused.remove(index);
        }
        self.clock += 1;
        held.used_last = self.clock;
        match held.unused.is_empty() {
            true => self.remove(number),
            false => Some(held.extent.clone()),
        }
    }

    #[cfg(test)]
    fn bytes(&self) -> u64 {
        self.bytes
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
        let mut cache = ExtentCache::new(100);
        cache.insert(&extent(0, 60), vec![4, 5], &mut Vec::new());
        assert!(cache.take(6).is_none());
        assert!(cache.take(4).is_some());
        assert!(cache.take(4).is_none(), "asked for once: the file cache has it now");
        assert_eq!(cache.bytes(), 60);
        assert!(cache.take(5).is_some());
        assert_eq!(cache.bytes(), 0);
    }

    #[test]
    fn the_least_recently_used_extent_makes_room() {
        let mut cache = ExtentCache::new(100);
        let mut released = Vec::new();
        cache.insert(&extent(0, 40), vec![0, 1], &mut released);
        cache.insert(&extent(40, 40), vec![2, 3], &mut released);
        assert!(cache.take(0).is_some());
        cache.insert(&extent(80, 40), vec![4], &mut released);
        assert_eq!(released.len(), 1);
        assert!(cache.take(2).is_none() && cache.take(1).is_some() && cache.take(4).is_some());
        cache.insert(&extent(0, 101), vec![9], &mut released);
        assert!(cache.take(9).is_none(), "larger than the cache");
    }

    #[test]
    fn what_is_read_again_is_served_from_the_newer_extent() {
        let mut cache = ExtentCache::new(100);
        let (old, new) = (extent(0, 40), extent(20, 40));
        cache.insert(&old, vec![1, 2], &mut Vec::new());
        cache.insert(&new, vec![2, 3], &mut Vec::new());
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
