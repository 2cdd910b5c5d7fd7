//! What a recording keeps: the calls on a store's files, and where these lie.

use super::laid::Laid;

/// A read or write call on a store's file. The files of a folder are one range of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) offset: u64,
    pub(super) bytes: u32,
    pub(super) write: bool,
}

impl Call {
    pub(super) fn end(&self) -> u64 {
        self.offset + u64::from(self.bytes)
    }
}

/// The calls, the size of the file or of a folder's files end to end, and where they lie.
#[derive(Debug, Default)]
pub(super) struct Captured {
    pub(super) calls: Vec<Call>,
    pub(super) file_bytes: u64,
    pub(super) laid: Laid,
}
