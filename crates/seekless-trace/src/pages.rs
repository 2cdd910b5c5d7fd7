//! Numbers pages densely in one pass: a radix table per file, whose leaves are blocks of 64 neighbouring pages.
//! No hash map over pages (DESIGN decision 3): neighbours share a cache line, and a file costs what it uses.

use crate::FileId;

const BLOCK_BITS: u32 = 6;
const BLOCK_PAGES: usize = 1 << BLOCK_BITS;
const NODE_BITS: u32 = 8;
const NODE_SLOTS: usize = 1 << NODE_BITS;
/// No number or child yet.
const NONE: u32 = u32::MAX;

/// Dense numbers for pages, by first appearance.
#[derive(Debug, Default)]
pub struct PageNumbers {
    roots: Vec<Root>,
    nodes: Vec<[u32; NODE_SLOTS]>,
    blocks: Vec<[u32; BLOCK_PAGES]>,
    count: u32,
}

/// A file's tree: `levels` of nodes above the blocks. Small files are one block, without a node.
#[derive(Clone, Copy, Debug)]
struct Root {
    levels: u32,
    child: u32,
}

const EMPTY: Root = Root { levels: 0, child: NONE };

impl PageNumbers {
    /// An empty numbering.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `page` of `file`; a new page gets the next one.
    ///
    /// # Panics
    /// When there are 2^32 − 1 pages already: 16 TiB of distinct data at 4096 bytes a page.
    pub fn id(&mut self, file: FileId, page: u64) -> u32 {
        let block = self.block(file, page >> BLOCK_BITS);
        let slot = &mut self.blocks[block][page as usize & (BLOCK_PAGES - 1)];
        if *slot == NONE {
            assert!(self.count < NONE, "more than 2^32 - 2 distinct pages");
            *slot = self.count;
            self.count += 1;
        }
        *slot
    }

    /// How many pages have a number.
    #[must_use]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether no page has a number.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// The index of the leaf for block number `block` of `file`, made on the way where absent.
    fn block(&mut self, file: FileId, block: u64) -> usize {
        let file = file as usize;
        if file >= self.roots.len() {
            self.roots.resize(file + 1, EMPTY);
        }
        let mut root = self.roots[file];
        while block >> (NODE_BITS * root.levels).min(63) != 0 {
            root = self.raise(root);
        }
        let mut at = root.child;
        if at == NONE {
            at = self.make(root.levels);
            root.child = at;
        }
        self.roots[file] = root;
        for level in (0..root.levels).rev() {
            let slot = (block >> (NODE_BITS * level)) as usize & (NODE_SLOTS - 1);
            let mut next = self.nodes[at as usize][slot];
            if next == NONE {
                next = self.make(level);
                self.nodes[at as usize][slot] = next;
            }
            at = next;
        }
        at as usize
    }

    /// Puts a level above `root`, so that it spans 256 times the pages.
    fn raise(&mut self, root: Root) -> Root {
        if root.child == NONE {
            return Root { levels: root.levels + 1, child: NONE };
        }
        let child = self.make(root.levels + 1);
        self.nodes[child as usize][0] = root.child;
        Root { levels: root.levels + 1, child }
    }

    /// A new block (`level` 0) or node, and its index.
    fn make(&mut self, level: u32) -> u32 {
        if level == 0 {
            self.blocks.push([NONE; BLOCK_PAGES]);
            self.blocks.len() as u32 - 1
        } else {
            self.nodes.push([NONE; NODE_SLOTS]);
            self.nodes.len() as u32 - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    proptest! {
        #[test]
        fn numbers_as_a_map_would(
            asked in proptest::collection::vec(
                (0..5_u32, prop_oneof![0..200_u64, 0..1_u64 << 30, (u64::MAX - 300)..=u64::MAX]), 0..200,
            ),
        ) {
            let mut numbers = PageNumbers::new();
            let mut naive = HashMap::new();
            for (file, page) in asked {
                let next = naive.len() as u32;
                let expected = *naive.entry((file, page)).or_insert(next);
                prop_assert_eq!(numbers.id(file, page), expected);
            }
            prop_assert_eq!(numbers.len(), naive.len());
        }
    }

    #[test]
    fn small_files_are_one_block() {
        let mut numbers = PageNumbers::new();
        for page in 0..64 {
            assert_eq!(numbers.id(7, page), page as u32);
        }
        assert_eq!((numbers.blocks.len(), numbers.nodes.len()), (1, 0));
        assert!(!numbers.is_empty());
    }
}
