//! `seekless._seekless`: the facade for the Python package `seekless`, which lies beside it in
//! `python/seekless/` and is what users see.
//!
//! **Invariant:** no logic of its own. It turns Python's values into the facade's and back. Each
//! call that works or waits releases the interpreter's lock and ends at Ctrl-C ([`job`]); each
//! error is an exception that names the path and says what to do ([`failure`]); no panic reaches
//! Python. `unsafe` stands in `buffer` and `capsule` only.

mod arguments;
mod buffer;
mod capsule;
mod curve;
mod failure;
mod fork;
mod job;
mod live;
mod many;
mod own;
mod pack;
mod record;
mod requests;
mod rows;
mod simulate;
mod store;
mod table;
mod timed;
mod trace;
mod wake;

use pyo3::prelude::*;

/// The extension behind the package `seekless`.
#[pymodule]
mod _seekless {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::arguments::parse_bytes;
    #[pymodule_export]
    use super::curve::curve;
    #[pymodule_export]
    use super::fork::after_fork;
    #[pymodule_export]
    use super::live::Cache;
    #[pymodule_export]
    use super::many::LoadMany;
    #[pymodule_export]
    use super::pack::pack;
    #[pymodule_export]
    use super::record::record;
    #[pymodule_export]
    use super::requests::Requests;
    #[pymodule_export]
    use super::simulate::{policies, simulate};
    #[pymodule_export]
    use super::store::Store;
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::timed::simulate_timed;
    #[pymodule_export]
    use super::trace::{import_files, import_table, trace_info, trace_table};
    #[pymodule_export]
    use super::wake::Arrivals;

    /// Says the version.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("version", env!("CARGO_PKG_VERSION"))
    }
}
