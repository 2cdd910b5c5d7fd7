//! The place of files that no run has loaded, by which of them name which.

use super::NEVER;
use crate::eviction::Id;
use crate::foresight::references::References;
use std::cmp::Reverse;

/// References that come true less often than not are not followed, of 255.
const CHANCE_MIN: u8 = 128;

/// The place of each file in a walk along references from unloaded files to unloaded ones, or
/// [`NEVER`] for a file that the walk does not reach. `runs` says how many runs load each file, and
/// `order` has the files in the order in which walks begin.
///
/// A walk begins at a file that names others and that none names. It goes down first, along the
/// surest reference of each file before the others, so a file lies directly behind one that names
/// it, with all that it names itself. Files that only name one another in a ring have no such
/// beginning, and are not reached.
///
/// - **Cost:** O(e log e) for e references.
/// - **Memory:** some 6 bytes a file and 4 a reference.
pub(super) fn places(
    references: &References,
    runs: &[u32],
    order: impl Iterator<Item = Id>,
) -> Vec<u32> {
    let sure = Sure { references, runs };
    let (mut names, mut named) = (vec![false; runs.len()], vec![false; runs.len()]);
    for (id, names) in (0..).zip(&mut names) {
        for (to, _) in sure.of(id) {
            *names = true;
            named[to as usize] = true;
        }
    }
    let roots = order.filter(|&id| names[id as usize] && !named[id as usize]);
    let mut walk = Walk { sure, places: vec![NEVER; runs.len()], next: 0, ahead: Vec::new() };
    roots.for_each(|root| walk.from(root));
    walk.places
}

/// The references that are followed.
struct Sure<'a> {
    references: &'a References,
    runs: &'a [u32],
}

impl Sure<'_> {
    /// Those of a file, each with its chance: none if a run loads it.
    fn of(&self, id: Id) -> impl Iterator<Item = (Id, u8)> + '_ {
        let is_unloaded = |id: Id| self.runs.get(id as usize) == Some(&0);
        let from = is_unloaded(id).then(|| self.references.of(id));
        from.into_iter()
            .flatten()
            .filter(move |&(to, chance)| chance >= CHANCE_MIN && is_unloaded(to))
    }
}

struct Walk<'a> {
    sure: Sure<'a>,
    places: Vec<u32>,
    /// The place of the next file.
    next: u32,
    /// Files to go to, the next one last. Each reference puts its file there once at most.
    ahead: Vec<Id>,
}

impl Walk<'_> {
    /// Gives places to `root` and to all that can be reached from it and has none.
    fn from(&mut self, root: Id) {
        self.ahead.push(root);
        let mut named = Vec::new();
        while let Some(id) = self.ahead.pop() {
            let place = &mut self.places[id as usize];
            if *place != NEVER {
                continue;
            }
            *place = self.next;
            self.next += 1;
            named.extend(self.sure.of(id));
            named.sort_unstable_by_key(|&(to, chance)| (chance, Reverse(to)));
            self.ahead.extend(named.drain(..).map(|(to, _)| to));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The files that a walk reaches, in its order. Files are as many as `runs`.
    fn walk(all: &[(Id, Id, u8)], runs: &[u32], order: &[Id]) -> Vec<Id> {
        let references = References::new(runs.len() as u32, all.to_vec());
        let places = places(&references, runs, order.iter().copied());
        let mut reached: Vec<Id> =
            (0..runs.len() as Id).filter(|&id| places[id as usize] != NEVER).collect();
        reached.sort_unstable_by_key(|&id| places[id as usize]);
        let taken: Vec<u32> = reached.iter().map(|&id| places[id as usize]).collect();
        assert_eq!(taken, (0..reached.len() as u32).collect::<Vec<_>>(), "no place is left out");
        reached
    }

    #[test]
    fn a_chain_lies_together_and_the_surest_comes_first() {
        let all = [(0, 4, 150), (0, 2, 200), (2, 5, 140), (0, 1, 150)];
        assert_eq!(walk(&all, &[0; 6], &[0, 1, 2, 3, 4, 5]), [0, 2, 5, 1, 4]);
    }

    #[test]
    fn walks_begin_in_the_given_order_at_files_that_none_names() {
        let all = [(0, 1, 255), (3, 1, 255), (3, 4, 255), (1, 2, 255)];
        assert_eq!(walk(&all, &[0; 5], &[4, 3, 2, 1, 0]), [3, 1, 2, 4, 0]);
    }

    #[test]
    fn a_walk_passes_over_loaded_files_and_unlikely_references() {
        let all = [(0, 1, CHANCE_MIN - 1), (0, 2, CHANCE_MIN), (2, 3, 255), (3, 4, 255)];
        assert_eq!(walk(&all, &[0, 0, 0, 1, 0], &[0, 1, 2, 3, 4]), [0, 2]);
        assert_eq!(walk(&all, &[1, 0, 0, 0, 0], &[0, 1, 2, 3, 4]), [2, 3, 4]);
    }

    #[test]
    fn a_ring_ends_and_is_reached_from_without_alone() {
        let ring = [(0, 1, 255), (1, 2, 255), (2, 0, 255)];
        assert_eq!(walk(&ring, &[0; 4], &[0, 1, 2, 3]), []);
        assert_eq!(
            walk(&[&ring[..], &[(3, 1, 255)]].concat(), &[0; 4], &[0, 1, 2, 3]),
            [3, 1, 2, 0]
        );
    }

    #[test]
    fn a_chain_of_any_length_is_walked() {
        let files = 300_000;
        let all: Vec<(Id, Id, u8)> = (1..files).map(|id| (id - 1, id, 255)).collect();
        let order: Vec<Id> = (0..files).collect();
        assert_eq!(walk(&all, &vec![0; files as usize], &order), order);
    }
}
