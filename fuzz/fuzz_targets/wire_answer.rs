//! See `wire::answer`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| seekless_fuzz::wire::answer(bytes));
