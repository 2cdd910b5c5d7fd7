//! An object that is open: which it was, so that each later request is about the same bytes.

use crate::Version;
use crate::disk::Key;
use crate::fault::{Fault, Kind};
use object_store::path::Path;
use object_store::{GetOptions, GetRange, ObjectMeta, ObjectStore};
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// Where an object lies.
#[derive(Clone, Debug)]
pub(crate) struct Located {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) path: Path,
    /// The service, and whose it is there: two of them may have objects of one name.
    pub(crate) service: Arc<str>,
}

/// A service, and what names it and its owner in the disk cache.
#[derive(Clone, Debug)]
pub(crate) struct Service {
    pub(crate) store: Arc<dyn ObjectStore>,
    pub(crate) name: Arc<str>,
}

impl Located {
    pub(crate) fn at(service: Service, path: Path) -> Self {
        Self { store: service.store, path, service: service.name }
    }
}

/// An object as it was opened.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) at: Located,
    opened: ObjectMeta,
}

impl Object {
    pub(crate) fn new(at: Located, opened: ObjectMeta) -> Self {
        Self { at, opened }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.opened.size
    }

    /// What the provider calls this version.
    pub(crate) fn version(&self) -> Version {
        Version { e_tag: self.opened.e_tag.clone(), generation: self.opened.version.clone() }
    }

    /// What names this version in a cache; `None` without a tag that differs whenever a byte does.
    pub(crate) fn key(&self) -> Option<Key> {
        let tag = self.opened.e_tag.as_deref().filter(|tag| is_strong(tag))?;
        let when = self.opened.last_modified.timestamp_nanos_opt().unwrap_or_default();
        Some(Key::of(&[
            self.at.service.as_bytes(),
            self.at.path.as_ref().as_bytes(),
            tag.as_bytes(),
            &self.opened.size.to_le_bytes(),
            &when.to_le_bytes(),
        ]))
    }

    /// A request for a range of this very object.
    pub(crate) fn options(&self, range: Range<u64>) -> GetOptions {
        // No object matches a weak tag, by the rules of HTTP. The answer's tag is compared anyway.
        let strong = self.opened.e_tag.as_ref().filter(|tag| is_strong(tag));
        let unchanged = match strong {
            Some(_) => None,
            None => Some(self.opened.last_modified),
        };
        GetOptions::new()
            .with_range(Some(GetRange::Bounded(range)))
            .with_if_match(strong.cloned())
            .with_if_unmodified_since(unchanged)
    }

    /// Whether an answer is about this very object. A server may ignore what was asked of it.
    pub(crate) fn check(&self, answer: &ObjectMeta) -> Result<(), Fault> {
        let same = self.opened.size == answer.size
            && match (&self.opened.e_tag, &answer.e_tag) {
                (Some(opened), Some(found)) => opened == found,
                (None, None) => self.opened.last_modified == answer.last_modified,
                _ => false,
            };
        if same { Ok(()) } else { Err(Fault::replaced(Kind::Odd)) }
    }
}

/// Whether a tag names bytes, and not just what means the same.
fn is_strong(tag: &str) -> bool {
    !tag.starts_with("W/")
}

/// What of an object is asked for when it is opened, whose size is not known: its last bytes.
pub(crate) fn tail(bytes: u64) -> GetOptions {
    GetOptions::new().with_range(Some(GetRange::Suffix(bytes)))
}

/// The size of what was asked for fits into memory.
pub(crate) fn length(bytes: u64) -> io::Result<usize> {
    usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory.into())
}
