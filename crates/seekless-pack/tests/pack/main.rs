//! The archive as others see it: what is written opens elsewhere, what is broken is refused.

mod chunked;
mod foreign;
mod fuzzed;
mod harness;
#[path = "../../../../tests/holes.rs"]
mod holes;
mod hostile;
mod memory;
mod mutated;
mod odd;
mod round_trip;
mod samples;
mod support;
mod zip64;
