//! Turns figures into words, tables and pictures.
//!
//! # The problem
//!
//! A figure that is printed in one place as `1203456 ns` and in another as `1.2 ms` is hard to
//! compare. A table whose columns do not line up is hard to read. The command, the labs and the
//! benchmarks print their figures through this crate, so that they look alike:
//!
//! * [`table`] lines up columns of text;
//! * [`bars`] draws bars of characters for a terminal;
//! * [`chart`] and [`before_after`] make a [`Drawing`], which is written as SVG or PNG
//!   ([`Format`]). A picture is the same on every machine: the font of a PNG comes with the
//!   program.
//! * [`page`] makes one HTML page with a timeline, a treemap and tables that can be sorted.
//!
//! # Its neighbours
//!
//! `seekless-device` prints the units. This crate does not know how a figure was measured; the
//! caller passes it in.
//!
//! **Invariant:** measures nothing, opens nothing, prints nothing: figures go in, text comes out.
//!
//! # Example
//!
//! ```
//! let text = seekless_report::table(
//!     &["read from", "time", "ratio"],
//!     vec![
//!         vec!["loose files".into(), "12.3 s".into(), "1.0 ×".into()],
//!         vec!["pack".into(), "1.1 s".into(), "11.2 ×".into()],
//!     ],
//! );
//! assert!(text.starts_with("read from      time   ratio\n"));
//! ```

#![forbid(unsafe_code)]

mod bars;
pub mod chart;
mod drawing;
pub mod page;
mod picture;
mod table;
mod words;

pub use bars::{BarRow, bars};
pub use drawing::{Drawing, Format};
pub use picture::before_after;
pub use table::table;
