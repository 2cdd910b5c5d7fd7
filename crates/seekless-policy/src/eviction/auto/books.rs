//! What is in the cache, and which of the policies knows or keeps what.

use super::super::{Id, Pool, Request};
use crate::arrays::column;

/// The bit of an id that is in the cache, beside those of the policies that keep it.
const HERE: u8 = 1 << 7;
/// The bit of an id that was used again since it came, beside those of the policies that know it.
const AGAIN: u8 = 1 << 7;
/// The bit of an id that the owner was told of, beside those of the policies that know it.
const TOLD: u8 = 1 << 6;
/// At most so many policies have a bit.
pub(super) const POLICIES_MAX: usize = 6;

/// What is known of an id.
#[derive(Clone, Copy, Debug, Default)]
struct About {
    /// Its weight when it was requested last.
    weight: u64,
    /// Its name.
    key: u64,
    /// The number of its last use; it wraps around.
    last_use: u32,
    /// A bit for each policy that knows it: keeps it, or has a ghost of it.
    known: u8,
    /// A bit for each policy that keeps it.
    kept: u8,
}

/// The books of the cache. A policy that is not followed keeps ids without data; so does one that
/// was not followed until now.
#[derive(Debug, Default)]
pub(super) struct Books {
    about: Vec<About>,
    here: u32,
    here_weight: u64,
    /// Of each policy, how many ids it keeps that are not here.
    owed: [u32; POLICIES_MAX],
}

impl Books {
    pub(super) fn grow(&mut self, ids: u32) {
        column::grow(&mut self.about, ids, About::default());
    }

    pub(super) fn ids(&self) -> Id {
        self.about.len() as Id
    }

    #[inline]
    pub(super) fn is_here(&self, id: Id) -> bool {
        self.about[id as usize].kept & HERE != 0
    }

    /// How many ids are here.
    pub(super) fn here(&self) -> u32 {
        self.here
    }

    pub(super) fn here_weight(&self) -> u64 {
        self.here_weight
    }

    pub(super) fn weight(&self, id: Id) -> u64 {
        self.about[id as usize].weight
    }

    /// How many ids a policy keeps that are not here.
    pub(super) fn owed(&self, policy: usize) -> u32 {
        self.owed[policy]
    }

    pub(super) fn keeps(&self, policy: usize, id: Id) -> bool {
        self.about[id as usize].kept & 1 << policy != 0
    }

    /// Whether a policy keeps an id that is not here, with another weight than this.
    #[inline]
    pub(super) fn is_kept_otherwise(&self, id: Id, weight: u64) -> bool {
        let about = self.about[id as usize];
        about.weight != weight && about.kept != 0 && about.kept & HERE == 0
    }

    /// All ids that are here, of one part the one that was used last in front.
    pub(super) fn here_by_last_use(
        &self,
        turn: u32,
        is_one: impl Fn(&Self, Id) -> bool,
    ) -> Vec<Id> {
        let ids = 0..self.about.len() as Id;
        let mut here: Vec<Id> = ids.filter(|&id| self.is_here(id) && is_one(self, id)).collect();
        here.sort_unstable_by_key(|&id| (turn.wrapping_sub(self.about[id as usize].last_use), id));
        here
    }

    /// Whether an id was used again since it came.
    pub(super) fn again(&self, id: Id) -> bool {
        self.about[id as usize].known & AGAIN != 0
    }

    /// An id that is here was used.
    #[inline]
    pub(super) fn used(&mut self, request: &Request, turn: u32, again: bool) {
        let about = &mut self.about[request.id as usize];
        about.key = request.key;
        about.last_use = turn;
        about.known = about.known & !AGAIN | if again { AGAIN } else { 0 };
    }

    /// An id that was not here comes in.
    pub(super) fn comes(&mut self, id: Id, weight: u64) {
        let about = &mut self.about[id as usize];
        about.weight = weight;
        about.known |= TOLD;
        self.here += 1;
        self.here_weight += weight;
        let keepers = about.kept;
        about.kept |= HERE;
        each(keepers, |policy| self.owed[policy] -= 1);
    }

    /// An id that was here leaves.
    pub(super) fn leaves(&mut self, id: Id) {
        let about = &mut self.about[id as usize];
        self.here -= 1;
        self.here_weight -= about.weight;
        about.kept &= !HERE;
        each(about.kept, |policy| self.owed[policy] += 1);
    }

    /// An id has another weight.
    pub(super) fn reweigh(&mut self, id: Id, weight: u64) {
        let about = &mut self.about[id as usize];
        if about.kept & HERE != 0 {
            self.here_weight = self.here_weight - about.weight + weight;
        }
        about.weight = weight;
    }

    /// A policy keeps an id from now on.
    #[inline]
    pub(super) fn keep(&mut self, policy: usize, id: Id) {
        let about = &mut self.about[id as usize];
        about.kept |= 1 << policy;
        about.known |= 1 << policy;
        self.owed[policy] += u32::from(about.kept & HERE == 0);
    }

    /// A policy has evicted an id.
    #[inline]
    fn evict(&mut self, policy: usize, id: Id) {
        let about = &mut self.about[id as usize];
        about.kept &= !(1 << policy);
        self.owed[policy] -= u32::from(about.kept & HERE == 0);
    }

    /// A policy neither keeps an id nor knows it any more.
    pub(super) fn drop(&mut self, policy: usize, id: Id) {
        if self.keeps(policy, id) {
            self.evict(policy, id);
        }
        self.about[id as usize].known &= !(1 << policy);
    }

    /// As [`Self::drop`], and the owner is told if it was the last that knew it.
    pub(super) fn forget<P: Pool + ?Sized>(&mut self, policy: usize, id: Id, pool: &mut P) {
        self.drop(policy, id);
        self.forget_unknown(id, pool);
    }

    /// The owner may use the number of an id that nothing knows for another.
    pub(super) fn forget_unknown<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        let about = &mut self.about[id as usize];
        let is_known = about.known & !AGAIN & !TOLD != 0 || about.kept & HERE != 0;
        if !is_known && about.known & TOLD != 0 {
            about.known &= !TOLD;
            pool.forget(id);
        }
    }

    /// Whether the number belongs to another page now: the owner may use that of a page that it
    /// was not told of again.
    #[inline]
    pub(super) fn is_another(&self, id: Id, key: u64) -> bool {
        let about = self.about[id as usize];
        about.key != key && about.known != 0
    }

    #[cfg(test)]
    pub(super) fn is_told(&self, id: Id) -> bool {
        self.about[id as usize].known & TOLD != 0
    }

    pub(super) fn key(&self, id: Id) -> u64 {
        self.about[id as usize].key
    }

    /// Nothing knows the id any more, and it is not here.
    pub(super) fn remove(&mut self, id: Id) {
        if self.is_here(id) {
            self.leaves(id);
        }
        each(self.about[id as usize].kept, |policy| self.owed[policy] -= 1);
        self.about[id as usize] = About::default();
    }

    /// An id that the policy followed does not keep leaves.
    pub(super) fn leave_over<P: Pool + ?Sized>(&mut self, id: Id, pool: &mut P) {
        self.leaves(id);
        pool.evict(id);
        self.forget_unknown(id, pool);
    }
}

fn each(policies: u8, mut act: impl FnMut(usize)) {
    let mut rest = policies & !HERE & !TOLD;
    while rest != 0 {
        act(rest.trailing_zeros() as usize);
        rest &= rest - 1;
    }
}

/// The owner of the cache as one of the policies sees it.
pub(super) struct Side<'a, P: ?Sized> {
    pub(super) books: &'a mut Books,
    pub(super) policy: usize,
    /// Whether it is the one that is followed: what it evicts leaves the cache.
    pub(super) leads: bool,
    pub(super) pool: &'a mut P,
}

impl<P: Pool + ?Sized> Pool for Side<'_, P> {
    fn evict(&mut self, victim: Id) {
        self.books.evict(self.policy, victim);
        if self.leads && self.books.is_here(victim) {
            self.books.leaves(victim);
            self.pool.evict(victim);
        }
    }

    fn forget(&mut self, id: Id) {
        self.books.forget(self.policy, id, self.pool);
    }
}
