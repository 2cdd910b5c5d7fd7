//! Writes packs and reads them: ordered Zip archives.
//!
//! # The problem
//!
//! A pack must open everywhere, so it is an ordinary Zip archive; and it must load fast, which most
//! Zip archives do not. They hold their files in the order in which a tool walked a folder; they
//! have sizes behind the data instead of before it, so that a reader cannot trust what stands
//! there; and a reader needs two reads a file, since the header's length is not known.
//!
//! Here the order is the caller's. [`PackWriter`] lays entries down in the order in which they are
//! given, each as one extent: a local header with true sizes and CRC, the data, and directly after
//! it the next header. So a reader that has the directory ([`Index`]) fetches an entry, header and
//! data, with one read, and neighbouring entries with one read together.
//!
//! The parts, in the order of use:
//!
//! * [`prepare`] codes the content of one file, on any thread: deflated where that saves enough
//!   ([`Codec`]), or coded with zstd when asked for.
//! * [`PackWriter`] writes prepared entries, and the directory behind them.
//! * [`Index`] reads the directory. It takes two reads, and holds the entries in the archive's
//!   order and their names.
//! * [`decode`] turns an extent into the file's content, and checks it against the directory.
//! * [`Chunks`] says which parts of a large deflated entry can be inflated on their own.
//! * [`verify`] checks a whole archive from front to end.
//!
//! # Archives that lie
//!
//! An archive may be damaged, or made to harm. Each claim is checked against the others: sizes,
//! offsets, overlaps, names that lead out of a folder. What is wrong gives an [`Error`] of a
//! [kind](ErrorKind), never a panic. Memory is taken in proportion to the archive's own size, not
//! to what an entry claims to hold.
//!
//! # Its neighbours
//!
//! `seekless-policy` makes the order; `seekless-tools` walks the folder and packs it on all cores;
//! `seekless-io` loads from the pack.
//!
//! **Invariant:** does no I/O of its own beyond `Write`, `Seek` and [`ReadAt`]; what it writes by
//! default opens in `unzip`, Python and Explorer, and in readers that stream.
//!
//! # Example
//!
//! ```
//! use seekless_pack::{About, Codec, Index, PackWriter, decode, prepare};
//!
//! let mut pack = PackWriter::new(Vec::new());
//! let bricks = b"brick brick brick brick".to_vec();
//! pack.add(prepare(About::named("art/wall.dds"), bricks, Codec::Auto)?)?;
//! let (archive, written) = pack.finish()?;
//! assert_eq!(written.entries, 1);
//!
//! let index = Index::open(archive.as_slice(), archive.len() as u64)?;
//! let wall = index.find("art/wall.dds").expect("it was added");
//! let entry = index.entry(wall);
//! let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
//! let mut bytes = Vec::new();
//! decode(&entry, index.name(wall), extent, &mut bytes)?;
//! assert_eq!(bytes, b"brick brick brick brick");
//! # Ok::<(), seekless_pack::Error>(())
//! ```

#![forbid(unsafe_code)]

mod chunks;
mod civil;
mod decode;
mod encoding;
mod entry;
mod error;
mod fault;
mod foreign;
mod format;
mod index;
mod likeness;
mod link_map;
mod name;
mod ntfs;
mod pieces;
mod position;
mod prepare;
mod read_at;
mod reader;
mod record;
mod sum;
mod verify;
mod writer;
mod zstandard;

pub use chunks::Chunks;
pub use decode::{coded_data, data_offset, data_range, decode, decode_to};
pub use encoding::NameEncoding;
pub use entry::{Entry, Method};
pub use error::{Error, ErrorKind, Result};
pub use index::{Index, LeftOut, Reading};
pub use likeness::{FileTime, Likeness};
pub use link_map::{Astray, AstrayWhy, LINK_BYTES_MAX, LinkMap};
pub use name::check_new as check_name;
pub use pieces::Pieces;
pub use position::{Position, Step};
pub use prepare::{About, Codec, Prepared, prepare, prepare_directory};
pub use read_at::ReadAt;
pub use reader::ContentReader;
pub use verify::{Verified, damaged, verify, verify_entries};
pub use writer::{PackWriter, Written};
pub use zstandard::Level;

/// The name of the entry in which a pack holds what is known of the loads of its program, for
/// stores that read ahead. It is stored, and the last one. Other tools see an ordinary file.
pub const PREDICTION: &str = ".seekless/prediction";
