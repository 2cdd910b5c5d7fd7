//! See `trace::spool`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(init: seekless_fuzz::let_caught_panics_pass(), |bytes: &[u8]| seekless_fuzz::trace::spool(bytes));
