//! Wording that GNU's three tools share.

/// A system error in GNU's words: without its number.
pub(crate) use seekless_sys::reason as words;
