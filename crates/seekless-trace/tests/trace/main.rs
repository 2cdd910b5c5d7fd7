//! Traces as a user of the crate meets them: one binary, a claim a file.

mod bit_flips;
mod fuzzing;
mod hostile;
mod memory;
mod merging;
mod old_traces;
mod public_runs;
mod simulator_formats;
mod support;
mod text;
