//! Trace, policy and device to figures.
//!
//! **Invariant:** same input and seed, same bytes out.
//!
//! A trace is decoded once into [`Requests`] (dense ids, one weight an id), and any number of policies and capacities
//! run over it, each with a loop of its own type, on all cores. The loop drives
//! [`Cache`](seekless_policy::cache::Cache), which the live engine drives too. [`score`] rates orders of files.
//!
//! ```
//! use seekless_sim::{Case, Requests, simulate};
//!
//! let requests = Requests::from_files(&[0, 1, 0, 2, 0], &[10, 60, 70]);
//! let figures = simulate(&requests, &Case { policy: "landlord".into(), capacity: 150 })?;
//! assert_eq!((figures.hits, figures.compulsory_misses), (2, 3));
//! # Ok::<(), seekless_sim::Error>(())
//! ```

#![forbid(unsafe_code)]

mod capacity;
mod case;
mod check;
pub mod curve;
mod drive;
mod error;
mod figures;
mod memory;
pub mod post_cache;
mod requests;
mod run;
pub mod score;
mod unit;
mod write_back;

pub use capacity::Capacities;
pub use case::{Case, Options};
pub use check::check_cases;
pub use error::{Error, ErrorKind, Result};
pub use figures::{Figures, Point};
pub use memory::memory_bytes_max;
pub use requests::{Lines, Reading, Requests};
pub use run::{each_case, simulate, simulate_all, simulate_with, victims};
pub use unit::Unit;
pub use write_back::{Period, WriteBack};
