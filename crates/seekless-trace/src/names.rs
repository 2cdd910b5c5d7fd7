//! Numbers names densely by first appearance. All text is in one buffer, with a hash table of
//! numbers over it.

use foldhash::fast::FixedState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// Names may take this, plus this many times the text that was read.
const NAMES_BYTES_BASE: u64 = 8 << 20;
const NAMES_BYTES_PER_BYTE: u64 = 24;

/// Names and their numbers.
#[derive(Debug, Default)]
pub(crate) struct Names {
    text: String,
    ends: Vec<usize>,
    table: HashTable<u32>,
    state: FixedState,
}

impl Names {
    /// The number of `name`, and whether it is new.
    ///
    /// # Panics
    /// At 2^32 names, which would need over 32 GB of memory for the numbers alone.
    pub(crate) fn intern(&mut self, name: &str) -> (u32, bool) {
        let hash = self.state.hash_one(name.as_bytes());
        let (text, ends) = (&self.text, &self.ends);
        if let Some(&id) = self.table.find(hash, |&id| slice(text, ends, id) == name) {
            return (id, false);
        }
        let id = u32::try_from(self.ends.len()).expect("fewer than 2^32 names");
        self.text.push_str(name);
        self.ends.push(self.text.len());
        let (text, ends, state) = (&self.text, &self.ends, &self.state);
        self.table.insert_unique(hash, id, |&id| state.hash_one(slice(text, ends, id).as_bytes()));
        (id, true)
    }

    /// The name of `id`, which `intern` gave.
    pub(crate) fn get(&self, id: u32) -> &str {
        slice(&self.text, &self.ends, id)
    }

    /// How many bytes the names take, with what is kept beside them.
    pub(crate) fn bytes(&self) -> u64 {
        (self.text.len() + size_of::<usize>() * self.ends.len()) as u64
    }

    /// Whether the names take more memory than `consumed` bytes of text justify. A compressed text
    /// can unfold to a thousand times its size, but real names of files do not.
    pub(crate) fn are_too_many(&self, consumed: u64) -> bool {
        self.bytes()
            > NAMES_BYTES_BASE.saturating_add(consumed.saturating_mul(NAMES_BYTES_PER_BYTE))
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn into_vec(self) -> Vec<String> {
        (0..self.ends.len()).map(|id| slice(&self.text, &self.ends, id as u32).to_owned()).collect()
    }
}

fn slice<'a>(text: &'a str, ends: &[usize], id: u32) -> &'a str {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &text[start..ends[id]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_first_appearance() {
        let mut names = Names::default();
        assert_eq!(["b", "", "b", "a"].map(|name| names.intern(name).0), [0, 1, 0, 2]);
        assert_eq!((names.get(1), names.len()), ("", 3));
        assert_eq!(names.into_vec(), ["b", "", "a"]);
    }
}
