//! Words, tables and pictures from figures.
//!
//! **Invariant:** measures nothing, opens nothing, prints nothing: figures go in, text comes out.
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

mod bars;
pub mod chart;
mod drawing;
mod picture;
mod table;
mod words;

pub use bars::{BarRow, bars};
pub use drawing::{Drawing, Format};
pub use picture::before_after;
pub use table::table;
