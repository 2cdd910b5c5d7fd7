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
mod flaky;
mod hinted;
mod loose;
mod many;
mod model;
mod once;
mod predicted;
mod protected;
mod ranged;
mod recorded;
mod sources;
mod statistics;
mod streamed;
mod support;
mod together;
