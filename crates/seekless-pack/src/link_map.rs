//! Symbolic links of an archive: what a path leads to when its links are followed inside the
//! archive, as a kernel follows them in a file system. No path leads out: a link that does is
//! reported instead.

use std::borrow::Cow;
use std::fmt;

/// Most bytes of a link's text: the longest path that Linux has.
pub const LINK_BYTES_MAX: u64 = 4095;

/// Most links that one path may follow, as in Linux.
const LINKS_MAX: usize = 40;
/// Most parts of a path and of the links on its way together.
const PARTS_MAX: usize = 4096;

/// The path of a link, and its text.
type Link = (Box<str>, Box<[u8]>);

/// The links of an archive by their paths.
#[derive(Clone, Debug, Default)]
pub struct LinkMap {
    /// The path and the text of each, sorted by the bytes of the paths: those below one folder lie
    /// together.
    links: Box<[Link]>,
}

/// A folder that has links below it.
#[derive(Clone, Copy)]
struct Folder {
    /// The first of these links, and the one behind the last.
    first: usize,
    end: usize,
    /// Bytes of the folder's path, with the `/` behind it.
    path_bytes: usize,
}

/// A link that leads to nothing in the archive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Astray {
    /// Its path in the archive.
    pub link: String,
    /// Its text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// What is wrong with it.
    pub why: AstrayWhy,
}

/// Why a link leads to nothing in the archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum AstrayWhy {
    /// Its text is absolute, or has more `..` than there are folders above it.
    Out,
    /// Over 40 links follow each other, or the link leads back to itself.
    TooMany,
    /// Its text is not UTF-8, which all names of an archive are.
    NotText,
}

impl fmt::Display for Astray {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self.why {
            AstrayWhy::Out => "which leads out of the archive",
            AstrayWhy::TooMany => "and too many links follow each other there",
            AstrayWhy::NotText => "which is not UTF-8",
        };
        write!(out, "{:?} is a link to {:?}, {why}", self.link, self.text)
    }
}

impl LinkMap {
    /// The paths of links, in plain form, and their texts. Of two of one path the last counts.
    #[must_use]
    pub fn new(mut links: Vec<Link>) -> Self {
        links.reverse();
        links.sort_by(|one, other| one.0.cmp(&other.0));
        links.dedup_by(|one, other| one.0 == other.0);
        Self { links: links.into() }
    }

    /// Whether there is no link.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }

    /// The text of the link at the path `name`, if there is one.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&[u8]> {
        self.text_in(self.root(), name)
    }

    fn root(&self) -> Folder {
        Folder { first: 0, end: self.links.len(), path_bytes: 0 }
    }

    /// The text of the link called `part` in a folder.
    fn text_in(&self, folder: Folder, part: &str) -> Option<&[u8]> {
        let links = &self.links[folder.first..folder.end];
        let rest = |link: &Link| link.0.as_bytes()[folder.path_bytes..].cmp(part.as_bytes());
        links.binary_search_by(rest).ok().map(|place| &*links[place].1)
    }

    /// The folder called `part` in another, if it has links below it.
    fn folder_in(&self, folder: Folder, part: &str) -> Option<Folder> {
        let links = &self.links[folder.first..folder.end];
        let path_bytes = folder.path_bytes + part.len() + 1;
        let begin = |link: &Link| {
            let rest = link.0.bytes().skip(folder.path_bytes).take(part.len() + 1);
            rest.cmp(part.bytes().chain([b'/']))
        };
        let first = folder.first + links.partition_point(|link| begin(link).is_lt());
        let end = folder.first + links.partition_point(|link| begin(link).is_le());
        (first < end).then_some(Folder { first, end, path_bytes })
    }

    /// The path to which `name` leads when all links in it are followed, of folders too; `name`
    /// itself if there are none, or if it has a `..`, which no name of an archive has. Whether
    /// the archive has anything at that path is not looked at.
    ///
    /// # Errors
    /// A link leads out of the archive, or over 40 links follow each other.
    pub fn follow<'a>(&self, name: &'a str) -> Result<Cow<'a, str>, Astray> {
        if self.is_empty() || parts(name).any(|part| part == "..") {
            return Ok(Cow::Borrowed(name));
        }
        let mut walk = Walk::new(self, name);
        walk.go()?;
        match walk.links {
            0 => Ok(Cow::Borrowed(name)),
            _ => Ok(Cow::Owned(walk.name())),
        }
    }
}

fn parts(name: &str) -> impl DoubleEndedIterator<Item = &str> {
    name.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// A path that is being followed.
struct Walk<'a> {
    map: &'a LinkMap,
    /// The folders that were passed, each with what is known of it if a link lies below it.
    path: Vec<(&'a str, Option<Folder>)>,
    /// The parts that are still to be passed, the next one last.
    left: Vec<&'a str>,
    /// The link that was followed last: its path and its text.
    last: Option<(String, &'a [u8])>,
    links: usize,
    parts: usize,
}

impl<'a> Walk<'a> {
    fn new(map: &'a LinkMap, name: &'a str) -> Self {
        let left = parts(name).rev().collect();
        Self { map, path: Vec::new(), left, last: None, links: 0, parts: 0 }
    }

    fn go(&mut self) -> Result<(), Astray> {
        while let Some(part) = self.left.pop() {
            match part {
                // Only the text of a link has such a part.
                ".." => drop(self.path.pop().ok_or_else(|| self.astray(AstrayWhy::Out))?),
                part => self.pass(part)?,
            }
        }
        Ok(())
    }

    fn pass(&mut self, part: &'a str) -> Result<(), Astray> {
        let map = self.map;
        let folder = self.path.last().map_or(Some(map.root()), |(_, folder)| *folder);
        match folder.and_then(|folder| map.text_in(folder, part)) {
            Some(text) => self.link(part, text),
            None => {
                self.path.push((part, folder.and_then(|folder| map.folder_in(folder, part))));
                Ok(())
            }
        }
    }

    /// Goes on along the text of a link, from the folder in which the link lies.
    fn link(&mut self, part: &str, text: &'a [u8]) -> Result<(), Astray> {
        self.last = Some((self.name_of(part), text));
        let words = std::str::from_utf8(text).map_err(|_| self.astray(AstrayWhy::NotText))?;
        if words.starts_with('/') {
            return Err(self.astray(AstrayWhy::Out));
        }
        self.links += 1;
        self.parts += parts(words).count();
        if self.links > LINKS_MAX || self.parts > PARTS_MAX {
            return Err(self.astray(AstrayWhy::TooMany));
        }
        self.left.extend(parts(words).rev());
        Ok(())
    }

    /// The last link as the one that leads to nothing.
    fn astray(&self, why: AstrayWhy) -> Astray {
        let (link, text) = self.last.clone().unwrap_or_default();
        Astray { link, text: String::from_utf8_lossy(text).into_owned(), why }
    }

    fn name(&self) -> String {
        self.path.iter().map(|(part, _)| *part).collect::<Vec<_>>().join("/")
    }

    /// The path of something in the folder that was reached.
    fn name_of(&self, part: &str) -> String {
        let folders = self.path.iter().map(|(folder, _)| *folder);
        folders.chain([part]).collect::<Vec<_>>().join("/")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(links: &[(&str, &str)]) -> LinkMap {
        let link = |(name, text): &(&str, &str)| ((*name).into(), text.as_bytes().into());
        LinkMap::new(links.iter().map(link).collect())
    }

    fn why(map: &LinkMap, name: &str) -> AstrayWhy {
        map.follow(name).expect_err(name).why
    }

    #[test]
    fn links_lead_where_a_kernel_would_go_in_the_archive() {
        let map = map(&[
            ("lib64", "lib"),
            ("lib/so", "so.1"),
            ("lib/so.1", "./so.1.2"),
            ("deep/er/up", "../../lib/so"),
            ("far", "deep/er/folder"),
            ("deep/er/folder", "../../a/b/c"),
            ("back", "far/../x"),
            ("top", "a/.."),
        ]);
        for (name, expected) in [
            ("lib64/x.py", "lib/x.py"),
            ("lib64/so", "lib/so.1.2"),
            ("deep/er/up", "lib/so.1.2"),
            ("far/file", "a/b/c/file"),
            ("back", "a/b/x"),
            ("top", ""),
            ("top/lib64/y", "lib/y"),
            ("lib/plain", "lib/plain"),
            ("lib64/../lib64", "lib64/../lib64"),
        ] {
            assert_eq!(map.follow(name).as_deref(), Ok(expected), "{name}");
        }
        assert!(matches!(map.follow("no/link"), Ok(Cow::Borrowed("no/link"))));
        assert_eq!((map.text("lib/so"), map.text("lib")), (Some(&b"so.1"[..]), None));
        assert!(!map.is_empty() && LinkMap::default().is_empty());
    }

    #[test]
    fn no_link_leads_out() {
        let map = map(&[
            ("abs", "/etc/passwd"),
            ("up", "../../etc/passwd"),
            ("a/up", "../../x"),
            ("in", "a/b/../../c"),
            ("a/root", ".."),
            ("through", "a/root/../x"),
            ("a/slash", "/"),
        ]);
        for name in ["abs", "up", "a/up", "through", "a/slash/x", "abs/x"] {
            assert_eq!(why(&map, name), AstrayWhy::Out, "{name}");
        }
        assert_eq!(map.follow("in").as_deref(), Ok("c"));
        let said = map.follow("a/up").expect_err("it leads out").to_string();
        assert_eq!(said, r#""a/up" is a link to "../../x", which leads out of the archive"#);
    }

    #[test]
    fn links_of_alike_names_are_told_apart() {
        let map = map(&[
            ("a", "old"),
            ("a.b", "1"),
            ("a/x", "2"),
            ("a/x/y", "never"),
            ("ab/x", "3"),
            ("b/a/x", "4"),
            ("b/a!", "5"),
            ("b/a0/x", "6"),
            ("a", "b"),
        ]);
        for (name, expected) in [
            ("a", "b"),
            ("a.b", "1"),
            ("a/a/x", "b/a/4"),
            ("ab/x", "ab/3"),
            ("b/a/x", "b/a/4"),
            ("b/a!", "b/5"),
            ("b/a0/x", "b/a0/6"),
            ("b/a/y", "b/a/y"),
            ("ab", "ab"),
        ] {
            assert_eq!(map.follow(name).as_deref(), Ok(expected), "{name}");
        }
    }

    #[test]
    fn circles_and_long_chains_end() {
        let chain: Vec<[String; 2]> =
            (0..50).map(|at| [at, at + 1].map(|at| format!("chain{at}"))).collect();
        let (long, twice) = ("x/../".repeat(900), "long/".repeat(3));
        let mut links = vec![
            ("self", "self"),
            ("ping", "pong"),
            ("pong", "d/../ping"),
            ("d/x", "y"),
            ("long", &*long),
            ("twice", &*twice),
        ];
        links.extend(chain.iter().map(|[name, text]| (&**name, &**text)));
        let map = map(&links);
        for name in ["self", "ping", "pong", "self/x", "chain9", "twice"] {
            assert_eq!(why(&map, name), AstrayWhy::TooMany, "{name}");
        }
        assert_eq!(map.follow("chain10").as_deref(), Ok("chain50"));
        assert_eq!(map.follow("long/y").as_deref(), Ok("y"));
    }

    #[test]
    fn a_text_that_is_not_utf_8_leads_nowhere() {
        let map = LinkMap::new(vec![("odd".into(), (*b"\xff").into())]);
        assert_eq!(why(&map, "odd"), AstrayWhy::NotText);
    }
}
