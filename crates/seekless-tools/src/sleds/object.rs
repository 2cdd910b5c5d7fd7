//! What each range of an object in object storage costs now: what the disk cache has of it, and
//! what a request costs for the rest.

use crate::remote::{Looked, look};
use crate::{Error, ErrorKind, Result};
use seekless_io::DiskCacheSettings;
use seekless_sled::{ObjectSubject, Survey, Surveyor};
use std::path::Path;

/// The SLEDs of the object that `path` names, with what a disk cache in the folder of `cache` has
/// of it. Nothing is brought into the cache. This takes one request; a few, if it is not known what
/// the storage charges.
///
/// # Errors
/// The object cannot be opened, or the cache cannot be read.
pub fn object(path: &Path, cache: &DiskCacheSettings, surveyor: &mut Surveyor) -> Result<Survey> {
    let knows = |storage: &str| surveyor.knows_storage(storage);
    let Looked { storage, bytes, costs, held_in, held } = look(path, cache, knows)?;
    let held_in = held_in.as_deref();
    let subject = ObjectSubject { storage: &storage, bytes, costs, held_in, held: &held };
    surveyor.object(&subject).map_err(|error| Error::new(ErrorKind::Io, error.to_string()))
}
