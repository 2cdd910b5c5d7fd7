//! What the newest run takes from a pack in the best order that the others make.

use super::files::Files;
use super::judge::{Judge, Loadings};
use super::universe::{Universe, check_sizes, read_runs};
use super::{BEST, by_name};
use seekless_device::DeviceSpec;
use seekless_job::Result;
use seekless_job::roots::Roots;
use seekless_policy::eviction::Id;
use std::path::PathBuf;

/// Loads the newest run of the traces from a pack of all files that they load; `None` if they load
/// no file. A single run makes the order itself.
pub(crate) fn newest(traces: &[PathBuf], device: &DeviceSpec) -> Result<Option<Loadings>> {
    let runs = read_runs(traces, &Roots::default())?;
    let universe = Universe::from_runs(&runs);
    let Some((newest, others)) = runs.split_last() else { return Ok(None) };
    if universe.names.is_empty() || newest.paths().next().is_none() {
        return Ok(None);
    }
    check_sizes(universe.files())?;
    let files = Files::new(universe.names.iter().map(String::as_str), universe.bytes.clone());
    let makers = if others.is_empty() { std::slice::from_ref(newest) } else { others };
    let makers: Vec<Vec<Id>> = makers.iter().map(|run| universe.number(run).0).collect();
    let makers: Vec<&[Id]> = makers.iter().map(Vec::as_slice).collect();
    let (order, _) = by_name(BEST, &files, &makers, device, None)?;
    Judge::new(&files, device).judge(&order, &universe.number(newest).0).map(Some)
}
