//! Ids ranked by keys that only rise: what the policies share that give each id a number to leave at.

use crate::column;
use crate::id::Id;
use crate::radix::{Key, RadixQueue};

/// The turn of an id that is no member.
const ABSENT: u64 = u64::MAX;

/// Where a member stands, and what its owner keeps beside that.
#[derive(Clone, Copy, Debug)]
struct Rank<T> {
    /// High and low half of the number; two halves keep the alignment at 8 bytes.
    number: [u64; 2],
    /// When the rank was given: of equal numbers the earliest leaves first.
    turn: u64,
    /// Beside the rest, as a hit needs it.
    beside: T,
}

impl<T: Copy> Rank<T> {
    #[inline]
    fn new(number: u128, turn: u64, beside: T) -> Self {
        Self { number: [(number >> 64) as u64, number as u64], turn, beside }
    }

    #[inline]
    fn number(&self) -> u128 {
        u128::from(self.number[0]) << 64 | u128::from(self.number[1])
    }

    /// `None` for an id that is no member.
    #[inline]
    fn key(&self) -> Option<Key> {
        (self.turn != ABSENT).then(|| (self.number(), self.turn))
    }
}

/// Members by number, those of equal numbers by the turn at which they were ranked. A number that rises costs O(1): the queue
/// reads it when it meets the id. 24 bytes an id and a `T`, and 4 to 20 a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking<T> {
    ranks: Vec<Rank<T>>,
    queue: RadixQueue,
    members: usize,
    /// Ranks given so far.
    turn: u64,
}

impl<T: Copy + Default> Ranking<T> {
    /// No members; the first rank is given at a turn after `turn`.
    pub(crate) fn after_turn(turn: u64) -> Self {
        Self { turn, ..Self::default() }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.ranks, ids, Rank::new(0, ABSENT, T::default()));
    }

    /// Whether `id` is a member.
    #[inline]
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.ranks[id as usize].turn != ABSENT
    }

    /// The number that `id` has, and what is kept beside it.
    #[inline]
    pub(crate) fn get(&self, id: Id) -> (u128, T) {
        let rank = &self.ranks[id as usize];
        (rank.number(), rank.beside)
    }

    /// Adds an id that is no member. `number` must not be below that of the last id taken.
    #[inline]
    pub(crate) fn insert(&mut self, id: Id, number: u128, beside: T) {
        self.turn += 1;
        self.insert_at(id, number, self.turn, beside);
    }

    /// As [`Ranking::insert`], at an earlier turn than the next.
    #[inline]
    pub(crate) fn insert_at(&mut self, id: Id, number: u128, turn: u64, beside: T) {
        let rank = Rank::new(number, turn, beside);
        self.ranks[id as usize] = rank;
        self.queue.push(id, (number, turn));
        self.members += 1;
    }

    /// Ranks a member anew, not below where it was.
    #[inline]
    pub(crate) fn raise(&mut self, id: Id, number: u128, beside: T) {
        self.turn += 1;
        self.ranks[id as usize] = Rank::new(number, self.turn, beside);
    }

    /// Ranks a member anew, below where it was. The queue gets a second entry, and drops the first when it meets it.
    #[cold]
    pub(crate) fn lower(&mut self, id: Id, number: u128, beside: T) {
        self.raise(id, number, beside);
        self.queue.push(id, (number, self.turn));
        self.tidy();
    }

    /// The member with the least number. It is one until [`Ranking::remove`], which the owner calls next.
    #[inline]
    pub(crate) fn take_least(&mut self) -> Option<(u128, Id)> {
        let ranks = &self.ranks;
        let ((number, _), id) = self.queue.pop(|id| ranks[id as usize].key())?;
        Some((number, id))
    }

    /// Removes a member.
    #[inline]
    pub(crate) fn remove(&mut self, id: Id) {
        self.ranks[id as usize].turn = ABSENT;
        self.members -= 1;
        self.tidy();
    }

    /// Keeps the queue's entries of what was removed, or stands twice, fewer than the members.
    #[inline]
    fn tidy(&mut self) {
        if self.queue.len() > 2 * self.members + 64 {
            let ranks = &self.ranks;
            self.queue.tidy(|id| ranks[id as usize].key());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_leaves_first_and_among_equals_the_earliest_rank() {
        let mut ranking = Ranking::<u32>::default();
        ranking.grow(4);
        (0..4).for_each(|id| ranking.insert(id, 7, id));
        ranking.raise(0, 7, 9);
        ranking.raise(1, 8, 1);
        ranking.lower(3, 5, 3);
        assert_eq!(ranking.get(0), (7, 9));
        let mut left = Vec::new();
        while let Some((number, id)) = ranking.take_least() {
            ranking.remove(id);
            left.push((number, id));
        }
        assert_eq!(left, [(5, 3), (7, 2), (7, 0), (8, 1)]);
    }

    #[test]
    fn entries_of_removed_ids_do_not_pile_up() {
        let mut ranking = Ranking::<u64>::default();
        ranking.grow(1);
        for _ in 0..1000 {
            ranking.insert(0, 1, 0);
            ranking.remove(0);
        }
        assert!(ranking.queue.len() <= 65, "{} entries", ranking.queue.len());
        assert!(ranking.take_least().is_none());
    }
}
