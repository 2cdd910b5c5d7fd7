//! The pack's two ways to load: one after another as the program asks, and the whole list at once.
//!
//! Both open a fresh store with an empty cache inside the measured time, so the pack's directory is
//! paid for.

use super::options::{Device, Options};
use super::placed::Placed;
use super::plan::{Plan, Tell};
use super::survey::{Sought, Survey};
use seekless_device::{Content, Fetch, Geometry};
use seekless_engine::{Clock, Counters, Engine, EngineKind, ObjectName, Throttled, build};
use seekless_io::Store;
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::Checksum;
use seekless_policy::layout::extents::Extent;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// A pack, and what finding and opening it costs on a modelled device.
#[derive(Clone, Debug)]
pub(crate) struct Pack {
    pub(crate) path: PathBuf,
    /// Its folder's block of names, its inode, its extent map: a request each, one after another.
    /// Offsets count from the pack's first byte; what lies before it has offsets that wrap around.
    pub(crate) opening: Vec<Extent>,
    /// Where its first byte lies.
    pub(crate) place: u64,
    /// Whether it lies in object storage.
    is_object: bool,
    /// Of the store that last loaded from it on demand.
    served: Arc<Mutex<Served>>,
}

/// What became of the loads of one round, as the store counts them.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Served {
    /// Loads of files that the cache had.
    pub hits: u64,
    /// Loads that waited for a read, and have ended.
    pub waits: u64,
    /// The wait that half of these did not exceed, in nanoseconds.
    pub wait_p50_ns: u64,
    /// The same of 99 in 100.
    pub wait_p99_ns: u64,
    /// The longest.
    pub wait_max_ns: u64,
    /// Reads that were in flight when one was sent, itself included, on average.
    pub mean_depth: f64,
    /// Most reads that were in flight.
    pub depth_max: u64,
    /// The share of the bytes read for files that no load asked for: 0 to 1.
    pub waste: f64,
    /// Bytes that were read ahead since the files in them were expected.
    pub predicted_bytes: u64,
    /// Of these, bytes of files that were loaded afterwards.
    pub predicted_used_bytes: u64,
    /// Why the store did not read ahead by what the pack says of its program's loads, if that is
    /// damaged.
    pub prediction_fault: Option<String>,
}

impl Served {
    fn by(store: &Store) -> Self {
        let of = store.statistics();
        Self {
            hits: of.hits,
            waits: of.waits,
            wait_p50_ns: of.wait_p50_ns,
            wait_p99_ns: of.wait_p99_ns,
            wait_max_ns: of.wait_max_ns,
            mean_depth: of.mean_depth(),
            depth_max: of.depth_max,
            waste: of.waste(),
            predicted_bytes: of.predicted.bytes,
            predicted_used_bytes: of.predicted.used_bytes,
            prediction_fault: store.prediction_note().map(str::to_owned),
        }
    }
}

impl Pack {
    pub(crate) fn new(path: &Path) -> Result<Self> {
        if ObjectName::is_meant(path) {
            let (path, opening, served) = (path.to_owned(), Vec::new(), Arc::default());
            return Ok(Self { path, opening, place: 0, is_object: true, served });
        }
        let survey = survey(path)?;
        let (opening, place) = opening(&survey, survey.geometry);
        let extent =
            |fetch: Fetch| Extent { offset: fetch.place.wrapping_sub(place), bytes: fetch.bytes };
        let opening = opening.into_iter().map(extent).collect();
        let (path, served) = (path.to_owned(), Arc::default());
        Ok(Pack { path, opening, place, is_object: false, served })
    }

    /// The file to be dropped from the page cache; none of an object.
    pub(crate) fn files(&self) -> Vec<PathBuf> {
        if self.is_object { Vec::new() } else { vec![self.path.clone()] }
    }

    /// What became of the loads of the last round on demand.
    pub(crate) fn served(&self) -> Served {
        self.served.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// How the pack at `path` lies.
pub(super) fn survey(path: &Path) -> Result<Survey> {
    let folder =
        path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(|error| {
        Error::because(ErrorKind::Io, format!("cannot look at {}", path.display()), error)
    })?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Survey::of(&folder, &[Sought { name: &name, path }])
}

/// What finding and opening the only file of a survey fetches, and where its content begins.
pub(super) fn opening(survey: &Survey, geometry: Geometry) -> (Vec<Fetch>, u64) {
    let mut opening = Vec::new();
    let mut files = survey.cold(geometry);
    files.open(0, &mut |fetch| opening.push(fetch));
    let mut place = None;
    files.read(0, &mut |fetch| match fetch.content {
        Content::Map => opening.push(fetch),
        _ => place = place.or(Some(fetch.place)),
    });
    (opening, place.unwrap_or(0))
}

/// Loads the plan one after another. Returns a digest of what was loaded, and what was read.
pub(crate) fn load_on_demand(
    pack: &Pack,
    plan: &Plan,
    options: &Options,
    clock: &Clock,
    tell: &mut Tell<'_>,
) -> Result<(Checksum, Counters)> {
    delivered(pack, options, clock, |store, delivered| {
        for (place, &file) in plan.loads.iter().enumerate() {
            tell(place)?;
            let name = &plan.files[file].name;
            let buffer = store.load(name).map_err(|error| unreadable(pack, name, error))?;
            delivered.add(place as u64, &buffer);
        }
        let mut served = pack.served.lock().unwrap_or_else(PoisonError::into_inner);
        *served = Served::by(store);
        Ok(())
    })
}

/// Hands over the whole list and takes what comes, in whatever order. Returns as [`load_on_demand`]
/// does.
pub(crate) fn load_known(
    pack: &Pack,
    names: &[String],
    options: &Options,
    clock: &Clock,
    tell: &mut Tell<'_>,
) -> Result<(Checksum, Counters)> {
    delivered(pack, options, clock, |store, delivered| {
        for (done, (place, loaded)) in store.load_many(names.iter().cloned()).enumerate() {
            tell(done)?;
            let buffer = loaded.map_err(|error| unreadable(pack, &names[place], error))?;
            delivered.add(place as u64, &buffer);
        }
        Ok(())
    })
}

/// What `load` adds to the digest from a newly opened store, and what that store read for it.
fn delivered(
    pack: &Pack,
    options: &Options,
    clock: &Clock,
    load: impl FnOnce(&Store, &mut Checksum) -> Result<()>,
) -> Result<(Checksum, Counters)> {
    let store = open(pack, options, clock)?;
    let mut delivered = Checksum::default();
    load(&store, &mut delivered)?;
    Ok((delivered, counters(&store, pack.is_object, options)))
}

/// What was read; exact only past the page cache, or on a model.
fn counters(store: &Store, is_object: bool, options: &Options) -> Counters {
    let counters = store.counters();
    let modelled = matches!(options.device, Device::Modelled { .. });
    let is_exact = counters.exact && (is_object || store.is_direct() || modelled);
    Counters { exact: is_exact, ..counters }
}

fn open(pack: &Pack, options: &Options, clock: &Clock) -> Result<Store> {
    let mut store = Store::builder().cache(options.cache_bytes).direct(true).large_entries(true);
    store = store.predict(!options.no_prediction).disk_cache(options.disk_cache.clone());
    // The store itself chooses the engine for an object.
    if !pack.is_object {
        store = store.shared_engine(engine(pack, options, clock).map_err(|error| {
            Error::because(ErrorKind::Measure, "cannot start an engine to read with", error)
        })?);
    }
    // As a user who knows the limits would.
    if let Device::Throttled(spec) = &options.device {
        store = store.costs(spec.costs());
    }
    store.open(&pack.path).map_err(|error| {
        Error::because(
            ErrorKind::Pack,
            format!("cannot open the pack {}", pack.path.display()),
            error,
        )
    })
}

/// The engine to read with.
fn engine(pack: &Pack, options: &Options, clock: &Clock) -> std::io::Result<Arc<dyn Engine>> {
    match &options.device {
        Device::Real | Device::Throttled(_) => build(EngineKind::Auto),
        Device::Modelled { spec, .. } => {
            // The pack is taken to lie in one piece.
            let model = Box::new(Placed::new(spec, pack.place));
            let engine = Throttled::new(build(EngineKind::Auto)?, model, clock.clone())?;
            let opening = pack.opening.iter().map(|extent| (extent.offset, extent.bytes));
            Ok(Arc::new(engine.with_opening(opening.collect())))
        }
    }
}

fn unreadable(pack: &Pack, name: &str, error: seekless_io::Error) -> Error {
    Error::because(
        ErrorKind::Pack,
        format!("cannot load {name} from {}", pack.path.display()),
        error,
    )
}
