//! What joins crates into a job: pack a folder, synth, compare, tour.

mod error;

pub use error::{Error, ErrorKind, Result};
