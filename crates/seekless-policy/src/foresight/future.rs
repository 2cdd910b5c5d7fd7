//! What a program has said it will load: the next use of each file, for policies that know the
//! future.

use crate::eviction::{Id, NEVER};

/// The loads to come, as far as they were announced. Positions count on from one announcement to
/// the next, so that they only rise.
///
/// - **Cost:** a load O(1); an announcement O(its loads and the ids).
/// - **Memory:** nothing before the first announcement; then 8 bytes an id and 8 an announced load.
#[derive(Clone, Debug, Default)]
pub struct Future {
    /// Position of the first announced load.
    start: u64,
    /// For each announced load, the position of the next of the same id, or [`NEVER`].
    after: Vec<u64>,
    /// For each id, the position of its next load, or [`NEVER`]. Empty before the first
    /// announcement.
    next: Vec<u64>,
}

impl Future {
    /// The program will load `loads` in this order, and no id is `ids` or above. Earlier
    /// announcements that have not come true are dropped.
    ///
    /// # Panics
    /// If a load is not below `ids`.
    pub fn announce(&mut self, loads: &[Id], ids: u32) {
        self.start += self.after.len() as u64;
        self.after.clear();
        self.after.resize(loads.len(), NEVER);
        self.next.clear();
        self.next.resize(ids as usize, NEVER);
        for (at, &id) in loads.iter().enumerate().rev() {
            let next = &mut self.next[id as usize];
            self.after[at] = std::mem::replace(next, self.start + at as u64);
        }
    }

    /// The position of the next load of `id`; [`NEVER`] if none was announced.
    #[must_use]
    pub fn next_use(&self, id: Id) -> u64 {
        self.next.get(id as usize).copied().unwrap_or(NEVER)
    }

    /// `id` is loaded: returns the position of its load after this one.
    #[inline]
    pub fn loaded(&mut self, id: Id) -> u64 {
        match self.next.get_mut(id as usize) {
            Some(next) if *next != NEVER => {
                *next = self.after[(*next - self.start) as usize];
                *next
            }
            _ => NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_load_tells_the_position_of_the_next() {
        let mut future = Future::default();
        assert_eq!((future.next_use(3), future.loaded(3)), (NEVER, NEVER));
        future.announce(&[2, 0, 2, 2], 3);
        assert_eq!((future.next_use(2), future.next_use(1)), (0, NEVER));
        // In another order than announced.
        assert_eq!([0, 2, 2, 2, 2].map(|id| future.loaded(id)), [NEVER, 2, 3, NEVER, NEVER]);
    }

    #[test]
    fn an_announcement_replaces_the_last_and_positions_rise() {
        let mut future = Future::default();
        future.announce(&[0, 1], 2);
        future.announce(&[1, 1], 2);
        assert_eq!((future.next_use(0), future.next_use(1)), (NEVER, 2));
        assert_eq!(future.loaded(1), 3);
        future.announce(&[], 2);
        assert_eq!(future.next_use(1), NEVER);
        future.announce(&[0], 2);
        assert_eq!(future.next_use(0), 4);
    }
}
