//! What joins crates into a job: pack a folder, synth, compare, tour, wc, grep, find, fits.

pub mod compare;
mod crew;
mod error;
pub mod find;
pub mod fits;
mod gnu;
pub mod grep;
pub mod order;
pub mod pack;
pub mod probe;
pub mod roots;
pub mod sleds;
pub mod synth;
pub mod tour;
pub mod wc;

pub use error::{Error, ErrorKind, Result};
