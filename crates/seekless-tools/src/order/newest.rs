//! What the newest run takes from archives that the others make: a pack in the best order, a tar in
//! the order of need, and an image layer as it is, of which a list is known.

use super::files::Files;
use super::judge::{Judge, Loading, Loadings};
use super::universe::{Run, Universe, check_sizes, read_runs};
use super::{BEST, by_name};
use seekless_device::DeviceSpec;
use seekless_job::Result;
use seekless_job::roots::Roots;
use seekless_policy::eviction::Id;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Files beside the loaded ones that a layer is taken to hold, at most.
const BESIDE_MAX: usize = 100_000;

/// What the newest run takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Newest {
    /// From a pack of all files that the runs load, in the best order.
    pub(crate) packed: Loadings,
    /// From a tar of these files in the order of need, one after the other.
    pub(crate) in_order: Loading,
    /// From a layer in the order of names, which also holds the files beside these: what the
    /// others load is brought in as a list, and the rest is demanded.
    pub(crate) from_list: Loading,
}

/// Loads the newest run of the traces; `None` if they load no file. A single run makes the orders
/// and the list itself.
pub(crate) fn newest(traces: &[PathBuf], device: &DeviceSpec) -> Result<Option<Newest>> {
    let runs = read_runs(traces, &Roots::default())?;
    let universe = Universe::from_runs(&runs);
    let Some((newest, others)) = runs.split_last() else { return Ok(None) };
    if universe.names.is_empty() || newest.paths().next().is_none() {
        return Ok(None);
    }
    check_sizes(universe.files())?;
    let files = Files::new(universe.names.iter().map(String::as_str), universe.bytes.clone());
    let makers = if others.is_empty() { std::slice::from_ref(newest) } else { others };
    let made: Vec<Vec<Id>> = makers.iter().map(|run| universe.number(run).0).collect();
    let made: Vec<&[Id]> = made.iter().map(Vec::as_slice).collect();
    let (best, _) = by_name(BEST, &files, &made, device, None)?;
    let judge = Judge::new(&files, device);
    let run = universe.number(newest).0;
    let all = 0..universe.names.len() as Id;
    let need = unlike(made.iter().rev().flat_map(|ids| ids.iter().copied()).chain(all));
    Ok(Some(Newest {
        packed: judge.judge(&best, &run)?,
        in_order: judge.judge(&need, &run)?.on_demand,
        from_list: from_list(&universe, makers, newest, device)?,
    }))
}

/// The list of what `makers` load over the layer's order, and then what else `newest` needs.
fn from_list(
    universe: &Universe,
    makers: &[Run],
    newest: &Run,
    device: &DeviceSpec,
) -> Result<Loading> {
    let mut sizes: BTreeMap<String, u64> = beside(&universe.names);
    sizes.extend(universe.names.iter().cloned().zip(universe.bytes.iter().copied()));
    let layer = Universe::from_files(sizes.into_iter().collect());
    let files = Files::new(layer.names.iter().map(String::as_str), layer.bytes.clone());
    let judge = Judge::new(&files, device);
    let order: Vec<Id> = (0..layer.names.len() as Id).collect();
    let list = unlike(makers.iter().rev().flat_map(|run| layer.number(run).0));
    let listed: BTreeSet<Id> = list.iter().copied().collect();
    let rest: Vec<Id> =
        layer.number(newest).0.into_iter().filter(|id| !listed.contains(id)).collect();
    let mut loading = judge.judge(&order, &list)?.listed;
    if !rest.is_empty() {
        loading += judge.judge(&order, &rest)?.on_demand;
    }
    Ok(loading)
}

/// Each once, where it comes first.
fn unlike(ids: impl Iterator<Item = Id>) -> Vec<Id> {
    let mut seen = BTreeSet::new();
    ids.filter(|id| seen.insert(*id)).collect()
}

/// Files that lie here in the folders of these, with their sizes: a layer holds them too, so they
/// lie between those that are loaded.
fn beside(names: &[String]) -> BTreeMap<String, u64> {
    let folders: BTreeSet<&Path> = names
        .iter()
        .filter(|name| name.starts_with('/'))
        .filter_map(|name| Path::new(name).parent())
        .collect();
    let entries = folders.iter().filter_map(|folder| folder.read_dir().ok()).flatten();
    let file = |entry: std::fs::DirEntry| {
        let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
        Some((entry.path().to_str()?.to_owned(), about.len()))
    };
    entries.filter_map(|entry| file(entry.ok()?)).take(BESIDE_MAX).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fmt::Write as _;
    use std::fs;

    const DEVICE: DeviceSpec = DeviceSpec::Volume { iops: 500, bytes_per_second: 150_000_000 };

    /// A trace of whole-file loads of 4,000 bytes each.
    fn trace(folder: &Path, name: &str, files: &[String]) -> PathBuf {
        let mut rows = "time_s,path,size\n".to_owned();
        for (turn, file) in files.iter().enumerate() {
            let _ = writeln!(rows, "{turn}.0,{file},4000");
        }
        let path = folder.join(name);
        fs::write(&path, rows).unwrap();
        path
    }

    #[test]
    fn what_lies_between_the_listed_files_of_a_layer_costs_and_what_is_not_listed_is_demanded() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        let name = |number: u32| format!("{}/{number:04}", data.display());
        let few: Vec<String> = (0..100).map(|number| name(number * 5)).collect();
        let runs = |name: &str, files: &[String]| vec![trace(folder.path(), name, files)];
        let one = runs("one.csv", &few);
        let alone = newest(&one, &DEVICE).unwrap().unwrap();
        assert!(alone.from_list.requests <= alone.in_order.requests, "{alone:?}");
        // Four large files after each that is loaded.
        for number in (0..500).filter(|number| number % 5 > 0) {
            let file = fs::File::create(name(number)).unwrap();
            file.set_len(1 << 20).unwrap();
        }
        let between = newest(&one, &DEVICE).unwrap().unwrap();
        assert_eq!((between.packed, between.in_order), (alone.packed, alone.in_order));
        assert!(between.from_list.requests > 2 * alone.from_list.requests, "{between:?}");
        // The older run loads half of these files: the others are no part of the list.
        let half = trace(folder.path(), "half.csv", &few[..50]);
        let held_out = newest(&[half, one[0].clone()], &DEVICE).unwrap().unwrap();
        let requests = |newest: &Newest| newest.from_list.requests;
        assert!(4 * requests(&held_out) > 3 * requests(&between), "{held_out:?}");
    }
}
