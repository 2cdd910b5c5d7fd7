//! A trace as a cache sees it: which page, file or object is asked for, one after another, by dense ids.

mod budget;
mod future;
mod joined;
mod objects;
mod pages;
mod read;
mod reading;
mod sequence;
mod space;
mod span;
mod writes;

pub use reading::{Lines, Reading};
pub use sequence::Requests;
pub(crate) use space::Space;
