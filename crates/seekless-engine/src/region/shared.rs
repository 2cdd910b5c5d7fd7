//! Read-only bytes with many holders.

use super::lent::{self, Lent};
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
    /// Counts its own clones: threads that clone different shares do not write to one cache line.
    share: Lent<Arc<Content>>,
}

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
        Self { start, len, share: Lent::new(Arc::new(content)) }
    }

    /// The same bytes, with a count of its own.
    #[must_use]
    pub fn share(&self) -> Self {
        Self { share: Lent::new(self.share.value().clone()), ..*self }
    }

    /// One that lends these bytes, to one thread at a time.
    #[must_use]
    pub fn lender(&self) -> BytesLender {
        let share = lent::Lender::new(self.share.value().clone());
        BytesLender { start: self.start, len: self.len, share }
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
        WeakBytes { start: self.start, len: self.len, content: Arc::downgrade(self.share.value()) }
    }

    /// Whether both are the same bytes in memory.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        (self.start, self.len) == (other.start, other.len)
            && Arc::ptr_eq(self.share.value(), other.share.value())
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

    #[inline]
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

/// Lends bytes to one thread at a time, without a locked instruction: that is how a cache hands out
/// what it has. It keeps the bytes, as a handle does.
pub struct BytesLender {
    start: NonNull<u8>,
    len: usize,
    share: lent::Lender<Arc<Content>>,
}

// SAFETY: as for `SharedBytes`.
unsafe impl Send for BytesLender {}
// SAFETY: as above.
unsafe impl Sync for BytesLender {}

impl BytesLender {
    /// Another handle of the bytes.
    #[inline]
    #[must_use]
    pub fn lend(&mut self) -> SharedBytes {
        SharedBytes { start: self.start, len: self.len, share: self.share.lend() }
    }
}

impl fmt::Debug for BytesLender {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "BytesLender({} bytes)", self.len)
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
        let share = Lent::new(self.content.upgrade()?);
        Some(SharedBytes { start: self.start, len: self.len, share })
    }
}

impl fmt::Debug for WeakBytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "WeakBytes({} bytes)", self.len)
    }
}
