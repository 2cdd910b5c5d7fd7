//! The newest rows. They come nearly in order: most are not older than the one before. So those are
//! kept apart from the few that are, and only the few are sorted.

use crate::Access;
use std::collections::VecDeque;

/// Rows that wait to be written.
#[derive(Debug, Default)]
pub(super) struct Window {
    /// In order.
    ahead: VecDeque<Access>,
    /// Rows that were older than the last one ahead when they came. That one is newer than they.
    behind: Vec<Access>,
}

impl Window {
    pub(super) fn len(&self) -> usize {
        self.ahead.len() + self.behind.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(super) fn push(&mut self, access: Access) {
        if self.ahead.back().is_none_or(|last| last.key() <= access.key()) {
            self.ahead.push_back(access);
        } else {
            self.behind.push(access);
        }
    }

    /// Takes the oldest `count` rows out, and hands them out in order, some at a time. Rows of one
    /// instant come in the order in which they were pushed. Returns the key of the last.
    pub(super) fn take<E>(
        &mut self,
        count: usize,
        mut each: impl FnMut(&[Access]) -> Result<(), E>,
    ) -> Result<Option<(u32, u64)>, E> {
        self.behind.sort_by_key(Access::key);
        let (mut ahead, mut behind) = (0, 0);
        let mut last = None;
        while ahead + behind < count.min(self.len()) {
            let left = count.min(self.len()) - ahead - behind;
            let next = self.behind.get(behind);
            let rows = match next.map(Access::key) {
                // Those of its instant were there before it.
                Some(key) => {
                    let older = self.ahead.range(ahead..).take(left);
                    older.take_while(|row| row.key() <= key).count()
                }
                None => left,
            };
            for part in parts(&self.ahead, ahead, ahead + rows) {
                each(part)?;
                last = part.last().map(Access::key).or(last);
            }
            ahead += rows;
            if let Some(next) = next.filter(|_| rows < left) {
                each(std::slice::from_ref(next))?;
                last = Some(next.key());
                behind += 1;
            }
        }
        self.ahead.drain(..ahead);
        self.behind.drain(..behind);
        Ok(last)
    }
}

/// The rows from `start` to `end`, which lie in one piece or two.
fn parts(rows: &VecDeque<Access>, start: usize, end: usize) -> [&[Access]; 2] {
    let (first, second) = rows.as_slices();
    let cut = |at: usize| at.min(first.len());
    let rest = |at: usize| at.saturating_sub(first.len());
    [&first[cut(start)..cut(end)], &second[rest(start)..rest(end)]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Op;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_a_stable_sort(
            steps in prop::collection::vec((0..30_u64, prop::option::weighted(0.1, 1..20_usize)), 0..200),
        ) {
            let (mut window, mut model, mut number) = (Window::default(), Vec::new(), 0);
            for (time_ns, take) in steps {
                number += 1;
                let row = Access { time_ns, bytes: number, ..Access::new(Op::Read, 0) };
                window.push(row);
                model.push(row);
                let Some(count) = take else { continue };
                let mut taken = Vec::new();
                let last = window.take(count, |rows| { taken.extend_from_slice(rows); Ok::<_, ()>(()) }).unwrap();
                model.sort_by_key(Access::key);
                let expected: Vec<Access> = model.drain(..count.min(model.len())).collect();
                prop_assert_eq!(last, expected.last().map(Access::key));
                prop_assert_eq!(taken, expected);
                prop_assert_eq!(window.len(), model.len());
                // A writer keeps at least one row, and takes none that is older than those taken.
                if window.is_empty() { break }
                let oldest = last.unwrap_or_default();
                if model.iter().any(|row| row.key() < oldest) { break }
            }
        }
    }
}
