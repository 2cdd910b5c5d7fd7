//! The part that policies share which keep all resident ids in one list: newcomers enter at its
//! front, and the policy says what a use changes and which id leaves.

use super::resident::Rule;
use super::{Id, Needs, Pool, Request};
use crate::arrays::list::Lists;

const ALL: usize = 0;

/// Decides over a list of the resident ids, which [`OneList`] keeps.
pub trait ListRule {
    /// What the owner of the cache must supply.
    const NEEDS: Needs = Needs::NONE;
    /// As [`Eviction::folds_hits`](super::Eviction::folds_hits). Then several hits of one id in
    /// turn must be the same as one.
    const FOLDS_HITS: bool = false;

    /// Makes room for ids below `ids` in what the rule keeps beside the list.
    fn grow(&mut self, _ids: u32) {}
    /// A resident id is used.
    fn hit(&mut self, list: &mut List, request: &Request);
    /// An id has entered at the front of the list.
    #[inline]
    fn entered(&mut self, _request: &Request) {}
    /// The next id to leave; `None` if nothing is resident. By default that at the back.
    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, list: &mut List, _pool: &P) -> Option<Id> {
        list.back()
    }
    /// A resident id is about to leave the list: as a victim, or because it was removed.
    #[inline]
    fn leaves(&mut self, _list: &List, _id: Id) {}
}

/// The list of the resident ids. 8 bytes an id; every operation is O(1).
#[derive(Clone, Debug, Default)]
pub struct List(Lists<1>);

impl List {
    #[inline]
    pub(super) fn front(&self) -> Option<Id> {
        self.0.front(ALL)
    }

    #[inline]
    pub(super) fn back(&self) -> Option<Id> {
        self.0.back(ALL)
    }

    /// The neighbour toward the front.
    #[inline]
    pub(super) fn before(&self, id: Id) -> Option<Id> {
        self.0.before(id)
    }

    /// The neighbour toward the back.
    #[inline]
    pub(super) fn after(&self, id: Id) -> Option<Id> {
        self.0.after(id)
    }

    #[inline]
    pub(super) fn move_to_front(&mut self, id: Id) {
        self.0.move_to_front(ALL, id);
    }

    /// From front to back.
    pub(super) fn iter(&self) -> impl Iterator<Item = Id> + '_ {
        self.0.iter(ALL)
    }
}

/// A [`Rule`] whose resident ids are one list.
#[derive(Clone, Debug, Default)]
pub struct OneList<R> {
    list: List,
    rule: R,
}

impl<R> OneList<R> {
    /// An empty list under a rule that has parameters.
    pub(super) fn of(rule: R) -> Self {
        Self { list: List::default(), rule }
    }

    pub(super) fn list(&self) -> &List {
        &self.list
    }

    pub(super) fn rule(&self) -> &R {
        &self.rule
    }
}

impl<R: ListRule> Rule for OneList<R> {
    const NEEDS: Needs = R::NEEDS;
    const FOLDS_HITS: bool = R::FOLDS_HITS;

    fn grow(&mut self, ids: u32) {
        self.rule.grow(ids);
        self.list.0.grow(ids);
    }

    #[inline]
    fn contains(&self, id: Id) -> bool {
        self.list.0.contains(id)
    }

    #[inline]
    fn hit(&mut self, request: &Request) {
        self.rule.hit(&mut self.list, request);
    }

    #[inline]
    fn hit_times(&mut self, request: &Request, times: u32) {
        let times = if R::FOLDS_HITS { times.min(1) } else { times };
        (0..times).for_each(|_| self.hit(request));
    }

    #[inline]
    fn enter(&mut self, request: &Request) {
        self.list.0.push_front(ALL, request.id);
        self.rule.entered(request);
    }

    #[inline]
    fn victim<P: Pool + ?Sized>(&mut self, pool: &P) -> Option<Id> {
        self.rule.victim(&mut self.list, pool)
    }

    #[inline]
    fn leave(&mut self, id: Id) {
        self.rule.leaves(&self.list, id);
        self.list.0.unlink(id);
    }
}
