//! Paths as text: what a traced path is called below a folder. Looks at no file.

use std::path::Path;

/// What `traced` is called below `dir`: relative, with `/` between plain parts. `dir` is absolute
/// and canonical; `traced` is absolute, as recorded, or relative to `dir` already. `None` if it is
/// not below `dir` (or is `dir`).
///
/// ```
/// use seekless_tools::pack::relative_to;
/// use std::path::Path;
///
/// let dir = Path::new("/home/u/game/data");
/// assert_eq!(relative_to(dir, "/home/u/game/data/art/x").as_deref(), Some("art/x"));
/// assert_eq!(relative_to(dir, "./art//x").as_deref(), Some("art/x"));
/// assert_eq!(relative_to(dir, "/home/u/game/database"), None);
/// ```
#[must_use]
pub fn relative_to(dir: &Path, traced: &str) -> Option<String> {
    if !traced.starts_with('/') {
        return plain(traced);
    }
    let dir = dir.to_str()?;
    let (dir, traced) = (plain(dir).unwrap_or_default(), plain(traced)?);
    if dir.is_empty() {
        return Some(traced); // the root holds everything
    }
    let below = traced.strip_prefix(&dir)?.strip_prefix('/')?;
    Some(below.to_owned())
}

/// `path` without its leading `/`, empty and `.` parts, and with `..` taken back. `None` if it
/// leads out or nowhere.
pub(crate) fn plain(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_a_folder() {
        let dir = Path::new("/data");
        for (traced, name) in [
            ("/data/a", Some("a")),
            ("/data/b/../a", Some("a")),
            ("//data///a/./b", Some("a/b")),
            ("a/b", Some("a/b")),
            ("b/../a", Some("a")),
            ("/data", None),
            ("/data/", None),
            ("/data/../etc/passwd", None),
            ("/database/a", None),
            ("/other", None),
            ("../a", None),
            ("", None),
            (".", None),
        ] {
            assert_eq!(relative_to(dir, traced).as_deref(), name, "{traced}");
        }
        assert_eq!(relative_to(Path::new("/"), "/etc/passwd").as_deref(), Some("etc/passwd"));
    }
}
