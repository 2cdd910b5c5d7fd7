//! What a load hands out: the bytes of one file, read-only and shared. The last holder frees them,
//! whether or not the cache has released them meanwhile.

use crate::cached::Lend;
use crate::event_stripe::Held;
use seekless_engine::{BytesLender, SharedBytes, WeakBytes};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::Arc;

/// The bytes of one file. Clones share them; nothing is copied after decoding.
#[derive(Clone)]
pub struct Buffer {
    bytes: SharedBytes,
    /// Notes the release of a recorded load.
    _held: Option<Arc<Held>>,
}

impl Buffer {
    /// Bytes of a whole buffer, or of a stored file that stays where the device put it.
    pub(crate) fn new(bytes: impl Into<SharedBytes>) -> Self {
        Self { bytes: bytes.into(), _held: None }
    }

    /// A part of these bytes, which shares their memory; `range` lies in them.
    pub(crate) fn part(&self, range: Range<u64>) -> Self {
        let range = range.start as usize..range.end as usize;
        Self { bytes: self.bytes.part(range), _held: self._held.clone() }
    }

    /// Another share of the same bytes, with a count of its own.
    pub(crate) fn share(&self) -> Self {
        Self::new(self.bytes.share())
    }

    /// One that hands out the same bytes again and again.
    pub(crate) fn lender(&self) -> BufferLender {
        BufferLender(self.bytes.lender())
    }

    /// The same handle, whose last clone to go drops `end` too.
    pub(crate) fn with_end(self, end: Arc<Held>) -> Self {
        Self { _held: Some(end), ..self }
    }

    pub(crate) fn downgrade(&self) -> WeakBuffer {
        WeakBuffer(self.bytes.downgrade())
    }

    /// Whether two handles share the same bytes in memory.
    #[must_use]
    pub fn ptr_eq(&self, other: &Buffer) -> bool {
        self.bytes.ptr_eq(&other.bytes)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Buffer({} bytes)", self.len())
    }
}

/// Hands out the bytes of one file again and again, to one thread at a time.
pub(crate) struct BufferLender(BytesLender);

impl Lend for BufferLender {
    type Lent = Buffer;

    #[inline]
    fn lend(&mut self) -> Buffer {
        Buffer { bytes: self.0.lend(), _held: None }
    }
}

/// How the store remembers a buffer that only its users keep alive.
pub(crate) struct WeakBuffer(WeakBytes);

impl WeakBuffer {
    pub(crate) fn upgrade(&self) -> Option<Buffer> {
        self.0.upgrade().map(Buffer::new)
    }
}
