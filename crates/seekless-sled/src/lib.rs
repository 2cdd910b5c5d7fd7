//! The real file: what each range of it costs now, and the cheapest order to read it (Van Meter and Gao 2000).
//!
//! **Invariant:** answers *unknown* rather than guess; never moves data into the cache by asking.
//!
//! A [`Sled`] says of a range of a file which [`Level`] holds it and what the first byte and each further one cost. A
//! [`Reader`] delivers the bytes of one file or many, the cheapest first, each exactly once and in whole [`Records`], so that
//! a program which does not care about order reads from memory what is there before the rest of its own reading pushes it out.
//!
//! ```
//! use seekless_sled::{Event, Options, Reader, Records};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log");
//! # std::fs::write(&path, "one\ntwo\n")?;
//! let mut lines = 0;
//! let mut reader = Reader::new(Options { records: Records::Delimiter(b'\n'), ..Options::default() });
//! reader.add_path(&path);
//! while let Some(event) = reader.next() {
//!     match event {
//!         Event::Chunk(chunk) => lines += chunk.bytes.iter().filter(|&&byte| byte == b'\n').count(),
//!         Event::Restart { .. } => lines = 0,
//!         Event::End { .. } => {}
//!         Event::Failed { error, .. } => return Err(error.into()),
//!     }
//! }
//! assert_eq!(lines, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cached;
mod config;
mod delivery;
mod descriptor;
mod devices;
mod error;
mod file_picker;
mod growth;
mod headroom;
mod hold;
mod keeper;
mod level;
mod overlay;
pub mod page_cache;
mod picker;
mod place;
pub mod provider;
mod quiet;
mod reader;
mod records;
mod serve;
mod sled;
mod survey;
mod turnover;
mod wire;

pub use config::{Config, MountRule, RecallRule, RemoteRule};
pub use delivery::{Delivery, DeliveryTime, delivery_time, total_delivery_time};
pub use devices::{Devices, Entry};
pub use error::{Error, ErrorKind};
pub use file_picker::FilePicker;
pub use hold::Hold;
pub use keeper::Keeper;
pub use level::Level;
pub use picker::{FindDelimiter, NoDelimiter, Picker, Priced};
pub use place::{Home, Kind, Mount, Mounts};
pub use quiet::QuietFile;
pub use reader::{Chunk, Event, Options, Plan, Reader, Statistics};
pub use records::Records;
pub use serve::{Server, ServerOptions};
pub use sled::{Confidence, Sled};
pub use survey::{Survey, Surveyor, sleds, sleds_of};
pub use turnover::{Turnover, chance};
