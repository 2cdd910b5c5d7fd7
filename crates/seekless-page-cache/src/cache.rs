//! The public face: the settings of a page cache, and opening files through it.

use super::announce::Announcer;
use super::file::File;
use super::frame::{FRAME_BYTES, Pool};
use super::inner::Inner;
use super::landing::Landing;
use super::shared::Shared;
use super::source::Source;
use super::state::State;
use crate::{Error, Result, lock};
use seekless_device::Costs;
use seekless_engine::{Counters, Engine, EngineKind};
use seekless_policy::cache::paged::{Account, Limits, PagedCache};
use seekless_policy::cache::write_back::FlushRule;
use seekless_policy::eviction::named;
use seekless_policy::readahead::{NoReadahead, Readahead};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Most bytes of one command to the device: enough that a device works near its full rate, few
/// enough that several are in flight.
const COMMAND_BYTES: u64 = 1 << 20;

/// The same where requests are dear, unless the memory is small. The kernel's own readahead asks
/// for as much at once.
const LARGE_COMMAND_BYTES: u64 = 4 << 20;

/// Requests are dear where one costs as much as this many bytes.
const DEAR_BYTES: u64 = 256 << 10;

/// Most bytes in flight.
const IN_FLIGHT_BYTES_MAX: u64 = 64 << 20;

/// `dirty_writeback_centisecs` of Linux.
const WAKE: Duration = Duration::from_secs(5);

/// A cache needs some pages to keep and some to fetch into.
const BYTES_MIN: u64 = 64 << 10;

/// Settings for a [`PageCache`]; made by [`PageCache::builder`].
#[must_use]
pub struct PageCacheBuilder {
    bytes: u64,
    policy: String,
    readahead: Box<dyn Readahead>,
    engine: EngineKind,
    shared_engine: Option<Arc<dyn Engine>>,
    direct: bool,
    costs: Option<Costs>,
    flush: FlushRule,
    wake: Option<Duration>,
}

impl PageCacheBuilder {
    /// Bytes of memory for pages and for reads under way; by default 64 MiB, at least 64 KiB. At
    /// most a quarter is for reads under way.
    pub fn bytes(mut self, bytes: u64) -> Self {
        self.bytes = bytes;
        self
    }

    /// The eviction policy by name, see [`NAMES`](seekless_policy::eviction::NAMES); by default
    /// `lru`.
    pub fn policy(mut self, name: impl Into<String>) -> Self {
        self.policy = name.into();
        self
    }

    /// What decides which pages to read ahead; by default nothing does.
    pub fn readahead(mut self, readahead: Box<dyn Readahead>) -> Self {
        self.readahead = readahead;
        self
    }

    /// Which engine reads; by default the best that the kernel allows.
    pub fn engine(mut self, kind: EngineKind) -> Self {
        self.engine = kind;
        self
    }

    /// Reads with an engine that exists already, so that several caches share one device, and its
    /// counters.
    pub fn shared_engine(mut self, engine: Arc<dyn Engine>) -> Self {
        self.shared_engine = Some(engine);
        self
    }

    /// Whether to read past the kernel's page cache (O_DIRECT) where the file system allows it; by
    /// default true.
    pub fn direct(mut self, direct: bool) -> Self {
        self.direct = direct;
        self
    }

    /// What the device charges, for the readahead; by default what the engine says.
    pub fn costs(mut self, costs: Costs) -> Self {
        self.costs = Some(costs);
        self
    }

    /// When dirty pages are written while they stay in the cache, with times in nanoseconds; by
    /// default [`FlushRule::LINUX`].
    pub fn flush(mut self, rule: FlushRule) -> Self {
        self.flush = rule;
        self
    }

    /// How often a thread wakes to write what is due; by default every 5 s. `None` starts no
    /// thread: then [`PageCache::flush_due`] is for the owner to call.
    pub fn wake_every(mut self, period: impl Into<Option<Duration>>) -> Self {
        self.wake = period.into();
        self
    }

    /// Makes the cache: takes its memory, and starts its threads.
    ///
    /// # Errors
    /// [`Setting`](crate::ErrorKind::Setting) for fewer than 64 KiB, a policy that is unknown or
    /// must know the future, or an engine that cannot start.
    pub fn build(self) -> Result<PageCache> {
        if self.bytes < BYTES_MIN {
            let why = format!("{} bytes are too few: give at least {BYTES_MIN}", self.bytes);
            return Err(Error::setting("the cache cannot be made", why));
        }
        let engine = match &self.shared_engine {
            Some(engine) => Arc::clone(engine),
            None => seekless_engine::build_driven(self.engine)
                .map_err(|error| Error::setting("the engine cannot start", error))?,
        };
        let costs = self.costs.unwrap_or_else(|| engine.costs());
        let memory = Memory::new(self.bytes, costs);
        let setting = |error| Error::setting("the cache cannot be made", error);
        let policy = named(&self.policy, memory.capacity).map_err(setting)?;
        let limits = memory.limits(costs);
        let mut cache = PagedCache::new(policy, self.readahead, limits).map_err(setting)?;
        cache.set_flush_rule(self.flush);
        let frames = Arc::new(Pool::new(memory.frames as usize, memory.command_pages as usize));
        let shared = Arc::new(Shared {
            state: Mutex::new(State::new(cache, Arc::clone(&frames), memory.command_pages)),
            engine,
            frames,
            landing: Landing::new(),
            bytes: self.bytes,
            direct: self.direct,
        });
        let thread = |error| Error::setting("a thread cannot start", error);
        let announcer = Announcer::start(Arc::clone(&shared)).map_err(thread)?;
        let inner = Inner { announcer, shared, flusher: Mutex::default(), wake: self.wake };
        Ok(PageCache { inner: Arc::new(inner) })
    }
}

/// How the memory is divided.
struct Memory {
    /// Pages of memory.
    frames: u64,
    /// Of these, pages to keep. The others are for reads under way.
    capacity: u64,
    in_flight: u32,
    command_pages: u32,
}

impl Memory {
    fn new(bytes: u64, costs: Costs) -> Self {
        let page = FRAME_BYTES as u64;
        let in_flight = (bytes / 4).min(IN_FLIGHT_BYTES_MAX) / page;
        let command = (in_flight / 4).clamp(1, command_bytes(costs) / page);
        Self {
            frames: bytes / page - command,
            capacity: bytes / page - in_flight,
            in_flight: in_flight as u32,
            command_pages: command as u32,
        }
    }

    fn limits(&self, costs: Costs) -> Limits {
        let in_flight = self.in_flight;
        // This many commands of full size take all the memory that reads may have.
        let congested_ios = costs.depth.saturating_mul(2).max(8);
        Limits { in_flight, congested_ios, ..Limits::pages(self.capacity, costs) }
    }
}

fn command_bytes(costs: Costs) -> u64 {
    if costs.gap_bytes() >= DEAR_BYTES { LARGE_COMMAND_BYTES } else { COMMAND_BYTES }
}

/// A page cache of our own over files: any eviction policy, any readahead, past the kernel's cache.
/// Clones share everything; any thread may open, read and write.
#[derive(Clone)]
pub struct PageCache {
    inner: Arc<Inner>,
}

impl PageCache {
    /// Settings for a cache; [`PageCacheBuilder::build`] makes it.
    pub fn builder() -> PageCacheBuilder {
        PageCacheBuilder {
            bytes: 64 << 20,
            policy: "lru".to_owned(),
            readahead: Box::new(NoReadahead),
            engine: EngineKind::Auto,
            shared_engine: None,
            direct: true,
            costs: None,
            flush: FlushRule::LINUX,
            wake: Some(WAKE),
        }
    }

    /// Opens a file or a block device for reading. What is cached of it from an earlier open is
    /// used if the file has not changed.
    ///
    /// # Errors
    /// [`Open`](crate::ErrorKind::Open): it is absent, may not be read, or has no offsets.
    pub fn open(&self, path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let fail = |error| Error::open(path, error);
        if let Some(announced) = self.inner.announcer.take(path) {
            return File::open(Arc::clone(&self.inner), announced.source()).map_err(fail);
        }
        let source = Source::open(path, self.inner.shared.direct).map_err(fail)?;
        File::open(Arc::clone(&self.inner), Arc::new(source)).map_err(fail)
    }

    /// Opens a file or a block device for reading and writing; a file that is absent is made. What
    /// other handles have written is read, on the device or not.
    ///
    /// # Errors
    /// [`Open`](crate::ErrorKind::Open): it may not be written to or made, or has no offsets.
    /// [`Setting`](crate::ErrorKind::Setting): a thread cannot start.
    pub fn open_to_write(&self, path: impl AsRef<Path>) -> Result<File> {
        let path = path.as_ref();
        let fail = |error| Error::open(path, error);
        let thread = |error| Error::setting("a thread cannot start", error);
        self.inner.start_flusher().map_err(thread)?;
        let source = Source::open_to_write(path, self.inner.shared.direct).map_err(fail)?;
        File::open(Arc::clone(&self.inner), Arc::new(source)).map_err(fail)
    }

    /// Writes what is due by the [rule](PageCacheBuilder::flush) at this time of the engine's
    /// clock, and returns when it is written: what the flusher's thread does when it wakes.
    pub fn flush_due(&self) {
        self.inner.shared.flush_due();
    }

    /// Writes back all that is dirty, and reports the first error of a write-back that no sync has
    /// reported. Dropping the last handle writes back too, and reports nothing. Neither waits for
    /// the device's own cache: [`File::sync_data`] does.
    ///
    /// # Errors
    /// [`Write`](crate::ErrorKind::Write): something could not be written.
    pub fn close(self) -> Result<()> {
        self.inner.shared.write_back_all();
        let error = lock(&self.inner.shared.state).take_any_error();
        error.map_or(Ok(()), |error| Err(Error::write_back(error)))
    }

    /// Says that these files will be opened and read whole, in this order: they are opened and read
    /// ahead of the program, as far as the cache has room. A later list replaces an earlier one. A
    /// file that cannot be opened is left for [`open`](Self::open) to report.
    pub fn announce(&self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) {
        self.inner.announcer.announce(paths.into_iter().map(Into::into).collect());
    }

    /// Forgets all pages, but for those that the device lacks. What is being read now is forgotten
    /// at its end.
    pub fn clear(&self) {
        self.announce(Vec::<PathBuf>::new());
        lock(&self.inner.shared.state).clear();
    }

    /// Pages that were written to and are not being written back yet.
    #[must_use]
    pub fn dirty_pages(&self) -> u64 {
        lock(&self.inner.shared.state).cache.dirty_pages()
    }

    /// What the cache has done so far.
    #[must_use]
    pub fn account(&self) -> Account {
        self.inner.shared.harvest();
        *lock(&self.inner.shared.state).cache.account()
    }

    /// Requests and bytes asked of the device so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.inner.shared.engine.counters()
    }

    /// Which engine reads.
    #[must_use]
    pub fn engine_name(&self) -> &'static str {
        self.inner.shared.engine.name()
    }

    /// Changes what the readahead knows of the device.
    pub fn set_costs(&self, costs: Costs) {
        let mut state = lock(&self.inner.shared.state);
        let limits = Limits { costs, ..state.cache.limits() };
        state.command_pages = Memory::new(self.inner.shared.bytes, costs).command_pages;
        state.cache.set_limits(limits, &mut Vec::new());
    }

    /// Bytes of memory for pages and reads, in use or idle. Grows above
    /// [`bytes`](PageCacheBuilder::bytes) only by what readers hold at one moment: a few hundred
    /// KiB for each thread that reads.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let shared = &self.inner.shared;
        shared.frames.memory_bytes() as u64
    }
}

impl fmt::Debug for PageCache {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("PageCache")
            .field("engine", &self.engine_name())
            .field("account", &self.account())
            .finish_non_exhaustive()
    }
}
