//! What GNU's tools ask of the C library, and PCRE2 for `grep -P`: [`ctype`] knows characters, [`locale`] the
//! environment's language and dates, [`regex`] the C library's patterns. All `unsafe` code of this crate is here.

pub(crate) mod ctype;
pub(crate) mod locale;
pub(crate) mod perl;
pub(crate) mod regex;
