//! What a load hands out: the bytes of one file, read-only and shared. The last holder frees them,
//! whether or not the cache has let go of them meanwhile.

use seekless_engine::{Frozen, Part};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, Weak};

/// The bytes of one file. Clones share them; nothing is copied after decoding.
#[derive(Clone)]
pub struct Buffer(Arc<Share>);

/// Counts its own clones: threads that clone different shares do not write to one cache line.
struct Share(Arc<Contents>);

enum Contents {
    Own(Frozen),
    /// A stored file that stays where the device put it.
    Within(Part),
}

impl Buffer {
    pub(crate) fn own(content: Frozen) -> Self {
        Self::first_share(Contents::Own(content))
    }

    pub(crate) fn within(content: Part) -> Self {
        Self::first_share(Contents::Within(content))
    }

    fn first_share(contents: Contents) -> Self {
        Self(Arc::new(Share(Arc::new(contents))))
    }

    /// Another share of the same bytes, with a count of its own.
    pub(crate) fn share(&self) -> Self {
        Self(Arc::new(Share(self.0.0.clone())))
    }

    pub(crate) fn downgrade(&self) -> WeakBuffer {
        WeakBuffer(Arc::downgrade(&self.0.0))
    }

    /// Whether two handles share the same bytes in memory.
    #[must_use]
    pub fn ptr_eq(&self, other: &Buffer) -> bool {
        Arc::ptr_eq(&self.0.0, &other.0.0)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &*self.0.0 {
            Contents::Own(content) => content,
            Contents::Within(content) => content,
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
        self.0.upgrade().map(|contents| Buffer(Arc::new(Share(contents))))
    }
}
