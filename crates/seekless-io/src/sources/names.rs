//! How names are compared: the one place where a name is brought into its plain form.

use std::borrow::Cow;

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
