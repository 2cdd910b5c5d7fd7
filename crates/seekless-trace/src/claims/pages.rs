//! Checks each page's header before the page is decoded: how much memory the page will take,
//! together with the pages of the other columns.

use super::absurd;
use super::thrift::{Compact, Kind};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use std::io::{Read, Result};
use std::sync::Mutex;

/// The decoded pages of all columns together may take this, plus this many times the file's size.
/// Files from our own writer need a third of the first number; those with millions of paths need
/// more and are large themselves.
const BYTES_BASE: u64 = 40 << 20;
const BYTES_PER_FILE_BYTE: u64 = 8;
/// All words of `op` together take a hundred bytes. A long word would cost its length for every row
/// that repeats it.
const OP_DICTIONARY_BYTES_MAX: u64 = 1 << 10;
/// The least that a value in a dictionary takes: a 32-bit integer, or the length of a text.
const VALUE_BYTES_MIN: u64 = 4;
/// What a path in a dictionary takes beside its text.
const PATH_BYTES: u64 = 32;
/// The encodings of text that we read. The others can claim any number of values in few bytes, or
/// repeat one long value.
const TEXT_ENCODINGS: [i64; 3] = [0, 2, 8]; // plain, and two numbers for dictionaries
const DATA_PAGE: i64 = 0;
const DICTIONARY_PAGE: i64 = 2;
const DATA_PAGE_V2: i64 = 3;

/// How a column is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Column {
    Number,
    Op,
    Path,
}

/// The pages that one scan holds in memory.
#[derive(Debug)]
pub(crate) struct Pages {
    /// Start, end and column of each column chunk, by start.
    chunks: Vec<(u64, u64, usize)>,
    columns: Vec<Column>,
    held: Mutex<Vec<Held>>,
    bytes_max: u64,
}

/// What a column currently holds in memory, decoded.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    dictionary_bytes: u64,
    page_bytes: u64,
    /// Where the content of the page begins whose header was checked last.
    content_at: u64,
}

impl Pages {
    /// Prepares to check the pages of `columns`, given by their number among the leaves of the
    /// schema, in a file of `file_bytes`.
    ///
    /// # Errors
    /// Two columns overlap, or one has a negative offset.
    pub(crate) fn new(
        parquet: &ParquetMetaData,
        columns: &[(usize, Column)],
        file_bytes: u64,
    ) -> Result<Self> {
        let mut chunks = Vec::new();
        for group in parquet.row_groups() {
            for (at, (leaf, _)) in columns.iter().enumerate() {
                let (start, end) = range(group.column(*leaf))
                    .ok_or_else(|| absurd("has a column at a negative offset"))?;
                chunks.push((start, end, at));
            }
        }
        chunks.sort_unstable();
        if chunks.windows(2).any(|pair| pair[1].0 < pair[0].1) {
            return Err(absurd("has columns that overlap"));
        }
        Ok(Self {
            chunks,
            columns: columns.iter().map(|(_, column)| *column).collect(),
            held: Mutex::new(vec![Held::default(); columns.len()]),
            bytes_max: BYTES_BASE.saturating_add(file_bytes.saturating_mul(BYTES_PER_FILE_BYTE)),
        })
    }

    /// Checks the page whose header begins at `at`; `input` reads from there.
    ///
    /// # Errors
    /// An absurd claim.
    pub(crate) fn check(&self, at: u64, input: impl Read) -> Result<()> {
        let before = self.chunks.partition_point(|&(start, ..)| start <= at);
        let Some(&(_, end, column)) = self.chunks[..before].last().filter(|&&(_, end, _)| at < end)
        else {
            return Err(absurd(format!("has a page at {at}, outside of its columns")));
        };
        let Ok(mut held) = self.held.lock() else {
            return Err(absurd("could not be read by another thread"));
        };
        if held[column].content_at == at {
            return Ok(()); // its header was read before
        }
        let header = Header::read(&mut Compact::new(input, end - at))?;
        let bytes = header.check(self.columns[column])?;
        let all: u64 = held.iter().map(|held| held.dictionary_bytes + held.page_bytes).sum();
        if all.saturating_add(bytes) > self.bytes_max {
            let message = format!(
                "has a page at {at} that claims {bytes} bytes, which is more than a file of its size is trusted with"
            );
            return Err(absurd(message));
        }
        let held = &mut held[column];
        held.content_at = at + header.bytes;
        match header.kind {
            DICTIONARY_PAGE => *held = Held { dictionary_bytes: bytes, page_bytes: 0, ..*held },
            _ => held.page_bytes = bytes,
        }
        Ok(())
    }
}

/// Where a column chunk begins and ends.
fn range(column: &ColumnChunkMetaData) -> Option<(u64, u64)> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let (start, bytes): (u64, u64) =
        (start.try_into().ok()?, column.compressed_size().try_into().ok()?);
    Some((start, start.checked_add(bytes)?))
}

/// The fields of a page's header that we check.
#[derive(Debug, Default)]
struct Header {
    kind: i64,
    content_bytes: i64,
    values: i64,
    encoding: i64,
    /// The length of the header itself.
    bytes: u64,
}

impl Header {
    fn read(input: &mut Compact<impl Read>) -> Result<Self> {
        let mut header = Header::default();
        let mut last = 0;
        while let Some((field, kind)) = input.field(&mut last)? {
            match (field, kind) {
                (1, Kind::I32) => header.kind = input.signed()?,
                (2, Kind::I32) => header.content_bytes = input.signed()?,
                (5, Kind::STRUCT) => header.read_part(input, DATA_PAGE, 2)?,
                (7, Kind::STRUCT) => header.read_part(input, DICTIONARY_PAGE, 2)?,
                (8, Kind::STRUCT) => header.read_part(input, DATA_PAGE_V2, 4)?,
                _ => input.skip(kind)?,
            }
        }
        header.bytes = input.bytes_read();
        Ok(header)
    }

    /// The part of the header that pages of one kind have: the number of values, and the encoding
    /// in field `encoding`.
    fn read_part(&mut self, input: &mut Compact<impl Read>, of: i64, encoding: i64) -> Result<()> {
        let mut last = 0;
        while let Some((field, kind)) = input.field(&mut last)? {
            match (field, kind) {
                (1, Kind::I32) if self.kind == of => self.values = input.signed()?,
                (field, Kind::I32) if self.kind == of && field == encoding => {
                    self.encoding = input.signed()?;
                }
                _ => input.skip(kind)?,
            }
        }
        Ok(())
    }

    /// How many bytes the page will take in memory.
    fn check(&self, column: Column) -> Result<u64> {
        let (Ok(bytes), Ok(values)) =
            (u64::try_from(self.content_bytes), u64::try_from(self.values))
        else {
            return Err(absurd("has a page of negative size"));
        };
        if self.kind == DICTIONARY_PAGE && values > bytes / VALUE_BYTES_MIN {
            return Err(absurd(format!("claims a dictionary of {values} values in {bytes} bytes")));
        }
        match column {
            Column::Op if self.kind == DICTIONARY_PAGE && bytes > OP_DICTIONARY_BYTES_MAX => {
                return Err(absurd(format!("claims {bytes} bytes of words for its column `op`")));
            }
            Column::Op | Column::Path
                if self.kind != DICTIONARY_PAGE && !TEXT_ENCODINGS.contains(&self.encoding) =>
            {
                let message = "has text in a delta encoding, which is not read here: write it plain or as a dictionary";
                return Err(absurd(message));
            }
            _ => {}
        }
        let values_bytes = match column {
            Column::Path if self.kind == DICTIONARY_PAGE => values * PATH_BYTES,
            Column::Number if self.kind == DICTIONARY_PAGE => bytes,
            _ => 0,
        };
        Ok(bytes + values_bytes)
    }
}
