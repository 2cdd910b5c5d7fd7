//! Read-only bytes with many holders.

use super::{Frozen, Part};
use std::fmt;
use std::ops::{Deref, Range};
use std::ptr::NonNull;
use std::sync::{Arc, Weak};

/// Bytes of a region that many hold; the last holder frees them. A handle has their address itself:
/// reading them looks at nothing in between.
#[derive(Clone)]
pub struct SharedBytes {
    start: NonNull<u8>,
    len: usize,
    share: Arc<Share>,
}

/// Counts its own clones: threads that clone different shares do not write to one cache line.
struct Share(Arc<Content>);

/// What keeps the bytes where they are.
enum Content {
    Whole(Frozen),
    Part(Part),
}

// SAFETY: the bytes are those of `share`, which may itself go to other threads; nothing writes to
// them.
unsafe impl Send for SharedBytes {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes {}

impl SharedBytes {
    fn new(content: Content) -> Self {
        let bytes: &[u8] = match &content {
            Content::Whole(whole) => whole,
            Content::Part(part) => part,
        };
        let (start, len) = (NonNull::from(bytes).cast(), bytes.len());
        Self { start, len, share: Arc::new(Share(Arc::new(content))) }
    }

    /// The same bytes, with a count of its own.
    #[must_use]
    pub fn share(&self) -> Self {
        Self { share: Arc::new(Share(self.share.0.clone())), ..*self }
    }

    /// A part of the bytes, which keeps the memory of all.
    ///
    /// # Panics
    /// If the range does not lie in them.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let part = &self[range];
        Self { start: NonNull::from(part).cast(), len: part.len(), share: self.share.clone() }
    }

    /// A handle that does not keep them.
    #[must_use]
    pub fn downgrade(&self) -> WeakBytes {
        WeakBytes { start: self.start, len: self.len, content: Arc::downgrade(&self.share.0) }
    }

    /// Whether both are the same bytes in memory.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        (self.start, self.len) == (other.start, other.len)
            && Arc::ptr_eq(&self.share.0, &other.share.0)
    }
}

impl From<Frozen> for SharedBytes {
    fn from(whole: Frozen) -> Self {
        Self::new(Content::Whole(whole))
    }
}

impl From<Part> for SharedBytes {
    fn from(part: Part) -> Self {
        Self::new(Content::Part(part))
    }
}

impl Deref for SharedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        // SAFETY: the bytes lie in the content, which `share` keeps: a mapping's, so that they stay
        // where they are while the content is moved. Nothing writes to them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl fmt::Debug for SharedBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "SharedBytes({} bytes)", self.len)
    }
}

/// Bytes that only their holders keep.
pub struct WeakBytes {
    start: NonNull<u8>,
    len: usize,
    content: Weak<Content>,
}

// SAFETY: as for `SharedBytes`: the address is used only together with the content.
unsafe impl Send for WeakBytes {}
// SAFETY: as above.
unsafe impl Sync for WeakBytes {}

impl WeakBytes {
    /// The bytes, if any holder is left.
    #[must_use]
    pub fn upgrade(&self) -> Option<SharedBytes> {
        let share = Arc::new(Share(self.content.upgrade()?));
        Some(SharedBytes { start: self.start, len: self.len, share })
    }
}

impl fmt::Debug for WeakBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "WeakBytes({} bytes)", self.len)
    }
}
