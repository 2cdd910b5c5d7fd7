//! The simulator against published figures, other simulators and the real thing: one binary, a
//! claim a file.

mod curve_coverage;
mod differences;
mod md5;
mod memory;
mod ozen2018;
mod public_runs;
mod published_traces;
mod shards_error;
#[path = "../../../../tests/shared_data.rs"]
mod shared_data;
mod streaming;
