//! A deleted object.

use seekless_policy::eviction::Id;

/// An id leaves every cache, as after a delete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Removal {
    /// The number of requests before it.
    pub(crate) position: u32,
    pub(crate) id: Id,
}
