//! The number by which each decision knows a page or file.

/// A dense number that the owner of the cache gave to a page or file.
pub type Id = u32;
