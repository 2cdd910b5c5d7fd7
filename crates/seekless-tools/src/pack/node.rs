//! A file, link or folder that is packed, as it was when its folder was walked.

use super::archive::Archive;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::{About, Codec, FileTime};
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The bits of a mode that say what a file is, and a link's.
const KIND: u32 = 0o170_000;
const LINK: u32 = 0o120_000;

/// A file or a folder.
pub(super) struct Node {
    /// In the archive: relative to the folder, with `/`; that of a folder ends in one.
    pub(super) name: String,
    /// On disk, links resolved unless they are kept.
    pub(super) path: PathBuf,
    pub(super) stamp: Stamp,
    /// Of a link that is kept: the path that it leads to, as it stands there; `None` if that is too
    /// long for a path.
    pub(super) link: Option<Box<[u8]>>,
    /// The archive that has it, and the number of its entry; of a file on disk `None`.
    pub(super) packed: Option<(Arc<Archive>, u32)>,
}

/// What must not change while a file is packed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    identity: Identity,
    pub(super) modified: FileTime,
    pub(super) mode: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(metadata: &Metadata) -> Self {
        Self { device: metadata.dev(), inode: metadata.ino() }
    }
}

impl Stamp {
    /// What an archive says of one of its entries.
    pub(super) fn of_entry(bytes: u64, modified: FileTime, mode: u32) -> Self {
        Self { bytes, identity: Identity { device: 0, inode: 0 }, modified, mode }
    }

    /// Of a link whose text is this long.
    pub(super) fn of_link(metadata: &Metadata, text: &[u8]) -> Self {
        Self { bytes: text.len() as u64, ..Self::of(metadata) }
    }

    pub(super) fn of(metadata: &Metadata) -> Self {
        Self {
            bytes: if metadata.is_dir() { 0 } else { metadata.len() },
            identity: Identity::of(metadata),
            modified: FileTime::new(metadata.mtime(), metadata.mtime_nsec()),
            mode: metadata.mode(),
        }
    }
}

impl Node {
    pub(super) fn about(&self) -> About {
        let FileTime { seconds, ns } = self.stamp.modified;
        About::named(self.name.as_str()).mode(self.stamp.mode).modified(seconds).modified_ns(ns)
    }

    pub(super) fn is_link(&self) -> bool {
        self.stamp.mode & KIND == LINK
    }

    /// Its name and its text, if it is a link.
    pub(super) fn named_link(&self) -> Option<(&str, &[u8])> {
        Some((&self.name, self.link.as_deref()?))
    }

    /// How it is coded: a link as it is.
    pub(super) fn codec(&self, codec: Codec) -> Codec {
        if self.is_link() { Codec::Stored } else { codec }
    }

    /// Its first bytes, `bytes` at most; `None` if they cannot be read.
    pub(super) fn begin(&self, bytes: u64) -> Option<Vec<u8>> {
        let mut begin = Vec::new();
        match (&self.packed, &self.link) {
            (_, Some(text)) => text.take(bytes).read_to_end(&mut begin).ok()?,
            (Some((archive, number)), None) => {
                archive.reader(*number).ok()?.take(bytes).read_to_end(&mut begin).ok()?
            }
            (None, None) => {
                File::open(&self.path).ok()?.take(bytes).read_to_end(&mut begin).ok()?
            }
        };
        Some(begin)
    }

    /// Fails if `file`, opened by this node's path, is not as it was when the folder was walked.
    pub(super) fn check_unchanged(&self, file: &File) -> Result<()> {
        let metadata = file.metadata().map_err(|error| failed("read", &self.path, error))?;
        if Stamp::of(&metadata) == self.stamp { Ok(()) } else { Err(self.changed()) }
    }

    /// The same of a link on disk.
    pub(super) fn check_link_unchanged(&self, text: &[u8]) -> Result<()> {
        let found = fs::symlink_metadata(&self.path).and_then(|metadata| {
            let now = fs::read_link(&self.path)?.into_os_string().into_vec();
            Ok(now == text && Stamp::of_link(&metadata, text) == self.stamp)
        });
        match found {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.changed()),
            Err(error) => Err(failed("read the link", &self.path, error)),
        }
    }

    pub(super) fn changed(&self) -> Error {
        let why = format!(
            "{} changed while it was packed; pack again when nothing writes there",
            self.path.display()
        );
        Error::new(ErrorKind::Differs, why)
    }
}

pub(super) fn failed(what: &str, path: &Path, error: std::io::Error) -> Error {
    Error::because(ErrorKind::Io, format!("cannot {what} {}", path.display()), error)
}
