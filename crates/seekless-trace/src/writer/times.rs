//! The column `time_ns`, as differences.

use super::bits;
use super::chunk::{Chunk, Finished, Squeezer};
use parquet::basic::Encoding;
use parquet::errors::Result;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

/// The least and the largest of unsigned numbers.
pub(super) struct Ends {
    least: u64,
    most: u64,
}

pub(super) const NO_ENDS: Ends = Ends { least: u64::MAX, most: 0 };

impl Ends {
    pub(super) fn add(&mut self, values: &[u64]) {
        for &value in values {
            self.least = self.least.min(value);
            self.most = self.most.max(value);
        }
    }

    /// The statistics of a column without nulls that has values.
    pub(super) fn statistics(&self) -> Statistics {
        Statistics::int64(Some(self.least as i64), Some(self.most as i64), None, Some(0), false)
    }
}

/// `time_ns`.
pub(super) struct TimeColumn {
    column: ColumnDescPtr,
    chunk: Chunk,
    ends: Ends,
    body: Vec<u8>,
}

impl TimeColumn {
    pub(super) fn new(column: ColumnDescPtr) -> Self {
        let chunk = Chunk::new(column.clone());
        Self { chunk, column, ends: NO_ENDS, body: Vec::new() }
    }

    pub(super) fn page(&mut self, times: &[u64], squeezer: &mut Squeezer) -> Result<()> {
        self.ends.add(times);
        self.body.clear();
        bits::delta(times, &mut self.body);
        let body = squeezer.squeeze(&self.body)?;
        self.chunk.page(times.len(), Encoding::DELTA_BINARY_PACKED, &body)
    }

    /// Ends the row group.
    pub(super) fn finish(&mut self) -> Result<Finished> {
        let statistics = std::mem::replace(&mut self.ends, NO_ENDS).statistics();
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.column.clone()));
        chunk.finish(None, statistics)
    }
}
