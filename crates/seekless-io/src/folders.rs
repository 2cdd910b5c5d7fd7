//! What archives say of their folders.

use crate::sources::Item;
use seekless_pack::FileTime;

/// A folder that has an entry in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Folder<'a> {
    /// Its path in the archive, which ends in `/`.
    pub name: &'a str,
    /// Unix mode with the file type bits, where the archive says it.
    pub mode: Option<u32>,
    /// Last modification, where the archive says it.
    pub modified: Option<FileTime>,
}

impl<'a> Folder<'a> {
    pub(crate) fn of(name: &'a str, item: &Item<'_>) -> Self {
        let (mode, modified) = match item {
            Item::Packed { entry, .. } => (entry.mode, entry.file_time()),
            Item::Loose { .. } => (None, None),
        };
        Self { name, mode, modified }
    }
}
