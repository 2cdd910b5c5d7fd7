//! The next use of each request's id, computed from the last request to the first.

use super::removal::Removal;
use seekless_policy::eviction::Id;

/// The position of a next use that never comes.
pub(crate) const NEVER: u32 = u32::MAX;

/// For each request the position of the next one for the same id, or [`NEVER`].
/// A removed id is not used again, however soon it is requested: that request misses in any cache.
pub(super) fn next_uses(ids: &[Id], removals: &[Removal], id_limit: u32) -> Vec<u32> {
    let mut later = vec![NEVER; id_limit as usize];
    let mut next = vec![NEVER; ids.len()];
    let mut removals = removals.iter().rev().peekable();
    for (position, &id) in ids.iter().enumerate().rev() {
        while let Some(removal) = removals.next_if(|one| one.position > position as u32) {
            later[removal.id as usize] = NEVER;
        }
        next[position] = std::mem::replace(&mut later[id as usize], position as u32);
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_knows_the_next_for_its_id() {
        assert_eq!(next_uses(&[0, 2, 0, 0, 2], &[], 3), [2, 4, 3, NEVER, NEVER]);
        assert!(next_uses(&[], &[], 0).is_empty());
        let removals = [(2, 0), (4, 1), (5, 2)].map(|(position, id)| Removal { position, id });
        assert_eq!(next_uses(&[0, 2, 0, 0, 2], &removals, 3), [NEVER, 4, 3, NEVER, NEVER]);
    }
}
