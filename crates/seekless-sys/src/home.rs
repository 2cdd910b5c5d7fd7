//! The folders in which a user's programs keep what they know, as the XDG Base Directory
//! specification lays them out.

use std::path::PathBuf;

/// Where Seekless keeps what it has learned or must remember: `$XDG_STATE_HOME/seekless`, else
/// `~/.local/state/seekless`. `None` where neither that variable nor `HOME` is an absolute path.
#[must_use]
pub fn state() -> Option<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state")
}

/// Where a user configures Seekless: `$XDG_CONFIG_HOME/seekless`, else `~/.config/seekless`. `None`
/// where neither that variable nor `HOME` is an absolute path.
#[must_use]
pub fn config() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config")
}

/// Where Seekless keeps what it can fetch again: `$XDG_CACHE_HOME/seekless`, else
/// `~/.cache/seekless`. `None` where neither that variable nor `HOME` is an absolute path.
#[must_use]
pub fn cache() -> Option<PathBuf> {
    folder("XDG_CACHE_HOME", ".cache")
}

fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let folder = set(variable).or_else(|| Some(set("HOME")?.join(below_home)))?;
    Some(folder.join("seekless"))
}
