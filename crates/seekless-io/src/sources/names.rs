//! The names of a store's files and folders, and how names are compared: the one place where a name
//! is brought into its plain form.

use super::{Part, Source, Sources};
use seekless_policy::eviction::Id;
use std::borrow::Cow;

impl Sources {
    /// The names of all files, each with its entry: of several sources in no order. Links that lead
    /// to a file are among them.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Id)> {
        self.all_names().filter(|(name, id)| !is_folder(name) && self.links.file(*id).is_some())
    }

    /// How many files there are. Of a single pack no name is looked at.
    pub(super) fn count_files(&self) -> usize {
        match &self.parts[..] {
            [Part { source: Source::Archive(archive), .. }]
                if self.is_single_archive() && self.links.is_empty() =>
            {
                let index = &archive.index;
                let is_file = |id: &Id| !index.is_folder(*id) && Some(*id) != self.hidden;
                (0..index.len() as Id).filter(is_file).count()
            }
            _ => self.names().count(),
        }
    }

    /// The same of the entries of folders, whose names end in `/`.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&str, Id)> {
        self.all_names().filter(|(name, _)| is_folder(name))
    }

    pub(super) fn all_names(&self) -> Box<dyn Iterator<Item = (&str, Id)> + '_> {
        let first = self.parts.first().map(|part| &part.source);
        match (&self.names, first) {
            (Some(names), _) => Box::new(names.iter().map(|(name, id)| (name.as_ref(), *id))),
            (None, Some(source)) => {
                let ids = (0..source.len() as Id).filter(|id| Some(*id) != self.hidden);
                Box::new(ids.map(|id| (source.name(id), id)))
            }
            (None, None) => Box::new(std::iter::empty()),
        }
    }
}

/// Whether the name is that of a folder.
pub(super) fn is_folder(name: &str) -> bool {
    name.ends_with('/')
}

/// `name` with `/` between its parts, and without empty and `.` parts: `.\art//wall.dds` is
/// `art/wall.dds`. Case and `..` stay as they are.
pub(crate) fn plain(name: &str) -> Cow<'_, str> {
    let is_part = |part: &&str| !part.is_empty() && *part != ".";
    let separators: &[char] = &['/', '\\'];
    if !name.contains('\\') && name.split('/').all(|part| is_part(&part)) {
        return Cow::Borrowed(name);
    }
    let folder = if name.ends_with(separators) { "/" } else { "" };
    let parts: Vec<&str> = name.split(separators).filter(is_part).collect();
    Cow::Owned(parts.join("/") + folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_plain_name() {
        for name in ["art/wall.dds", "./art/wall.dds", "/art//wall.dds", "art\\.\\wall.dds"] {
            assert_eq!(plain(name), "art/wall.dds", "{name}");
        }
        assert!(matches!(plain("a/b"), Cow::Borrowed(_)));
        for (name, expected) in [("", ""), (".", ""), ("A/../b", "A/../b"), ("a/", "a/")] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
