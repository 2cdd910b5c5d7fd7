//! Which requests write: a bit a request, up to the last one that writes.

/// A set of positions.
#[derive(Clone, Debug, Default)]
pub(super) struct Writes(Vec<u64>);

impl Writes {
    pub(super) fn set(&mut self, position: usize) {
        let word = position / 64;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (position % 64);
    }

    #[inline]
    pub(super) fn get(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 != 0)
    }

    pub(super) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    pub(super) fn memory_bytes(&self) -> u64 {
        8 * self.0.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_there_and_nothing_else() {
        let mut writes = Writes::default();
        assert_eq!((writes.get(0), writes.memory_bytes()), (false, 0));
        [0, 63, 64, 300].into_iter().for_each(|position| writes.set(position));
        let found: Vec<_> = (0..1000).filter(|&position| writes.get(position)).collect();
        assert_eq!((found.as_slice(), writes.count()), (&[0, 63, 64, 300][..], 4));
    }
}
