//! What the stand-ins for GNU's tools say alike.

/// An error of the system in GNU's words: without its number.
pub(crate) use seekless_sys::reason as words;
