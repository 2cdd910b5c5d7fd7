//! Writes entries in the order they come, the directory last. Local headers are complete: no data
//! descriptors, which Java's streaming reader refuses on stored entries and which would keep a
//! reader from trusting an extent alone.

mod copied;
mod stream;
#[cfg(test)]
mod tests;

use crate::entry::Method;
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::Prepared;
use crate::record::{self, Limits, Record};
use foldhash::fast::RandomState;
use hashbrown::HashSet;
use std::io::Write;

/// Writes one archive to `W`, front to back. Dropping it without [`finish`](Self::finish) leaves no
/// readable archive.
#[derive(Debug)]
pub struct PackWriter<W> {
    sink: W,
    /// Bytes written so far.
    at: u64,
    directory: Vec<u8>,
    /// The same of folders. They are listed first: tools that unpack in the directory's order give
    /// a folder its mode and time only if they make it before what it holds.
    folders: Vec<u8>,
    names: HashSet<Box<str>, RandomState>,
    written: Written,
    limits: Limits,
    header: Vec<u8>,
    comment: Vec<u8>,
    failed: bool,
}

/// What was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Written {
    /// Entries in all.
    pub entries: u64,
    /// Entries that are directories.
    pub directories: u64,
    /// Files stored as they are.
    pub stored: u64,
    /// Files deflated.
    pub deflated: u64,
    /// Files coded with zstd.
    pub zstd: u64,
    /// Content, in bytes.
    pub bytes: u64,
    /// Data of the entries without headers, in bytes.
    pub coded_bytes: u64,
    /// The whole archive, in bytes.
    pub archive_bytes: u64,
}

impl<W: Write> PackWriter<W> {
    /// An empty archive. Give a buffered sink: headers are written on their own.
    pub fn new(sink: W) -> Self {
        Self::with_limits(sink, Limits::default())
    }

    fn with_limits(sink: W, limits: Limits) -> Self {
        Self {
            sink,
            at: 0,
            directory: Vec::new(),
            folders: Vec::new(),
            names: HashSet::default(),
            written: Written::default(),
            limits,
            header: Vec::new(),
            comment: Vec::new(),
            failed: false,
        }
    }

    /// Appends one entry.
    ///
    /// # Errors
    /// [`ErrorKind::Duplicate`] if the name was added before (the archive may go on without it);
    /// [`ErrorKind::Io`] if the sink fails, after which every call fails.
    pub fn add(&mut self, entry: Prepared) -> Result<()> {
        self.admit(&entry.about.name)?;
        let record = Record {
            name: &entry.about.name,
            mode: entry.about.full_mode(),
            modified: entry.about.modified,
            modified_ns: entry.about.modified_ns,
            method: entry.method,
            crc: entry.crc,
            bytes: entry.bytes,
            coded_bytes: entry.coded_bytes(),
            header_offset: self.at,
            wide_sizes: entry.bytes.max(entry.coded_bytes()) >= self.limits.bytes,
            chunks: &entry.chunks,
        };
        self.put_header(&record)?;
        self.put(&entry.data)?;
        self.note(&record);
        Ok(())
    }

    /// Gives the whole archive a comment, such as that of another
    /// ([`Index::comment`](crate::Index::comment)).
    ///
    /// # Errors
    /// [`ErrorKind::Limit`] if it is longer than 65,535 bytes.
    pub fn comment(&mut self, comment: &[u8]) -> Result<()> {
        if comment.len() > usize::from(u16::MAX) {
            let why = format!(
                "a comment of {} bytes does not fit into an archive; give at most 65,535",
                comment.len()
            );
            return Err(Error::new(ErrorKind::Limit, why));
        }
        self.comment = comment.to_vec();
        Ok(())
    }

    /// What was written so far; the archive's own size is not known before its end.
    #[must_use]
    pub fn written(&self) -> Written {
        self.written
    }

    /// Writes the directory and gives the sink back, flushed.
    ///
    /// # Errors
    /// [`ErrorKind::Io`] if the sink fails or failed before.
    pub fn finish(mut self) -> Result<(W, Written)> {
        self.check_usable()?;
        let mut tail = std::mem::take(&mut self.folders);
        tail.append(&mut self.directory);
        let (offset, bytes) = (self.at, tail.len() as u64);
        let entries = self.written.entries;
        record::end(entries, (bytes, offset), &self.comment, self.limits, &mut tail);
        self.put(&tail)?;
        self.sink.flush().map_err(|error| Error::io("cannot write the archive's end", error))?;
        self.written.archive_bytes = self.at;
        Ok((self.sink, self.written))
    }

    fn check_usable(&self) -> Result<()> {
        if self.failed {
            return Err(Error::new(
                ErrorKind::Io,
                "the archive cannot be continued after a failed write",
            ));
        }
        Ok(())
    }

    fn admit(&mut self, name: &str) -> Result<()> {
        self.check_usable()?;
        if !self.names.insert(name.into()) {
            return Err(Error::new(
                ErrorKind::Duplicate,
                format!("{name:?} is in the archive already; give each name once"),
            ));
        }
        Ok(())
    }

    fn put_header(&mut self, record: &Record<'_>) -> Result<()> {
        let mut header = std::mem::take(&mut self.header);
        header.clear();
        record.local(&mut header);
        let result = self.put(&header);
        self.header = header;
        result
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let result = self.sink.write_all(bytes);
        self.failed |= result.is_err();
        result.map_err(|error| {
            Error::io(format!("cannot write the archive at offset {}", self.at), error)
        })?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// Lists an entry whose header and data have been written.
    fn note(&mut self, record: &Record<'_>) {
        let is_folder = record.name.ends_with('/');
        let directory = if is_folder { &mut self.folders } else { &mut self.directory };
        record.central(self.limits, directory);
        self.written.entries += 1;
        self.written.bytes += record.bytes;
        self.written.coded_bytes += record.coded_bytes;
        match record.method {
            _ if record.name.ends_with('/') => self.written.directories += 1,
            Method::Deflate => self.written.deflated += 1,
            Method::Zstd => self.written.zstd += 1,
            _ => self.written.stored += 1,
        }
    }
}
