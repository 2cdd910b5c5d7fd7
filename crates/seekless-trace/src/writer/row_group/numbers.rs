//! A column of integers, with gaps in some rows: keys of a dictionary where values repeat, or
//! differences.

use super::super::bits;
use super::super::chunk::{Chunk, Finished, Squeezer};
use foldhash::fast::RandomState;
use hashbrown::HashMap;
use parquet::basic::{Encoding, Type};
use parquet::errors::Result;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;

/// With more values than this, the other pages of a row group have no keys.
const KEYS_MAX: usize = 1 << 16;

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// As keys of a dictionary, as long as there are few values.
    Keys,
    /// As differences.
    Differences,
}

/// How values are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    Unsigned,
    Signed,
}

/// Flipping the sign makes signed numbers compare as unsigned ones.
const SIGN: u64 = 1 << 63;

/// The column.
pub(super) struct NumberColumn {
    column: ColumnDescPtr,
    chunk: Chunk,
    coding: Coding,
    order: Order,
    keys: HashMap<u64, u32, RandomState>,
    /// The last value that was looked up, with its key.
    last: Option<(u64, u32)>,
    /// The values that have keys.
    dictionary: Vec<u8>,
    /// The least and the largest value, in an order of unsigned numbers.
    ends: Option<(u64, u64)>,
    nulls: u64,
    page: Vec<u32>,
    body: Vec<u8>,
}

impl NumberColumn {
    pub(super) fn new(column: ColumnDescPtr, coding: Coding, order: Order) -> Self {
        Self {
            chunk: Chunk::new(column.clone()),
            column,
            coding,
            order,
            keys: HashMap::default(),
            last: None,
            dictionary: Vec::new(),
            ends: None,
            nulls: 0,
            page: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a page of values. `present` says of each row whether it has one, if some may have none.
    pub(super) fn page(
        &mut self,
        values: &[u64],
        present: Option<&[bool]>,
        squeezer: &mut Squeezer,
    ) -> Result<()> {
        let rows = present.map_or(values.len(), <[bool]>::len);
        self.nulls += (rows - values.len()) as u64;
        self.body.clear();
        if let Some(present) = present {
            self.chunk.mixed_levels(present, values.len(), &mut self.body);
        }
        let encoding = self.encode(values);
        self.chunk.page(rows, encoding, &squeezer.squeeze(&self.body)?)
    }

    /// Appends the values to the body of the page.
    fn encode(&mut self, values: &[u64]) -> Encoding {
        if values.is_empty() {
            return Encoding::PLAIN;
        }
        if self.coding == Coding::Keys && self.find_keys(values) {
            bits::keys(&self.page, &mut self.body);
            return Encoding::RLE_DICTIONARY;
        }
        self.compare(values);
        if self.is_narrow() {
            self.body.extend(values.iter().flat_map(|value| (*value as u32).to_le_bytes()));
            return Encoding::PLAIN;
        }
        bits::delta(values, &mut self.body);
        Encoding::DELTA_BINARY_PACKED
    }

    fn is_narrow(&self) -> bool {
        self.column.physical_type() == Type::INT32
    }

    /// Looks the keys of a page up. False if there are too many values.
    fn find_keys(&mut self, values: &[u64]) -> bool {
        self.page.clear();
        for &value in values {
            let key = match self.last {
                Some((before, key)) if before == value => key,
                _ => match self.key(value) {
                    Some(key) => key,
                    None => return false,
                },
            };
            self.page.push(key);
        }
        true
    }

    fn key(&mut self, value: u64) -> Option<u32> {
        let next = self.keys.len() as u32; // at most one more than KEYS_MAX
        let key = match self.keys.get(&value) {
            Some(key) => *key,
            None if self.keys.len() > KEYS_MAX => return None,
            None => {
                self.keys.insert(value, next);
                self.compare(&[value]);
                let bytes = if self.is_narrow() { size_of::<u32>() } else { size_of::<u64>() };
                self.dictionary.extend_from_slice(&value.to_le_bytes()[..bytes]);
                next
            }
        };
        self.last = Some((value, key));
        Some(key)
    }

    /// Notes the ends of some values.
    fn compare(&mut self, values: &[u64]) {
        let sign = if self.order == Order::Signed { SIGN } else { 0 };
        let (mut least, mut most) = self.ends.unwrap_or((u64::MAX, 0));
        for &value in values {
            least = least.min(value ^ sign);
            most = most.max(value ^ sign);
        }
        self.ends = Some((least, most));
    }

    /// Ends the row group.
    pub(super) fn finish(&mut self, squeezer: &mut Squeezer) -> Result<Finished> {
        let statistics = self.statistics();
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.column.clone()));
        let dictionary = squeezer.squeeze(&self.dictionary)?;
        let values = self.keys.len();
        self.keys.clear();
        self.dictionary.clear();
        (self.last, self.ends, self.nulls) = (None, None, 0);
        chunk.finish(Some((&dictionary, values)), statistics)
    }

    fn statistics(&self) -> Statistics {
        let sign = if self.order == Order::Signed { SIGN } else { 0 };
        let ends = self.ends.map(|(least, most)| [least ^ sign, most ^ sign]);
        let [least, most] = ends.map_or([None; 2], |ends| ends.map(Some));
        let nulls = Some(self.nulls);
        if self.is_narrow() {
            let narrow = |value: u64| value as i32;
            return Statistics::int32(least.map(narrow), most.map(narrow), None, nulls, false);
        }
        let wide = |value: u64| value as i64;
        Statistics::int64(least.map(wide), most.map(wide), None, nulls, false)
    }
}
