//! The symbolic links of packs. Their texts are read when a pack is opened; a name that is a link,
//! or leads through one, is that of the file to which it leads in the store.

use seekless_pack::{Entry, Index, LINK_BYTES_MAX, LinkMap, ReadAt, decode};
use seekless_policy::eviction::Id;
use std::borrow::Cow;
use std::collections::HashMap;

/// Links that lie within this many bytes of an archive are read at once. Our packs have all links
/// together.
const READ_BYTES: u64 = 256 << 10;

/// The texts of an archive's links, by the numbers of their entries.
pub(crate) type Texts = HashMap<u32, Box<[u8]>>;

/// Reads the texts of all links of an archive. A link that is damaged, or too long for a path, has
/// none.
pub(crate) fn texts<R: ReadAt + ?Sized>(index: &Index, source: &R) -> Texts {
    let mut texts = Texts::new();
    // Deflated texts could take many times what the archive does.
    let mut room = index.data_bytes();
    let mut links = index.links().map(|number| (number, index.entry(number))).peekable();
    while let Some(first) = links.next() {
        let start = first.1.header_offset;
        let mut together = vec![first];
        while let Some(next) = links.next_if(|(_, entry)| end(entry) - start <= READ_BYTES) {
            together.push(next);
        }
        for (number, text) in read(index, source, &together) {
            if let Some(left) = room.checked_sub(text.len() as u64) {
                room = left;
                texts.insert(number, text);
            }
        }
    }
    texts
}

/// The texts of links that lie close together, by one read.
fn read<R: ReadAt + ?Sized>(
    index: &Index,
    source: &R,
    links: &[(u32, Entry)],
) -> Vec<(u32, Box<[u8]>)> {
    let is_short =
        |entry: &Entry| entry.bytes <= LINK_BYTES_MAX && entry.extent_bytes <= READ_BYTES;
    let links: Vec<_> = links.iter().filter(|(_, entry)| is_short(entry)).collect();
    let [(_, first), ..] = links[..] else { return Vec::new() };
    let start = first.header_offset;
    let Some((_, last)) = links.last() else { return Vec::new() };
    let mut bytes = vec![0; (end(last) - start) as usize];
    if source.read_exact_at(&mut bytes, start).is_err() {
        return Vec::new();
    }
    let text = |(number, entry): &&(u32, Entry)| {
        let extent = bytes.get((entry.header_offset - start) as usize..)?;
        let extent = extent.get(..entry.extent_bytes as usize)?;
        let mut text = Vec::new();
        decode(entry, index.name(*number), extent, &mut text).ok()?;
        Some((*number, text.into()))
    };
    links.iter().filter_map(text).collect()
}

fn end(entry: &Entry) -> u64 {
    entry.header_offset.saturating_add(entry.extent_bytes)
}

/// A link of a store.
pub(crate) struct Link<'a> {
    pub(crate) id: Id,
    /// In plain form.
    pub(crate) name: Cow<'a, str>,
    /// Where it leads, if that could be read.
    pub(crate) text: Option<Box<[u8]>>,
}

/// All links of a store, and where they lead in it.
#[derive(Default)]
pub(crate) struct Links {
    map: LinkMap,
    /// The file to which each link leads, by their numbers; `None` if it leads to no file.
    files: HashMap<Id, Option<Id>>,
}

impl Links {
    /// `find` gives the number of the
    /// entry of a plain name, which for a folder is `None`.
    pub(crate) fn new(links: Vec<Link<'_>>, find: impl Fn(&str) -> Option<Id>) -> Self {
        let mut files: HashMap<Id, Option<Id>> = links.iter().map(|link| (link.id, None)).collect();
        let (mut named, mut known) = (Vec::new(), Vec::new());
        for Link { id, name, text } in links {
            if let Some(text) = text {
                known.push((Box::from(&*name), text));
                named.push((id, name));
            }
        }
        let map = LinkMap::new(known);
        for (id, name) in named {
            let led = map.follow(&name).ok().and_then(|path| find(&path));
            let file = led.filter(|led| !files.contains_key(led));
            files.insert(id, file);
        }
        Self { map, files }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The file that is loaded by the name of an entry: of a link the one to which it leads, if it
    /// leads to one.
    #[inline]
    pub(crate) fn file(&self, id: Id) -> Option<Id> {
        match self.files.is_empty() {
            true => Some(id),
            false => self.files.get(&id).copied().unwrap_or(Some(id)),
        }
    }

    /// The path to which a plain name leads through links; `None` if there are none in it.
    pub(crate) fn follow(&self, name: &str) -> Option<String> {
        match self.map.follow(name) {
            Ok(Cow::Owned(path)) => Some(path),
            Ok(Cow::Borrowed(_)) | Err(_) => None,
        }
    }

    /// The text of the link of this plain name.
    pub(crate) fn text(&self, name: &str) -> Option<&[u8]> {
        self.map.text(name)
    }

    /// Why a plain name that is a link, or leads through one, leads to no file.
    pub(crate) fn why_not(&self, name: &str) -> Option<String> {
        match self.map.follow(name) {
            Err(astray) => Some(format!("{astray}; a store follows links inside its packs only")),
            Ok(Cow::Owned(path)) => {
                Some(format!("{name:?} leads to {path:?} by a link, where there is no file"))
            }
            Ok(Cow::Borrowed(_)) => None,
        }
    }
}
