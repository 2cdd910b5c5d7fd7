//! The verbs, a file each: `Args` is what was typed, `run` does it.

pub mod compare;
pub mod completions;
pub mod find;
pub mod fits;
pub mod grep;
pub mod man;
pub mod order;
pub mod pack;
pub mod probe;
pub mod record;
pub mod sim;
pub mod sleds;
pub mod synth;
pub mod tour;
pub mod tour_reader;
pub mod trace;
pub mod wc;
