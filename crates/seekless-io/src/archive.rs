//! An open archive: its file and its directory. The directory is read
//! through the engine, so that opening is charged and counted like any other read.

mod source;

use crate::error::Error;
use crate::links::{self, Texts};
use seekless_engine::{AlignedBuf, Completion, Engine, Opened, Read};
use seekless_pack::{Index, Reading, decode};
use seekless_policy::layout::extents::Extent;
use seekless_sys::{direct, open_seekable};
use source::Source;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};

/// First read, from the end: holds the directory of some 3,000 files, so that a second is seldom
/// needed for fewer.
const DIRECTORY_READ_BYTES: u64 = 256 << 10;

/// An open archive.
pub(crate) struct Archive {
    pub(crate) path: PathBuf,
    pub(crate) file: Arc<File>,
    pub(crate) index: Index,
    /// The texts of its symbolic links.
    pub(crate) links: Texts,
    pub(crate) direct: bool,
    /// Whether `file` can be read by others than the engine.
    pub(crate) is_file: bool,
    /// Of the offset and length of a read, in bytes.
    pub(crate) alignment: u64,
}

impl Archive {
    /// Opens `path` past the page cache if `direct` is set and the file system allows it, else
    /// through the cache.
    pub(crate) fn open(
        path: &Path,
        direct: bool,
        reading: Reading,
        engine: &dyn Engine,
    ) -> Result<Self, Error> {
        if let Some(opened) = engine.open(path, DIRECTORY_READ_BYTES) {
            let opened = opened.map_err(|error| Error::open(path, error))?;
            return Self::opened(path, opened, reading, engine);
        }
        let file = open_seekable(path).map_err(|error| Error::open(path, error))?;
        if direct
            && let Some(past_cache) =
                direct::open_direct(path).map_err(|error| Error::open(path, error))?
            && let Some(archive) = Self::read_directory(path, (past_cache, true), reading, engine)?
        {
            return Ok(archive);
        }
        Self::read_directory(path, (file, false), reading, engine)?
            .ok_or_else(|| Error::open(path, io::Error::from(io::ErrorKind::InvalidInput)))
    }

    /// The content of an entry, by a read of its own, which the engine charges. To be called with
    /// entries of bounded size.
    pub(crate) fn content(&self, number: u32, engine: &dyn Engine) -> Result<Vec<u8>, Error> {
        let entry = self.index.entry(number);
        let extent = Extent { offset: entry.header_offset, bytes: entry.extent_bytes };
        let whole = extent.aligned(self.alignment);
        let read = AlignedBuf::try_with_capacity(whole.bytes as usize)
            .and_then(|buffer| fetch(engine, &self.file, whole.offset, buffer))
            .map_err(|error| Error::open(&self.path, error))?;
        let first = ((extent.offset - whole.offset) as usize).min(read.len());
        let end = (first + extent.bytes as usize).min(read.len());
        let mut content = Vec::new();
        decode(&entry, self.index.name(number), &read[first..end], &mut content)
            .map_err(|error| Error::undecoded(&self.path, error))?;
        Ok(content)
    }

    /// What the engine has opened by a name of its own. Its end has come with that.
    fn opened(
        path: &Path,
        Opened { file, bytes, tail }: Opened,
        reading: Reading,
        engine: &dyn Engine,
    ) -> Result<Self, Error> {
        let source = Source::of_object(engine, &file, bytes, tail);
        let index =
            Index::open_as(&source, bytes, reading).map_err(|error| Error::open(path, error))?;
        let links = links::texts(&index, &source);
        let (path, is_file) = (path.to_owned(), false);
        Ok(Self { path, file, index, links, direct: false, is_file, alignment: 1 })
    }

    /// None if the file system accepted O_DIRECT and then refused a read.
    fn read_directory(
        path: &Path,
        (file, direct): (File, bool),
        reading: Reading,
        engine: &dyn Engine,
    ) -> Result<Option<Self>, Error> {
        let fail = |error: io::Error| Error::open(path, error);
        let bytes = file.metadata().map_err(fail)?.len();
        let alignment = match direct {
            true => u64::from(direct::alignment(&file).map_err(fail)?.offset_bytes),
            false => 1,
        };
        // The engine charges reads; the open itself is one request more, for a pack as for a loose
        // file.
        engine.opened();
        let file = Arc::new(file);
        let source = Source::of_file(engine, &file, bytes, alignment);
        if direct && bytes > 0 && source.refused() {
            return Ok(None);
        }
        let index =
            Index::open_as(&source, bytes, reading).map_err(|error| Error::open(path, error))?;
        let links = links::texts(&index, &source);
        let (path, is_file) = (path.to_owned(), true);
        Ok(Some(Self { path, file, index, links, direct, is_file, alignment }))
    }
}

/// Reads at `offset` into `buffer`, both aligned as the file demands, and waits for it. The bytes
/// are fewer than the buffer holds if the file ends before it.
pub(crate) fn fetch(
    engine: &dyn Engine,
    file: &Arc<File>,
    offset: u64,
    buffer: AlignedBuf,
) -> io::Result<AlignedBuf> {
    let (done, completions) = mpsc::channel();
    engine.submit(vec![Read { file: file.clone(), offset, buffer, tag: 0, done: done.into() }]);
    let Completion { buffer, result, .. } =
        completions.recv().map_err(|_| io::Error::other("the engine dropped a read"))?;
    result.map(|_| buffer)
}
