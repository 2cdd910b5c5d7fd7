//! The errors of opening a store and of loading from it. Clonable, since all loads that wait for
//! one read get its error.

use rustix::io::Errno;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The archive or a prediction cannot be opened, or the archive's directory cannot be read.
    Open,
    /// The archive has no entry of that name, or it is a link that leads to no file of the archive.
    NotFound,
    /// The entry is larger than [`max_entry_bytes`](crate::StoreBuilder::max_entry_bytes), or than
    /// memory, or than what is left of
    /// [`beyond_cache`](crate::StoreBuilder::beyond_cache).
    TooLarge,
    /// A read of this entry alone failed. It is not tried again.
    Read,
    /// An entry's bytes are not what the archive's directory says.
    Corrupt,
    /// An entry is encrypted, or coded by a method that is not read here. It may well be whole.
    Unsupported,
    /// The store cannot be recorded, or not any more.
    Record,
    /// A setting of the builder is unusable: an unknown policy, an engine that cannot start.
    Setting,
}

/// An error of this crate: names archive, entry and offset, and what to do.
#[derive(Clone, Debug)]
pub struct Error(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The error of the system that caused it, if one did.
    #[must_use]
    pub fn io_error(&self) -> Option<&io::Error> {
        self.0.source.as_ref()?.downcast_ref()
    }

    fn new(
        kind: ErrorKind,
        message: String,
        source: Option<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self(Arc::new(Inner { kind, message, source }))
    }

    pub(crate) fn open(
        archive: &Path,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        let message = format!("{}: cannot be opened as a pack: {source}", archive.display());
        Self::new(ErrorKind::Open, message, Some(source))
    }

    pub(crate) fn open_file(path: &Path, source: io::Error) -> Self {
        let message = format!("{}: cannot be opened: {source}", path.display());
        Self::new(ErrorKind::Open, message, Some(Box::new(source)))
    }

    /// `path` is no prediction that can be used, as `why` says.
    pub(crate) fn prediction(path: &Path, why: &str) -> Self {
        Self::new(ErrorKind::Open, format!("{}: {why}", path.display()), None)
    }

    pub(crate) fn record(path: &Path, source: io::Error) -> Self {
        let message = format!("{}: the store cannot be recorded: {source}", path.display());
        Self::new(ErrorKind::Record, message, Some(Box::new(source)))
    }

    pub(crate) fn open_folder(path: &Path, source: io::Error) -> Self {
        let message = format!("{}: the folder cannot be walked: {source}", path.display());
        Self::new(ErrorKind::Open, message, Some(Box::new(source)))
    }

    /// `sources` are the archives and folders of the store.
    pub(crate) fn not_found<'a>(sources: impl Iterator<Item = &'a Path>, name: &str) -> Self {
        let sources: Vec<String> = sources.map(|path| path.display().to_string()).collect();
        let has = if sources.len() == 1 { "has no" } else { "none has an" };
        let message = format!(
            "{}: {has} entry named {name:?}; names are matched exactly",
            sources.join(", ")
        );
        Self::new(ErrorKind::NotFound, message, None)
    }

    /// A name that is a link, or leads through one, leads to no file, as `why` says.
    pub(crate) fn astray<'a>(sources: impl Iterator<Item = &'a Path>, why: &str) -> Self {
        let sources: Vec<String> = sources.map(|path| path.display().to_string()).collect();
        Self::new(ErrorKind::NotFound, format!("{}: {why}", sources.join(", ")), None)
    }

    pub(crate) fn too_large(at: &At<'_>, bytes: u64, limit: u64) -> Self {
        let message = format!(
            "{at}: it claims {bytes} bytes, more than the {limit} that one entry may have here \
             (the store's max_entry_bytes)"
        );
        Self::new(ErrorKind::TooLarge, message, None)
    }

    pub(crate) fn read(at: &At<'_>, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::OutOfMemory {
            return Self::no_memory(at, &source);
        }
        // Others are not of the device: a loose file that is gone, or has changed.
        let hint = match source.raw_os_error() {
            Some(code) if code == Errno::IO.raw_os_error() => "; see the kernel log for the device",
            _ => "",
        };
        let message = format!("{at}: the read failed: {source}{hint}");
        Self::new(ErrorKind::Read, message, Some(Box::new(source)))
    }

    /// There is no memory for an entry, as `why` says.
    pub(crate) fn no_memory(at: &At<'_>, why: &io::Error) -> Self {
        Self::new(ErrorKind::TooLarge, format!("{at}: {why}"), None)
    }

    pub(crate) fn truncated(at: &At<'_>, found_bytes: u64) -> Self {
        let message = format!(
            "{at}: the archive ends {found_bytes} bytes into it; it was truncated: pack it again"
        );
        Self::new(ErrorKind::Corrupt, message, None)
    }

    /// An entry that cannot be decoded: `source` names it, its offset and what to do.
    pub(crate) fn undecoded(archive: &Path, source: seekless_pack::Error) -> Self {
        let kind = match source.kind() {
            seekless_pack::ErrorKind::Limit => ErrorKind::TooLarge,
            seekless_pack::ErrorKind::Encrypted | seekless_pack::ErrorKind::Method => {
                ErrorKind::Unsupported
            }
            _ => ErrorKind::Corrupt,
        };
        Self::new(kind, format!("{}: {source}", archive.display()), Some(Box::new(source)))
    }

    pub(crate) fn abandoned(at: &At<'_>) -> Self {
        let message = format!("{at}: its decoding was abandoned: the worker thread panicked");
        Self::new(ErrorKind::Corrupt, message, None)
    }

    pub(crate) fn setting(
        what: &str,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        let source = source.into();
        Self::new(ErrorKind::Setting, format!("{what}: {source}"), Some(source))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        // The message already says what the source says; what the source itself came from goes on
        // the chain.
        self.0.source.as_ref().and_then(|source| source.source())
    }
}

/// Where in which archive something happened.
pub(crate) struct At<'a> {
    pub(crate) archive: &'a Path,
    pub(crate) entry: &'a str,
    pub(crate) offset: u64,
}

impl fmt::Display for At<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: entry {:?} at offset {}", self.archive.display(), self.entry, self.offset)
    }
}
