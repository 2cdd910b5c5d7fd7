//! Which engine reads the sources: the kernel's, or one that also reads objects in object storage,
//! if a source is one.

use crate::disk_cache::DiskCacheSettings;
use crate::sources::Place;
use crate::{Error, Result};
use seekless_engine::{Engine, ObjectName};
use std::sync::Arc;

const CANNOT: &str = "the store cannot be opened";

/// An engine that reads all `places`, and those that are files by `files`. Objects are read through
/// the disk cache that `cache` says, else the environment.
pub(crate) fn engine_for(
    places: &[Place],
    files: Arc<dyn Engine>,
    cache: Option<&DiskCacheSettings>,
) -> Result<Arc<dyn Engine>> {
    let object = places.iter().map(Place::path).find_map(ObjectName::parse);
    let Some(name) = object else { return Ok(files) };
    let name = name.map_err(|error| Error::setting(CANNOT, error))?;
    objects(&name, files, cache)
}

#[cfg(feature = "remote")]
fn objects(
    _: &ObjectName,
    files: Arc<dyn Engine>,
    cache: Option<&DiskCacheSettings>,
) -> Result<Arc<dyn Engine>> {
    use seekless_remote::{Access, Remote, Settings};
    let cache = match cache {
        Some(cache) => cache.open()?,
        None => DiskCacheSettings::from_environment()?.open()?,
    };
    let remote = Remote::new(files, Access::default(), Settings::default())
        .map_err(|error| Error::setting(CANNOT, error))?;
    Ok(Arc::new(match cache {
        Some(cache) => remote.with_disk_cache(cache),
        None => remote,
    }))
}

#[cfg(not(feature = "remote"))]
fn objects(
    name: &ObjectName,
    _: Arc<dyn Engine>,
    _: Option<&DiskCacheSettings>,
) -> Result<Arc<dyn Engine>> {
    Err(Error::setting(CANNOT, name.unsupported()))
}
