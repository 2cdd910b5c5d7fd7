//! The settings of a store, and its opening.

use crate::archive::Archive;
use crate::decision::Watched;
use crate::probed;
use crate::shared::{Memory, Shared};
use crate::state::State;
use crate::worker::Workers;
use crate::{Error, Result, Store};
use seekless_device::{Costs, CostsSource, Knowledge};
use seekless_engine::{Engine, EngineKind};
use seekless_policy::cache::{Cache, Config};
use seekless_policy::eviction::named;
use seekless_policy::planner::{self, Planner};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;

/// Most bytes of buffers that wait for the next read.
const IDLE_BYTES_MAX: u64 = 16 << 20;

/// Most bytes of one entry, unless the program says otherwise: more than files of a pack have, less
/// than machines have.
const ENTRY_BYTES_MAX: u64 = 1 << 30;

/// Settings for a [`Store`]; made by [`Store::builder`].
#[derive(Clone)]
#[must_use]
pub struct StoreBuilder {
    cache_bytes: u64,
    policy: String,
    engine: EngineKind,
    shared_engine: Option<Arc<dyn Engine>>,
    direct: bool,
    workers: Option<usize>,
    read_ahead_bytes: Option<u64>,
    window_bytes: Option<u64>,
    max_entry_bytes: u64,
    record: bool,
    costs: Option<Costs>,
    probed: Option<Costs>,
    look_up: bool,
    device_table: Option<PathBuf>,
}

impl Default for StoreBuilder {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            policy: "landlord".to_owned(),
            engine: EngineKind::Auto,
            shared_engine: None,
            direct: true,
            workers: None,
            read_ahead_bytes: None,
            window_bytes: None,
            max_entry_bytes: ENTRY_BYTES_MAX,
            record: false,
            costs: None,
            probed: None,
            look_up: true,
            device_table: None,
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
    /// Bytes of content that the cache keeps; by default 64 MiB. A file over half of it is loaded
    /// but not kept.
    pub fn cache(mut self, bytes: u64) -> Self {
        self.cache_bytes = bytes;
        self
    }

    /// The eviction policy by name, see [`NAMES`](seekless_policy::eviction::NAMES); by default
    /// `landlord`.
    pub fn policy(mut self, name: impl Into<String>) -> Self {
        self.policy = name.into();
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

    /// Bytes of reads that are kept because they hold files that have not been requested. The
    /// default is 16 MiB. It is 64 MiB as long as a request costs as much as reading 256 KiB: such
    /// a device makes it worth keeping the files longer. It is 0 if [`StoreBuilder::cache`] is 0.
    /// With 0, nothing is read but what is requested.
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

    /// Opens the archive at `path`: reads its directory, and starts the threads.
    ///
    /// # Errors
    /// [`Open`](crate::ErrorKind::Open) if the archive is absent, unreadable, broken or hostile;
    /// [`Setting`](crate::ErrorKind::Setting) for an unknown policy, or an engine that cannot
    /// start.
    pub fn open(self, path: impl AsRef<Path>) -> Result<Store> {
        let engine = match &self.shared_engine {
            Some(engine) => engine.clone(),
            None => seekless_engine::build(self.engine.clone())
                .map_err(|error| Error::setting("the engine cannot start", error))?,
        };
        let archive = Archive::open(path.as_ref(), self.direct, &*engine)?;
        let state = self.state(&archive, &*engine)?;
        let idle_bytes = self.read_ahead_bytes.unwrap_or(IDLE_BYTES_MAX).min(IDLE_BYTES_MAX);
        let memory =
            Memory { idle_bytes: idle_bytes as usize, max_entry_bytes: self.max_entry_bytes };
        let shared = Arc::new(Shared::new(archive, engine, state, memory));
        let workers = Workers::start(shared.clone(), self.worker_count())
            .map_err(|error| Error::setting("a worker thread cannot start", error))?;
        Ok(Store::new(shared, workers))
    }

    fn state(&self, archive: &Archive, engine: &dyn Engine) -> Result<State> {
        let setting = |error| Error::setting("the cache cannot be made", error);
        let (policy, recorder) =
            Watched::new(named(&self.policy, self.cache_bytes).map_err(setting)?, self.record);
        let mut cache = Cache::new(policy, Config::files(self.cache_bytes)).map_err(setting)?;
        cache.grow(archive.extents.len() as u32);
        let (costs, source) = self.known(&archive.path, engine);
        let memory = planner::Memory {
            cache_bytes: self.cache_bytes,
            read_ahead_bytes: self.read_ahead_bytes,
            window_bytes: self.window_bytes,
        };
        let planner = Planner::new(archive.extents.clone(), archive.alignment, memory, costs);
        Ok(State::new(cache, recorder, planner, Knowledge::new(costs, source)))
    }

    /// What is known of the device under `archive` before the first read.
    fn known(&self, archive: &Path, engine: &dyn Engine) -> (Costs, CostsSource) {
        if let Some(costs) = self.costs {
            return (costs, CostsSource::Told);
        }
        if engine.knows_costs() {
            return (engine.costs(), CostsSource::Told);
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
