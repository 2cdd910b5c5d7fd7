//! A column of a row group whose pages we encode ourselves. Parquet's writer looks each value up in
//! a table to make a dictionary. The keys of loads are known already.

use super::bits;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::metadata::{ColumnChunkMetaData, OffsetIndexBuilder, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

/// The level of all our columns.
pub(super) const ZSTD_LEVEL: i32 = 1;

/// The codec of all our columns.
pub(super) fn compression() -> Compression {
    Compression::ZSTD(ZstdLevel::try_new(ZSTD_LEVEL).unwrap_or_default())
}

/// A compressed page, which several columns may hold.
pub(super) struct Squeezed {
    bytes: Bytes,
    /// Its length before.
    whole: usize,
}

/// Compresses pages.
pub(super) struct Squeezer(zstd::bulk::Compressor<'static>);

impl Squeezer {
    pub(super) fn new() -> Result<Self> {
        Ok(Self(zstd::bulk::Compressor::new(ZSTD_LEVEL)?))
    }

    pub(super) fn squeeze(&mut self, body: &[u8]) -> Result<Squeezed> {
        Ok(Squeezed { bytes: self.0.compress(body)?.into(), whole: body.len() })
    }
}

/// Appends something, and its length before it.
fn with_length(out: &mut Vec<u8>, append: impl FnOnce(&mut Vec<u8>)) {
    let start = out.len() + size_of::<u32>();
    out.extend_from_slice(&[0; size_of::<u32>()]);
    append(out);
    let length = (out.len() - start) as u32;
    out[start - size_of::<u32>()..start].copy_from_slice(&length.to_le_bytes());
}

/// A finished column, whose bytes begin with its dictionary.
pub(super) struct Finished {
    pub(super) bytes: Bytes,
    pub(super) close: ColumnCloseResult,
}

/// The pages of a column.
pub(super) struct Chunk {
    column: ColumnDescPtr,
    pages: TrackedWrite<Vec<u8>>,
    index: OffsetIndexBuilder,
    encodings: Vec<PageEncodingStats>,
    rows: usize,
    whole_bytes: usize,
}

impl Chunk {
    pub(super) fn new(column: ColumnDescPtr) -> Self {
        Self {
            column,
            pages: TrackedWrite::new(Vec::new()),
            index: OffsetIndexBuilder::new(),
            encodings: Vec::new(),
            rows: 0,
            whole_bytes: 0,
        }
    }

    /// Appends what says that all of `rows` rows have a value, or that all have none. A column
    /// without nulls needs no such word.
    pub(super) fn levels(&self, rows: usize, present: bool, out: &mut Vec<u8>) {
        if self.column.max_def_level() > 0 {
            with_length(out, |out| bits::run(present.into(), rows, 1, out));
        }
    }

    /// As [`Chunk::levels`], for rows with `count` values: those that are `present`.
    pub(super) fn mixed_levels(&self, present: &[bool], count: usize, out: &mut Vec<u8>) {
        if count == 0 || count == present.len() {
            return self.levels(present.len(), count > 0, out);
        }
        with_length(out, |out| bits::flags(present, out));
    }

    /// Adds a page of values.
    pub(super) fn page(&mut self, rows: usize, encoding: Encoding, body: &Squeezed) -> Result<()> {
        let page = Page::DataPage {
            buf: body.bytes.clone(),
            num_values: rows as u32, // at most those of a row group
            encoding,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let (offset, bytes) = self.write(page, body.whole)?;
        self.index.append_offset_and_size(offset, bytes);
        self.index.append_row_count(rows as i64);
        self.rows += rows;
        Ok(())
    }

    /// Writes a page. Returns where, and the bytes with its header.
    fn write(&mut self, page: Page, whole: usize) -> Result<(i64, i32)> {
        let (page_type, encoding) = (page.page_type(), page.encoding());
        match self
            .encodings
            .iter_mut()
            .find(|of| of.page_type == page_type && of.encoding == encoding)
        {
            Some(found) => found.count += 1,
            None => self.encodings.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
        let written = SerializedPageWriter::new(&mut self.pages)
            .write_page(CompressedPage::new(page, whole))?;
        self.whole_bytes += written.uncompressed_size;
        Ok((written.offset as i64, written.bytes_written as i32))
    }

    /// Ends the column. The dictionary, with the number of its values, comes before the pages; it
    /// is left out if no page uses it.
    pub(super) fn finish(
        mut self,
        dictionary: Option<(&Squeezed, usize)>,
        statistics: Statistics,
    ) -> Result<Finished> {
        let pages = std::mem::replace(&mut self.pages, TrackedWrite::new(Vec::new()));
        let used = |of: &PageEncodingStats| of.encoding == Encoding::RLE_DICTIONARY;
        if let Some((body, values)) = dictionary.filter(|_| self.encodings.iter().any(used)) {
            let page = Page::DictionaryPage {
                buf: body.bytes.clone(),
                num_values: values as u32, // at most the rows of a row group
                encoding: Encoding::PLAIN,
                is_sorted: false,
            };
            self.write(page, body.whole)?;
        }
        let mut bytes = self.pages.into_inner()?;
        let data_at = bytes.len();
        bytes.extend_from_slice(&pages.into_inner()?);
        let mut index = self.index.build();
        index.page_locations.iter_mut().for_each(|page| page.offset += data_at as i64);
        let encodings = self.encodings.iter().map(|of| of.encoding).chain([Encoding::RLE]);
        let metadata = ColumnChunkMetaData::builder(self.column)
            .set_compression(compression())
            .set_encodings(encodings.collect())
            .set_page_encoding_stats(self.encodings)
            .set_total_compressed_size(bytes.len() as i64)
            .set_total_uncompressed_size(self.whole_bytes as i64)
            .set_num_values(self.rows as i64)
            .set_dictionary_page_offset((data_at > 0).then_some(0))
            .set_data_page_offset(data_at as i64)
            .set_statistics(statistics)
            .build()?;
        let close = ColumnCloseResult {
            bytes_written: bytes.len() as u64,
            rows_written: self.rows as u64,
            metadata,
            bloom_filter: None,
            column_index: None,
            offset_index: Some(index),
        };
        Ok(Finished { bytes: bytes.into(), close })
    }
}
