//! From a page of a file to its id: one tree of nodes with 64 entries for each file. The nodes of
//! all files lie in one array. A tree is as high as its largest page demands, and holds nodes only
//! where pages are known. So its memory follows the pages in the cache, however far apart they lie.

use crate::eviction::Id;
use crate::readahead::PageNo;
use std::ops::Range;

const BITS: u32 = 6;
const FANOUT: usize = 1 << BITS;
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    /// Ids in a leaf, numbers of nodes above.
    entries: [u32; FANOUT],
    used: u32,
}

/// The tree of one file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tree {
    root: u32,
    /// Levels of nodes; 0 for an empty tree.
    levels: u32,
}

impl Default for Tree {
    fn default() -> Self {
        Self { root: NONE, levels: 0 }
    }
}

impl Tree {
    /// The first page that is too large for this many levels.
    fn end(self) -> PageNo {
        1u64.checked_shl(self.levels * BITS).unwrap_or(PageNo::MAX)
    }
}

/// The nodes of all trees.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    nodes: Vec<Node>,
    free: Vec<u32>,
}

fn slot(page: PageNo, level: u32) -> usize {
    (page.checked_shr(level * BITS).unwrap_or(0) as usize) % FANOUT
}

impl Nodes {
    #[inline]
    pub(super) fn get(&self, tree: Tree, page: PageNo) -> Option<Id> {
        if page >= tree.end() || tree.levels == 0 {
            return None;
        }
        let mut at = tree.root;
        for level in (0..tree.levels).rev() {
            at = self.nodes[at as usize].entries[slot(page, level)];
            if at == NONE {
                return None;
            }
        }
        Some(at)
    }

    /// Adds a page that is not in the tree.
    pub(super) fn insert(&mut self, tree: &mut Tree, page: PageNo, id: Id) {
        if tree.levels == 0 {
            let bits = PageNo::BITS - page.leading_zeros();
            *tree = Tree { root: self.node(), levels: bits.div_ceil(BITS).max(1) };
        }
        while page >= tree.end() {
            let root = self.node();
            self.set(root, 0, tree.root);
            *tree = Tree { root, levels: tree.levels + 1 };
        }
        let mut at = tree.root;
        for level in (1..tree.levels).rev() {
            let below = self.nodes[at as usize].entries[slot(page, level)];
            at = match below {
                NONE => {
                    let new = self.node();
                    self.set(at, slot(page, level), new);
                    new
                }
                below => below,
            };
        }
        self.set(at, slot(page, 0), id);
    }

    /// Removes a page that is in the tree, and the nodes that are then empty.
    pub(super) fn remove(&mut self, tree: &mut Tree, page: PageNo) {
        if self.remove_below(tree.root, tree.levels - 1, page) {
            *tree = Tree::default();
        }
    }

    /// Whether the node became empty, and was freed.
    fn remove_below(&mut self, at: u32, level: u32, page: PageNo) -> bool {
        let place = slot(page, level);
        let below = self.nodes[at as usize].entries[place];
        if level > 0 && !self.remove_below(below, level - 1, page) {
            return false;
        }
        let node = &mut self.nodes[at as usize];
        node.entries[place] = NONE;
        node.used -= 1;
        let empty = node.used == 0;
        if empty {
            self.free.push(at);
        }
        empty
    }

    /// The ids of the pages in `range`, in their order.
    pub(super) fn ids(&self, tree: Tree, range: &Range<PageNo>, out: &mut Vec<Id>) {
        if tree.levels > 0 {
            self.ids_below(tree.root, tree.levels - 1, 0, range, out);
        }
    }

    fn ids_below(
        &self,
        at: u32,
        level: u32,
        base: PageNo,
        range: &Range<PageNo>,
        out: &mut Vec<Id>,
    ) {
        for (place, &below) in self.nodes[at as usize].entries.iter().enumerate() {
            let first = base | (place as u64) << (level * BITS);
            let last = first | ((1u64 << (level * BITS)) - 1);
            if below == NONE || last < range.start || first >= range.end {
                continue;
            }
            match level {
                0 => out.push(below),
                _ => self.ids_below(below, level - 1, first, range, out),
            }
        }
    }

    fn node(&mut self) -> u32 {
        let node = Node { entries: [NONE; FANOUT], used: 0 };
        match self.free.pop() {
            Some(number) => {
                self.nodes[number as usize] = node;
                number
            }
            None => {
                self.nodes.push(node);
                self.nodes.len() as u32 - 1
            }
        }
    }

    fn set(&mut self, node: u32, place: usize, to: u32) {
        let node = &mut self.nodes[node as usize];
        node.entries[place] = to;
        node.used += 1;
    }

    #[cfg(test)]
    pub(super) fn in_use(&self) -> usize {
        self.nodes.len() - self.free.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn page() -> impl Strategy<Value = PageNo> {
        prop_oneof![0u64..200, 4000u64..4200, any::<u64>().prop_map(|page| page >> 12)]
    }

    proptest! {
        #[test]
        fn a_tree_is_a_map_and_gives_its_nodes_back(
            steps in prop::collection::vec((page(), any::<bool>()), 1..200),
            from in page(),
        ) {
            let (mut nodes, mut tree, mut model) = (Nodes::default(), Tree::default(), BTreeMap::new());
            for (number, (page, adds)) in steps.into_iter().enumerate() {
                match (adds, model.contains_key(&page)) {
                    (true, false) => {
                        nodes.insert(&mut tree, page, number as Id);
                        model.insert(page, number as Id);
                    }
                    (false, true) => {
                        nodes.remove(&mut tree, page);
                        model.remove(&page);
                    }
                    _ => {}
                }
                prop_assert_eq!(nodes.get(tree, page), model.get(&page).copied());
            }
            let mut ids = Vec::new();
            nodes.ids(tree, &(from..from + 100_000), &mut ids);
            let expected: Vec<Id> = model.range(from..from + 100_000).map(|(_, &id)| id).collect();
            prop_assert_eq!(ids, expected);
            for page in model.into_keys() {
                nodes.remove(&mut tree, page);
            }
            prop_assert_eq!(nodes.in_use(), 0);
        }
    }
}
