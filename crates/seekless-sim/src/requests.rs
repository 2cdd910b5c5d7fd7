//! A trace as a cache sees it: a sequence of requests for pages, files or objects, by dense ids.

mod accesses;
mod budget;
mod distinct;
mod future;
mod joined;
mod objects;
mod pages;
mod read;
mod reading;
mod records;
mod removal;
mod sequence;
mod sizes;
mod space;
mod totals;
mod writes;

pub use reading::{Lines, Reading};
pub(crate) use records::{Reader, Window};
pub use sequence::Requests;
pub(crate) use space::Space;
pub use totals::Totals;
