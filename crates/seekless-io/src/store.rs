//! The public face: packs that are open for loading.

use crate::cached::Names;
use crate::decision::Decision;
use crate::error::Error;
use crate::folders::Folder;
use crate::shared::Shared;
use crate::statistics::{SourceStatistics, Statistics};
use crate::worker::Workers;
use crate::{Buffer, PredictionModel, Result};
use seekless_engine::Counters;
use seekless_pack::Index;
use seekless_policy::eviction::Id;
use seekless_policy::eviction::landlord::Hint;
use seekless_policy::foresight::prediction::Prediction;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// An open pack, or several packs and folders: loads their files through a cache. Clones share
/// everything; any thread may load.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
    /// Held so that the last clone to go joins the threads.
    _workers: Arc<Workers>,
    prediction_note: Option<Arc<str>>,
}

impl Store {
    pub(crate) fn new(shared: Arc<Shared>, workers: Workers, note: Option<String>) -> Self {
        Self { shared, _workers: Arc::new(workers), prediction_note: note.map(Into::into) }
    }

    /// The content of the file called `name`, from the cache if it has it. Blocks until it is
    /// there; a load by another thread of the same file, or of a neighbour in the same read, is
    /// shared.
    ///
    /// The name of a symbolic link of a pack, or one that leads through a link to a folder, is that
    /// of the file to which it leads in this store. No link is followed out of it.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound), [`TooLarge`](crate::ErrorKind::TooLarge),
    /// [`Read`](crate::ErrorKind::Read) or [`Corrupt`](crate::ErrorKind::Corrupt). A file that
    /// failed is not cached; the others are not affected.
    pub fn load(&self, name: &str) -> Result<Buffer> {
        let began = self.shared.recorder.begin();
        match self.shared.hit_by_name(name) {
            Some(hit) if !hit.is_full && began.is_none() => Ok(hit.buffer),
            Some(hit) => Ok(self.shared.hit_noted(hit, began)),
            None => self.load_by_id(name, began),
        }
    }

    /// A load of what the calling thread has not hit yet.
    #[cold]
    fn load_by_id(&self, name: &str, began: Option<u64>) -> Result<Buffer> {
        let id = self.find(name)?;
        let buffer = match self.shared.hit(id) {
            Some(buffer) => buffer,
            None => self.shared.load(self.loadable(id)?)?,
        };
        Ok(self.shared.recorder.loaded(began, id, buffer))
    }

    /// Says how the program will use the file called `name`. From its next request on each counts
    /// as cheaper or dearer; only policies that weigh cost use that: `landlord`, `gds`, `gdsf` and
    /// `hyperbolic`. Reads of [`Hint::Urgent`] files go before others of a [`Store::load_many`].
    /// The last hint for a file holds.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound).
    pub fn hint(&self, name: &str, hint: Hint) -> Result<()> {
        self.shared.hint(self.find(name)?, hint);
        Ok(())
    }

    /// The entries of the first archive, in archive order, and their names: those of the whole
    /// store, unless it has several sources. A store of folders has none. It is the archive's own
    /// directory: [`PREDICTION`](seekless_pack::PREDICTION), which cannot be loaded, is in it too.
    #[must_use]
    pub fn index(&self) -> &Index {
        static NONE: LazyLock<Index> = LazyLock::new(Index::default);
        self.shared.sources.first_archive().map_or(&NONE, |archive| &archive.index)
    }

    /// The number, in [`Store::index`], of the entry that a load of `name` gives: of a link the one
    /// to which it leads. `None` if there is no such file, or the store has several sources.
    #[must_use]
    pub fn entry_of(&self, name: &str) -> Option<u32> {
        let sources = &self.shared.sources;
        if sources.is_single_archive() { sources.find(name) } else { None }
    }

    /// The names of all files, and the bytes of each. They come in the order of the archive, and
    /// those of several sources in the order in which the sources were given. A symbolic link is
    /// among them, with the bytes of the file to which it leads, unless it leads to none.
    #[must_use]
    pub fn names(&self) -> Vec<(&str, u64)> {
        let mut names: Vec<_> = self.shared.sources.names().collect();
        names.sort_unstable_by_key(|(_, id)| *id);
        let bytes = |id| self.shared.sources.bytes(self.shared.sources.led(id));
        names.into_iter().map(|(name, id)| (name, bytes(id))).collect()
    }

    /// The folders that have entries of their own, which say their modes and times; sorted by name.
    /// An archive may also hold files in folders that have none.
    #[must_use]
    pub fn folders(&self) -> Vec<Folder<'_>> {
        let sources = &self.shared.sources;
        let mut folders: Vec<_> =
            sources.folders().map(|(name, id)| Folder::of(name, &sources.item(id))).collect();
        folders.sort_unstable_by_key(|folder| folder.name);
        folders
    }

    /// The path to which the symbolic link called `name` leads, as it stands in its pack. `None` if
    /// there is no such link, or its entry is damaged or too long for a path.
    #[must_use]
    pub fn link_text(&self, name: &str) -> Option<&[u8]> {
        self.shared.sources.link_text(name)
    }

    /// The bytes of the file called `name`.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound).
    pub fn bytes(&self, name: &str) -> Result<u64> {
        Ok(self.shared.sources.bytes(self.find(name)?))
    }

    /// How many files there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.sources.len()
    }

    /// The largest file that the cache keeps, in bytes: half of what it has for content. It changes
    /// with what is known of the device.
    #[must_use]
    pub fn kept_file_bytes(&self) -> u64 {
        self.shared.kept_file_bytes()
    }

    /// Whether there is no file.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The path of the first source, as it was given.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.sources.paths().next().unwrap_or(Path::new(""))
    }

    /// The path of the source from which `name` is loaded: of several that have it, the last.
    ///
    /// # Errors
    /// [`NotFound`](crate::ErrorKind::NotFound).
    pub fn source(&self, name: &str) -> Result<&Path> {
        Ok(self.shared.sources.path_of(self.find(name)?))
    }

    /// The sources in the order in which they were given, and what was loaded from each.
    #[must_use]
    pub fn sources(&self) -> Vec<SourceStatistics> {
        self.shared.sources.statistics()
    }

    /// Requests and bytes read so far, the directory included.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.shared.engine.counters()
    }

    /// How many requests this store had, and how they were served.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.shared.statistics()
    }

    /// Whether `pointer` points into memory from which this store's buffers are taken: true for
    /// every byte of a buffer that it handed out and that is not dropped.
    #[must_use]
    pub fn contains(&self, pointer: *const u8) -> bool {
        self.shared.contains(pointer)
    }

    /// Which engine reads.
    #[must_use]
    pub fn engine_name(&self) -> &'static str {
        self.shared.engine.name()
    }

    /// Whether reads go past the page cache (O_DIRECT).
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.shared.sources.first_archive().is_some_and(|archive| archive.direct)
    }

    /// Offsets and lengths of reads are multiples of this many bytes: as O_DIRECT demands, or 1.
    #[must_use]
    pub fn alignment(&self) -> u64 {
        self.shared.sources.alignment
    }

    /// All requests in the order in which the policy got them, and what it evicted. Empty unless
    /// [`StoreBuilder::record_decisions`](crate::StoreBuilder::record_decisions) was set. A
    /// simulator that gets the same requests evicts the same ids.
    #[must_use]
    pub fn decisions(&self) -> Vec<Decision> {
        self.shared.drained().decisions()
    }

    /// What is known of the program's loads, with those since this store was opened as the newest
    /// run, for [`StoreBuilder::prediction`](crate::StoreBuilder::prediction) of the next. `None`
    /// if the store was opened without a prediction.
    #[must_use]
    pub fn learned(&self) -> Option<PredictionModel> {
        self.shared.drained().planner.prediction().map(Prediction::learned)
    }

    /// The names of the files that a program is likely to load, before it has loaded anything: what
    /// most of the recorded runs load, in the order of first need. None if the store was opened
    /// without a prediction.
    #[must_use]
    pub fn usual(&self) -> Vec<&str> {
        let usual = self.shared.drained().planner.prediction().map(|known| known.model().usual());
        let (ids, sources) = (usual.unwrap_or_default(), &self.shared.sources);
        ids.into_iter().map(|id| sources.name(id)).collect()
    }

    /// Why what a pack says of its program's loads is not used: `None` if it is, or no pack says
    /// anything.
    #[must_use]
    pub fn prediction_note(&self) -> Option<&str> {
        self.prediction_note.as_deref()
    }

    /// What is left out of archives, in words: entries with a name that no file can have, or that
    /// occurs again, and bytes behind the end.
    #[must_use]
    pub fn left_out(&self) -> Vec<String> {
        self.shared.sources.left_out()
    }

    pub(crate) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(crate) fn find(&self, name: &str) -> Result<Id> {
        let sources = &self.shared.sources;
        sources.find(name).ok_or_else(|| match sources.why_not(name) {
            Some(why) => Error::astray(sources.paths(), &why),
            None => Error::not_found(sources.paths(), name),
        })
    }

    /// As [`Store::find`], of an entry that may be loaded.
    pub(crate) fn find_loadable(&self, name: &str) -> Result<Id> {
        self.loadable(self.find(name)?)
    }

    /// The entry itself, unless it is too large to be loaded.
    fn loadable(&self, id: Id) -> Result<Id> {
        let (sources, limit) = (&self.shared.sources, self.shared.max_entry_bytes);
        let bytes = sources.bytes(id).max(sources.coded_bytes(id));
        match bytes > limit {
            true => Err(Error::too_large(&sources.at(id), bytes, limit)),
            false => Ok(id),
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Store")
            .field("path", &self.path())
            .field("entries", &self.len())
            .field("engine", &self.engine_name())
            .field("direct", &self.is_direct())
            .finish_non_exhaustive()
    }
}
