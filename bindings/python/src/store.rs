//! `Store`: files from packs, Zips and folders, through a cache.

use crate::buffer;
use crate::failure::Failure;
use crate::following::Following;
use crate::fork::OfProcess;
use crate::job::{self, lock};
use crate::many::LoadMany;
use crate::only::Only;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use seekless::io::{self, Buffer};
use seekless::tools::device::named;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// How long a call gathers results before it looks for Ctrl-C.
const SLICE: Duration = Duration::from_millis(50);

/// An open pack, or several packs and folders.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct Store {
    settings: Settings,
    /// Taken only with the interpreter's lock, which a forking thread holds too: it is never locked
    /// in a child. `None` once it is closed.
    opened: Mutex<Option<OfProcess<io::Store>>>,
}

/// Name, Unix mode, and time of modification in nanoseconds since 1970.
type FolderParts = (String, Option<u32>, Option<i128>);

/// How it was opened.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    paths: Vec<PathBuf>,
    cache: u64,
    policy: String,
    direct: bool,
    predict: bool,
    workers: Option<usize>,
    read_ahead_cache: Option<u64>,
    window: Option<u64>,
    max_entry_bytes: Option<u64>,
    beyond_cache: Option<u64>,
    names: Option<String>,
    device: Option<String>,
}

impl Settings {
    fn open(&self) -> Result<io::Store, Failure> {
        let mut builder = io::Store::builder()
            .cache(self.cache)
            .policy(&self.policy)
            .direct(self.direct)
            .predict(self.predict);
        if let Some(workers) = self.workers {
            builder = builder.workers(workers);
        }
        if let Some(bytes) = self.read_ahead_cache {
            builder = builder.read_ahead_cache(bytes);
        }
        if let Some(bytes) = self.window {
            builder = builder.window(bytes);
        }
        if let Some(bytes) = self.max_entry_bytes {
            builder = builder.max_entry_bytes(bytes);
        }
        if let Some(bytes) = self.beyond_cache {
            builder = builder.beyond_cache(bytes);
        }
        if let Some(names) = &self.names {
            builder = builder.names(names.parse().map_err(|why: String| Failure::usage(why))?);
        }
        if let Some(device) = &self.device {
            builder = builder.costs(named(device)?.costs());
        }
        for path in &self.paths {
            builder = match path.is_dir() {
                true => builder.folder(path),
                false => builder.archive(path),
            };
        }
        builder.open_all().map_err(|error| self.failure(error))
    }

    /// An error, and the path of the only source.
    fn failure(&self, error: io::Error) -> Failure {
        self.only().failure(error)
    }

    fn only(&self) -> Only {
        Only(if let [path] = &self.paths[..] { Some(path.clone()) } else { None })
    }
}

impl Store {
    /// The store of this process: opened again if this is the child of the one that opened it.
    pub(crate) fn current(&self) -> PyResult<io::Store> {
        let mut opened = lock(&self.opened);
        let Some(known) = &*opened else {
            return Err(PyValueError::new_err("the store is closed: open it again"));
        };
        if let Some(store) = known.get() {
            return Ok(store.clone());
        }
        let store = self.settings.open()?;
        *opened = Some(OfProcess::new(store.clone()));
        Ok(store)
    }
}

#[pymethods]
impl Store {
    #[new]
    fn new(py: Python<'_>, settings: Settings) -> PyResult<Self> {
        let store = job::short(py, || settings.open())?;
        Ok(Self { settings, opened: Mutex::new(Some(OfProcess::new(store))) })
    }

    /// The content of a file, as a read-only memoryview.
    fn load<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let store = self.current()?;
        let content =
            job::short(py, || store.load(name).map_err(|error| self.settings.failure(error)))?;
        buffer::view(py, content)
    }

    /// The bytes from `start` up to `stop`.
    fn read_range<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: u64,
        stop: u64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let store = self.current()?;
        let range = start..stop.max(start);
        let read = || store.read_range(name, range).map_err(|error| self.settings.failure(error));
        let content = job::short(py, read)?;
        buffer::view(py, content)
    }

    /// The contents of files, in the order of the names.
    fn load_all<'py>(&self, py: Python<'py>, names: Vec<String>) -> PyResult<Bound<'py, PyList>> {
        let mut contents: Vec<Option<Buffer>> = vec![None; names.len()];
        let loads = self.current()?.load_many(names);
        let loads = Mutex::new((loads, &mut contents));
        while job::short(py, || {
            let (loads, contents) = &mut *lock(&loads);
            gather(loads, contents).map_err(|error| self.settings.failure(error))
        })? {
            py.check_signals()?;
        }
        drop(loads);
        let views = contents.into_iter().flatten().map(|content| buffer::view(py, content));
        PyList::new(py, views.collect::<PyResult<Vec<_>>>()?)
    }

    /// Begins to load files; iterate over it.
    fn load_many(&self, names: Vec<String>) -> PyResult<LoadMany> {
        Ok(LoadMany::new(self.current()?, self.settings.only(), names))
    }

    /// Says in which order files will be loaded, in place of what was said before.
    fn will_load(&self, py: Python<'_>, names: Vec<String>) -> PyResult<()> {
        let store = self.current()?;
        job::short(py, || store.will_load(&names).map_err(|error| self.settings.failure(error)))
    }

    /// Loads files in this order, ahead of a program that takes them in about the same.
    fn follow(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Following> {
        let store = self.current()?;
        let follow = || store.follow(names).map_err(|error| self.settings.failure(error));
        Ok(Following::new(job::short(py, follow)?, self.settings.only()))
    }

    /// The bytes of a file.
    fn bytes(&self, name: &str) -> PyResult<u64> {
        Ok(self.current()?.bytes(name).map_err(|error| self.settings.failure(error))?)
    }

    /// The names of all files, and their bytes.
    fn names(&self) -> PyResult<Vec<(String, u64)>> {
        let store = self.current()?;
        Ok(store.names().into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect())
    }

    /// The folders that have entries.
    fn folders(&self) -> PyResult<Vec<FolderParts>> {
        let store = self.current()?;
        let parts = |folder: io::Folder<'_>| {
            let modified = folder
                .modified
                .map(|time| i128::from(time.seconds) * 1_000_000_000 + i128::from(time.ns));
            (folder.name.to_owned(), folder.mode, modified)
        };
        Ok(store.folders().into_iter().map(parts).collect())
    }

    /// What is left out of each archive of which something is, in words.
    fn left_out(&self) -> PyResult<Vec<String>> {
        Ok(self.current()?.left_out())
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.current()?.len())
    }

    fn __contains__(&self, name: &str) -> PyResult<bool> {
        Ok(self.current()?.bytes(name).is_ok())
    }

    /// Whether it is closed.
    #[getter]
    fn closed(&self) -> bool {
        lock(&self.opened).is_none()
    }

    /// Ends its threads. Contents that were handed out stay valid.
    fn close(&self, py: Python<'_>) {
        let store = lock(&self.opened).take();
        py.detach(|| drop(store));
    }

    /// What became of the requests.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let store = self.current()?;
        let (statistics, counters) = (store.statistics(), store.counters());
        let said = PyDict::new(py);
        macro_rules! say {
            ($($field:ident),*) => { $(said.set_item(stringify!($field), statistics.$field)?;)* };
        }
        say!(
            hits,
            joined,
            revived,
            misses,
            bypassed,
            read_ahead_hits,
            ranges,
            failed,
            delivered_bytes,
            coded_bytes,
            read_bytes,
            unused_bytes,
            held_bytes,
            memory_bytes,
            reads,
            depth_max,
            waits,
            wait_ns,
            wait_p50_ns,
            wait_p99_ns,
            wait_max_ns
        );
        said.set_item("request_ns", statistics.costs.request_ns)?;
        said.set_item("bytes_per_second", statistics.costs.bytes_per_second)?;
        said.set_item("costs_source", format!("{:?}", statistics.costs_source).to_lowercase())?;
        said.set_item("device_requests", counters.requests)?;
        said.set_item("device_bytes", counters.bytes)?;
        said.set_item("engine", store.engine_name())?;
        said.set_item("direct", store.is_direct())?;
        Ok(said)
    }
}

/// Takes what arrives for a while. False at the end.
fn gather(loads: &mut io::LoadMany, contents: &mut [Option<Buffer>]) -> Result<bool, io::Error> {
    let began = Instant::now();
    for (position, content) in loads {
        contents[position] = Some(content?);
        if began.elapsed() > SLICE {
            return Ok(true);
        }
    }
    Ok(false)
}
