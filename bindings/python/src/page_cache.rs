//! `PageCache`: large files through a page cache of our own, for `seekless.open_file`.

use crate::failure::{Class, Failure};
use crate::fork::OfProcess;
use crate::job::{self, lock};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use seekless::page_cache;
use seekless::policy::readahead::{Options, named};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A cache of pages; files are opened in it.
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct PageCache {
    settings: Settings,
    /// Taken only with the interpreter's lock, which a forking thread holds too.
    made: Mutex<OfProcess<page_cache::PageCache>>,
}

/// How it was made.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Settings {
    cache: u64,
    policy: String,
    readahead: String,
    window: u64,
    direct: bool,
}

impl Settings {
    fn make(&self) -> Result<page_cache::PageCache, Failure> {
        let readahead = named(&self.readahead, Options::with_max_bytes(self.window))?;
        let builder = page_cache::PageCache::builder()
            .bytes(self.cache)
            .policy(&self.policy)
            .readahead(readahead)
            .direct(self.direct);
        Ok(builder.build()?)
    }
}

#[pymethods]
impl PageCache {
    #[new]
    fn new(py: Python<'_>, settings: Settings) -> PyResult<Self> {
        let made = job::short(py, || settings.make())?;
        Ok(Self { settings, made: Mutex::new(OfProcess::new(made)) })
    }

    /// Opens a file for reading.
    fn open(&self, py: Python<'_>, path: PathBuf) -> PyResult<PageCacheFile> {
        let cache = self.current()?;
        let open = || cache.open(&path).map_err(|error| Failure::from(error).at(&path));
        let file = job::short(py, open)?;
        let file = Mutex::new(Some(OfProcess::new(Arc::new(file))));
        Ok(PageCacheFile { path, file })
    }
}

impl PageCache {
    /// The cache of this process: made anew if this is the child of the one that made it.
    fn current(&self) -> PyResult<page_cache::PageCache> {
        let mut made = lock(&self.made);
        if let Some(cache) = made.get() {
            return Ok(cache.clone());
        }
        let cache = self.settings.make()?;
        *made = OfProcess::new(cache.clone());
        Ok(cache)
    }
}

/// A file that is open in a [`PageCache`].
#[pyclass(frozen, module = "seekless._seekless")]
pub(crate) struct PageCacheFile {
    path: PathBuf,
    /// `None` once it is closed.
    file: Mutex<Option<OfProcess<Arc<page_cache::File>>>>,
}

#[pymethods]
impl PageCacheFile {
    /// Up to `bytes` bytes from `offset` on: fewer at the end of the file.
    fn read_at<'py>(
        &self,
        py: Python<'py>,
        offset: u64,
        bytes: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let file = self.current()?;
        let mut content = vec![0; bytes];
        let read = job::short(py, || {
            file.read_at(&mut content, offset).map_err(|error| self.failure(&error))
        })?;
        Ok(PyBytes::new(py, &content[..read]))
    }

    /// Bytes up to the end of the file, now.
    fn size(&self, py: Python<'_>) -> PyResult<u64> {
        let file = self.current()?;
        job::short(py, || file.size().map_err(|error| self.failure(&error)))
    }

    /// Ends the use of the file; a second time does nothing.
    fn close(&self) {
        lock(&self.file).take();
    }
}

impl PageCacheFile {
    fn current(&self) -> PyResult<Arc<page_cache::File>> {
        let file = lock(&self.file);
        let known = file.as_ref().and_then(OfProcess::get);
        known.cloned().ok_or_else(|| {
            let why = match &*file {
                None => "it is closed: open it again",
                Some(_) => "it was opened by the parent of this process: open it again",
            };
            Failure::usage(format!("{}: {why}", self.path.display())).at(&self.path).into()
        })
    }

    fn failure(&self, error: &std::io::Error) -> Failure {
        let why = format!("{} cannot be read: {error}", self.path.display());
        Failure::new(Class::System, why).at(&self.path)
    }
}
