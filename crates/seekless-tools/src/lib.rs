//! What joins crates into a job: pack a folder, synth, compare, tour.

pub mod compare;
mod crew;
mod error;
pub mod order;
pub mod output;
pub mod pack;
pub mod synth;
pub mod tour;

pub use error::{Error, ErrorKind, Result};
