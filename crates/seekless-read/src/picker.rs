//! Where to read next (Van Meter and Gao 2000, section 4.2): the cheapest bytes first, the lowest
//! offset among equals, every byte exactly once. It does no I/O. It is for programs that read by
//! themselves, and for the C calls `sleds_pick_*`; [`Reader`](crate::Reader) reads as well.

use crate::Records;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A range of a file and its cost, in any unit: only the order of costs matters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Priced {
    /// Which bytes.
    pub range: Range<u64>,
    /// Lower costs come sooner.
    pub cost: u64,
}

/// Finds delimiters by reading the file. The picker asks only within ranges of one cost.
pub trait FindDelimiter {
    /// The error of reading.
    type Error;
    /// One past the first delimiter in `range`.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn first(&mut self, range: Range<u64>) -> Result<Option<u64>, Self::Error>;
    /// One past the last delimiter in `range`.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn last(&mut self, range: Range<u64>) -> Result<Option<u64>, Self::Error>;
}

/// Never finds a delimiter, for files that have no delimiter.
#[derive(Clone, Copy, Debug)]
pub struct NoDelimiter;

impl FindDelimiter for NoDelimiter {
    type Error = std::convert::Infallible;
    fn first(&mut self, _: Range<u64>) -> Result<Option<u64>, Self::Error> {
        Ok(None)
    }
    fn last(&mut self, _: Range<u64>) -> Result<Option<u64>, Self::Error> {
        Ok(None)
    }
}

/// Advises where to read next. It does not check that the advice is followed.
#[derive(Clone, Debug)]
pub struct Picker {
    records: Records,
    chunk_bytes: u64,
    end: u64,
    /// The ranges not yet handed out: by offset, their end and cost.
    unseen: BTreeMap<u64, (u64, u64)>,
    /// The same by cost, then offset.
    cheapest: BTreeSet<(u64, u64)>,
}

impl Picker {
    /// A picker over `ranges`, which are in order and without gaps, in chunks of at most
    /// `chunk_bytes`. A longer record is one chunk. The edges between ranges of different cost move
    /// to record boundaries, and the fragment goes to the costlier side (Fig. 4). So no chunk of a
    /// cheap range reaches into a costly one.
    ///
    /// # Errors
    /// What `find` returns, if the records end with a delimiter.
    pub fn new<F: FindDelimiter>(
        ranges: Vec<Priced>,
        chunk_bytes: u64,
        records: Records,
        find: &mut F,
    ) -> Result<Self, F::Error> {
        let end = ranges.last().map_or(0, |last| last.range.end);
        let (unseen, cheapest) = (BTreeMap::new(), BTreeSet::new());
        let mut picker = Picker { records, chunk_bytes: chunk_bytes.max(1), end, unseen, cheapest };
        picker.add(ranges, find)?;
        Ok(picker)
    }

    /// The next chunk to read; `None` when every byte was handed out.
    ///
    /// # Errors
    /// What `find` returns.
    pub fn next_read<F: FindDelimiter>(
        &mut self,
        find: &mut F,
    ) -> Result<Option<Range<u64>>, F::Error> {
        let Some(&(cost, start)) = self.cheapest.first() else { return Ok(None) };
        let end = self.unseen.get(&start).map_or(start, |&(end, _)| end);
        let cut = self.cut(start..end, find)?;
        self.cheapest.remove(&(cost, start));
        self.unseen.remove(&start);
        if cut < end {
            self.unseen.insert(cut, (end, cost));
            self.cheapest.insert((cost, cut));
        }
        Ok(Some(start..cut))
    }

    /// Sets new prices for what has not been handed out; `ranges` cover the file, in order and
    /// without gaps.
    ///
    /// # Errors
    /// What `find` returns.
    pub fn refresh<F: FindDelimiter>(
        &mut self,
        ranges: &[Priced],
        find: &mut F,
    ) -> Result<(), F::Error> {
        let mut left: Vec<Range<u64>> = Vec::new();
        for (&start, &(end, _)) in &self.unseen {
            match left.last_mut() {
                Some(last) if last.end == start => last.end = end,
                _ => left.push(start..end),
            }
        }
        (self.unseen, self.cheapest) = (BTreeMap::new(), BTreeSet::new());
        for part in left {
            let within = ranges.iter().map(|priced| Priced {
                range: priced.range.start.max(part.start)..priced.range.end.min(part.end),
                cost: priced.cost,
            });
            self.add(within.filter(|priced| !priced.range.is_empty()).collect(), find)?;
        }
        Ok(())
    }

    /// Hands out chunks of at most this many bytes from now on.
    pub fn set_chunk_bytes(&mut self, bytes: u64) {
        self.chunk_bytes = bytes.max(1);
    }

    /// The ranges not yet handed out, in order.
    pub fn unseen(&self) -> impl Iterator<Item = Range<u64>> {
        self.unseen.iter().map(|(&start, &(end, _))| start..end)
    }

    /// Bytes not yet handed out.
    #[must_use]
    pub fn unseen_bytes(&self) -> u64 {
        self.unseen.iter().map(|(start, (end, _))| end - start).sum()
    }

    /// Adds adjacent ranges, and moves their inner edges to record boundaries.
    fn add<F: FindDelimiter>(&mut self, ranges: Vec<Priced>, find: &mut F) -> Result<(), F::Error> {
        let mut ranges = merged(ranges);
        if self.records != Records::None {
            // Cheap ranges first: the fragments that they give away belong to costlier ones, which
            // come later.
            let mut order: Vec<usize> = (0..ranges.len()).collect();
            order.sort_by_key(|&at| ranges[at].cost);
            for at in order {
                self.pull_in(&mut ranges, at, find)?;
            }
        }
        for Priced { range, cost } in ranges.into_iter().filter(|priced| !priced.range.is_empty()) {
            self.unseen.insert(range.start, (range.end, cost));
            self.cheapest.insert((cost, range.start));
        }
        Ok(())
    }

    /// Moves the edges of a range inwards to record boundaries where its neighbour is costlier.
    fn pull_in<F: FindDelimiter>(
        &self,
        ranges: &mut [Priced],
        at: usize,
        find: &mut F,
    ) -> Result<(), F::Error> {
        let Priced { range, cost } = ranges[at].clone();
        if range.is_empty() {
            return Ok(());
        }
        let left = (0..at).rev().find(|&left| !ranges[left].range.is_empty());
        let right = (at + 1..ranges.len()).find(|&right| !ranges[right].range.is_empty());
        let costlier = |other: &usize| ranges[*other].cost > cost;
        let (left, right) = (left.filter(costlier), right.filter(costlier));
        let (mut start, mut end) = (range.start, range.end);
        if let Some(left) = left {
            let Some(boundary) = self.first_boundary(range.clone(), find)? else {
                ranges[at].range = range.end..range.end;
                give_all(ranges, left, range.end, right);
                return Ok(());
            };
            start = boundary;
            ranges[left].range.end = start;
        }
        if let Some(right) = right {
            end = if start < end {
                self.last_boundary(start..end, find)?.unwrap_or(start)
            } else {
                start
            };
            ranges[right].range.start = end;
        }
        ranges[at].range = start..end;
        Ok(())
    }

    /// The first place in the range where a record starts.
    fn first_boundary<F: FindDelimiter>(
        &self,
        range: Range<u64>,
        find: &mut F,
    ) -> Result<Option<u64>, F::Error> {
        match self.records {
            _ if self.records.starts_at(range.start) => Ok(Some(range.start)),
            Records::Delimiter(_) | Records::Either(..) => find.first(range),
            _ => Ok(self.boundary_after(range.start).filter(|&cut| cut <= range.end)),
        }
    }

    /// The last place in the range, not its start, where a record ends.
    fn last_boundary<F: FindDelimiter>(
        &self,
        range: Range<u64>,
        find: &mut F,
    ) -> Result<Option<u64>, F::Error> {
        if range.end == self.end {
            return Ok(Some(range.end));
        }
        match self.records {
            Records::None => Ok(Some(range.end)),
            Records::Delimiter(_) | Records::Either(..) => find.last(range),
            Records::Fixed { origin, bytes } => {
                let last = range
                    .end
                    .checked_sub(origin)
                    .map(|after| origin + after / bytes.max(1) * bytes.max(1));
                Ok(last.filter(|&cut| cut > range.start))
            }
        }
    }

    /// The next boundary of fixed records after `offset`.
    fn boundary_after(&self, offset: u64) -> Option<u64> {
        let Records::Fixed { origin, bytes } = self.records else { return None };
        let bytes = bytes.max(1);
        match offset.checked_sub(origin) {
            None => Some(origin),
            Some(after) => (after / bytes + 1).checked_mul(bytes)?.checked_add(origin),
        }
    }

    /// Where a chunk from the start of the range ends.
    fn cut<F: FindDelimiter>(&self, range: Range<u64>, find: &mut F) -> Result<u64, F::Error> {
        let full = range.start.saturating_add(self.chunk_bytes);
        if full >= range.end || self.records == Records::None {
            return Ok(full.min(range.end));
        }
        if let Some(cut) = self.last_boundary(range.start..full, find)? {
            return Ok(cut);
        }
        let next = match self.records {
            Records::Delimiter(_) | Records::Either(..) => find.first(full..range.end)?,
            _ => self.boundary_after(range.start),
        };
        Ok(next.unwrap_or(range.end).min(range.end))
    }
}

/// Gives all of a range without a whole record, up to `end`, to the left neighbour. If both
/// neighbours cost the same, they become one range. Otherwise the edge between them moves when the
/// cheaper one has its turn.
fn give_all(ranges: &mut [Priced], left: usize, end: u64, right: Option<usize>) {
    ranges[left].range.end = end;
    if let Some(right) = right.filter(|&right| ranges[right].cost == ranges[left].cost) {
        ranges[left].range.end = ranges[right].range.end;
        ranges[right].range.start = ranges[right].range.end;
    }
}

/// Neighbours of one cost as one.
fn merged(ranges: Vec<Priced>) -> Vec<Priced> {
    let mut merged: Vec<Priced> = Vec::with_capacity(ranges.len());
    for priced in ranges.into_iter().filter(|priced| !priced.range.is_empty()) {
        match merged.last_mut() {
            Some(last) if last.cost == priced.cost && last.range.end == priced.range.start => {
                last.range.end = priced.range.end;
            }
            _ => merged.push(priced),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
