//! Opens, checks and decodes any bytes as a Zip.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/seekless-pack/tests/pack/harness.rs"]
mod harness;

fuzz_target!(|archive: &[u8]| harness::check(archive));
