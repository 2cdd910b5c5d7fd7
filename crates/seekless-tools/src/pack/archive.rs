//! An archive that is repacked: its directory, and the content of its entries.

use crate::remote::open_file;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{ContentReader, Index, ReadAt, Reading, decode};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// An archive to be repacked.
pub(super) struct Archive {
    file: File,
    pub(super) index: Index,
    pub(super) path: PathBuf,
}

impl Archive {
    pub(super) fn open(path: &Path, reading: Reading) -> Result<Self> {
        let file = open_file(path)?;
        let bytes = file.metadata().map_err(|error| Error::unreadable(path, error))?.len();
        let index = Index::open_as(&file, bytes, reading).map_err(|error| {
            Error::because(ErrorKind::Pack, format!("cannot repack {}", path.display()), error)
        })?;
        Ok(Self { file, index, path: path.to_owned() })
    }

    /// The content of an entry that is small, coded and decoded.
    pub(super) fn content(&self, number: u32) -> Result<Vec<u8>> {
        let entry = self.index.entry(number);
        let mut extent = vec![0; entry.extent_bytes as usize];
        let read = self.file.read_exact_at(&mut extent, entry.header_offset);
        read.map_err(|error| Error::unreadable(&self.path, error))?;
        let mut content = Vec::new();
        decode(&entry, self.index.name(number), &extent, &mut content)
            .map_err(|error| self.broken(error))?;
        Ok(content)
    }

    /// The content of any entry, in pieces.
    pub(super) fn reader(self: &Arc<Self>, number: u32) -> Result<ContentReader<Arc<Self>>> {
        let (entry, name) = (self.index.entry(number), self.index.name(number));
        ContentReader::new(self.clone(), entry, name).map_err(|error| self.broken(error))
    }

    /// Bytes of an entry in the archive, headers included.
    pub(super) fn extent_bytes(&self, number: u32) -> u64 {
        self.index.entry(number).extent_bytes
    }

    fn broken(&self, error: seekless_pack::Error) -> Error {
        let what = format!("cannot repack {}; nothing was written", self.path.display());
        Error::because(ErrorKind::Pack, what, error)
    }
}

impl ReadAt for Archive {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        ReadAt::read_exact_at(&self.file, buffer, offset)
    }
}
