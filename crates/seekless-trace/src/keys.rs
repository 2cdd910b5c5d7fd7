//! Reads a column of words by the keys of its dictionary, so that no word is made for each row.

mod page;

use crate::source::Source;
use page::KeyPage;
use parquet::basic::{Encoding, PageType};
use parquet::column::page::{Page, PageReader};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, ParquetMetaData};
use parquet::file::serialized_reader::SerializedPageReader;
use std::sync::Arc;

/// A column in which each row has a word of a dictionary.
pub(crate) struct Keys<T> {
    source: Arc<Source>,
    parquet: Arc<ParquetMetaData>,
    /// Its number among the leaves of the schema.
    column: usize,
    next_group: usize,
    pages: Option<SerializedPageReader<Source>>,
    /// What the words of the row group's dictionary mean.
    words: Vec<T>,
    page: KeyPage,
}

impl<T> std::fmt::Debug for Keys<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keys").field("column", &self.column).finish_non_exhaustive()
    }
}

impl<T: Copy> Keys<T> {
    /// `None` if the file does not say that all rows have keys.
    pub(crate) fn new(
        source: &Arc<Source>,
        parquet: &Arc<ParquetMetaData>,
        column: usize,
    ) -> Option<Self> {
        let required = parquet.file_metadata().schema_descr().column(column).max_def_level() == 0;
        let groups = parquet.row_groups();
        if !required || !groups.iter().all(|group| holds_keys(group.column(column))) {
            return None;
        }
        Some(Keys {
            source: source.clone(),
            parquet: parquet.clone(),
            column,
            next_group: 0,
            pages: None,
            words: Vec::new(),
            page: KeyPage::default(),
        })
    }

    /// What the words of the next `rows` rows mean, by `meaning` of each word of the dictionaries.
    ///
    /// # Errors
    /// The column is damaged, or ends before.
    pub(crate) fn next(
        &mut self,
        rows: usize,
        mut meaning: impl FnMut(&[u8]) -> T,
    ) -> Result<Vec<T>> {
        let mut out = Vec::with_capacity(rows);
        while out.len() < rows {
            if self.page.is_empty() {
                self.turn_page(&mut meaning)?;
            }
            let wanted = rows - out.len();
            self.page.read(wanted, &self.words, &mut out).ok_or_else(damaged)?;
        }
        Ok(out)
    }

    fn turn_page(&mut self, meaning: &mut impl FnMut(&[u8]) -> T) -> Result<()> {
        let next = self.pages.as_mut().map(PageReader::get_next_page).transpose()?;
        match next.flatten() {
            None => self.open_group()?,
            Some(Page::DictionaryPage { buf, num_values, .. }) => {
                self.words.clear();
                let mut rest = &buf[..];
                for _ in 0..num_values {
                    let (word, behind) = split_word(rest).ok_or_else(damaged)?;
                    self.words.push(meaning(word));
                    rest = behind;
                }
            }
            // A column without gaps has no levels, with which a page could begin.
            Some(page) if is_keys(page.encoding()) => {
                let values = page.num_values() as usize;
                self.page = KeyPage::new(page.buffer().clone(), values).ok_or_else(damaged)?;
            }
            Some(_) => return Err(damaged()),
        }
        Ok(())
    }

    fn open_group(&mut self) -> Result<()> {
        let group = self.parquet.row_groups().get(self.next_group).ok_or_else(damaged)?;
        self.next_group += 1;
        let rows = group.num_rows().try_into().unwrap_or(0);
        let column = group.column(self.column);
        self.pages = Some(SerializedPageReader::new(self.source.clone(), column, rows, None)?);
        Ok(())
    }
}

fn is_keys(encoding: Encoding) -> bool {
    encoding == Encoding::RLE_DICTIONARY
}

/// Whether a chunk says that all its pages of rows hold keys.
fn holds_keys(chunk: &ColumnChunkMetaData) -> bool {
    if let Some(encodings) = chunk.page_encoding_stats_mask() {
        return encodings.is_only(Encoding::RLE_DICTIONARY);
    }
    let of_rows = |kind| matches!(kind, PageType::DATA_PAGE | PageType::DATA_PAGE_V2);
    chunk.page_encoding_stats().is_some_and(|stats| {
        stats.iter().all(|stats| !of_rows(stats.page_type) || is_keys(stats.encoding))
    })
}

fn damaged() -> ParquetError {
    ParquetError::General("a page of keys is damaged or missing".to_owned())
}

/// A word of a dictionary, and the bytes behind it.
fn split_word(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk()?;
    rest.split_at_checked(u32::from_le_bytes(*length) as usize)
}
