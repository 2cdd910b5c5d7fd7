//! Which engine reads the sources: the kernel's, or one that also reads objects in object storage,
//! if a source is one.

use crate::sources::Place;
use seekless_engine::{Engine, ObjectName};
use std::io;
use std::sync::Arc;

/// An engine that reads all `places`, and those that are files by `files`.
pub(crate) fn engine_for(places: &[Place], files: Arc<dyn Engine>) -> io::Result<Arc<dyn Engine>> {
    let object = places.iter().map(Place::path).find_map(ObjectName::parse);
    match object {
        Some(name) => objects(&name?, files),
        None => Ok(files),
    }
}

#[cfg(feature = "remote")]
fn objects(_: &ObjectName, files: Arc<dyn Engine>) -> io::Result<Arc<dyn Engine>> {
    use seekless_remote::{Access, Remote, Settings};
    Ok(Arc::new(Remote::new(files, Access::default(), Settings::default())?))
}

#[cfg(not(feature = "remote"))]
fn objects(name: &ObjectName, _: Arc<dyn Engine>) -> io::Result<Arc<dyn Engine>> {
    Err(name.unsupported())
}
