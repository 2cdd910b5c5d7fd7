//! The files and folders that the user excludes.

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};
use seekless_job::{Error, ErrorKind, Result};

/// Globs: with a `/` of the whole path relative to the folder, without one of its last part at any
/// depth.
pub(super) struct Exclude {
    paths: GlobSet,
    parts: GlobSet,
}

impl Exclude {
    pub(super) fn new(globs: &[String]) -> Result<Self> {
        let (paths, parts): (Vec<&String>, Vec<&String>) =
            globs.iter().partition(|glob| glob.contains('/'));
        Ok(Self { paths: set(&paths)?, parts: set(&parts)? })
    }

    /// Whether `name`, relative to the folder and with `/`, is left out; with a folder goes all
    /// that it holds.
    pub(super) fn holds(&self, name: &str) -> bool {
        let part = name.rsplit('/').next().unwrap_or(name);
        self.paths.is_match(name) || self.parts.is_match(part)
    }
}

fn set(globs: &[&String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for text in globs {
        set.add(glob(text).map_err(|error| wrong(text, error))?);
    }
    set.build().map_err(|error| wrong("the globs together", error))
}

/// A `*` does not cross a `/`; `./art/*` and `/art/*` are `art/*`.
fn glob(text: &str) -> std::result::Result<Glob, globset::Error> {
    let plain = text.trim_start_matches("./").trim_start_matches('/').trim_end_matches('/');
    GlobBuilder::new(plain).literal_separator(true).build()
}

fn wrong(text: &str, error: globset::Error) -> Error {
    let why = format!("--exclude {text}: {}; write it as '*.tmp' or 'art/**/*.psd'", error.kind());
    Error::new(ErrorKind::Invalid, why)
}
