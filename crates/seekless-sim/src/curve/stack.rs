//! The LRU stack without a list. Each id has the position of its last use, and the ids above it are
//! those used at later positions. Positions are renumbered when they run out, so memory depends on
//! the ids and not on the requests.
//!
//! Mattson, Gecsei, Slutz and Traiger 1970 define the stack. The tree over time is Bennett and
//! Kruskal's (1975). Its leaf is a word of 64 positions, which keeps a million ids within the
//! second-level cache.

use seekless_policy::eviction::Id;

/// The position of an id that is not in the stack.
const ABSENT: u32 = u32::MAX;

/// Positions in a word of the bits.
const WORD: usize = 64;

/// The quantity that is summed over positions: the number of ids, or their weight.
pub(super) trait Mass {
    /// Makes room for this many positions, a multiple of [`WORD`].
    fn new(positions: usize) -> Self;
    /// An id of `weight` takes the newest position, which `bits` contains already.
    fn enter(&mut self, position: u32, weight: u64, bits: &[u64]);
    /// The id at a position moves away. `next` is the first position that was never taken.
    fn leave(&mut self, position: u32, next: u32);
    /// The sum over the positions below this one.
    fn below(&self, position: u32, bits: &[u64]) -> u64;
    /// The weight of the id at a position.
    fn weight(&self, position: u32) -> u64;
    /// Reads the memory that [`Mass::leave`] needs for this position.
    fn look(&self, position: u32, bits: &[u64]) -> u64;
    /// Renumbers positions: the n-th taken position becomes n.
    fn compact(&mut self, bits: &[u64], live: usize);
}

/// The LRU stack of ids: 4 bytes an id, half a byte for the order, and the memory of the mass.
#[derive(Debug)]
pub(super) struct Stack<M> {
    /// One bit a position: set if it is the last use of an id.
    bits: Vec<u64>,
    /// The position of each id.
    last: Vec<u32>,
    next: u32,
    live: u32,
    total: u64,
    mass: M,
}

impl<M: Mass> Stack<M> {
    /// An empty stack for ids below `ids`.
    pub(super) fn new(ids: usize) -> Self {
        let words = (2 * ids).div_ceil(WORD).max(4);
        Self {
            bits: vec![0; words],
            last: vec![ABSENT; ids],
            next: 0,
            live: 0,
            total: 0,
            mass: M::new(words * WORD),
        }
    }

    /// How many ids are in the stack.
    pub(super) fn len(&self) -> usize {
        self.live as usize
    }

    /// Reads the memory with which touches of these ids begin, all at once, so that the memory
    /// accesses overlap. Otherwise each touch would wait for its own. The result only keeps the
    /// compiler from removing the reads.
    #[inline]
    pub(super) fn look_ahead(&self, ids: &[Id]) -> u64 {
        let look = |&id: &Id| match self.last[id as usize] {
            ABSENT => 0,
            before => self.mass.look(before, &self.bits),
        };
        ids.iter().fold(0, |all, id| all ^ look(id))
    }

    /// Moves `id` to the top, from where on it has this weight. Returns the weight of the ids above
    /// it plus the one that it had: the smallest LRU cache that would have hit, as long as no
    /// weight changes. `None` if it is new.
    #[inline]
    pub(super) fn touch(&mut self, id: Id, weight: u64) -> Option<u64> {
        let before = self.last[id as usize];
        let distance = if before == ABSENT {
            self.live += 1;
            self.total += weight;
            None
        } else {
            let distance = self.total - self.mass.below(before, &self.bits);
            self.total = self.total - self.mass.weight(before) + weight;
            self.clear(before);
            Some(distance)
        };
        self.push(id, weight);
        distance
    }

    /// Takes `id` out of the stack.
    pub(super) fn remove(&mut self, id: Id) {
        let before = std::mem::replace(&mut self.last[id as usize], ABSENT);
        if before != ABSENT {
            self.total -= self.mass.weight(before);
            self.clear(before);
            self.live -= 1;
        }
    }

    /// The weight of an id in the stack; 0 of any other.
    #[inline]
    pub(super) fn weight(&self, id: Id) -> u64 {
        let position = self.last[id as usize];
        if position == ABSENT { 0 } else { self.mass.weight(position) }
    }

    #[inline]
    fn clear(&mut self, position: u32) {
        self.bits[position as usize / WORD] &= !(1 << (position as usize % WORD));
        self.mass.leave(position, self.next);
    }

    #[inline]
    fn push(&mut self, id: Id, weight: u64) {
        let position = self.next;
        self.last[id as usize] = position;
        self.bits[position as usize / WORD] |= 1 << (position as usize % WORD);
        self.next += 1;
        self.mass.enter(position, weight, &self.bits);
        if self.next as usize == self.bits.len() * WORD {
            self.compact();
        }
    }

    /// At least half the positions are free afterwards, so it runs at most once in as many requests
    /// as there are ids.
    #[cold]
    fn compact(&mut self) {
        let mut sum = 0;
        let counted = self.bits.iter().map(|word| {
            sum += word.count_ones();
            sum - word.count_ones()
        });
        let below: Vec<u32> = counted.collect();
        for last in self.last.iter_mut().filter(|last| **last != ABSENT) {
            *last = below[*last as usize / WORD] + rank(self.bits[*last as usize / WORD], *last);
        }
        let live = self.len();
        self.mass.compact(&self.bits, live);
        for (index, word) in self.bits.iter_mut().enumerate() {
            *word = ones(live.saturating_sub(index * WORD));
        }
        self.next = self.live;
    }
}

/// The number of set bits below the position, in its word.
#[inline]
fn rank(word: u64, position: u32) -> u32 {
    (word & ((1 << (position as usize % WORD)) - 1)).count_ones()
}

/// A word with its lowest `count` bits set.
fn ones(count: usize) -> u64 {
    if count >= WORD { u64::MAX } else { (1 << count) - 1 }
}

/// Sums over leaves, updated and read in O(log n) (Fenwick 1994). The leaf that is being filled is
/// not yet in it.
#[derive(Debug)]
struct Tree<T>(Vec<T>);

/// A number in a tree. It wraps, so a change may be negative.
trait Sum: Copy + Default {
    fn plus(self, other: Self) -> Self;
}

impl Sum for u32 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl Sum for u64 {
    #[inline]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }
}

impl<T: Sum> Tree<T> {
    fn new(leaves: usize) -> Self {
        Self(vec![T::default(); leaves + 1])
    }

    #[inline]
    fn add(&mut self, leaf: usize, change: T) {
        let mut node = leaf + 1;
        while node < self.0.len() {
            self.0[node] = self.0[node].plus(change);
            node += node & node.wrapping_neg();
        }
    }

    /// The sum of the leaves below this one.
    #[inline]
    fn below(&self, leaf: usize) -> T {
        let (mut node, mut sum) = (leaf, T::default());
        while node > 0 {
            sum = sum.plus(self.0[node]);
            node &= node - 1;
        }
        sum
    }

    fn clear(&mut self) {
        self.0.fill(T::default());
    }
}

/// Every id counts 1: another eighth of a byte an id.
#[derive(Debug)]
pub(super) struct Units(Tree<u32>);

impl Mass for Units {
    fn new(positions: usize) -> Self {
        Self(Tree::new(positions / WORD))
    }

    #[inline]
    fn enter(&mut self, position: u32, _weight: u64, bits: &[u64]) {
        let word = position as usize / WORD;
        if position as usize % WORD == WORD - 1 {
            self.0.add(word, bits[word].count_ones());
        }
    }

    #[inline]
    fn leave(&mut self, position: u32, next: u32) {
        let word = position as usize / WORD;
        if word != next as usize / WORD {
            self.0.add(word, u32::MAX);
        }
    }

    #[inline]
    fn below(&self, position: u32, bits: &[u64]) -> u64 {
        let word = position as usize / WORD;
        u64::from(self.0.below(word).wrapping_add(rank(bits[word], position)))
    }

    #[inline]
    fn weight(&self, _position: u32) -> u64 {
        1
    }

    #[inline]
    fn look(&self, position: u32, bits: &[u64]) -> u64 {
        bits[position as usize / WORD]
    }

    fn compact(&mut self, _bits: &[u64], live: usize) {
        self.0.clear();
        (0..live / WORD).for_each(|word| self.0.add(word, WORD as u32));
    }
}

/// Positions in a leaf of weights: one cache line.
const LINE: usize = 8;

/// Every id has a weight: another 18 bytes an id.
#[derive(Debug)]
pub(super) struct Weighed {
    /// By position; 0 where no id has its last use.
    weights: Vec<u64>,
    tree: Tree<u64>,
}

impl Mass for Weighed {
    fn new(positions: usize) -> Self {
        Self { weights: vec![0; positions], tree: Tree::new(positions / LINE) }
    }

    #[inline]
    fn enter(&mut self, position: u32, weight: u64, _bits: &[u64]) {
        let position = position as usize;
        self.weights[position] = weight;
        if position % LINE == LINE - 1 {
            self.tree
                .add(position / LINE, self.weights[position + 1 - LINE..=position].iter().sum());
        }
    }

    #[inline]
    fn leave(&mut self, position: u32, next: u32) {
        let weight = std::mem::take(&mut self.weights[position as usize]);
        let line = position as usize / LINE;
        if line != next as usize / LINE {
            self.tree.add(line, weight.wrapping_neg());
        }
    }

    #[inline]
    fn below(&self, position: u32, _bits: &[u64]) -> u64 {
        let line = position as usize / LINE;
        let beside: u64 = self.weights[line * LINE..position as usize].iter().sum();
        self.tree.below(line) + beside
    }

    #[inline]
    fn weight(&self, position: u32) -> u64 {
        self.weights[position as usize]
    }

    #[inline]
    fn look(&self, position: u32, _bits: &[u64]) -> u64 {
        self.weights[position as usize]
    }

    fn compact(&mut self, bits: &[u64], live: usize) {
        let mut taken = 0;
        for position in 0..self.weights.len() {
            if bits[position / WORD] >> (position % WORD) & 1 == 1 {
                self.weights[taken] = self.weights[position];
                taken += 1;
            }
        }
        self.weights[live..].fill(0);
        self.tree.clear();
        for line in 0..live / LINE {
            self.tree.add(line, self.weights[line * LINE..(line + 1) * LINE].iter().sum());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The stack as a list, top last.
    fn naive(list: &mut Vec<Id>, id: Id, weights: &[u64]) -> Option<u64> {
        let found = list.iter().position(|&there| there == id);
        let distance =
            found.map(|at| list[at..].iter().map(|&there| weights[there as usize]).sum());
        found.map(|at| list.remove(at));
        list.push(id);
        distance
    }

    proptest! {
        #[test]
        fn both_masses_give_the_distances_of_a_list(
            uses in prop::collection::vec((0..40u32, 0..12u32, 0..1000u64), 0..1500),
        ) {
            let mut weights = [7; 40];
            let (mut units, mut weighed) = (Stack::<Units>::new(40), Stack::<Weighed>::new(40));
            let (mut list, mut same) = (Vec::new(), Vec::new());
            for (id, chance, weight) in uses {
                if chance == 0 {
                    units.remove(id);
                    weighed.remove(id);
                    list.retain(|&there| there != id);
                    same.retain(|&there| there != id);
                } else {
                    prop_assert_eq!(units.touch(id, 1), naive(&mut list, id, &[1; 40]));
                    prop_assert_eq!(weighed.touch(id, weight), naive(&mut same, id, &weights));
                    weights[id as usize] = weight;
                }
                prop_assert_eq!(units.len(), list.len());
            }
        }
    }
}
