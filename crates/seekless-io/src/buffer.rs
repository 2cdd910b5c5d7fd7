//! What a load hands out: the bytes of one file, read-only and shared. The last holder frees them,
//! whether or not the cache has let go of them meanwhile.

use crate::recording::Held;
use seekless_engine::{Frozen, Part};
use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, Weak};

/// The bytes of one file. Clones share them; nothing is copied after decoding.
#[derive(Clone)]
pub struct Buffer {
    share: Arc<Share>,
    /// Notes the release of a recorded load.
    _held: Option<Arc<Held>>,
}

/// Counts its own clones: threads that clone different shares do not write to one cache line.
struct Share(Arc<Contents>);

enum Contents {
    Own(Frozen),
    /// A stored file that stays where the device put it.
    Within(Part),
    /// A part of another's bytes.
    Part {
        of: Buffer,
        range: Range<usize>,
    },
}

impl Buffer {
    pub(crate) fn own(content: Frozen) -> Self {
        Self::first_share(Contents::Own(content))
    }

    pub(crate) fn within(content: Part) -> Self {
        Self::first_share(Contents::Within(content))
    }

    /// A part of these bytes, which shares their memory; `range` lies in them.
    pub(crate) fn part(&self, range: Range<u64>) -> Self {
        let range = range.start as usize..range.end as usize;
        Self::first_share(Contents::Part { of: self.clone(), range })
    }

    fn first_share(contents: Contents) -> Self {
        Self::of(Arc::new(contents))
    }

    fn of(contents: Arc<Contents>) -> Self {
        Self { share: Arc::new(Share(contents)), _held: None }
    }

    /// Another share of the same bytes, with a count of its own.
    pub(crate) fn share(&self) -> Self {
        Self::of(self.share.0.clone())
    }

    /// The same handle, whose last clone to go drops `end` too.
    pub(crate) fn with_end(self, end: Arc<Held>) -> Self {
        Self { _held: Some(end), ..self }
    }

    pub(crate) fn downgrade(&self) -> WeakBuffer {
        WeakBuffer(Arc::downgrade(&self.share.0))
    }

    /// Whether two handles share the same bytes in memory.
    #[must_use]
    pub fn ptr_eq(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.share.0, &other.share.0)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.share.0 {
            Contents::Own(content) => content,
            Contents::Within(content) => content,
            Contents::Part { of, range } => &of[range.clone()],
        }
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

/// How the store remembers a buffer that only its users keep alive.
pub(crate) struct WeakBuffer(Weak<Contents>);

impl WeakBuffer {
    pub(crate) fn upgrade(&self) -> Option<Buffer> {
        self.0.upgrade().map(Buffer::of)
    }
}
