//! Selects an HDU of a file: `file.fits[2]`, `file.fits+2`, `file.fits[SCI]`, `file.fits[SCI,2]`,
//! or the first image.

use super::hdu::Source;
use crate::error::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Names one HDU of a file.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Selector {
    /// The first HDU that is an image with pixels.
    #[default]
    FirstImage,
    /// By number; the primary HDU is 0.
    Number(usize),
    /// By EXTNAME in any case, and by EXTVER if given.
    Name(String, Option<i64>),
}

impl Selector {
    /// Splits a name into file and HDU, unless a file with the whole name exists.
    #[must_use]
    pub fn split(name: &Path) -> (PathBuf, Selector) {
        let whole = || (name.to_owned(), Selector::FirstImage);
        let Some(text) = name.to_str().filter(|_| !name.exists()) else { return whole() };
        if let Some((path, inside)) = text.strip_suffix(']').and_then(|text| text.rsplit_once('['))
        {
            return (PathBuf::from(path), Selector::parse(inside));
        }
        match text.rsplit_once('+').map(|(path, number)| (path, number.parse())) {
            Some((path, Ok(number))) => (PathBuf::from(path), Selector::Number(number)),
            _ => whole(),
        }
    }

    /// Parses `2`, `SCI` or `SCI,2`.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let text = text.trim();
        if let Ok(number) = text.parse() {
            return Selector::Number(number);
        }
        match text.rsplit_once(',').map(|(name, version)| (name, version.trim().parse())) {
            Some((name, Ok(version))) => Selector::Name(name.trim().to_owned(), Some(version)),
            _ => Selector::Name(text.to_owned(), None),
        }
    }

    /// The number of the selected HDU.
    pub(super) fn find(&self, source: &Source) -> Result<usize> {
        let (path, hdus) = (source.path.display(), &source.hdus);
        let images: Vec<String> =
            (0..hdus.len()).filter(|&at| hdus[at].has_pixels()).map(|at| at.to_string()).collect();
        let there = match images.as_slice() {
            [] if hdus.iter().any(|hdu| hdu.header.is_true("ZIMAGE")) => {
                "its images are compressed, stored as tables: unpack it first (funpack)".to_owned()
            }
            [] => "it has no image at all".to_owned(),
            images => format!("images are HDU {}", images.join(", ")),
        };
        let missing =
            |what: String| Error::new(ErrorKind::Missing, format!("{path} {what}; {there}"));
        match self {
            Selector::FirstImage => hdus
                .iter()
                .position(|hdu| hdu.has_pixels())
                .ok_or_else(|| missing("holds no pixels".to_owned())),
            Selector::Number(number) if *number < hdus.len() => Ok(*number),
            Selector::Number(number) => Err(missing(format!(
                "has no HDU {number}, only 0 to {}",
                hdus.len().saturating_sub(1)
            ))),
            Selector::Name(name, version) => {
                let found = hdus.iter().position(|hdu| {
                    let fits = |text: String| text.trim().eq_ignore_ascii_case(name);
                    let versions = hdu.header.integer("EXTVER").ok().flatten().unwrap_or(1);
                    hdu.header.text("EXTNAME").is_some_and(fits)
                        && version.is_none_or(|version| version == versions)
                });
                found.ok_or_else(|| missing(format!("has no HDU named {name}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hdu_stands_behind_the_name() {
        for (name, path, selector) in [
            ("a.fits", "a.fits", Selector::FirstImage),
            ("a.fits[2]", "a.fits", Selector::Number(2)),
            ("a.fits+0", "a.fits", Selector::Number(0)),
            ("a+b.fits", "a+b.fits", Selector::FirstImage),
            ("a.fits[sci]", "a.fits", Selector::Name("sci".to_owned(), None)),
            ("a.fits[SCI,2]", "a.fits", Selector::Name("SCI".to_owned(), Some(2))),
        ] {
            assert_eq!(Selector::split(Path::new(name)), (PathBuf::from(path), selector), "{name}");
        }
    }

    #[test]
    fn a_file_of_just_that_name_is_meant_itself() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.fits[2]");
        std::fs::write(&path, "").expect("room");
        assert_eq!(Selector::split(&path), (path.clone(), Selector::FirstImage));
    }
}
