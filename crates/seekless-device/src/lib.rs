//! What an I/O costs: device models, their costs, and the units that figures are printed in.
//!
//! **Invariant:** pure; time is a number passed in.

mod costs;
mod model;

pub use costs::Costs;
pub use model::{DeviceModel, Io, Nanos};
