//! The real file: what each range of it costs to read now (Van Meter and Gao 2000).
//!
//! **Invariant:** answers *unknown* rather than guess; never moves data into the cache by asking.
//!
//! A [`Sled`] says of a range of a file which [`Level`] holds it and what the first byte and each
//! further one cost.
//!
//! ```
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log");
//! # std::fs::write(&path, "one\ntwo\n")?;
//! let sleds = seekless_sled::sleds(&path)?;
//! assert_eq!(sleds.iter().map(|sled| sled.bytes).sum::<u64>(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod config;
mod delivery;
mod devices;
mod error;
mod level;
mod overlay;
mod place;
mod plan;
pub mod provider;
mod serve;
mod sled;
mod survey;
mod turnover;
mod wire;

pub use config::{Config, MountRule, RecallRule, RemoteRule};
pub use delivery::{Delivery, DeliveryTime, delivery_time, total_delivery_time};
pub use devices::{Devices, Entry};
pub use error::{Error, ErrorKind};
pub use level::Level;
pub use place::{Home, Kind};
pub use plan::Plan;
pub use serve::{Server, ServerOptions};
pub use sled::{Confidence, Sled};
pub use survey::{Survey, Surveyor, sleds, sleds_of};
pub use turnover::{Turnover, chance};
