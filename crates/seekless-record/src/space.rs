//! The file mappings of one address space. A mapping keeps a file open after its last descriptor is
//! closed.

use std::collections::BTreeMap;

/// One mapped range of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mapping<Held> {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// What is mapped: the number of a description or file.
    pub(crate) held: Held,
    /// The file offset of `start`.
    pub(crate) offset: u64,
}

/// The mappings. Each is a holder of what it maps.
#[derive(Clone, Debug)]
pub(crate) struct Space<Held> {
    /// By start; disjoint.
    mappings: BTreeMap<u64, Mapping<Held>>,
}

impl<Held> Default for Space<Held> {
    fn default() -> Self {
        Self { mappings: BTreeMap::new() }
    }
}

impl<Held: Copy> Space<Held> {
    /// Adds a mapping. Others in its place have been taken out before.
    pub(crate) fn map(&mut self, mapping: Mapping<Held>) {
        self.mappings.insert(mapping.start, mapping);
    }

    /// Takes a range out. Pushes what each mapping held that is gone to `gone`, and what each held
    /// that was cut in two to `split`.
    pub(crate) fn unmap(
        &mut self,
        start: u64,
        end: u64,
        gone: &mut Vec<Held>,
        split: &mut Vec<Held>,
    ) {
        while self.touches(start, end) {
            let Some(mapping) = self.last_below(end) else { return };
            self.mappings.remove(&mapping.start);
            let pieces = [(mapping.start, start), (end, mapping.end)];
            let mut left = 0;
            for (from, to) in pieces.into_iter().filter(|(from, to)| from < to) {
                let offset = mapping.offset + (from - mapping.start);
                self.map(Mapping { start: from, end: to, offset, ..mapping });
                left += 1;
            }
            match left {
                0 => gone.push(mapping.held),
                1 => {}
                _ => split.push(mapping.held),
            }
        }
    }

    /// The mapping at an address.
    pub(crate) fn at(&self, address: u64) -> Option<Mapping<Held>> {
        self.last_below(address.saturating_add(1)).filter(|last| address < last.end)
    }

    /// Whether any mapping lies in the range.
    pub(crate) fn touches(&self, start: u64, end: u64) -> bool {
        self.last_below(end).is_some_and(|last| last.end > start && start < end)
    }

    /// What each mapping holds.
    pub(crate) fn held(&self) -> impl Iterator<Item = Held> + '_ {
        self.mappings.values().map(|mapping| mapping.held)
    }

    fn last_below(&self, end: u64) -> Option<Mapping<Held>> {
        self.mappings.range(..end).next_back().map(|(_, mapping)| *mapping)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_a_description_a_byte(acts in proptest::collection::vec((0_u64..30, 0_u64..12, any::<bool>()), 0..30)) {
            let (mut space, mut bytes) = (Space::default(), [None; 64]);
            let mut holders: BTreeMap<u32, i32> = BTreeMap::new();
            for (id, (start, length, maps)) in (0..).zip(acts) {
                let (mut gone, mut split, end) = (Vec::new(), Vec::new(), start + length);
                space.unmap(start, end, &mut gone, &mut split);
                gone.iter().for_each(|id| *holders.get_mut(id).unwrap() -= 1);
                split.iter().for_each(|id| *holders.get_mut(id).unwrap() += 1);
                let maps = maps && length > 0;
                bytes[start as usize..end as usize].fill(maps.then_some((id, start)));
                if maps {
                    space.map(Mapping { start, end, held: id, offset: 100 });
                    holders.insert(id, 1);
                }
                for (at, byte) in bytes.iter().enumerate() {
                    let found = space.at(at as u64).map(|it| (it.held, it.offset + at as u64 - it.start));
                    prop_assert_eq!(found, byte.map(|(id, first)| (id, 100 + at as u64 - first)));
                }
                for (id, count) in &holders {
                    prop_assert_eq!(space.held().filter(|held| held == id).count() as i32, *count);
                }
            }
        }
    }

    #[test]
    fn cutting_keeps_count_of_holders() {
        let mut space = Space::default();
        space.map(Mapping { start: 100, end: 200, held: 7, offset: 1000 });
        let (mut gone, mut split) = (Vec::new(), Vec::new());
        space.unmap(120, 130, &mut gone, &mut split);
        assert_eq!((gone.len(), split.as_slice()), (0, &[7][..]));
        assert_eq!(space.at(150).unwrap().offset + 20, 1050);
        assert_eq!(space.at(125), None);
        space.unmap(0, 110, &mut gone, &mut split);
        assert_eq!((gone.len(), split.len(), space.mappings.len()), (0, 1, 2));
        space.unmap(0, 1000, &mut gone, &mut split);
        assert_eq!((gone.as_slice(), space.mappings.len()), (&[7, 7][..], 0));
    }
}
