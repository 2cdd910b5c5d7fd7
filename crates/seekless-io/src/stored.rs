//! Where stored entries lie, for readers with a cache and a readahead of their own.

use crate::sources::Item;
use crate::{Result, Store};
use std::os::fd::{AsFd, BorrowedFd};

/// The content of a stored entry: bytes of its pack, as they are.
#[derive(Clone, Copy, Debug)]
pub struct StoredAt<'a> {
    /// The pack.
    pub pack: BorrowedFd<'a>,
    /// Where the content begins in it.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

impl Store {
    /// Where the content of `name` lies, if it is a stored entry of a pack that is a file. The
    /// first time for an entry this reads its local header: one request.
    ///
    /// # Errors
    /// There is no such file, or its header cannot be read or is damaged.
    pub fn stored_at(&self, name: &str) -> Result<Option<StoredAt<'_>>> {
        let id = self.find(name)?;
        let shared = self.shared();
        let Item::Packed { archive, .. } = shared.sources.item(id) else { return Ok(None) };
        if !archive.is_file || !shared.sources.is_stored(id) {
            return Ok(None);
        }
        let offset = shared.content_offset(id)? - shared.sources.base_of(id);
        Ok(Some(StoredAt { pack: archive.file.as_fd(), offset, bytes: shared.sources.bytes(id) }))
    }
}
