//! Chooses files by their absolute names. A file is recorded whole or left out whole, so that
//! `load` rows keep their meaning.

use crate::error::{Error, ErrorKind, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Globs of the files to keep, and of files among them to leave out. A glob also matches everything
/// below what it names; one that does not start with `/` matches at any depth.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// `None` keeps all files.
    only: Option<GlobSet>,
    exclude: GlobSet,
}

impl Selection {
    /// The globs of `only` and of `exclude`. Without any in `only`, all files are kept but those.
    ///
    /// # Errors
    /// One of them is not a glob, or there are too many.
    pub fn new(only: &[String], exclude: &[String]) -> Result<Self> {
        let only = if only.is_empty() { None } else { Some(set(only)?) };
        Ok(Self { only, exclude: set(exclude)? })
    }

    /// Whether the file of this name is kept.
    #[must_use]
    pub fn keeps(&self, name: &[u8]) -> bool {
        let name = OsStr::from_bytes(name);
        self.only.as_ref().is_none_or(|only| only.is_match(name)) && !self.exclude.is_match(name)
    }
}

/// Compiles globs.
fn set(globs: &[String]) -> Result<GlobSet> {
    let mut set = GlobSetBuilder::new();
    for glob in globs {
        let bad = |why: &str| {
            let message =
                format!("{glob:?} is not a glob: {why}; write one such as '*.db' or '/usr/**'");
            Error::new(ErrorKind::Usage, message)
        };
        let named = glob.trim_end_matches('/');
        if named.is_empty() && glob != "/" {
            return Err(bad("it is empty"));
        }
        let start = if glob.starts_with('/') { "" } else { "**/" };
        for end in ["", "/**"] {
            let one =
                GlobBuilder::new(&format!("{start}{named}{end}")).literal_separator(true).build();
            set.add(one.map_err(|error| bad(&error.kind().to_string()))?);
        }
    }
    set.build()
        .map_err(|error| Error::new(ErrorKind::Usage, "there are too many globs").because(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keeps(only: &[&str], exclude: &[&str], name: &str) -> bool {
        let owned =
            |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
        Selection::new(&owned(only), &owned(exclude)).unwrap().keeps(name.as_bytes())
    }

    #[test]
    fn globs_choose_by_name_and_folder() {
        assert!(keeps(&[], &[], "/any"));
        assert!(keeps(&["*.db"], &[], "/a/b.db") && !keeps(&["*.db"], &[], "/a/b.dbx"));
        assert!(
            keeps(&["/a"], &[], "/a/b/c")
                && keeps(&["/a/"], &[], "/a")
                && !keeps(&["/a"], &[], "/b/a")
        );
        assert!(keeps(&["b/c*"], &[], "/a/b/cd") && !keeps(&["b/*d"], &[], "/a/b/c/x"));
        assert!(!keeps(&["/a/*.db"], &[], "/a/b/c.db") && keeps(&["/a/**/*.db"], &[], "/a/b/c.db"));
        assert!(keeps(&["*.{so,db}", "/x"], &["/usr"], "/lib/a.so"));
        assert!(!keeps(&["*.so"], &["/usr"], "/usr/lib/a.so"));
        assert!(keeps(&["/"], &[], "/any/name") && !keeps(&[], &["**"], "/any/name"));
    }

    #[test]
    fn a_malformed_glob_is_an_error() {
        for glob in ["", "[a", "{a"] {
            let error = Selection::new(&[glob.to_owned()], &[]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(error.to_string().contains("not a glob"), "{error}");
        }
    }
}
