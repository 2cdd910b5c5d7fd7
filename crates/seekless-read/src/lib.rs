//! Reads files, the cheapest bytes first.
//!
//! # The problem
//!
//! Take a file that is a little larger than the memory left for caching, and a program that reads
//! it to its end again and again. The kernel's cache is a kind of LRU queue, so each pass finds the
//! end of the file in memory and starts at its beginning. The bytes that it fetches push out the
//! cached ones just before it gets there. Every pass reads the whole file from the disk, although
//! almost all of it was in memory at the start.
//!
//! # The idea
//!
//! Many programs do not care in which order the bytes come: they count, search, or add up. Van
//! Meter and Gao ("Latency Management in Storage Systems", OSDI 2000) let such a program ask what
//! each range costs and read the cheap ones first. This crate does so, and adds two things:
//!
//! - *Freeze*: cached bytes are read through mappings that set off no readahead, and they stay
//!   cached for the next pass.
//! - *Bypass*: once the cache is full, other bytes are read past it, so that they push nothing out.
//!   Only the bytes that the cache lacks come from the disk, in every pass.
//!
//! # The ways to read
//!
//! | type | who chooses the reads | for |
//! |---|---|---|
//! | [`Reader`] | the reader, over many files and streams | programs in Rust, such as `wc` |
//! | [`FilePicker`] | the picker advises, the program reads through its [`Keeper`] | the C calls |
//! | [`Picker`] | the program, advised by prices that it brings along | other kinds of storage |
//! | [`WholeFiles`] | the program, a file at a time, the archived ones last | images with headers |
//! | [`QuietFile`] | the program | a part that is read a second time |
//!
//! A chunk holds whole [`Records`], such as lines: a record that lies across ranges of different
//! cost is put together before it is handed out. A [`Hold`] keeps cached ranges in memory until
//! they are read.
//!
//! **Invariant:** every byte exactly once, or an error; keeps no more than its budget in memory.
//!
//! # Example
//!
//! ```
//! use seekless_read::{Event, Options, Reader, Records};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("log");
//! # std::fs::write(&path, "one\ntwo\n")?;
//! let mut lines = 0;
//! let options = Options { records: Records::Delimiter(b'\n'), ..Options::default() };
//! let mut reader = Reader::new(options);
//! reader.add_path(&path);
//! while let Some(event) = reader.next() {
//!     match event {
//!         Event::Chunk(chunk) => lines += chunk.bytes.iter().filter(|&&b| b == b'\n').count(),
//!         Event::Restart { .. } => lines = 0, // it was cut short, and comes again from the front
//!         Event::Hole { .. } | Event::End { .. } => {}
//!         Event::Failed { error, .. } => return Err(error.into()),
//!     }
//! }
//! assert_eq!(lines, 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # The neighbours
//!
//! `seekless-sled` knows what ranges cost, `seekless-sys` what the page cache holds, and
//! `seekless-engine` lends its aligned buffers. `seekless-gnu` and `seekless-fits` are programs on
//! this crate, and `bindings/c` are its calls in C.

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
mod reach;
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
pub use reach::Reach;
pub use reader::{Chunk, Event, Options, Reader, Statistics, WholeFile, WholeFiles};
pub use records::Records;
pub use seekless_sled::Plan;
pub use touch::runs_by_touch;
