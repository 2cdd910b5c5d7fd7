//! What a program that runs on waits for, and what would help: its files, and the page cache that
//! serves its reads.

use super::cache::{self, CacheAdvice};
use super::files::{self, FilesAdvice};
use super::{Options, Reading};
use seekless_job::{ErrorKind, Result};
use seekless_sim::Unit;
use serde::Serialize;
use std::path::PathBuf;

/// What a recording of a running program shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ServiceAdvice {
    /// Of its files: what it would wait if none was cached. `None` if it read nothing.
    pub files: Option<FilesAdvice>,
    /// Of the page cache. `None` if it read and wrote nothing.
    pub cache: Option<CacheAdvice>,
}

/// Looks at the files, and then at the cache by pages.
pub(super) fn advise(
    traces: &[PathBuf],
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<ServiceAdvice> {
    let by = |unit| Options {
        reading: Reading { unit: Some(unit), ..options.reading.clone() },
        ..options.clone()
    };
    let files = files::advise(traces, &by(Unit::File), tell)?;
    let cache = match cache::advise(traces, &by(Unit::Page), tell) {
        Err(error) if error.kind() == ErrorKind::Missing => None,
        found => Some(found?),
    };
    Ok(ServiceAdvice { files: files.filter(|files| files.needed_files > 0), cache })
}
