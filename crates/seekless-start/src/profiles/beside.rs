//! What lies beside a profile: its flat form, the pack of its files, and what is noted of that.

use rustix::fs::{Advice, fadvise};
use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::output::{Content, Destination, Output};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

/// Each has the profile's name, and its own extension.
pub(crate) const PACK: &str = "zip";
pub(crate) const NOTES: &str = "packed";
/// The profile itself, in a form that is read at once.
pub(crate) const FLAT: &str = "flat";
pub(crate) const SERVED: &str = "served";
/// Words that stay when the pack goes.
pub(crate) const SAID: &str = "said";
/// The notes go first: without them the pack is not used.
const OF_PACK: [&str; 3] = [NOTES, PACK, SERVED];

/// A new file at this place, for this user alone, which appears when it is published.
pub(crate) fn created(path: &Path) -> Result<Output> {
    let out = Destination::new(path).replacing(true).private().create(Content::Binary);
    out.map_err(|error| unwritten(path, io::Error::other(error)))
}

pub(crate) fn published(out: Output) -> Result<()> {
    let path = out.path().to_owned();
    out.publish().map_err(|error| unwritten(&path, io::Error::other(error)))
}

pub(crate) fn write_private(path: &Path, text: &[u8]) -> Result<()> {
    let mut out = created(path)?;
    out.write_all(text).map_err(|error| unwritten(path, error))?;
    published(out)
}

/// Reads a file of ours, all of it in one request; `None` if it is larger than any.
pub(crate) fn read_at_once(path: &Path, bytes_max: u64) -> Option<Vec<u8>> {
    let mut file = File::open(path).ok()?;
    let bytes = file.metadata().ok().map(|found| found.len()).filter(|it| *it <= bytes_max)?;
    let _ = fadvise(&file, 0, None, Advice::WillNeed);
    let mut content = Vec::with_capacity(bytes as usize);
    file.read_to_end(&mut content).ok()?;
    Some(content)
}

pub(crate) fn unwritten(path: &Path, error: io::Error) -> Error {
    Error::because(ErrorKind::Io, format!("{} cannot be written", path.display()), error)
}

/// How much the pack beside a profile takes, with what is noted of it.
pub(crate) fn bytes(profile: &Path) -> u64 {
    let beside = OF_PACK.map(|extension| profile.with_extension(extension));
    beside.iter().filter_map(|path| std::fs::metadata(path).ok()).map(|found| found.len()).sum()
}

/// Removes all that lies beside a profile.
pub(crate) fn remove_all(profile: &Path) {
    remove(profile);
    let _ = std::fs::remove_file(profile.with_extension(FLAT));
}

/// Removes the pack beside a profile. The notes go first: without them it is not used.
pub(crate) fn remove(profile: &Path) {
    for extension in OF_PACK {
        let _ = std::fs::remove_file(profile.with_extension(extension));
    }
}
