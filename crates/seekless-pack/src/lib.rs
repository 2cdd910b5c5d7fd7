//! Files and an order to a Zip, a Zip to an index.
//!
//! **Invariant:** does no I/O of its own beyond `Write`, `Seek` and [`ReadAt`]; what it writes by default opens in `unzip`,
//! Python and Explorer, and in readers that stream.
//!
//! The writer lays entries down in the order they are given, each as one extent: local header with true sizes and CRC,
//! data, and the next header directly after it. The reader needs the directory once; then an entry is one read.
//!
//! ```
//! use seekless_pack::{About, Codec, Index, PackWriter, decode, prepare};
//!
//! let mut pack = PackWriter::new(Vec::new());
//! pack.add(prepare(About::named("art/wall.dds"), b"brick brick brick brick".to_vec(), Codec::Auto)?)?;
//! let (archive, written) = pack.finish()?;
//! assert_eq!(written.entries, 1);
//!
//! let index = Index::open(archive.as_slice(), archive.len() as u64)?;
//! let wall = index.find("art/wall.dds").expect("it was added");
//! let entry = index.entries()[wall as usize];
//! let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
//! let mut bytes = Vec::new();
//! decode(&entry, index.name(wall), extent, &mut bytes)?;
//! assert_eq!(bytes, b"brick brick brick brick");
//! # Ok::<(), seekless_pack::Error>(())
//! ```

#![forbid(unsafe_code)]

mod civil;
mod decode;
mod entry;
mod error;
mod format;
mod index;
mod name;
mod prepare;
mod read_at;
mod record;
mod sum;
mod verify;
mod writer;

pub use decode::{data_range, decode};
pub use entry::{Entry, Method};
pub use error::{Error, ErrorKind, Result};
pub use index::Index;
pub use name::check_new as check_name;
pub use prepare::{About, Codec, Prepared, prepare, prepare_directory, worth_deflating};
pub use read_at::ReadAt;
pub use verify::{Verified, verify};
pub use writer::{PackWriter, Written};
