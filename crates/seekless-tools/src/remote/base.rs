//! A pack in object storage that is brought up to date: it is read by ranges, as little as is
//! needed, and its new version is made of the old one and of what has changed.

use super::fetch::{self, Piece};
use super::{Travelled, reach, storage};
use seekless_engine::{AlignedBuf, Engine, ObjectName, Opened};
use seekless_remote::{Kept, Plan, Remote, Version};
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The end of the pack, where its directory lies, comes with the request that opens it.
const TAIL_BYTES: u64 = 1 << 20;
/// Other reads bring what follows, too: a directory is read in small pieces.
const BLOCK_BYTES: usize = 1 << 20;

/// An object as it was opened.
pub(crate) struct Base {
    name: ObjectName,
    engine: Remote,
    opened: Opened,
    version: Version,
    /// The range that was read last, and where it begins.
    block: Mutex<(u64, Vec<u8>)>,
}

impl Base {
    /// # Errors
    /// The object cannot be opened.
    pub(crate) fn open(name: ObjectName) -> io::Result<Self> {
        let engine = storage::reader()?;
        let absent = || Err(io::ErrorKind::NotFound.into());
        let path = PathBuf::from(name.to_string());
        let opened = engine.open(&path, TAIL_BYTES).unwrap_or_else(absent)?;
        let version = engine.version(&opened.file).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { name, engine, opened, version, block: Mutex::default() })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.opened.bytes
    }

    /// All of it, in a file without a name.
    ///
    /// # Errors
    /// It cannot be read, or there is no room for it.
    pub(crate) fn whole(&self) -> io::Result<File> {
        fetch::whole(&self.engine, &self.opened, &self.name.to_string(), reach::watch())
    }

    /// Fills `buffer` from `offset`.
    ///
    /// # Errors
    /// It cannot be read, ends before, or was replaced.
    pub(crate) fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let tail_from = self.opened.bytes - self.opened.tail.len() as u64;
        if taken(buffer, offset, tail_from, &self.opened.tail) {
            return Ok(());
        }
        let mut block = self.block.lock().unwrap_or_else(PoisonError::into_inner);
        if taken(buffer, offset, block.0, &block.1) {
            return Ok(());
        }
        let into = AlignedBuf::try_with_capacity(buffer.len().max(BLOCK_BYTES))?;
        let (read, result) = self.engine.read_now(self.opened.file.clone(), offset, into);
        result?;
        *block = (offset, read.to_vec());
        match taken(buffer, offset, block.0, &block.1) {
            true => Ok(()),
            false => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Makes `content` the new version. It has holes where `kept` lies, which are filled only where
    /// the provider cannot copy.
    ///
    /// # Errors
    /// It cannot be written, or the object was replaced meanwhile.
    pub(crate) fn renew(
        &self,
        content: &File,
        kept: Vec<(u64, u64, u64)>,
    ) -> io::Result<Travelled> {
        let watch = reach::watch();
        let bytes = content.metadata()?.len();
        let kept = kept.into_iter().map(|(from, to, bytes)| Kept { from, to, bytes });
        let plan = Plan::new(&self.name, bytes, kept.collect());
        let to_read = plan.to_read();
        let pieces = to_read.iter().map(|it| Piece { from: it.from, to: it.to, bytes: it.bytes });
        fetch::ranges(&self.engine, &self.opened, pieces, content, &self.name.to_string(), watch)?;
        let copied_bytes = plan.copied_bytes();
        storage::renew(&self.name, content.try_clone()?, &plan, self.version.clone(), watch)?;
        Ok(Travelled {
            sent_bytes: bytes - copied_bytes,
            read_bytes: to_read.iter().map(|kept| kept.bytes).sum(),
            copied_bytes,
        })
    }
}

/// Fills `buffer` if `known`, which lies at `from`, has all of it.
fn taken(buffer: &mut [u8], offset: u64, from: u64, known: &[u8]) -> bool {
    let Some(first) = offset.checked_sub(from).and_then(|it| usize::try_from(it).ok()) else {
        return false;
    };
    let Some(found) = known.get(first..).and_then(|rest| rest.get(..buffer.len())) else {
        return false;
    };
    buffer.copy_from_slice(found);
    true
}
