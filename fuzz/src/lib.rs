//! Inputs without a fuzzer: seeds and their mutations, the same each time, for the stable tests that drive a target's body.

use std::fs;
use std::path::Path;

/// The files of a folder of seeds, by name.
///
/// # Panics
/// If the folder cannot be read, or is empty.
pub fn seeds(folder: impl AsRef<Path>) -> Vec<Vec<u8>> {
    let entries = fs::read_dir(folder).expect("the folder of seeds");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a seed").path()).collect();
    assert!(!paths.is_empty(), "no seeds");
    paths.sort();
    paths.iter().map(|path| fs::read(path).expect("a seed")).collect()
}

/// Calls `body` with each seed, then with `count` mutations of them.
pub fn mutate(seeds: &[Vec<u8>], count: usize, mut body: impl FnMut(&[u8])) {
    seeds.iter().for_each(|seed| body(seed));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for _ in 0..count {
        let mut bytes = seeds[random.below(seeds.len())].clone();
        for _ in 0..=random.below(4) {
            let other = &seeds[random.below(seeds.len())];
            change(&mut bytes, other, &mut random);
        }
        body(&bytes);
    }
}

/// One small change, of the kinds that programs and devices make wrong.
fn change(bytes: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    let at = random.below(bytes.len() + 1);
    match random.below(6) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(random.range(bytes.len()))),
        2 => {
            let piece = bytes[random.range(bytes.len())].to_vec();
            drop(bytes.splice(at..at, piece));
        }
        3 => {
            let piece = &other[random.range(other.len())];
            drop(bytes.splice(at..at, piece.iter().copied()));
        }
        4 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
        }
        _ => {
            let width = 1 << random.below(4);
            let end = bytes.len().min(at + width);
            bytes[at..end].copy_from_slice(&random.number().to_le_bytes()[..end - at]);
        }
    }
}

/// xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// 0 to `limit` less one; 0 if there is no such number.
    fn below(&mut self, limit: usize) -> usize {
        (self.next() % (limit as u64).max(1)) as usize
    }

    /// A part of `0..length`.
    fn range(&mut self, length: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..start + self.below(length - start + 1)
    }

    /// A number at which sizes and counts go wrong, or any.
    fn number(&mut self) -> u64 {
        let edges = [0, 1, 1 << 7, 1 << 15, 1 << 16, 1 << 31, 1 << 32, 1 << 63, u64::MAX];
        match self.below(4) {
            0 => self.next(),
            1 => self.next() % 300,
            _ => edges[self.below(edges.len())].wrapping_sub(self.next() % 3),
        }
    }
}
