//! Ids ranked by numbers that rise, for policies that give each id a number at which it leaves.

use crate::arrays::column;
use crate::arrays::radix::{Key, RadixQueue};
use crate::id::Id;

/// The turn of an id that is no member.
const ABSENT: u64 = 0;

/// The rank of each id, and a value that the owner keeps beside it, since a hit needs it together
/// with the number: high and low half of the number, the turn at which the rank was given, and the
/// value. Of equal numbers the earliest turn leaves first. Of an id that is no member all are 0, so
/// that a column of these takes memory only where it is used.
type Rank<T> = ([u64; 2], u64, T);

#[inline]
fn rank<T>(number: u128, turn: u64, beside: T) -> Rank<T> {
    ([(number >> 64) as u64, number as u64], turn, beside)
}

#[inline]
fn number<T>(([high, low], ..): &Rank<T>) -> u128 {
    u128::from(*high) << 64 | u128::from(*low)
}

/// `None` for an id that is no member.
#[inline]
fn key<T>(rank: &Rank<T>) -> Option<Key> {
    (rank.1 != ABSENT).then(|| (number(rank), rank.1))
}

/// Members sorted by number, and those of equal numbers by the turn at which they were ranked. To
/// raise a number costs O(1): the queue reads it when it meets the id. 24 bytes an id and a `T`, by
/// the page as ids become members, and 4 to 20 a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ranking<T> {
    ranks: Vec<Rank<T>>,
    queue: RadixQueue,
    members: usize,
    /// How many ranks have been given.
    turn: u64,
}

impl<T: Copy + Default> Ranking<T> {
    /// No members. The first rank is given at the turn after `turn`.
    pub(crate) fn after_turn(turn: u64) -> Self {
        Self { turn, ..Self::default() }
    }

    /// Makes room for ids below `ids`; never shrinks.
    pub(crate) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.ranks, ids, rank(0, ABSENT, T::default()));
    }

    /// Whether `id` is a member.
    #[inline]
    pub(crate) fn contains(&self, id: Id) -> bool {
        self.ranks[id as usize].1 != ABSENT
    }

    /// The number of `id`, and the value beside it.
    #[inline]
    pub(crate) fn get(&self, id: Id) -> (u128, T) {
        let rank = &self.ranks[id as usize];
        (number(rank), rank.2)
    }

    /// Adds an id that is no member. `number` must not be below that of the last id taken.
    #[inline]
    pub(crate) fn insert(&mut self, id: Id, number: u128, beside: T) {
        self.turn += 1;
        self.insert_at(id, number, self.turn, beside);
    }

    /// As [`Ranking::insert`], at an earlier turn than the next, but for 0.
    #[inline]
    pub(crate) fn insert_at(&mut self, id: Id, number: u128, turn: u64, beside: T) {
        debug_assert_ne!(turn, ABSENT);
        self.ranks[id as usize] = rank(number, turn, beside);
        self.queue.push(id, (number, turn));
        self.members += 1;
    }

    /// Ranks a member anew, not below its old number.
    #[inline]
    pub(crate) fn raise(&mut self, id: Id, number: u128, beside: T) {
        self.turn += 1;
        self.ranks[id as usize] = rank(number, self.turn, beside);
    }

    /// Ranks a member anew, at its old number.
    #[inline]
    pub(crate) fn renew(&mut self, id: Id) {
        self.turn += 1;
        self.ranks[id as usize].1 = self.turn;
    }

    /// Ranks a member anew, below its old number. The queue gets a second entry, and drops the
    /// first when it meets it.
    #[cold]
    pub(crate) fn lower(&mut self, id: Id, number: u128, beside: T) {
        self.raise(id, number, beside);
        self.queue.push(id, (number, self.turn));
        self.tidy();
    }

    /// Finds the member with the least number. The caller removes it next, by [`Ranking::remove`].
    #[inline]
    pub(crate) fn take_least(&mut self) -> Option<(u128, Id)> {
        let ranks = &self.ranks;
        let ((number, _), id) = self.queue.pop(|id| key(&ranks[id as usize]))?;
        Some((number, id))
    }

    /// Removes a member.
    #[inline]
    pub(crate) fn remove(&mut self, id: Id) {
        self.ranks[id as usize].1 = ABSENT;
        self.members -= 1;
        self.tidy();
    }

    /// Keeps the stale entries of the queue fewer than the members, or few.
    #[inline]
    fn tidy(&mut self) {
        if self.queue.len() > 2 * self.members + 64 {
            let ranks = &self.ranks;
            self.queue.tidy(|id| key(&ranks[id as usize]));
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
