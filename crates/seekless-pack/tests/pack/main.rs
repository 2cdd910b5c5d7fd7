//! The archive as others see it: what is written opens elsewhere, what is broken is refused.

mod chunked;
mod corpus;
mod foreign;
mod forge;
mod fuzzed;
mod harness;
#[path = "../../../../tests/holes.rs"]
mod holes;
mod hostile;
mod memory;
#[cfg(all(feature = "bzip2", feature = "deflate64", feature = "lzma"))]
mod methods;
mod mutated;
mod odd;
mod round_trip;
mod samples;
mod support;
mod zip64;
