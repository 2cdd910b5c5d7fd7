//! Numbers pages densely in one pass. Where the used pages of a file lie close together, a plain
//! table has 4 bytes a page. Beyond it is a radix tree, whose leaves are blocks of 16 neighbouring
//! pages. Unlike in a hash map, neighbours share a cache line, and a file takes memory for the
//! pages that it uses.

use crate::FileId;
use std::ops::Range;

const BLOCK_BITS: u32 = 4;
const BLOCK_PAGES: usize = 1 << BLOCK_BITS;
const NODE_BITS: u32 = 8;
const NODE_SLOTS: usize = 1 << NODE_BITS;
/// A slot without a number or child.
const NONE: u32 = u32::MAX;
/// A plain table may have this many blocks for each block in use.
const SPARSE: u64 = 4;
/// A file with fewer blocks than this stays a tree.
const PLAIN_BLOCKS_MIN: u64 = 16;

/// Dense numbers for pages, by first appearance.
#[derive(Debug, Default)]
pub struct PageNumbers {
    files: Vec<Table>,
    nodes: Vec<[u32; NODE_SLOTS]>,
    blocks: Vec<[u32; BLOCK_PAGES]>,
    /// Blocks whose pages have moved to a plain table.
    free: Vec<u32>,
    /// How many slots all plain tables have.
    plain_slots: u64,
    count: u32,
}

/// The numbers of one file's pages.
#[derive(Debug, Default)]
struct Table {
    /// Numbers of the first pages. A look-up here is one access; in the tree it is one a level.
    plain: Vec<u32>,
    /// The numbers of the pages behind the table.
    root: Root,
    /// Blocks in the tree, and at how many we check again whether a plain table would do.
    blocks: u64,
    ask_at: u64,
}

/// A file's tree: `levels` of nodes above the blocks. A small file is one block without a node.
#[derive(Clone, Copy, Debug)]
struct Root {
    levels: u32,
    child: u32,
}

impl Default for Root {
    fn default() -> Self {
        Self { levels: 0, child: NONE }
    }
}

impl PageNumbers {
    /// An empty numbering.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of `page` of `file`; a new page gets the next one.
    ///
    /// # Panics
    /// At 2^32 − 1 pages, which is 16 TiB of distinct data at 4096 bytes a page.
    #[inline]
    pub fn id(&mut self, file: FileId, page: u64) -> u32 {
        let plain =
            self.files.get_mut(file as usize).and_then(|table| table.plain.get_mut(page as usize));
        match plain {
            Some(slot) => number(slot, &mut self.count),
            None => self.id_in_tree(file, page),
        }
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

    /// How many bytes of memory the numbering takes.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let arrays = size_of::<Table>() * self.files.capacity()
            + size_of::<[u32; NODE_SLOTS]>() * self.nodes.capacity()
            + size_of::<[u32; BLOCK_PAGES]>() * self.blocks.capacity()
            + size_of::<u32>() * self.free.capacity();
        arrays as u64 + self.plain_slots * size_of::<u32>() as u64
    }

    #[inline(never)]
    fn id_in_tree(&mut self, file: FileId, page: u64) -> u32 {
        let block = self.block(file, page >> BLOCK_BITS);
        let id =
            number(&mut self.blocks[block][page as usize & (BLOCK_PAGES - 1)], &mut self.count);
        let table = &self.files[file as usize];
        if table.blocks >= table.ask_at.max(PLAIN_BLOCKS_MIN) {
            self.flatten(file);
        }
        id
    }

    /// The index of the leaf for block `block` of `file`; missing nodes are made.
    fn block(&mut self, file: FileId, block: u64) -> usize {
        let file = file as usize;
        if file >= self.files.len() {
            self.files.resize_with(file + 1, Table::default);
        }
        let mut root = self.files[file].root;
        while block >> (NODE_BITS * root.levels).min(63) != 0 {
            root = self.raise(root);
        }
        let mut at = root.child;
        let mut made = at == NONE;
        if made {
            at = self.make(root.levels);
            root.child = at;
        }
        self.files[file].root = root;
        for level in (0..root.levels).rev() {
            let slot = (block >> (NODE_BITS * level)) as usize & (NODE_SLOTS - 1);
            let mut next = self.nodes[at as usize][slot];
            made = next == NONE;
            if made {
                next = self.make(level);
                self.nodes[at as usize][slot] = next;
            }
            at = next;
        }
        self.files[file].blocks += u64::from(made);
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
        if level > 0 {
            self.nodes.push([NONE; NODE_SLOTS]);
            return self.nodes.len() as u32 - 1;
        }
        if let Some(block) = self.free.pop() {
            self.blocks[block as usize] = [NONE; BLOCK_PAGES];
            return block;
        }
        self.blocks.push([NONE; BLOCK_PAGES]);
        self.blocks.len() as u32 - 1
    }

    /// Moves the file's first blocks into its plain table, as far as they are densely used. Their
    /// nodes stay in the tree, unused.
    #[cold]
    fn flatten(&mut self, file: FileId) {
        let table = &self.files[file as usize];
        let is_used = |block: &&[u32]| block.iter().any(|&id| id != NONE);
        let taken = table.plain.chunks(BLOCK_PAGES).filter(is_used).count() as u64;
        let (plain, Root { levels, child }) =
            ((table.plain.len() >> BLOCK_BITS) as u64, table.root);
        let all = (taken + table.blocks).next_power_of_two();
        for span in [SPARSE * all, SPARSE / 2 * all, all] {
            let mut near = Vec::new();
            self.gather(levels, child, 0, plain..span, &mut near);
            if span > plain && (taken + near.len() as u64) * SPARSE >= span {
                self.move_to_plain(file, span, &near);
                return;
            }
        }
        let table = &mut self.files[file as usize];
        table.ask_at = 2 * table.blocks;
    }

    /// Makes the plain table `span` blocks long; `near` are the blocks of it that are in the tree.
    fn move_to_plain(&mut self, file: FileId, span: u64, near: &[(u64, u32)]) {
        let table = &mut self.files[file as usize];
        self.plain_slots += (span << BLOCK_BITS) - table.plain.len() as u64;
        table.plain.resize((span as usize) << BLOCK_BITS, NONE);
        for &(block, index) in near {
            let first = (block as usize) << BLOCK_BITS;
            table.plain[first..first + BLOCK_PAGES].copy_from_slice(&self.blocks[index as usize]);
            self.free.push(index);
        }
        table.blocks -= near.len() as u64;
        table.ask_at = (2 * table.blocks).max(span / 8);
    }

    /// The blocks of a subtree whose numbers lie in `wanted`, and their indices; `first` is the
    /// subtree's first.
    fn gather(
        &self,
        level: u32,
        at: u32,
        first: u64,
        wanted: Range<u64>,
        found: &mut Vec<(u64, u32)>,
    ) {
        if level == 0 {
            if wanted.contains(&first) {
                found.push((first, at));
            }
            return;
        }
        let step = 1_u64 << (NODE_BITS * (level - 1)).min(63);
        for (slot, &child) in self.nodes[at as usize].iter().enumerate() {
            let Some(begin) =
                step.checked_mul(slot as u64).and_then(|offset| first.checked_add(offset))
            else {
                return;
            };
            if begin >= wanted.end {
                return;
            }
            if child != NONE && begin.saturating_add(step) > wanted.start {
                self.gather(level - 1, child, begin, wanted.clone(), found);
            }
        }
    }
}

/// The number in the slot; an empty slot gets the next number.
#[inline]
fn number(slot: &mut u32, count: &mut u32) -> u32 {
    if *slot == NONE {
        assert!(*count < NONE, "more than 2^32 - 2 distinct pages");
        *slot = *count;
        *count += 1;
    }
    *slot
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
    fn pages_that_lie_close_move_to_a_plain_table_in_any_order() {
        for far in [None, Some(1_u64 << 40)] {
            let (mut numbers, mut naive) = (PageNumbers::new(), HashMap::new());
            for turn in 0..200_000_u64 {
                let page = turn * 7919 % 50_021 + if turn > 100_000 { 40_000 } else { 0 };
                let asked =
                    far.into_iter().filter(|_| turn % 100 == 0).map(|far| far + turn).chain([page]);
                for page in asked {
                    let next = naive.len() as u32;
                    assert_eq!(
                        numbers.id(1, page),
                        *naive.entry(page).or_insert(next),
                        "page {page}"
                    );
                }
            }
            let plain = numbers.files[1].plain.len();
            assert!((65_536..=4 * 131_072).contains(&plain), "{plain}");
        }
    }

    #[test]
    fn pages_far_apart_stay_in_the_tree() {
        let mut numbers = PageNumbers::new();
        for turn in 0..10_000_u64 {
            assert_eq!(numbers.id(0, turn * 1_000_003 % (1 << 40)), turn as u32);
        }
        assert!(numbers.files[0].plain.is_empty());
    }

    #[test]
    fn small_files_are_one_block() {
        let mut numbers = PageNumbers::new();
        for page in 0..16 {
            assert_eq!(numbers.id(7, page), page as u32);
        }
        assert_eq!((numbers.blocks.len(), numbers.nodes.len()), (1, 0));
        assert!(!numbers.is_empty());
    }
}
