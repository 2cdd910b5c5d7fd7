//! Safe faces of the Linux calls that no crate offers.
//!
//! Each module wraps one facility of the kernel: [`residency`] asks what of a file is in the page cache and throws it out,
//! [`direct`] opens a file past the page cache and asks for the alignment that this needs; [`extents`] says where a
//! file lies on its device and where it has holes; [`map`] and [`guarded`] map one for reading;
//! [`reads`] reads with or without the page cache, [`folios`] fills it by large pieces, [`memory`] fetches into the processor's own;
//! [`files`] opens and closes many; [`output`] writes a file that appears whole or not at all; [`ctype`], [`locale`] and [`regex`] are the C library's characters, patterns and dates, as GNU's tools use them;
//! [`inflate`] decodes deflate data into memory that was not filled before;
//! [`seccomp`], [`tracee`] and [`signals`] are what a recorder of programs stands on; [`replace`] becomes another program. Nothing here knows a trace or a
//! policy, and every `unsafe` stands with its `SAFETY` line.

pub mod ctype;
pub mod direct;
pub mod extents;
pub mod files;
pub mod folios;
pub mod guarded;
pub mod inflate;
mod inherited;
pub mod locale;
pub mod map;
pub mod memory;
pub mod output;
pub mod reads;
pub mod regex;
pub mod replace;
pub mod residency;
pub mod seccomp;
mod seekable;
pub mod signals;
pub mod tracee;

pub use seekable::open_seekable;
