//! Reads files the cheapest bytes first (Van Meter and Gao 2000).
//!
//! **Invariant:** every byte exactly once, or an error; keeps no more than its budget in memory.
//!
//! A [`Reader`] delivers the bytes of one file or many, the cheapest first, each exactly once and in whole [`Records`], so that
//! a program which does not care about order reads from memory what is there before the rest of its own reading pushes it out.
//!
//! ```
//! use seekless_read::{Event, Options, Reader, Records};
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

mod bypass;
mod cached;
mod error;
mod file_picker;
mod growth;
mod headroom;
mod hold;
mod keeper;
mod picker;
mod quiet;
mod reader;
mod records;
mod room;
mod touch;

pub use error::{Error, ErrorKind};
pub use file_picker::FilePicker;
pub use hold::Hold;
pub use keeper::Keeper;
pub use picker::{FindDelimiter, NoDelimiter, Picker, Priced};
pub use quiet::QuietFile;
pub use reader::{Chunk, Event, Options, Reader, Statistics};
pub use records::Records;
pub use seekless_sled::Plan;
pub use touch::runs_by_touch;
