//! The settings of a store, and its opening.

use crate::decision::Watched;
use crate::memory::Memory;
use crate::prediction::Knows;
use crate::probed;
use crate::shared::Shared;
use crate::sources::{Place, Sources};
use crate::state::State;
use crate::worker::Workers;
use crate::{DiskCacheSettings, Error, Result, Store, remote};
use seekless_device::{Costs, CostsSource, Knowledge};
use seekless_engine::{Engine, EngineKind, ObjectName};
use seekless_pack::{NameEncoding, Reading};
use seekless_policy::cache::{Cache, Config, Together};
use seekless_policy::eviction::{Id, Needs, named};
use seekless_policy::foresight::prediction::{Model, Prediction};
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::ahead::many_are_dear;
use seekless_policy::planner::{self, Planner};
use seekless_sys::memory::free_bytes;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

/// Most bytes of one entry, unless the program says otherwise: more than files of a pack have, less
/// than machines have.
const ENTRY_BYTES_MAX: u64 = 1 << 30;

/// What is kept between loads, unless the program says otherwise.
const CACHE_BYTES: u64 = 64 << 20;

/// The same of objects in object storage: what comes before it is needed takes room, and a wait for
/// what does not costs far more.
const OBJECTS_CACHE_BYTES: u64 = 256 << 20;

/// Room beyond the cache for reads under way, and for what a [`Store::load_many`] runs ahead.
const AHEAD_BYTES: u64 = 512 << 20;

/// Settings for a [`Store`]; made by [`Store::builder`].
#[derive(Clone)]
#[must_use]
pub struct StoreBuilder {
    places: Vec<Place>,
    /// `None`: [`CACHE_BYTES`], or [`OBJECTS_CACHE_BYTES`].
    cache_bytes: Option<u64>,
    policy: String,
    together_bytes: Option<u64>,
    engine: EngineKind,
    shared_engine: Option<Arc<dyn Engine>>,
    direct: bool,
    workers: Option<usize>,
    read_ahead_bytes: Option<u64>,
    window_bytes: Option<u64>,
    max_entry_bytes: u64,
    large_entries: bool,
    reading: Reading,
    beyond_bytes: Option<u64>,
    protect: bool,
    record: bool,
    costs: Option<Costs>,
    probed: Option<Costs>,
    look_up: bool,
    device_table: Option<PathBuf>,
    disk_cache: Option<DiskCacheSettings>,
    knows: Knows,
    predicts_by_names: bool,
}

impl Default for StoreBuilder {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            cache_bytes: None,
            policy: "landlord".to_owned(),
            together_bytes: None,
            engine: EngineKind::Auto,
            shared_engine: None,
            direct: true,
            workers: None,
            read_ahead_bytes: None,
            window_bytes: None,
            max_entry_bytes: ENTRY_BYTES_MAX,
            large_entries: false,
            reading: Reading::default(),
            beyond_bytes: None,
            protect: false,
            record: false,
            costs: None,
            probed: None,
            look_up: true,
            device_table: None,
            disk_cache: None,
            knows: Knows::Pack,
            predicts_by_names: false,
        }
    }
}

impl Store {
    /// Settings for a store; [`StoreBuilder::open`] opens it.
    pub fn builder() -> StoreBuilder {
        StoreBuilder::default()
    }

    /// Opens the archive at `path` with the default settings. Reads its directory only.
    ///
    /// # Errors
    /// As [`StoreBuilder::open`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::builder().open(path)
    }
}

impl StoreBuilder {
    /// Bytes that the store keeps between loads; by default 64 MiB, and 256 MiB if a source lies in
    /// object storage. At rest it adds no more than 8 MiB to them, beside the archive's directory.
    /// A part is for reads that hold files which have not been requested: see
    /// [`StoreBuilder::read_ahead_cache`]. The rest is for content. A file over half of that is
    /// loaded but not kept.
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache_bytes = Some(bytes);
        self
    }

    /// The eviction policy by name, see [`NAMES`](seekless_policy::eviction::NAMES); by default
    /// `landlord`. `belady` evicts by the order that [`Store::will_load`] gives.
    pub fn policy(mut self, name: impl Into<String>) -> Self {
        self.policy = name.into();
        self
    }

    /// Whether small files that lie in one unit of the archive, of this many bytes, leave the cache
    /// together (Wassenberg 2006, section 5.3): with each file that the policy evicts, the others
    /// of its unit. By default none does: on the recorded starts it costs more hits than it saves
    /// reads. [`Store::decisions`] has the policy's own victims alone.
    pub fn leave_together(mut self, unit_bytes: u64) -> Self {
        self.together_bytes = Some(unit_bytes);
        self
    }

    /// Which engine reads; by default the best that the kernel allows.
    pub fn engine(mut self, kind: EngineKind) -> Self {
        self.engine = kind;
        self
    }

    /// Reads with an engine that exists already, so that several stores share one device, and its
    /// counters.
    pub fn shared_engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.shared_engine = Some(engine);
        self
    }

    /// Whether to read past the page cache (O_DIRECT) where the file system allows it; by
    /// default true.
    pub fn direct(mut self, direct: bool) -> Self {
        self.direct = direct;
        self
    }

    /// Threads that decode; by default as many as there are cores. There is always at least one.
    pub fn workers(mut self, count: usize) -> Self {
        self.workers = Some(count);
        self
    }

    /// Bytes of reads that are kept because they hold files that have not been requested, beside
    /// [`StoreBuilder::cache`]. What counts are the pages in which such files lie: the others are
    /// given back. With 0, nothing is read but what is requested. By default they are
    /// a part of the cache: a quarter, and half where a request is known to cost as much as reading
    /// 256 KiB, since such a device makes it worth keeping the files longer; at most 64 MiB unless
    /// such a device serves eight requests at once, and where requests are cheap 16 MiB.
    pub fn read_ahead_cache(mut self, bytes: u64) -> Self {
        self.read_ahead_bytes = Some(bytes);
        self
    }

    /// How far [`Store::load_many`] may run ahead of its consumer, in bytes of files, coded and
    /// decoded together. A larger window finds more neighbours to read at once. By default 64 MiB,
    /// or 256 MiB as long as a request costs as much as reading 256 KiB.
    pub fn window(mut self, bytes: u64) -> Self {
        self.window_bytes = Some(bytes);
        self
    }

    /// The largest entry that is loaded, in bytes, coded or decoded; by default 1 GiB. A larger one
    /// is refused before it is read: a deflated entry can hold a thousand times its size, so
    /// that an archive of a few megabytes could ask for all memory. An entry of at most this size
    /// is given memory only as its data justifies it.
    pub fn max_entry_bytes(mut self, bytes: u64) -> Self {
        self.max_entry_bytes = bytes;
        self
    }

    /// Whether an archive is refused for what is odd about one entry: a name that no file can have,
    /// or that stands there twice; and for bytes behind its end. By default such entries are left
    /// out, and [`Store::left_out`] says so.
    pub fn strict(mut self, strict: bool) -> Self {
        self.reading.strict = strict;
        self
    }

    /// In which characters the names of an archive are that it does not say to be UTF-8; by default
    /// UTF-8 where they are that, and else code page 437. Other encodings than that need the
    /// feature `encodings`: `"cp932".parse()?`.
    pub fn names(mut self, names: NameEncoding) -> Self {
        self.reading.names = names;
        self
    }

    /// Whether an entry may be larger than [`StoreBuilder::max_entry_bytes`], as long as half of
    /// the memory that is free when the store is opened holds it; by default false.
    pub fn large_entries(mut self, allow: bool) -> Self {
        self.large_entries = allow;
        self
    }

    /// Bytes that the store may hold beyond what it keeps: reads under way, what
    /// [`Store::load_many`] runs ahead, and buffers that the program holds and the cache does not.
    /// A load that would need more is refused with [`TooLarge`](crate::ErrorKind::TooLarge); no
    /// window is larger than half of this. By default 512 MiB and twice
    /// [`StoreBuilder::max_entry_bytes`].
    pub fn beyond_cache(mut self, bytes: u64) -> Self {
        self.beyond_bytes = Some(bytes);
        self
    }

    /// Whether the processor refuses writes to the content of files, so that a program that writes
    /// through a stray pointer dies at once; by default false. Each content then takes whole pages
    /// of 4 KiB. Not protected are stored files of 128 KiB and more, which lie beside others in the
    /// memory of a read, and what exceeds the number of mappings that the system allows a process.
    pub fn protect(mut self, protect: bool) -> Self {
        self.protect = protect;
        self
    }

    /// Whether requests and evictions are recorded for [`Store::decisions`]. The record grows with
    /// every request: this is for tests.
    pub fn record_decisions(mut self, record: bool) -> Self {
        self.record = record;
        self
    }

    /// What the device charges, if the program knows: its reads are planned with this, whatever
    /// they take. Without it the store plans with what the engine knows of its device, else with
    /// [`StoreBuilder::probed`], else with what it looks up ([`StoreBuilder::look_up_costs`]), else
    /// with what its own reads show.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = Some(costs);
        self
    }

    /// What was measured of the device. The store plans with it until its own reads contradict it.
    pub fn probed(mut self, costs: Costs) -> Self {
        self.probed = Some(costs);
        self
    }

    /// Whether the store looks up what `seekless probe` has measured of its device, or what the
    /// user's configuration says of it, under the limits of this process's control group; by
    /// default true. It counts as [`StoreBuilder::probed`]. Without the feature `probed` nothing is
    /// looked up.
    pub fn look_up_costs(mut self, look_up: bool) -> Self {
        self.look_up = look_up;
        self
    }

    /// The device table in which costs are looked up; by default the one that `seekless probe`
    /// keeps for the user.
    pub fn device_table(mut self, path: impl Into<PathBuf>) -> Self {
        self.device_table = Some(path.into());
        self
    }

    /// What of packs in object storage is kept on the local disk; by default what the environment
    /// says ([`DiskCacheSettings::from_environment`]). An engine of
    /// [`StoreBuilder::shared_engine`] has its own.
    pub fn disk_cache(mut self, settings: DiskCacheSettings) -> Self {
        self.disk_cache = Some(settings);
        self
    }

    /// Whether files that the program is likely to load soon are read with others, or ahead, if the
    /// store has room for reads that are kept ([`StoreBuilder::read_ahead_cache`]). By default
    /// true: what is known of the program's loads comes from the first pack that says it
    /// ([`PREDICTION`](seekless_pack::PREDICTION)), as those of `seekless pack --trace` do. What
    /// such an entry holds is not one of the program's files: it is not loaded and not counted.
    /// If it is damaged, [`Store::prediction_note`] says so, and nothing is predicted.
    pub fn predict(mut self, predict: bool) -> Self {
        self.knows = if predict { Knows::Pack } else { Knows::Nothing };
        self
    }

    /// Whether predictions also go by the names of files, where many dear requests run at once, as
    /// in object storage: files of a folder, kind and name as those that were loaded are read ahead
    /// too, as far as they pay. By default false. It waits for fewer files and makes two thirds
    /// more requests, so it takes processors that have nothing else to do: simulated, a start of 0
    /// A.D. takes 1.7 s in place of 2.2 s; with the server on the same two cores it took longer.
    pub fn predict_by_names(mut self, predict: bool) -> Self {
        self.predicts_by_names = predict;
        self
    }

    /// What is known of the program's loads, in place of what a pack says. [`Store::learned`] gives
    /// it with the loads of a run; `Model::default()` begins with nothing. Its numbers are those of
    /// the store's entries.
    pub fn prediction(mut self, model: Model) -> Self {
        self.knows = Knows::Model(Box::new(model));
        self
    }

    /// As [`StoreBuilder::prediction`], from a file of [`Model::to_bytes`].
    pub fn prediction_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.knows = Knows::File(path.into());
        self
    }

    /// Also loads from the archive at `path`. Of files that several sources have under one name,
    /// the last source's is loaded: a patch overrides what it patches. Names are compared with `/`
    /// between their parts, and without empty and `.` parts.
    pub fn archive(mut self, path: impl Into<PathBuf>) -> Self {
        self.places.push(Place::Archive(path.into()));
        self
    }

    /// Also loads from the folder at `path`, as from an archive: its files are those that it has
    /// when the store is opened, under their names below the folder. They are read through the page
    /// cache. A file that changes its size later cannot be loaded until the store is opened again.
    pub fn folder(mut self, path: impl Into<PathBuf>) -> Self {
        self.places.push(Place::Folder(path.into()));
        self
    }

    /// Opens the archive at `path`, behind the sources that were given before: reads its
    /// directory, and starts the threads.
    ///
    /// # Errors
    /// As [`StoreBuilder::open_all`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<Store> {
        self.archive(path.as_ref()).open_all()
    }

    /// Opens all that [`StoreBuilder::archive`] and [`StoreBuilder::folder`] have named.
    ///
    /// # Errors
    /// [`Open`](crate::ErrorKind::Open) if an archive is absent, unreadable, broken or hostile, a
    /// folder cannot be walked, or what [`StoreBuilder::prediction`] or
    /// [`StoreBuilder::prediction_file`] gives is damaged or not of these archives;
    /// [`Setting`](crate::ErrorKind::Setting) for an unknown policy, an
    /// engine that cannot start, or if nothing was named.
    pub fn open_all(self) -> Result<Store> {
        let Some(first) = self.places.first() else {
            let how = "name an archive or a folder";
            return Err(Error::setting("the store has nothing to load from", how));
        };
        let engine = match &self.shared_engine {
            Some(engine) => engine.clone(),
            None => {
                let files = seekless_engine::build(self.engine.clone())
                    .map_err(|error| Error::setting("the engine cannot start", error))?;
                remote::engine_for(&self.places, files, self.disk_cache.as_ref())?
            }
        };
        let sources = Sources::open(&self.places, self.direct, self.reading, &*engine)?;
        let known = self.knows.look(&sources, &*engine)?;
        let (costs, source) = self.known(first.path(), &*engine);
        let kept = planner::Memory {
            cache_bytes: self.cache_bytes.unwrap_or_else(|| self.usual_cache_bytes()),
            read_ahead_bytes: self.read_ahead_bytes,
            window_bytes: self.window_bytes,
        };
        let max_entry_bytes = self.entry_limit(&sources);
        let twice = max_entry_bytes.saturating_mul(2).saturating_add(AHEAD_BYTES);
        let beyond_bytes = self.beyond_bytes.unwrap_or(twice);
        let memory = Memory::new(kept.bytes(), beyond_bytes, self.protect)
            .map_err(|error| Error::setting("there is no memory for the cache", error))?;
        let files_bytes = kept.files_bytes(&costs);
        let entries = sources.extents.clone();
        let mut planner = Planner::new(entries.clone(), sources.alignment, kept, costs);
        let prediction = known.model.and_then(|model| Prediction::new(model, entries.clone()));
        if many_are_dear(&costs) {
            planner.set_near(sources.near(&*engine));
        }
        // Only where asking is cheap is what names say worth finding out.
        let by_names = self.predicts_by_names && many_are_dear(&costs);
        planner.set_prediction(match prediction {
            Some(prediction) if by_names => Some(prediction.with_names(Arc::new(sources.alike()))),
            other => other,
        });
        let knowledge = Knowledge::new(costs, source);
        let state = self.state(files_bytes, &entries, planner, knowledge)?;
        let shared = Arc::new(Shared::new(sources, engine, state, memory, max_entry_bytes));
        let workers = Workers::start(shared.clone(), self.worker_count())
            .map_err(|error| Error::setting("a worker thread cannot start", error))?;
        Ok(Store::new(shared, workers, known.note))
    }

    fn usual_cache_bytes(&self) -> u64 {
        match self.places.iter().any(|place| ObjectName::is_meant(place.path())) {
            true => OBJECTS_CACHE_BYTES,
            false => CACHE_BYTES,
        }
    }

    /// Most bytes of one entry of these.
    fn entry_limit(&self, sources: &Sources) -> u64 {
        if !self.large_entries {
            return self.max_entry_bytes;
        }
        let bytes = |id| sources.bytes(id).max(sources.coded_bytes(id));
        let largest = (0..sources.extents.len() as Id).map(bytes).max().unwrap_or(0);
        let half = free_bytes().map_or(0, |bytes| bytes / 2);
        self.max_entry_bytes.max(largest.min(half))
    }

    /// `files_bytes` of the cache are for content.
    fn state(
        &self,
        files_bytes: u64,
        entries: &[Extent],
        planner: Planner,
        knowledge: Knowledge,
    ) -> Result<State> {
        let setting = |error| Error::setting("the cache cannot be made", error);
        let (policy, recorder) =
            Watched::new(named(&self.policy, files_bytes).map_err(setting)?, self.record);
        // As far as the program announces it: without `Store::will_load` no next use is known.
        let offer = Needs { next_use: true, ..Needs::NONE };
        let config = Config::files(files_bytes);
        let mut cache = Cache::with_offer(policy, config, offer).map_err(setting)?;
        cache.grow(planner.entries());
        if let Some(unit_bytes) = self.together_bytes {
            cache.leave_together(Together::new(entries, unit_bytes));
        }
        Ok(State::new(cache, recorder, planner, knowledge))
    }

    /// What is known of the device under `archive` before the first read.
    fn known(&self, archive: &Path, engine: &dyn Engine) -> (Costs, CostsSource) {
        if let Some(costs) = self.costs {
            return (costs, CostsSource::Given);
        }
        if engine.knows_costs() {
            return (engine.costs(), CostsSource::Given);
        }
        let look_up = || probed::costs(archive, self.device_table.as_deref());
        match self.probed.or_else(|| self.look_up.then(look_up)?) {
            Some(costs) => (costs, CostsSource::Probed),
            None => (engine.costs(), CostsSource::Assumed),
        }
    }

    fn worker_count(&self) -> usize {
        self.workers.unwrap_or_else(|| available_parallelism().map_or(1, Into::into)).max(1)
    }
}
