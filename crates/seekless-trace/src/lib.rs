//! Traces: what programs read and wrote, in one file that other tools can open.
//!
//! # The problem
//!
//! What would another cache have cost? Which files does a start need, and in which order? Such
//! questions need a record of every access: when it was, who made it, to which file, offset and
//! length. Such records exist in many forms. `strace` prints text, block tracers print sectors,
//! and every cache simulator has a list format of its own. None of them fits all questions, and
//! text takes a hundred bytes a row, where a busy program makes a million rows a minute.
//!
//! # The idea
//!
//! A [trace](Trace) is a table in a Parquet file, with one row for each [`Access`]. DuckDB, pandas
//! and polars open it as it is; here the simulator's loops read it at full speed.
//!
//! - **It is sorted** by run, then by time. [`Writer`] takes rows in any order, in bounded memory.
//! - **Files are numbered** densely by first appearance. Readers work with `u32`s as indices, and
//!   fetch the names only to print them.
//! - **Columns are read on demand.** A [`Scan`] decodes only those that the caller names.
//! - **It is checked.** Checksums cover every byte of the file, so a flipped bit is an error. A
//!   malformed file is an error too. It never causes a panic, and never takes much more memory than
//!   its own size.
//!
//! While a program is being recorded there is no Parquet file yet, since its footer comes last.
//! Rows go to a *spool* ([`SpoolWriter`]); all of it but the last quarter of a second survives a
//! kill. [`Trace::open`] reads a spool like a trace.
//!
//! # What is where
//!
//! | to | use |
//! |---|---|
//! | write a trace | [`Writer`]; while a program runs, [`SpoolWriter`] |
//! | read one | [`Trace`]; [`open_any`] also takes what can be imported |
//! | read millions of requests of other simulators | [`Records`], numbered by [`Objects`] |
//! | look at whole files, at pages, at totals | [`Loads`], [`PageNumbers`], [`summary`] |
//! | know what a start needs, in the order of first need | [`Needs`] |
//! | open a trace or a list of paths, whichever it is | [`Listing`] |
//! | convert other formats | [`import`], [`export`] |
//! | join traces, rescue a spool | [`merge`], [`recover`] |
//!
//! # Neighbours
//!
//! `seekless-record` makes traces of running programs. `seekless-sim` simulates caches on them, and
//! `seekless-tools` orders, packs and compares files by them. This crate knows nothing of caches or
//! devices. docs/reference/trace-format.md describes the file for readers in other languages.
//!
//! # Example
//!
//! ```
//! use seekless_trace::{Access, Columns, Metadata, Op, Trace, Writer};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("run.parquet");
//! let mut writer = Writer::create(&path, Metadata::default())?;
//! let wall = writer.file("art/wall.dds");
//! let theme = writer.file("theme.ogg");
//! for (time_ns, file, bytes) in [(9_000, theme, 4096), (2_000, wall, 73_199)] {
//!     writer.push(Access { time_ns, bytes, ..Access::new(Op::Read, file) })?;
//! }
//! writer.finish()?;
//!
//! let trace = Trace::open(&path)?;
//! let names = trace.file_names()?;
//! let mut read = Vec::new();
//! for batch in trace.scan(Columns::FILE | Columns::BYTES)? {
//!     let batch = batch?;
//!     for (&file, &bytes) in batch.file().iter().zip(batch.bytes()) {
//!         read.push((names[file as usize].as_str(), bytes));
//!     }
//! }
//! assert_eq!(read, [("art/wall.dds", 73_199), ("theme.ogg", 4096)]); // sorted by time
//! # Ok(()) }
//! ```

mod access;
mod checksum;
mod claims;
mod column;
mod columns;
mod compressed;
mod errno;
mod error;
mod escape;
pub mod export;
mod file_list;
mod fnv;
mod foreign;
pub mod import;
mod keys;
mod leaf;
mod lines;
mod listing;
mod loads;
mod looks;
pub mod merge;
mod metadata;
mod names;
mod needs;
mod objects;
mod open;
mod page_set;
mod pages;
mod paths;
mod profile;
mod records;
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
pub use compressed::estimated_rows;
pub use compressed::open_compressed;
pub use error::{Error, ErrorKind, Result};
pub use escape::{escape_path, unescape_path};
pub use file_list::FileList;
pub use fnv::fnv_1a;
pub use listing::Listing;
pub use loads::{Load, Loads};
pub use looks::{Look, LookKind, looked_up, written_in};
pub use metadata::{Kind, Metadata, RunInfo, View};
pub use needs::{Need, Needs};
pub use objects::{News, Objects};
pub use open::{open_any, open_with};
pub use page_set::PageSet;
pub use pages::PageNumbers;
pub use profile::{Identity, Profile, ProfiledFile, ProfiledRun};
pub use records::{Piece, Record, Records, is_pipe};
pub use scan::{Batch, Nullable, Scan};
pub use spool::{KeptSpool, SpoolWriter, kept_spools, spool_path};
pub use trace::{Origin, Trace};
pub use writer::{Summary, Writer};
