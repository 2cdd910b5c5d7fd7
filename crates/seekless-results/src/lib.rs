//! The one form of what benches and labs find.
//!
//! # The problem
//!
//! A figure in a document is worth something if its reader can find it, compare it with a rival's
//! and measure it again. So each bench and lab writes its figures into a file of [`Results`]:
//! tables of cases and contenders, each with its unit and with what is known of the run that gave
//! it ([`Measured`]). `cargo xtask figures` makes the pages of `docs/measured/` from these files,
//! and `./test` compares them.
//!
//! # Its neighbours
//!
//! The benches (`bench/`, `bench/cached`), the labs and `xtask` use this crate; nothing that is
//! shipped does. It imports no other crate of ours, so that `bench/cached` builds little for it.
//!
//! **Invariant:** a figure is printed as it stands in the file: nothing rounds it, and a cell holds
//! one figure.
//!
//! # Example
//!
//! ```
//! use seekless_results::{Better, Contender, Figure, Table};
//!
//! let table = Table::new("scan", "Seconds of a scan", "file", "s", Better::Lower)
//!     .contenders([Contender::ours("seekless wc"), Contender::rival("GNU wc")])
//!     .row("1 GB", [Figure::of_rounds(&[0.25, 0.2, 0.3]), Figure::exact(1.0)]);
//! assert_eq!(table.grid().rows[0][1].text, "0.25 (0.20 to 0.30)");
//! ```

#![forbid(unsafe_code)]

mod cells;
mod data;
mod file;
mod measured;
mod number;
mod output;
mod table;

pub use cells::{Cell, Grid};
pub use data::{data_folder, published};
pub use file::Results;
pub use measured::{Machine, Measured};
pub use number::number;
pub use output::{Output, Run};
pub use table::{Better, Contender, Figure, Row, Table};
