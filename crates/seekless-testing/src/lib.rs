//! What benches and labs measure on: folders behind a slow device, served by FUSE, and a network
//! with a delay.

mod delayed;
mod device;
mod recalls;
mod relay;

pub use delayed::{Asked, Delayed};
pub use device::{Delays, Recall};
pub use relay::Relay;
