//! The parts of the C library that GNU's tools use, and PCRE2 for `grep -P`.
//!
//! [`ctype`] classifies characters, [`locale`] handles the user's language and dates, and [`regex`]
//! matches the C library's patterns. All `unsafe` code of this crate is here, except for one line
//! of `wide`.

#![expect(unsafe_code, reason = "calls the C library and PCRE2, and wraps each call in a safe one")]

pub(crate) mod ctype;
pub(crate) mod locale;
pub(crate) mod perl;
pub(crate) mod regex;
