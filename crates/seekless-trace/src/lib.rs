//! What was read: accesses, the Parquet trace file, importers and exporters.
//!
//! A [trace](Trace) is a table with one row an [`Access`], in one Parquet file that DuckDB, pandas and polars open
//! as it is. It holds one or more runs, numbered from 0; rows are sorted by run, then by time. Files are numbered
//! densely by first appearance, so that a reader works with `u32`s and fetches names only to print them.
//!
//! ```
//! use seekless_trace::{Access, Columns, Metadata, Op, Trace, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run.parquet");
//! let mut writer = Writer::create(&path, Metadata::default())?;
//! let file = writer.file("art/wall.dds");
//! writer.push(Access { bytes: 73_199, ..Access::new(Op::Load, file) })?;
//! writer.finish()?;
//!
//! let trace = Trace::open(&path)?;
//! for batch in trace.scan(Columns::FILE | Columns::BYTES)? {
//!     assert_eq!(batch?.bytes(), [73_199]);
//! }
//! assert_eq!(trace.file_names()?, ["art/wall.dds"]);
//! # Ok(()) }
//! ```
//!
//! It is not a place for policies or devices: this crate knows nothing of caches.

mod access;
mod arrays;
mod checksum;
mod claims;
mod column;
mod columns;
mod compressed;
mod error;
mod escape;
pub mod export;
mod file_list;
mod foreign;
pub mod import;
mod lines;
mod loads;
pub mod merge;
mod metadata;
mod names;
mod open;
mod pages;
mod paths;
pub mod recover;
mod renumber;
mod scan;
mod schema;
#[cfg(test)]
mod scratch;
mod source;
mod spool;
pub mod summary;
mod trace;
mod writer;

pub use access::{Access, FileId, Op};
pub use columns::Columns;
pub use compressed::open_compressed;
pub use error::{Error, ErrorKind, Result};
pub use escape::{escape_path, unescape_path};
pub use file_list::FileList;
pub use loads::{Load, Loads};
pub use metadata::{Kind, Metadata, RunInfo};
pub use open::open_any;
pub use pages::PageNumbers;
pub use scan::{Batch, Nullable, Scan};
pub use spool::{SpoolWriter, spool_path};
pub use trace::{Origin, Trace};
pub use writer::{Summary, Writer};
