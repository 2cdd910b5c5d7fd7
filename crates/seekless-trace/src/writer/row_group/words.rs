//! The column `op`: the keys of the few words that name a kind of access.

use super::super::bits;
use super::super::chunk::{Chunk, Finished, Squeezer};
use crate::Op;
use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

/// The key of a word that has none yet.
const UNKNOWN: u32 = u32::MAX;

/// The column.
pub(super) struct OpColumn {
    column: ColumnDescPtr,
    chunk: Chunk,
    /// By the number of the kind.
    keys: [u32; Op::ALL.len()],
    /// The kinds that have keys, in their order.
    known: Vec<Op>,
    page: Vec<u32>,
    body: Vec<u8>,
}

impl OpColumn {
    pub(super) fn new(column: ColumnDescPtr) -> Self {
        Self {
            chunk: Chunk::new(column.clone()),
            column,
            keys: [UNKNOWN; Op::ALL.len()],
            known: Vec::new(),
            page: Vec::new(),
            body: Vec::new(),
        }
    }

    pub(super) fn page(&mut self, ops: &[Op], squeezer: &mut Squeezer) -> Result<()> {
        self.page.clear();
        for &op in ops {
            let key = &mut self.keys[op as usize];
            if *key == UNKNOWN {
                *key = self.known.len() as u32; // at most the kinds there are
                self.known.push(op);
            }
            self.page.push(*key);
        }
        self.body.clear();
        bits::keys(&self.page, &mut self.body);
        let body = squeezer.squeeze(&self.body)?;
        self.chunk.page(ops.len(), Encoding::RLE_DICTIONARY, &body)
    }

    /// Ends the row group.
    pub(super) fn finish(&mut self, squeezer: &mut Squeezer) -> Result<Finished> {
        let known = std::mem::take(&mut self.known);
        self.keys = [UNKNOWN; Op::ALL.len()];
        let words = || known.iter().map(|op| op.as_str());
        let mut dictionary = Vec::new();
        for word in words() {
            dictionary.extend_from_slice(&(word.len() as u32).to_le_bytes());
            dictionary.extend_from_slice(word.as_bytes());
        }
        let [least, most] = [words().min(), words().max()].map(|word| word.map(ByteArray::from));
        let statistics = Statistics::byte_array(least, most, None, Some(0), false);
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.column.clone()));
        chunk.finish(Some((&squeezer.squeeze(&dictionary)?, known.len())), statistics)
    }
}
