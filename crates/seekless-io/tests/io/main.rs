//! One test binary: every claim of the store, each in the file that is named after it.

mod announced;
mod asynchronous;
mod broken;
mod chunked;
mod concurrent;
mod costs;
mod decisions;
mod engines;
mod evicted;
mod faults;
mod faulty;
mod foreseen;
mod hinted;
mod linked;
mod many;
mod model;
mod once;
mod predicted;
mod protected;
mod ranged;
mod recorded;
mod resumed;
mod sources;
mod statistics;
mod streamed;
mod support;
mod together;
mod trimmed;
#[path = "../../../../tests/without_hang.rs"]
mod without_hang;
