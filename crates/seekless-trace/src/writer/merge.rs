//! Joins sorted streams of rows. Of rows of one instant, the earlier stream's come first.

use super::encoder::Encoder;
use super::spill::Spills;
use crate::error::Result;
use crate::names::Names;
use crate::{Access, Metadata, Trace};
use seekless_sys::output::{Content, Destination};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

type Rows = Box<dyn Iterator<Item = Result<Access>>>;

/// An iterator over several sorted ones.
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

/// Merges what `main` holds with the spilled and the last late rows into a new file.
/// Every row of `main` came before each late row of its instant, so `main` is the first stream.
pub(super) fn merge(
    place: &Destination,
    main: Encoder,
    spills: Spills,
    late: Vec<Access>,
    names: &Names,
) -> Result<Encoder> {
    let (main, order) = main.finish_ordered(&Metadata::default())?;
    let main = Trace::from_file(super::again(&main)?, place.path())?;
    let rename = move |row: Result<Access>| row.map(|row| Access { file: order[row.file as usize], ..row });
    let mut sources: Vec<Rows> = vec![Box::new(main.accesses()?.map(rename))];
    sources.extend(spills.into_readers()?);
    sources.push(Box::new(late.into_iter().map(Ok)));

    let mut out = Encoder::create(place.create(Content::Binary)?)?;
    let mut rows = Vec::with_capacity(1 << 13);
    for row in Merged::new(sources)? {
        rows.push(row?);
        if rows.len() == rows.capacity() {
            out.write(&rows, names)?;
            rows.clear();
        }
    }
    out.write(&rows, names)?;
    Ok(out)
}
