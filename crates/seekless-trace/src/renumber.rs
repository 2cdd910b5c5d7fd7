//! Makes file numbers dense by first appearance. Another tool may have filtered the rows of a file.
//! In files from this crate they are dense already, which costs one comparison a row.

use crate::FileId;
use hashbrown::HashMap;

/// Numbers seen so far, in the order of their first appearance.
#[derive(Debug, Default)]
pub(crate) struct Renumber {
    next: FileId,
    changed: Option<Table>,
}

/// Numbers below `direct.len()` are looked up by index, others by hash, so that one absurd number
/// does not cost gigabytes.
#[derive(Debug)]
struct Table {
    direct: Vec<Option<FileId>>,
    rest: HashMap<u32, FileId>,
}

const DIRECT_MAX: usize = 1 << 24;

impl Renumber {
    /// How many distinct files have been seen.
    pub(crate) fn files(&self) -> FileId {
        self.next
    }

    /// The dense numbers of `raw`; `None` if they are the same.
    pub(crate) fn batch(&mut self, raw: &[u32]) -> Option<Vec<FileId>> {
        if self.changed.is_none() {
            let first = self.next;
            if raw.iter().all(|&file| self.dense(file)) {
                return None;
            }
            self.next = first;
            let direct = (0..first).map(Some).collect();
            self.changed = Some(Table { direct, rest: HashMap::new() });
        }
        let Renumber { next, changed } = self;
        changed.as_mut().map(|table| raw.iter().map(|&file| table.number(file, next)).collect())
    }

    fn dense(&mut self, file: u32) -> bool {
        self.next += FileId::from(file == self.next);
        file < self.next
    }
}

impl Table {
    fn number(&mut self, raw: u32, next: &mut FileId) -> FileId {
        let at = raw as usize;
        if at >= self.direct.len() && at < DIRECT_MAX && at < 2 * self.direct.len() + 1024 {
            self.direct.resize(at + 1, None);
        }
        let slot = match self.direct.get_mut(at) {
            // A number hashed before the table grew over it keeps its hashed entry.
            Some(slot) if slot.is_some() || !self.rest.contains_key(&raw) => slot,
            _ => {
                return *self.rest.entry(raw).or_insert_with(|| take(next));
            }
        };
        *slot.get_or_insert_with(|| take(next))
    }
}

fn take(next: &mut FileId) -> FileId {
    *next += 1;
    *next - 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn dense_numbers_pass_untouched() {
        let mut numbers = Renumber::default();
        assert_eq!(numbers.batch(&[0, 0, 1, 2, 1]), None);
        assert_eq!(numbers.batch(&[3, 9, 0, 9, u32::MAX, 4]), Some(vec![3, 4, 0, 4, 5, 6]));
        assert_eq!(numbers.files(), 7);
    }

    proptest! {
        #[test]
        fn any_numbers_become_dense(
            batches in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![0..9_u32, 0..5000_u32, any::<u32>()], 0..50), 0..8,
            ),
        ) {
            let mut numbers = Renumber::default();
            let mut seen: Vec<u32> = Vec::new();
            for raw in batches {
                let got = numbers.batch(&raw).unwrap_or_else(|| raw.clone());
                for (raw, got) in raw.into_iter().zip(got) {
                    let expected = seen.iter().position(|&old| old == raw).unwrap_or_else(|| {
                        seen.push(raw);
                        seen.len() - 1
                    });
                    prop_assert_eq!(got as usize, expected);
                }
            }
        }
    }
}
