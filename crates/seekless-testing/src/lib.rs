//! What benches, labs and tests measure on: folders behind a slow device, served by FUSE, a network
//! with a delay, and object storage with delays and faults.

mod delayed;
mod device;
mod object_server;
mod recalls;
mod relay;

pub use delayed::{Asked, Delayed};
pub use device::{Delays, Recall};
pub use object_server::{Conduct, Fault, ObjectServer, Served};
pub use relay::Relay;
