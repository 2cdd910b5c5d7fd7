//! Symbolic links of what is packed: whether they are kept, and what a path that is one, or leads
//! through one, is called in the pack.

use seekless_pack::LinkMap;
use std::path::Path;

/// What becomes of a folder's symbolic links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Links {
    /// Each is packed as what it leads to, which must lie in the folder too.
    #[default]
    Follow,
    /// Each is packed as a link, wherever it leads.
    Keep,
}

/// A map of links by the names and texts that they have in a folder that was walked at `dir`. An
/// absolute link to something below `dir` leads there.
pub(super) fn map<'a>(dir: &Path, links: impl Iterator<Item = (&'a str, &'a [u8])>) -> LinkMap {
    let link = |(name, text): (&str, &[u8])| {
        let text = relative(dir, name, text).unwrap_or_else(|| text.into());
        (name.into(), text)
    };
    LinkMap::new(links.map(link).collect())
}

/// The text of the link `name`, made relative if it is absolute and leads below `dir`.
fn relative(dir: &Path, name: &str, text: &[u8]) -> Option<Box<[u8]>> {
    let text = std::str::from_utf8(text).ok().filter(|text| text.starts_with('/'))?;
    let below = Path::new(text).strip_prefix(dir).ok()?.to_str()?;
    let up = "../".repeat(name.matches('/').count());
    Some(format!("{up}{below}").into_bytes().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_link_into_the_folder_is_known_by_its_place_there() {
        let dir = Path::new("/data");
        let made = |name, text: &str| {
            relative(dir, name, text.as_bytes()).map(|text| String::from_utf8(text.into()).unwrap())
        };
        assert_eq!(made("a/b/link", "/data/c/d").as_deref(), Some("../../c/d"));
        assert_eq!(made("link", "/data").as_deref(), Some(""));
        for text in ["/database/x", "/etc/passwd", "c/d", "../data/x"] {
            assert_eq!(made("a/link", text), None, "{text}");
        }
    }
}
