//! Predicts what loading a run from a pack would ask of a device: `seekless sim --pack`.
//!
//! The pack's directory is read as a store reads it, and names, inode and extent map lie where the
//! file system has them, so what opening costs is known exactly. The rest is
//! [`seekless_sim::store`], which decides as the live store does.

mod spy;

use crate::compare::{Pack, Placed, chosen_run};
use rayon::prelude::*;
use seekless_device::{Costs, CostsSource, DeviceSpec};
use seekless_io::Store;
use seekless_job::roots::{self, Roots};
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::Entry;
use seekless_policy::eviction::Id;
use seekless_policy::foresight::prediction::Model;
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::Memory;
use seekless_sim::Case;
use seekless_sim::store::{Archive, Event, Settings, StoreFigures, Work, on_demand_held};
use seekless_trace::{Load, Loads};
use serde::Serialize;
use spy::Spy;
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// What to predict.
#[derive(Clone, Debug)]
pub struct Options {
    /// The run to load; without it the newest.
    pub run: Option<u32>,
    /// First loads only.
    pub unique: bool,
    /// Where traced files are now.
    pub roots: Roots,
    /// The device.
    pub device: DeviceSpec,
    /// Whether the store is given its device. If not, it finds out from its reads.
    pub device_known: bool,
    /// What is computed between reads.
    pub work: Work,
    /// Whether the store does not use what the pack says of its program's loads.
    pub no_prediction: bool,
}

/// What a run would ask of a device.
#[derive(Clone, Debug, Serialize)]
pub struct Prediction {
    /// The run.
    pub run: u32,
    /// Its loads of files that the pack has.
    pub loads: u64,
    /// Its loads of other files, which are left out.
    pub missing: u64,
    /// The device, in its own words.
    pub device: String,
    /// Whether the store is given its device.
    pub device_known: bool,
    /// A row for each cache.
    pub rows: Vec<Row>,
}

/// What one cache comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The eviction policy.
    pub policy: String,
    /// Bytes of the cache.
    pub capacity: u64,
    /// The figures.
    #[serde(flatten)]
    pub figures: StoreFigures,
}

/// Predicts the loads of a run, one after another, from the pack at `path`, for each cache of
/// `cases`.
///
/// # Errors
/// The pack cannot be opened, the run is missing or loads nothing that the pack has, or a policy
/// cannot run.
pub fn predict(
    path: &Path,
    loads: &Loads,
    cases: &[Case],
    options: &Options,
) -> Result<Prediction> {
    let run = chosen_run(loads, options.run)?;
    let (mut archive, store) = opened(path, !options.no_prediction)?;
    let known = store.learned();
    let pack = Pack::new(path)?;
    archive.opening = in_file_system(&pack, &archive.opening);
    let traced = &loads.runs[run as usize];
    let ids = ids(&store, loads, traced, options)?;
    let events = events(&ids);
    let row = |case: &Case| {
        let mut model = Placed::new(&options.device, pack.place);
        let figures =
            on_demand_held(&archive, &events, &settings(case, options, known.clone()), &mut model)
                .map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))?;
        Ok(Row { policy: case.policy.clone(), capacity: case.capacity, figures })
    };
    let rows = cases.par_iter().map(row).collect::<Result<Vec<_>>>()?;
    let known = traced.len() as u64;
    let missing = if options.unique { 0 } else { known - ids.len() as u64 };
    let device = options.device.to_string();
    Ok(Prediction {
        run,
        loads: ids.len() as u64,
        missing,
        device,
        device_known: options.device_known,
        rows,
    })
}

/// What opening the pack asks for where it lies: names, inode and extent map in place of the open
/// itself, then its directory.
fn in_file_system(pack: &Pack, opening: &[Extent]) -> Vec<Extent> {
    let reads = opening.iter().filter(|extent| extent.bytes > 0);
    pack.opening.iter().chain(reads).copied().collect()
}

fn settings(case: &Case, options: &Options, prediction: Option<Model>) -> Settings {
    let memory = Memory { cache_bytes: case.capacity, read_ahead_bytes: None, window_bytes: None };
    let (costs, source) = match options.device_known {
        true => (options.device.costs(), CostsSource::Given),
        false => (Costs::ASSUMED, CostsSource::Assumed),
    };
    let (policy, work, together_bytes) = (case.policy.clone(), options.work, None);
    Settings { policy, memory, together_bytes, costs, source, work, prediction }
}

/// Opens the pack at `path` as a store does, and describes it: its entries, and what opening it
/// asked of the device. What the pack says of its program's loads is [`Store::learned`].
///
/// # Errors
/// The pack cannot be opened.
pub fn archive(path: &Path) -> Result<(Archive, Store)> {
    opened(path, true)
}

fn opened(path: &Path, predict: bool) -> Result<(Archive, Store)> {
    let fail = |error: Box<dyn std::error::Error + Send + Sync>| {
        Error::because(ErrorKind::Pack, format!("cannot open the pack {}", path.display()), error)
    };
    let spy = Arc::new(Spy::new().map_err(|error| fail(error.into()))?);
    let builder = Store::builder().shared_engine(spy.clone()).cache(0).workers(1).predict(predict);
    let store = builder.open(path).map_err(|error| fail(error.into()))?;
    let file_bytes = path.metadata().map_err(|error| fail(error.into()))?.len();
    let index = store.index();
    let within = |seen: Extent| {
        let bytes = seen.bytes.min(file_bytes.saturating_sub(seen.offset));
        Extent { bytes, ..seen }
    };
    let extent = |entry: Entry| Extent { offset: entry.header_offset, bytes: entry.extent_bytes };
    let archive = Archive {
        extents: index.entries().map(extent).collect(),
        bytes: (0..index.len() as u32).map(|number| index.bytes(number)).collect(),
        file_bytes,
        alignment: store.alignment(),
        opening: spy.seen().into_iter().map(within).collect(),
        names: None,
    };
    Ok((archive, store))
}

/// What the program does with these loads, in the order of time. If the run has no releases, each
/// load is released before the next.
fn events(loads: &[(Id, &Load)]) -> Vec<Event> {
    let tells = loads.iter().any(|(_, load)| load.released_ns.is_some());
    let mut events: Vec<(u64, Event)> = Vec::new();
    for (id, load) in loads {
        let released = if tells { load.released_ns.map(u64::from) } else { Some(load.time_ns) };
        events.push((load.time_ns, Event::Load(*id)));
        events.extend(released.map(|time| (time.max(load.time_ns), Event::Release(*id))));
    }
    events.sort_by_key(|&(time, _)| time); // stable: of one instant, a load's release follows it
    events.into_iter().map(|(_, event)| event).collect()
}

/// The entries that a run loads, in its order.
fn ids<'a>(
    store: &Store,
    loads: &Loads,
    run: &'a [Load],
    options: &Options,
) -> Result<Vec<(Id, &'a Load)>> {
    let named = |roots: &Roots| -> Vec<(Id, &'a Load)> {
        let mut seen = HashSet::new();
        let name = |load: &Load| roots.apply(&loads.names[load.file as usize]);
        run.iter()
            .filter_map(|load| Some((store.entry_of(&name(load))?, load)))
            .filter(|&(id, _)| seen.insert(id) || !options.unique)
            .collect()
    };
    let ids = named(&options.roots);
    if !ids.is_empty() {
        return Ok(ids);
    }
    let index = store.index();
    let names = (0..index.len()).map(|entry| index.name(entry as u32));
    let traced: Vec<&str> =
        run.iter().map(|load| loads.names[load.file as usize].as_str()).collect();
    let ids = roots::guess(names, &traced).map(|root| named(&Roots::new(vec![root])));
    ids.filter(|ids| !ids.is_empty()).ok_or_else(|| {
        let message = "none of the run's files is in the pack: give the pack made of the folder \
                       that the program read from, or say with --root OLD=NEW where that folder was";
        Error::new(ErrorKind::Missing, message)
    })
}
