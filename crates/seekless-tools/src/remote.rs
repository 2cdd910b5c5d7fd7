//! Objects in object storage, as jobs read and write them. What is written is made on this machine
//! first, and checked there if that was asked for; then sent. So the object appears whole or not at
//! all.

#[cfg(feature = "remote")]
mod base;
#[cfg(feature = "remote")]
mod fetch;
mod reach;

use seekless_device::Costs;
use seekless_engine::{Engine, ObjectName};
use seekless_io::DiskCacheSettings;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sled::Held;
use seekless_sys::{objects, open_seekable};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[cfg(feature = "remote")]
pub(crate) use base::Base;
pub use reach::{Progress, Watch, provide};

/// Requests whose median says what one costs; the first also makes the connection.
const REQUESTS_TO_LEARN: u32 = 5;

/// Opens a pack that is read from end to end. An object is fetched whole.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    let opened = objects::of(path).map(|objects| objects.open(path));
    let opened = opened.unwrap_or_else(|| open_seekable(path));
    opened.map_err(|error| Error::unreadable(path, error))
}

/// What an update of an object cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Travelled {
    /// Bytes that were sent.
    pub sent_bytes: u64,
    /// Bytes of them that were read from the old version first.
    pub read_bytes: u64,
    /// Bytes that the provider copied where they lie.
    pub copied_bytes: u64,
}

/// A pack in object storage that is brought up to date.
#[cfg(not(feature = "remote"))]
pub(crate) enum Base {}

/// An engine that reads the object that `path` names, and asks nothing twice unless it failed.
///
/// # Errors
/// `path` names no object, or this build reaches no object storage.
pub fn engine(path: &Path) -> Result<Arc<dyn Engine>> {
    storage::engine(&named(path)?).map_err(invalid)
}

/// The object that `path` names.
///
/// # Errors
/// It names none.
pub fn named(path: &Path) -> Result<ObjectName> {
    let no_object = || Err(io::Error::other("this is no name of an object"));
    ObjectName::parse(path).unwrap_or_else(no_object).map_err(invalid)
}

fn invalid(error: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string())
}

/// What was found out about an object without reading it.
#[derive(Debug)]
pub(crate) struct Looked {
    /// What holds it, as the device table names that.
    pub(crate) storage: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// What requests for it have cost.
    pub(crate) costs: Costs,
    /// The file of the disk cache.
    pub(crate) held_in: Option<PathBuf>,
    /// What that holds of the object.
    pub(crate) held: Vec<Held>,
}

/// Looks at an object and at what the disk cache has of it. Where it is not known what its storage
/// charges, this is seen from a few requests, else there is one.
///
/// # Errors
/// The object or the cache cannot be opened.
pub(crate) fn look(
    path: &Path,
    cache: &DiskCacheSettings,
    knows: impl FnOnce(&str) -> bool,
) -> Result<Looked> {
    let name = named(path)?;
    let requests = if knows(&name.storage()) { 1 } else { REQUESTS_TO_LEARN };
    storage::look(&name, cache, requests)
}

#[cfg(feature = "remote")]
mod storage {
    use super::{Looked, Watch, fetch};
    use crate::{Error, Result};
    use seekless_engine::{Engine, ObjectName, automatic};
    use seekless_io::DiskCacheSettings;
    use seekless_remote::{Access, CachedRange, Condition, Plan, Remote, Settings, Version};
    use seekless_sled::Held;
    use seekless_sys::objects::{Change, Limits};
    use std::fs::File;
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;

    fn condition(may_replace: bool) -> Condition {
        if may_replace { Condition::Any } else { Condition::New }
    }

    pub(super) fn check(name: &ObjectName, may_replace: bool) -> io::Result<()> {
        let condition = condition(may_replace);
        seekless_remote::check(name, condition, &Access::default(), &Settings::default())
    }

    pub(super) fn engine(_: &ObjectName) -> io::Result<Arc<dyn Engine>> {
        let settings = Settings::default().without_hedges();
        Ok(Arc::new(Remote::new(automatic(), Access::default(), settings)?))
    }

    pub(super) fn look(
        name: &ObjectName,
        cache: &DiskCacheSettings,
        requests: u32,
    ) -> Result<Looked> {
        let path = PathBuf::from(name.to_string());
        let unreadable = |error| Error::unreadable(&path, error);
        let settings = Settings::default().without_hedges();
        let mut remote =
            Remote::new(automatic(), Access::default(), settings).map_err(unreadable)?;
        if let Some(cache) = cache.existing() {
            remote = remote.with_disk_cache(cache);
        }
        let open = || remote.open(&path, 1).unwrap_or_else(|| Err(io::ErrorKind::NotFound.into()));
        let mut opened = open().map_err(unreadable)?;
        for _ in 1..requests {
            opened = open().map_err(unreadable)?;
        }
        let cached = remote.cached(&opened.file).map_err(unreadable)?;
        let (held_in, ranges) = cached.map(|cached| (cached.path, cached.ranges)).unzip();
        let held = |range: CachedRange| {
            let CachedRange { offset, bytes, place, .. } = range;
            Held { offset, bytes, place }
        };
        Ok(Looked {
            storage: name.storage(),
            bytes: opened.bytes,
            costs: remote.costs(),
            held_in,
            held: ranges.unwrap_or_default().into_iter().map(held).collect(),
        })
    }

    pub(super) fn put(
        name: &ObjectName,
        content: File,
        may_replace: bool,
        watch: Watch,
    ) -> io::Result<()> {
        let bytes = content.metadata()?.len();
        let goes_on = goes_on(format!("Sending {name}"), bytes, watch);
        let (condition, access) = (condition(may_replace), Access::default());
        let content = Arc::new(content);
        seekless_remote::put(name, content, condition, &access, &Settings::default(), goes_on)
    }

    pub(super) fn update(name: &ObjectName, limits: Limits, change: Change<'_>) -> io::Result<()> {
        let mut settings = Settings::default();
        settings.deadline = limits.within;
        settings.patience = settings.patience.min(limits.within);
        seekless_remote::update(name, limits.bytes_max, &Access::default(), &settings, change)
    }

    /// Reads through the disk cache that the environment says.
    pub(super) fn reader() -> io::Result<Remote> {
        let settings = DiskCacheSettings::from_environment().map_err(io::Error::other)?;
        let remote = Remote::new(automatic(), Access::default(), Settings::default())?;
        Ok(match settings.open().map_err(io::Error::other)? {
            Some(cache) => remote.with_disk_cache(cache),
            None => remote,
        })
    }

    pub(super) fn fetch(name: &ObjectName, watch: Watch) -> io::Result<File> {
        fetch::fetch(&reader()?, &PathBuf::from(name.to_string()), watch)
    }

    pub(super) fn renew(
        name: &ObjectName,
        content: File,
        plan: &Plan,
        old: Version,
        watch: Watch,
    ) -> io::Result<()> {
        let (access, settings) = (Access::default(), Settings::default());
        let goes_on = goes_on(format!("Sending {name}"), content.metadata()?.len(), watch);
        seekless_remote::renew(name, Arc::new(content), plan, old, &access, &settings, goes_on)
    }

    fn goes_on(what: String, bytes: u64, watch: Watch) -> impl FnMut(u64) -> bool + Send + 'static {
        let mut progress = (watch.progress)(what);
        move |sent| {
            progress(sent, bytes);
            !(watch.is_cancelled)()
        }
    }
}

#[cfg(not(feature = "remote"))]
mod storage {
    use super::{Looked, Watch, invalid};
    use crate::Result;
    use seekless_engine::{Engine, ObjectName};
    use seekless_io::DiskCacheSettings;
    use seekless_sys::objects::{Change, Limits};
    use std::fs::File;
    use std::io;
    use std::sync::Arc;

    pub(super) fn check(_: &ObjectName, _: bool) -> io::Result<()> {
        Err(ObjectName::unsupported_here())
    }

    pub(super) fn engine(name: &ObjectName) -> io::Result<Arc<dyn Engine>> {
        Err(name.unsupported())
    }

    pub(super) fn look(name: &ObjectName, _: &DiskCacheSettings, _: u32) -> Result<Looked> {
        Err(invalid(name.unsupported()))
    }

    pub(super) fn put(_: &ObjectName, _: File, _: bool, _: Watch) -> io::Result<()> {
        Err(ObjectName::unsupported_here())
    }

    pub(super) fn update(_: &ObjectName, _: Limits, _: Change<'_>) -> io::Result<()> {
        Err(ObjectName::unsupported_here())
    }

    pub(super) fn fetch(_: &ObjectName, _: Watch) -> io::Result<File> {
        Err(ObjectName::unsupported_here())
    }
}
