//! `seekless._seekless`: the facade for the Python package `seekless`, which lies beside it in
//! `python/seekless/` and is what users see.
//!
//! **Invariant:** no logic of its own. It turns Python's values into the facade's and back. Each
//! call that works or waits releases the interpreter's lock and ends at Ctrl-C ([`job`]); each
//! error is an exception that names the path and says what to do ([`failure`]); no panic reaches
//! Python. `unsafe` stands in `buffer` and `capsule` only.

mod accesses;
mod arguments;
mod buffer;
mod capsule;
mod curve;
mod failure;
mod following;
mod foreign;
mod fork;
mod job;
mod live;
mod many;
mod only;
mod own;
mod pack;
mod page_cache;
mod record;
mod requests;
mod rows;
mod shuffle;
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
    use super::{
        arguments::parse_bytes,
        curve::curve,
        following::Following,
        fork::after_fork,
        live::Cache,
        many::LoadMany,
        pack::pack,
        page_cache::{PageCache, PageCacheFile},
        record::record,
        requests::Requests,
        shuffle::shuffled,
        simulate::{policies, simulate},
        store::Store,
        table::Table,
        timed::simulate_timed,
        trace::{import_files, import_table, trace_info, trace_table},
        wake::Arrivals,
    };

    /// Says the version.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("version", env!("CARGO_PKG_VERSION"))
    }
}
