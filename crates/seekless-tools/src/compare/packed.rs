//! The pack's two ways to load: one after another as the program asks, and the whole list at once.
//!
//! Both open a fresh store with an empty cache inside the measured time, so the pack's directory is paid for.

use super::Options;
use super::plan::Plan;
use crate::error::{Error, ErrorKind, Result};
use seekless_engine::{Counters, EngineKind};
use seekless_io::Store;
use seekless_measure::Checksum;
use std::path::Path;

/// Loads the plan one after another. Returns a digest of what was loaded, and what was read.
pub(crate) fn load_on_demand(pack: &Path, plan: &Plan, options: &Options) -> Result<(Checksum, Counters)> {
    let store = open(pack, options)?;
    let mut delivered = Checksum::default();
    for (place, &file) in (0..).zip(&plan.loads) {
        let name = &plan.files[file].name;
        let buffer = store.load(name).map_err(|error| unreadable(pack, name, error))?;
        delivered.add(place, &buffer);
    }
    Ok((delivered, counters(&store, options)))
}

/// Hands over the whole list and takes what comes, in whatever order. Returns as [`load_on_demand`] does.
pub(crate) fn load_known(pack: &Path, names: &[String], options: &Options) -> Result<(Checksum, Counters)> {
    let store = open(pack, options)?;
    let mut delivered = Checksum::default();
    for (place, loaded) in store.load_many(names.iter().cloned()) {
        let buffer = loaded.map_err(|error| unreadable(pack, &names[place], error))?;
        delivered.add(place as u64, &buffer);
    }
    Ok((delivered, counters(&store, options)))
}

/// What was read; exact only past the page cache, or on a model.
fn counters(store: &Store, options: &Options) -> Counters {
    let counters = store.counters();
    let exact = counters.exact && (store.is_direct() || options.device.is_some());
    Counters { exact, ..counters }
}

fn open(pack: &Path, options: &Options) -> Result<Store> {
    let engine = options.device.map_or(EngineKind::Auto, EngineKind::Throttled);
    Store::builder().cache(options.cache_bytes).engine(engine).direct(true).open(pack).map_err(|error| {
        Error::because(ErrorKind::Pack, format!("cannot open the pack {}", pack.display()), error)
    })
}

fn unreadable(pack: &Path, name: &str, error: seekless_io::Error) -> Error {
    Error::because(ErrorKind::Pack, format!("cannot load {name} from {}", pack.display()), error)
}
