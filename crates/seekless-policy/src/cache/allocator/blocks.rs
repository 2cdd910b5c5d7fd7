//! The free blocks of a region: by address, to join neighbours, and by class of size, to find one
//! that fits.

use super::{Lifetime, Request};
use std::collections::{BTreeMap, BTreeSet};

/// Classes between one power of two and the next.
const STEPS: u32 = 8;
/// Enough for every size that a `u32` holds.
const CLASSES: usize = 256;
/// How many blocks of a class are tried before the next class is.
const TRIES: usize = 16;

/// Granules `start` to `start + size` of the region.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) start: u32,
    pub(super) size: u32,
}

impl Block {
    pub(super) fn new(start: u32, size: u32) -> Self {
        Self { start, size }
    }

    pub(super) fn end(self) -> u32 {
        self.start + self.size
    }

    /// Both as one, if they touch.
    pub(super) fn joined(self, other: Block) -> Option<Block> {
        let (first, second) = if self.start < other.start { (self, other) } else { (other, self) };
        let touch = first.end() == second.start;
        touch.then(|| Block::new(first.start, first.size + second.size))
    }

    /// What is left of this block before and after `inner`.
    pub(super) fn around(self, inner: Block) -> (Block, Block) {
        let before = Block::new(self.start, inner.start - self.start);
        (before, Block::new(inner.end(), self.end() - inner.end()))
    }
}

/// Free blocks, no two of them adjacent.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    /// Size by start.
    sizes: BTreeMap<u32, u32>,
    /// The starts of the blocks of each class.
    classes: Vec<BTreeSet<u32>>,
    /// A bit for each class that has a block.
    nonempty: [u64; CLASSES / 64],
}

impl Default for Blocks {
    fn default() -> Self {
        Self {
            sizes: BTreeMap::new(),
            classes: vec![BTreeSet::new(); CLASSES],
            nonempty: [0; CLASSES / 64],
        }
    }
}

impl Blocks {
    pub(super) fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Adds a block and joins it with the free blocks beside it, which it returns as one. An empty
    /// one changes nothing.
    pub(super) fn insert(&mut self, block: Block) -> Block {
        if block.size == 0 {
            return block;
        }
        let [before, after] = self.neighbours(block);
        before.into_iter().chain(after).for_each(|neighbour| self.remove(neighbour));
        let whole = joined(block, before, after);
        self.sizes.insert(whole.start, whole.size);
        let class = class(whole.size);
        self.classes[class].insert(whole.start);
        self.nonempty[class / 64] |= 1 << (class % 64);
        whole
    }

    /// A block that is not among the free ones, and the free blocks beside it, as one.
    pub(super) fn with_neighbours(&self, block: Block) -> Block {
        let [before, after] = self.neighbours(block);
        joined(block, before, after)
    }

    /// The free blocks directly before and after `block`.
    fn neighbours(&self, block: Block) -> [Option<Block>; 2] {
        let before = self.before(block.start).filter(|before| before.end() == block.start);
        let after = self.sizes.get(&block.end()).map(|&size| Block::new(block.end(), size));
        [before, after]
    }

    /// Removes and returns a block in which `request` fits.
    pub(super) fn take(&mut self, request: Request) -> Option<Block> {
        let block = self.find(request)?;
        self.remove(block);
        Some(block)
    }

    /// Whether a free block has a granule of `block`.
    pub(super) fn overlaps(&self, block: Block) -> bool {
        self.before(block.end()).is_some_and(|free| free.end() > block.start)
    }

    /// The size of the largest block.
    pub(super) fn largest(&self) -> u32 {
        let top = (0..CLASSES).rev().find(|&class| self.has(class));
        let sizes = top.map(|class| self.classes[class].iter().map(|start| self.sizes[start]));
        sizes.into_iter().flatten().max().unwrap_or(0)
    }

    /// A block of the smallest class that has one, after a few tries in each class: not all blocks
    /// of the first are large enough, and an alignment may not fit in any of the others.
    fn find(&self, request: Request) -> Option<Block> {
        let fits = |block: &Block| request.fit(*block).is_some();
        let blocks = |class| self.in_order(class, request.lifetime);
        let first = class(request.size);
        let classes = || std::iter::successors(self.next_class(first), |&c| self.next_class(c + 1));
        let good = classes().find_map(|class| blocks(class).take(TRIES).find(fits));
        good.or_else(|| classes().find_map(|class| blocks(class).skip(TRIES).find(fits)))
    }

    /// The blocks of a class: from the lowest address up, or for a long life from the highest down.
    fn in_order(&self, class: usize, lifetime: Lifetime) -> impl Iterator<Item = Block> {
        let starts = &self.classes[class];
        let (up, down) = match lifetime {
            Lifetime::Short => (Some(starts.iter()), None),
            Lifetime::Long => (None, Some(starts.iter().rev())),
        };
        let starts = up.into_iter().flatten().chain(down.into_iter().flatten());
        starts.map(|&start| Block::new(start, self.sizes[&start]))
    }

    fn before(&self, end: u32) -> Option<Block> {
        self.sizes.range(..end).next_back().map(|(&start, &size)| Block::new(start, size))
    }

    fn remove(&mut self, block: Block) {
        self.sizes.remove(&block.start);
        let class = class(block.size);
        self.classes[class].remove(&block.start);
        if self.classes[class].is_empty() {
            self.nonempty[class / 64] &= !(1 << (class % 64));
        }
    }

    fn has(&self, class: usize) -> bool {
        self.nonempty[class / 64] & (1 << (class % 64)) != 0
    }

    /// The first class from `from` on that has a block.
    fn next_class(&self, from: usize) -> Option<usize> {
        let mut mask = !0 << (from % 64);
        for word in from / 64..CLASSES / 64 {
            let bits = self.nonempty[word] & mask;
            if bits != 0 {
                return Some(word * 64 + bits.trailing_zeros() as usize);
            }
            mask = !0;
        }
        None
    }
}

fn joined(block: Block, before: Option<Block>, after: Option<Block>) -> Block {
    let sizes = before.into_iter().chain(after).map(|neighbour| neighbour.size);
    Block::new(before.map_or(block.start, |before| before.start), block.size + sizes.sum::<u32>())
}

/// Classes of a single size up to 8 granules, and from there 8 to each doubling.
fn class(size: u32) -> usize {
    if size < STEPS {
        return size as usize;
    }
    let octave = size.ilog2() - STEPS.ilog2();
    (octave * STEPS + (size >> octave)) as usize
}
