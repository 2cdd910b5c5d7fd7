//! Results that become objects in object storage: written on this machine first, and checked there
//! if that was asked for; then sent. So the object appears whole or not at all.

use seekless_device::Costs;
use seekless_engine::{Engine, ObjectName};
use seekless_io::DiskCacheSettings;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sled::Held;
use seekless_sys::open_seekable;
use seekless_sys::output::{Destination, Output};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Requests whose median says what one costs; the first also makes the connection.
const REQUESTS_TO_LEARN: u32 = 5;

/// The destination that a word of a command line names: an object, a file, or with `-` standard
/// output. What is there is replaced only with `replace`.
#[must_use]
pub fn destination(word: &Path, replace: bool) -> Destination {
    let to = match ObjectName::is_meant(word) {
        true => Destination::nowhere(word),
        false => Destination::from_word(word),
    };
    to.replacing(replace)
}

/// The object that is to be written; `None` if it is a file.
fn object(out: &Destination) -> Result<Option<ObjectName>> {
    // A file whose name looks like an object's is named with `./`.
    if out.file().is_some() {
        return Ok(None);
    }
    let name = ObjectName::parse(out.path()).transpose();
    name.map_err(|error| Error::new(ErrorKind::Invalid, error.to_string()))
}

/// Refuses at once what [`publish`] would refuse after long work.
///
/// # Errors
/// The name is no object's, this build reaches no object storage, or there is such an object, which
/// may not be replaced.
pub(crate) fn check(out: &Destination) -> Result<()> {
    match object(out)? {
        Some(name) => {
            storage::check(&name, out.may_replace()).map_err(|error| failed(&name, error))
        }
        None => Ok(()),
    }
}

/// Gives a finished output its place.
///
/// # Errors
/// As [`Output::publish`]; an object cannot be written.
pub(crate) fn publish(output: Output, cancel: &Arc<AtomicBool>) -> Result<()> {
    let Some(name) = object(output.destination())? else { return Ok(output.publish()?) };
    let content = output.file().try_clone().map_err(|error| failed(&name, error))?;
    let may_replace = output.destination().may_replace();
    storage::put(&name, content, may_replace, cancel).map_err(|error| failed(&name, error))
}

/// Opens a pack where only a file will do.
///
/// # Errors
/// `path` names an object, or it cannot be opened.
pub(crate) fn open_file(path: &Path) -> Result<File> {
    match ObjectName::parse(path) {
        None => open_seekable(path).map_err(|error| Error::unreadable(path, error)),
        Some(Err(error)) => Err(Error::new(ErrorKind::Invalid, error.to_string())),
        Some(Ok(name)) => {
            let why = "only a file can be updated, checked or packed anew: copy the object first";
            Err(Error::new(ErrorKind::Invalid, format!("{name}: {why}")))
        }
    }
}

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

fn failed(name: &ObjectName, error: io::Error) -> Error {
    match error.kind() {
        io::ErrorKind::Interrupted => {
            Error::new(ErrorKind::Interrupted, "packing was interrupted; nothing was left behind")
        }
        // It names the object itself.
        io::ErrorKind::Unsupported if error.to_string().starts_with(&name.to_string()) => {
            Error::new(ErrorKind::Invalid, error.to_string())
        }
        io::ErrorKind::AlreadyExists => Error::new(ErrorKind::Invalid, format!("{name}: {error}")),
        _ => Error::because(ErrorKind::Io, format!("cannot write {name}"), error),
    }
}

#[cfg(feature = "remote")]
mod storage {
    use super::Looked;
    use crate::{Error, Result};
    use seekless_engine::{Engine, ObjectName, automatic};
    use seekless_io::DiskCacheSettings;
    use seekless_remote::{Access, CachedRange, Condition, Remote, Settings};
    use seekless_sled::Held;
    use std::fs::File;
    use std::io;
    use std::path::PathBuf;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

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
        cancel: &Arc<AtomicBool>,
    ) -> io::Result<()> {
        let (condition, content, cancel) =
            (condition(may_replace), Arc::new(content), cancel.clone());
        let goes_on = move |_| !cancel.load(Ordering::Relaxed);
        let (access, settings) = (Access::default(), Settings::default());
        seekless_remote::put(name, content, condition, &access, &settings, goes_on)
    }
}

#[cfg(not(feature = "remote"))]
mod storage {
    use super::{Looked, invalid};
    use crate::Result;
    use seekless_engine::{Engine, ObjectName};
    use seekless_io::DiskCacheSettings;
    use std::fs::File;
    use std::io;
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    pub(super) fn check(name: &ObjectName, _: bool) -> io::Result<()> {
        Err(name.unsupported())
    }

    pub(super) fn engine(name: &ObjectName) -> io::Result<Arc<dyn Engine>> {
        Err(name.unsupported())
    }

    pub(super) fn look(name: &ObjectName, _: &DiskCacheSettings, _: u32) -> Result<Looked> {
        Err(invalid(name.unsupported()))
    }

    pub(super) fn put(name: &ObjectName, _: File, _: bool, _: &Arc<AtomicBool>) -> io::Result<()> {
        Err(name.unsupported())
    }
}
