//! Positioned reads of an opened file for the Parquet reader, so that several scans of one trace do
//! not share a cursor. Checksums, and what pages claim to hold, are checked before the reader gets
//! the bytes.

use crate::checksum::Blocks;
use crate::claims::Pages;
use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A file and its size when it was opened.
#[derive(Clone, Debug)]
pub(crate) struct Source {
    file: Arc<File>,
    bytes: u64,
    blocks: Option<Arc<Blocks>>,
    pages: Option<Arc<Pages>>,
}

impl Source {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let bytes = file.metadata()?.len();
        Ok(Source { file: Arc::new(file), bytes, blocks: None, pages: None })
    }

    /// The same file, with checksums for its blocks.
    pub(crate) fn with_blocks(self, blocks: Blocks) -> Self {
        Source { blocks: Some(Arc::new(blocks)), ..self }
    }

    /// The same file for one scan, whose pages are checked before they are read.
    pub(crate) fn with_pages(self, pages: Pages) -> Self {
        Source { pages: Some(Arc::new(pages)), ..self }
    }

    /// The bytes from `start` to `end`, unchecked.
    pub(crate) fn read(&self, start: u64, end: u64) -> io::Result<Vec<u8>> {
        let mut buffer = vec![0; (end - start) as usize];
        self.file.read_exact_at(&mut buffer, start)?;
        Ok(buffer)
    }

    fn check(&self, start: u64, length: u64) -> io::Result<()> {
        let read = |buffer: &mut [u8], at| self.file.read_exact_at(buffer, at);
        self.blocks.as_ref().map_or(Ok(()), |blocks| blocks.check(start, length, read))
    }
}

impl Length for Source {
    fn len(&self) -> u64 {
        self.bytes
    }
}

impl ChunkReader for Source {
    type T = BufReader<Cursor>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        let cursor = || BufReader::new(Cursor { source: self.clone(), at: start });
        if let Some(pages) = &self.pages {
            pages.check(start, cursor())?;
        }
        Ok(cursor())
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let end = start.checked_add(length as u64);
        if end.is_none_or(|end| end > self.bytes) {
            // Check before allocating: a damaged footer may ask for any length.
            return Err(ParquetError::EOF(format!(
                "{length} bytes at {start} are past the end, {}",
                self.bytes
            )));
        }
        self.check(start, length as u64)?;
        Ok(self.read(start, start + length as u64)?.into())
    }
}

/// A reader with a position of its own.
#[derive(Debug)]
pub(crate) struct Cursor {
    source: Source,
    at: u64,
}

impl Read for Cursor {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.check(self.at, buffer.len() as u64)?;
        let read = self.source.file.read_at(buffer, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}
