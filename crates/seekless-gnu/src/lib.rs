//! GNU's `wc`, `grep` and `find`, byte for byte, reading the cheapest bytes first.

mod clib;
pub mod find;
pub mod grep;
pub mod wc;
mod wide;
mod words;
