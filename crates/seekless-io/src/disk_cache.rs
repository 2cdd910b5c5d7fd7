//! The settings of the cache on the local disk, for packs in object storage.

use crate::{Error, Result};
use seekless_device::units::parse_bytes;
use seekless_sys::home;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The variables that set it where the program does not.
const BYTES: &str = "SEEKLESS_DISK_CACHE";
const FOLDER: &str = "SEEKLESS_DISK_CACHE_FOLDER";

/// Whether, where and how much of objects in object storage is kept on the local disk, for all
/// programs that name the same folder and size.
///
/// What is kept is the content of objects as it came, which others who can read the folder can read
/// too: it is made for this user alone. So nothing is kept unless somebody asks for it, here or by
/// the variable `SEEKLESS_DISK_CACHE` (`10GiB`).
#[derive(Clone)]
#[must_use]
pub struct DiskCacheSettings {
    bytes: u64,
    folder: Option<PathBuf>,
    #[cfg_attr(
        not(feature = "remote"),
        expect(dead_code, reason = "a build without object storage has nothing to say")
    )]
    note: Arc<dyn Fn(&str) + Send + Sync>,
}

impl DiskCacheSettings {
    /// At most this many bytes, at least 8 MiB; 0 is no cache. The folder is that of
    /// `SEEKLESS_DISK_CACHE_FOLDER`, else `$XDG_CACHE_HOME/seekless`, else `~/.cache/seekless`.
    pub fn new(bytes: u64) -> Self {
        let set = env::var_os(FOLDER).filter(|folder| !folder.is_empty());
        let folder = set.map(PathBuf::from).or_else(home::cache);
        Self { bytes, folder, note: Arc::new(|_| ()) }
    }

    /// No cache.
    pub fn none() -> Self {
        Self::new(0)
    }

    /// What the environment says; no cache if it says nothing.
    ///
    /// # Errors
    /// `SEEKLESS_DISK_CACHE` is no size.
    pub fn from_environment() -> Result<Self> {
        match env::var_os(BYTES).filter(|size| !size.is_empty()) {
            None => Ok(Self::none()),
            Some(size) => {
                let bytes = parse_bytes(&size.to_string_lossy());
                Ok(Self::new(bytes.map_err(|error| Error::setting(BYTES, error))?))
            }
        }
    }

    /// In this folder, which is made if it is not there.
    pub fn folder(self, folder: impl Into<PathBuf>) -> Self {
        Self { folder: Some(folder.into()), ..self }
    }

    /// Calls `note` with a line if the cache cannot be opened, or keeps no more, such as on a full
    /// disk. Loads go on without it.
    pub fn on_trouble(self, note: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { note: Arc::new(note), ..self }
    }

    /// Whether there is to be one.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.bytes > 0
    }

    /// Most bytes of it.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its folder, if it has one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// Opens it; `None` if there is to be none, or it cannot be opened, which is said.
    ///
    /// # Errors
    /// It is too small.
    #[cfg(feature = "remote")]
    pub fn open(&self) -> Result<Option<seekless_remote::DiskCache>> {
        use seekless_remote::DiskCache;
        if !self.is_on() {
            return Ok(None);
        }
        if self.bytes < DiskCache::BYTES_MIN {
            return Err(Error::setting("the disk cache is too small", "give 8 MiB or more"));
        }
        let Some(folder) = self.path() else {
            (self.note)("there is no disk cache: set HOME or XDG_CACHE_HOME");
            return Ok(None);
        };
        let opened = DiskCache::open(folder, self.bytes, self.boxed_note());
        Ok(self.unless_failed(folder, opened.map(Some)))
    }

    /// Opens the cache that is in the folder, of any size; `None` if the folder has no cache, or if
    /// it cannot be opened, which is said.
    #[cfg(feature = "remote")]
    #[must_use]
    pub fn existing(&self) -> Option<seekless_remote::DiskCache> {
        let folder = self.path()?;
        let opened = seekless_remote::DiskCache::existing(folder, self.boxed_note());
        self.unless_failed(folder, opened)
    }

    #[cfg(feature = "remote")]
    fn boxed_note(&self) -> seekless_remote::Note {
        let note = self.note.clone();
        Box::new(move |words| note(words))
    }

    #[cfg(feature = "remote")]
    fn unless_failed<T>(&self, folder: &Path, opened: std::io::Result<Option<T>>) -> Option<T> {
        opened.unwrap_or_else(|error| {
            (self.note)(&format!("{}: there is no disk cache: {error}", folder.display()));
            None
        })
    }
}

impl fmt::Debug for DiskCacheSettings {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { bytes, folder, .. } = self;
        out.debug_struct("DiskCacheSettings")
            .field("bytes", bytes)
            .field("folder", folder)
            .finish_non_exhaustive()
    }
}
