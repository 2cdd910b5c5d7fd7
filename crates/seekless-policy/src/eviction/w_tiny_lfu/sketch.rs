//! Counts how often each key was requested lately: counters of 4 bits, shared by keys, in one cache
//! line a key.

/// Words of 16 counters in a block.
const BLOCK: usize = 8;
/// The lowest bit of each counter.
const ONES: u64 = 0x1111_1111_1111_1111;
/// The three low bits of each counter.
const HALVES: u64 = 0x7777_7777_7777_7777;
/// Odd numbers that spread keys: the golden ratio, and a mixer's.
const SPREAD: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xBF58_476D_1CE4_E5B9];

/// A count-min sketch with four counters a key: 8 bytes a resident object. It is sized by objects,
/// not by bytes, and doubles with them. Doubling keeps every estimate.
#[derive(Clone, Debug)]
pub(crate) struct Sketch {
    words: Vec<u64>,
    /// Counts since the last halving.
    additions: u64,
    /// The number of objects for which it is sized.
    objects: u64,
}

impl Sketch {
    pub(crate) fn new() -> Self {
        Self { words: vec![0; BLOCK], additions: 0, objects: 0 }
    }

    /// The number of counts after which all are halved: ten times the objects.
    pub(crate) fn sample(&self) -> u64 {
        10 * self.objects.max(1)
    }

    /// Grows it to `objects` residents.
    #[inline]
    pub(crate) fn fit(&mut self, objects: u64) {
        if objects > self.objects {
            self.objects = objects;
            while objects > self.words.len() as u64 {
                self.words.extend_from_within(..);
            }
        }
    }

    /// Counts one use of `key`; halves all counters after each sample.
    #[inline]
    pub(crate) fn add(&mut self, key: u64) {
        let mut added = false;
        for (word, shift) in self.counters(key) {
            let counter = &mut self.words[word];
            if (*counter >> shift) & 15 < 15 {
                *counter += 1 << shift;
                added = true;
            }
        }
        self.additions += u64::from(added);
        if self.additions >= self.sample() {
            self.halve();
        }
    }

    /// An upper estimate of how often `key` was requested lately, apart from halving; at most 15.
    #[inline]
    pub(crate) fn estimate(&self, key: u64) -> u64 {
        let counts = self.counters(key).map(|(word, shift)| (self.words[word] >> shift) & 15);
        counts[0].min(counts[1]).min(counts[2]).min(counts[3])
    }

    fn halve(&mut self) {
        let mut odd = 0;
        for word in &mut self.words {
            odd += u64::from((*word & ONES).count_ones());
            *word = (*word >> 1) & HALVES;
        }
        self.additions = (self.additions - (odd >> 2).min(self.additions)) >> 1;
    }

    /// The word and bit of each of a key's four counters: two words of the block for each row.
    #[inline]
    fn counters(&self, key: u64) -> [(usize, u32); 4] {
        let mixed = key.wrapping_add(1).wrapping_mul(SPREAD[0]);
        let hash = (mixed ^ (mixed >> 32)).wrapping_mul(SPREAD[1]);
        let hash = hash ^ (hash >> 29);
        let block = (hash >> 32) as usize & (self.words.len() / BLOCK - 1);
        std::array::from_fn(|row| {
            let bits = (hash >> (5 * row)) as u32 & 31;
            (block * BLOCK + 2 * row + (bits & 1) as usize, 4 * (bits >> 1))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_never_below_the_count_and_seldom_above() {
        let mut sketch = Sketch::new();
        sketch.fit(1024);
        (0..1024_u64).for_each(|key| (0..key % 5).for_each(|_| sketch.add(key)));
        let over = (0..1024).filter(|&key| sketch.estimate(key) > key % 5).count();
        assert!((0..1024).all(|key| sketch.estimate(key) >= key % 5));
        assert!(over < 200, "{over} of 1024 overestimated");
    }

    #[test]
    fn growing_keeps_every_estimate() {
        let mut sketch = Sketch::new();
        sketch.fit(64);
        (0..40_u64).for_each(|key| (0..3).for_each(|_| sketch.add(key)));
        let before: Vec<u64> = (0..100).map(|key| sketch.estimate(key)).collect();
        (65..300).for_each(|objects| sketch.fit(objects));
        assert_eq!(sketch.words.len(), 512);
        assert_eq!((0..100).map(|key| sketch.estimate(key)).collect::<Vec<_>>(), before);
    }

    #[test]
    fn a_sample_halves_what_was_counted() {
        let mut sketch = Sketch::new();
        sketch.fit(8);
        (0..79).for_each(|turn| sketch.add(turn % 8));
        assert_eq!(sketch.estimate(3), 10);
        sketch.add(0);
        assert_eq!(sketch.estimate(3), 5);
    }
}
