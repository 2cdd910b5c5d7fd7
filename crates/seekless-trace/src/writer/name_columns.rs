//! The columns `file` and `path`. Both have the keys by which files first appear in the row group,
//! so one page of keys serves both.

use super::bits;
use super::chunk::{Chunk, Finished, Squeezer};
use parquet::basic::Encoding;
use parquet::data_type::ByteArray;
use parquet::errors::Result;
use parquet::file::statistics::Statistics;
use parquet::schema::types::ColumnDescPtr;
use std::ops::Range;

/// The two columns.
pub(super) struct NameColumns {
    /// The key of each file, counted from the first row group. Those of this group are not below
    /// `start`.
    keys: Vec<u32>,
    start: u32,
    next: u32,
    files: Column,
    paths: Column,
    /// The least and the largest path, in the dictionary.
    ends: Option<[Range<usize>; 2]>,
    page: Vec<u32>,
    body: Vec<u8>,
}

struct Column {
    column: ColumnDescPtr,
    chunk: Chunk,
    dictionary: Vec<u8>,
}

impl Column {
    fn new(column: ColumnDescPtr) -> Self {
        Self { chunk: Chunk::new(column.clone()), column, dictionary: Vec::new() }
    }

    fn finish(
        &mut self,
        values: usize,
        statistics: Statistics,
        squeezer: &mut Squeezer,
    ) -> Result<Finished> {
        let dictionary = squeezer.squeeze(&self.dictionary)?;
        self.dictionary.clear();
        let chunk = std::mem::replace(&mut self.chunk, Chunk::new(self.column.clone()));
        chunk.finish(Some((&dictionary, values)), statistics)
    }
}

/// The key of a file that appeared in no row group.
const UNKNOWN: u32 = 0;

impl NameColumns {
    pub(super) fn new(file: ColumnDescPtr, path: ColumnDescPtr) -> Self {
        Self {
            keys: Vec::new(),
            start: UNKNOWN + 1,
            next: UNKNOWN + 1,
            files: Column::new(file),
            paths: Column::new(path),
            ends: None,
            page: Vec::new(),
            body: Vec::new(),
        }
    }

    /// Adds a page: the number of each row's file. `name` appends the name of the file of a row.
    pub(super) fn page(
        &mut self,
        files: &[u32],
        name: impl Fn(usize, &mut Vec<u8>),
        squeezer: &mut Squeezer,
    ) -> Result<()> {
        let most = files.iter().copied().max().map_or(0, |file| file as usize + 1);
        if most > self.keys.len() {
            self.keys.resize(most, UNKNOWN);
        }
        self.page.clear();
        for (at, &file) in files.iter().enumerate() {
            let mut key = self.keys[file as usize];
            if key < self.start {
                key = self.enter(file, |text| name(at, text));
            }
            self.page.push(key - self.start);
        }
        self.body.clear();
        bits::keys(&self.page, &mut self.body);
        let body = squeezer.squeeze(&self.body)?;
        self.files.chunk.page(files.len(), Encoding::RLE_DICTIONARY, &body)?;
        self.paths.chunk.page(files.len(), Encoding::RLE_DICTIONARY, &body)
    }

    /// Puts a file that is new in this row group into the dictionaries.
    fn enter(&mut self, file: u32, name: impl Fn(&mut Vec<u8>)) -> u32 {
        let key = self.next;
        self.keys[file as usize] = key;
        self.next += 1;
        self.files.dictionary.extend_from_slice(&file.to_le_bytes());
        let text = &mut self.paths.dictionary;
        let start = text.len() + size_of::<u32>();
        text.extend_from_slice(&[0; size_of::<u32>()]);
        name(text);
        let place = start..text.len();
        let length = (place.len() as u32).to_le_bytes(); // a path is far shorter
        text[start - length.len()..start].copy_from_slice(&length);
        let [least, most] = self.ends.get_or_insert_with(|| [place.clone(), place.clone()]);
        if text[place.clone()] < text[least.clone()] {
            *least = place;
        } else if text[place.clone()] > text[most.clone()] {
            *most = place;
        }
        key
    }

    /// How many bytes the dictionary of the paths takes.
    pub(super) fn dictionary_bytes(&self) -> usize {
        self.paths.dictionary.len()
    }

    /// Ends the row group: `file`, then `path`.
    pub(super) fn finish(&mut self, squeezer: &mut Squeezer) -> Result<[Finished; 2]> {
        let values = (self.next - self.start) as usize;
        let numbers = self
            .files
            .dictionary
            .chunks_exact(4)
            .filter_map(|bytes| bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)));
        let (least, most) = numbers
            .fold((u32::MAX, 0), |(least, most), number| (least.min(number), most.max(number)));
        let of_files =
            Statistics::int32(Some(least as i32), Some(most as i32), None, Some(0), false);
        let text = |place: Range<usize>| ByteArray::from(self.paths.dictionary[place].to_vec());
        let [least, most] =
            self.ends.take().map_or([None, None], |ends| ends.map(|of| Some(text(of))));
        let of_paths = Statistics::byte_array(least, most, None, Some(0), false);
        self.start = self.next;
        if self.start > u32::MAX / 2 {
            // The keys of a row group are far fewer than the other half.
            self.keys.fill(UNKNOWN);
            (self.start, self.next) = (UNKNOWN + 1, UNKNOWN + 1);
        }
        Ok([
            self.files.finish(values, of_files, squeezer)?,
            self.paths.finish(values, of_paths, squeezer)?,
        ])
    }
}
