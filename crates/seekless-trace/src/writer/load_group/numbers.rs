//! The columns `bytes` and `file_bytes` of loads.

use super::super::bits;
use super::super::chunk::{Chunk, Finished, Squeezer};
use super::super::times::{Ends, NO_ENDS};
use foldhash::fast::RandomState;
use parquet::basic::Encoding;
use parquet::errors::Result;
use parquet::schema::types::ColumnDescPtr;
use std::collections::HashMap;

/// With more sizes than this, the other pages of a row group have differences instead of keys.
const SIZES_MAX: usize = 1 << 16;

/// `bytes` and `file_bytes`, which have the same values.
pub(super) struct SizeColumns {
    columns: [ColumnDescPtr; 2],
    chunks: [Chunk; 2],
    ends: Ends,
    keys: HashMap<u64, u32, RandomState>,
    /// The sizes that have keys.
    dictionary: Vec<u8>,
    page: Vec<u32>,
    body: Vec<u8>,
    squeezer: Squeezer,
}

impl SizeColumns {
    pub(super) fn new(bytes: ColumnDescPtr, file_bytes: ColumnDescPtr) -> Result<Self> {
        let columns = [bytes, file_bytes];
        Ok(Self {
            chunks: columns.clone().map(Chunk::new),
            columns,
            ends: NO_ENDS,
            keys: HashMap::default(),
            dictionary: Vec::new(),
            page: Vec::new(),
            body: Vec::new(),
            squeezer: Squeezer::new()?,
        })
    }

    pub(super) fn page(&mut self, sizes: &[u64]) -> Result<()> {
        self.ends.add(sizes);
        let encoding = if self.find_keys(sizes) {
            Encoding::RLE_DICTIONARY
        } else {
            Encoding::DELTA_BINARY_PACKED
        };
        self.body.clear();
        let [bytes, file_bytes] = &mut self.chunks;
        file_bytes.levels(sizes.len(), true, &mut self.body);
        let levels = self.body.len();
        match encoding {
            Encoding::RLE_DICTIONARY => bits::keys(&self.page, &mut self.body),
            _ => bits::delta(sizes, &mut self.body),
        }
        let without = self.squeezer.squeeze(&self.body[levels..])?;
        bytes.page(sizes.len(), encoding, &without)?;
        file_bytes.page(sizes.len(), encoding, &self.squeezer.squeeze(&self.body)?)
    }

    /// Looks the keys of a page up. False if there are too many sizes.
    fn find_keys(&mut self, sizes: &[u64]) -> bool {
        self.page.clear();
        let mut last = None;
        for &size in sizes {
            let key = match last {
                Some((before, key)) if before == size => key,
                _ => match self.key(size) {
                    Some(key) => key,
                    None => return false,
                },
            };
            last = Some((size, key));
            self.page.push(key);
        }
        true
    }

    fn key(&mut self, size: u64) -> Option<u32> {
        if self.keys.len() > SIZES_MAX {
            return None;
        }
        let next = self.keys.len() as u32;
        let key = *self.keys.entry(size).or_insert(next);
        if key == next {
            self.dictionary.extend_from_slice(&size.to_le_bytes());
        }
        Some(key)
    }

    /// Ends the row group: `bytes`, then `file_bytes`.
    pub(super) fn finish(&mut self) -> Result<[Finished; 2]> {
        let ends = std::mem::replace(&mut self.ends, NO_ENDS);
        let values = self.keys.len();
        let dictionary = self.squeezer.squeeze(&self.dictionary)?;
        self.keys.clear();
        self.dictionary.clear();
        let [bytes, file_bytes] =
            std::mem::replace(&mut self.chunks, self.columns.clone().map(Chunk::new));
        let finish = |chunk: Chunk| chunk.finish(Some((&dictionary, values)), ends.statistics());
        Ok([finish(bytes)?, finish(file_bytes)?])
    }
}
