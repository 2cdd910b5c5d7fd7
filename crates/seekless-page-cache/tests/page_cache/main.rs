//! One test binary: every claim of the page cache, each in the file that is named after it.

mod flaky;
mod logged;
mod loose;
mod power;
mod support;
#[path = "../../../../tests/without_hang.rs"]
mod without_hang;
mod write_faults;
mod written;
