//! Merges sorted streams of rows. Rows of one instant come in the order of the streams.

use crate::Access;
use crate::error::Result;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub(super) type Rows = Box<dyn Iterator<Item = Result<Access>>>;

/// An iterator over several sorted streams.
pub(super) struct Merged {
    sources: Vec<Rows>,
    heads: Vec<Option<Access>>,
    heap: BinaryHeap<Reverse<((u32, u64), usize)>>,
}

impl Merged {
    pub(super) fn new(sources: Vec<Rows>) -> Result<Self> {
        let heads = vec![None; sources.len()];
        let mut merged = Merged { sources, heads, heap: BinaryHeap::new() };
        (0..merged.sources.len()).try_for_each(|at| merged.advance(at))?;
        Ok(merged)
    }

    fn advance(&mut self, at: usize) -> Result<()> {
        self.heads[at] = self.sources[at].next().transpose()?;
        if let Some(row) = &self.heads[at] {
            self.heap.push(Reverse((row.key(), at)));
        }
        Ok(())
    }
}

impl Iterator for Merged {
    type Item = Result<Access>;

    fn next(&mut self) -> Option<Result<Access>> {
        let Reverse((_, at)) = self.heap.pop()?;
        let row = self.heads[at].take()?;
        match self.advance(at) {
            Ok(()) => Some(Ok(row)),
            Err(error) => Some(Err(error)),
        }
    }
}
