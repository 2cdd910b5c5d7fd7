//! What GNU's tools ask of the C library, and PCRE2 for `grep -P`: [`ctype`] knows characters, [`locale`] the
//! environment's language and dates, [`regex`] the C library's patterns. All `unsafe` code of this crate is here, but for one
//! line of `wide`.

#![expect(unsafe_code, reason = "calls the C library and PCRE2, and wraps each call in a safe one")]

pub(crate) mod ctype;
pub(crate) mod locale;
pub(crate) mod perl;
pub(crate) mod regex;
