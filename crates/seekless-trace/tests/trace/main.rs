//! Tests traces through the crate's public interface: one binary, with a file for each claim.

mod bit_flips;
mod foreign_formats;
mod fuzzing;
mod hostile;
mod hostile_records;
mod memory;
mod merging;
mod object_formats;
mod old_traces;
mod public_runs;
mod selected_rows;
#[path = "../../../../tests/shared_data.rs"]
mod shared_data;
mod simulator_formats;
mod strace;
mod support;
mod tables;
mod text;
