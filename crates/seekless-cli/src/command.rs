//! The verbs, one file each: `Args` are the arguments, `run` does the work.

pub mod compare;
pub mod completions;
pub mod devices;
pub mod doctor;
pub mod export;
pub mod find;
pub mod fits;
pub mod foreign;
pub mod grep;
pub mod man;
pub mod mount;
pub mod order;
pub mod pack;
pub mod probe;
pub mod profiles;
pub mod record;
pub mod replay;
pub mod run;
pub mod sim;
pub mod sleds;
pub mod synth;
pub mod tour;
pub mod tour_reader;
pub mod trace;
pub mod warm;
pub mod wc;
