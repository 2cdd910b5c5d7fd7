//! What joins crates into a job: pack a folder, synth, order, compare, tour, probe.

pub mod compare;
mod crew;
mod error;
pub mod order;
pub mod pack;
pub mod probe;
pub mod roots;
pub mod sleds;
pub mod synth;
pub mod tour;

pub use error::{Error, ErrorKind, Result};
