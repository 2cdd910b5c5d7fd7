//! Scores an order of files for a run: seeks, block runs and amplification, of first loads only.

use seekless_policy::eviction::Id;
use serde::Serialize;

/// The default size of a block.
pub const BLOCK_BYTES: u64 = 128 << 10;

/// The score of a run on files laid end to end. Each file is loaded once, at its first load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RunScore {
    /// First loads.
    pub loads: u64,
    /// Loads of a file that does not lie directly after the file loaded before. The first load of
    /// the run is not counted.
    pub seeks: u64,
    /// Maximal runs of touched blocks.
    pub block_runs: u64,
    /// Blocks that hold at least one byte of a loaded file.
    pub touched_blocks: u64,
    /// Bytes of a block.
    pub block_bytes: u64,
    /// Bytes of the loaded files.
    pub unique_bytes: u64,
}

impl RunScore {
    /// Seeks divided by first loads, 0 to 1.
    #[must_use]
    pub fn seek_share(&self) -> f64 {
        self.seeks as f64 / self.loads.max(1) as f64
    }

    /// Bytes of touched blocks for each byte loaded. 1 is ideal.
    #[must_use]
    pub fn amplification(&self) -> f64 {
        (self.touched_blocks * self.block_bytes) as f64 / self.unique_bytes.max(1) as f64
    }
}

/// The place of each file in an order.
#[derive(Clone, Debug)]
pub struct Placement<'a> {
    bytes: &'a [u64],
    /// The rank of each id in the order; `Id::MAX` if the order does not contain it.
    ranks: Vec<Id>,
    /// First byte of each id.
    offsets: Vec<u64>,
}

impl<'a> Placement<'a> {
    /// Lays the files of `order` end to end, with their sizes as given.
    #[must_use]
    pub fn new(order: &[Id], bytes: &'a [u64]) -> Self {
        let mut ranks = vec![Id::MAX; bytes.len()];
        let mut offsets = vec![0; bytes.len()];
        let mut offset = 0;
        for (rank, &id) in order.iter().enumerate().filter(|(_, id)| (**id as usize) < bytes.len())
        {
            ranks[id as usize] = rank as Id;
            offsets[id as usize] = offset;
            offset += bytes[id as usize];
        }
        Self { bytes, ranks, offsets }
    }

    /// Scores the loads of a run in time order. Repeated loads, and files that the order does not
    /// contain, are skipped.
    #[must_use]
    pub fn score(&self, run: &[Id], block_bytes: u64) -> RunScore {
        let firsts = self.first_loads(run);
        let ranks = firsts.iter().map(|&id| self.ranks[id as usize]);
        let seeks =
            ranks.clone().zip(ranks.skip(1)).filter(|&(before, rank)| rank != before + 1).count();
        let (touched_blocks, block_runs) = self.blocks(&firsts, block_bytes);
        RunScore {
            loads: firsts.len() as u64,
            seeks: seeks as u64,
            block_runs,
            touched_blocks,
            block_bytes,
            unique_bytes: firsts.iter().map(|&id| self.bytes[id as usize]).sum(),
        }
    }

    /// First byte of each file that the run loads, in the order of its first loads.
    #[must_use]
    pub fn course(&self, run: &[Id]) -> Vec<u64> {
        self.first_loads(run).iter().map(|&id| self.offsets[id as usize]).collect()
    }

    fn first_loads(&self, run: &[Id]) -> Vec<Id> {
        let mut loaded = vec![false; self.bytes.len()];
        let placed = |id: &Id| self.ranks.get(*id as usize).is_some_and(|&rank| rank != Id::MAX);
        run.iter()
            .copied()
            .filter(placed)
            .filter(|&id| !std::mem::replace(&mut loaded[id as usize], true))
            .collect()
    }

    /// The number of touched blocks, and of maximal runs of them. A file of 0 bytes touches no
    /// block.
    fn blocks(&self, files: &[Id], block_bytes: u64) -> (u64, u64) {
        let blocks_of = |&id: &Id| {
            let (offset, bytes) = (self.offsets[id as usize], self.bytes[id as usize]);
            (bytes > 0).then(|| (offset / block_bytes, (offset + bytes - 1) / block_bytes))
        };
        let mut ranges: Vec<(u64, u64)> = files.iter().filter_map(blocks_of).collect();
        ranges.sort_unstable();
        let (mut touched, mut runs, mut next) = (0, 0, None);
        for (first, last) in ranges {
            let fresh = next.map_or(first, |next| first.max(next));
            runs += u64::from(next.is_none_or(|next| first > next));
            touched += (last + 1).saturating_sub(fresh);
            next = Some(next.map_or(last + 1, |next: u64| next.max(last + 1)));
        }
        (touched, runs)
    }
}

/// Scores one run on one order. To score several runs, keep the [`Placement`].
#[must_use]
pub fn score(order: &[Id], bytes: &[u64], run: &[Id], block_bytes: u64) -> RunScore {
    Placement::new(order, bytes).score(run, block_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_next_file_in_place_is_no_seek_and_the_first_load_neither() {
        let score = score(&[3, 1, 2, 0], &[10; 4], &[3, 1, 3, 0, 2, 2], 16);
        // 3, 1 neighbours; 1 to 0 skips 2; 0 to 2 goes back.
        assert_eq!((score.loads, score.seeks), (4, 2));
        assert_eq!((score.touched_blocks, score.block_runs, score.unique_bytes), (3, 1, 40));
        assert_eq!(score.seek_share(), 0.5);
        assert_eq!(score.amplification(), 48.0 / 40.0);
    }

    #[test]
    fn a_file_that_is_not_in_the_order_is_passed_over() {
        let score = score(&[1, 0], &[5, 5, 5], &[1, 2, 0, 77], 4);
        assert_eq!((score.loads, score.seeks), (2, 0));
    }

    proptest! {
        #[test]
        fn blocks_equal_a_set_of_blocks(
            bytes in prop::collection::vec(0u64..40, 1..30),
            run in prop::collection::vec(0u32..30, 0..30),
            block_bytes in 1u64..30,
        ) {
            let order: Vec<Id> = (0..bytes.len() as Id).rev().collect();
            let score = score(&order, &bytes, &run, block_bytes);
            let mut blocks = BTreeSet::new();
            for &id in run.iter().filter(|&&id| (id as usize) < bytes.len()) {
                let offset: u64 = bytes[id as usize + 1..].iter().sum();
                blocks.extend((offset..offset + bytes[id as usize]).map(|byte| byte / block_bytes));
            }
            let runs = blocks.iter().filter(|&&block| block == 0 || !blocks.contains(&(block - 1))).count();
            prop_assert_eq!(score.touched_blocks, blocks.len() as u64);
            prop_assert_eq!(score.block_runs, runs as u64);
        }
    }
}
