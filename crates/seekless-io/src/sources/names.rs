//! The names of a store's files and folders, and how names are compared: the one place where a name
//! is brought into its plain form.

use super::Sources;
use seekless_policy::eviction::Id;
use seekless_policy::foresight::alike::Alike;
use std::borrow::Cow;

impl Sources {
    /// The names of all files, each with its entry: of several sources in no order. Links that lead
    /// to a file are among them.
    pub(crate) fn names(&self) -> impl Iterator<Item = (&str, Id)> {
        self.all_names().filter(|(name, id)| !is_folder(name) && self.links.file(*id).is_some())
    }

    /// The same of the entries of folders, whose names end in `/`.
    pub(crate) fn folders(&self) -> impl Iterator<Item = (&str, Id)> {
        self.all_names().filter(|(name, _)| is_folder(name))
    }

    /// Which entries are alike by name.
    pub(crate) fn alike(&self) -> Alike {
        let mut names = vec![""; self.extents.len()];
        self.all_names().for_each(|(name, id)| names[id as usize] = name);
        Alike::new(names.iter().copied())
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
