//! Names of a store that are symbolic links, or lead through them.

use super::names::{is_folder, plain};
use super::{Source, Sources};
use crate::links::{Link, Links};
use seekless_policy::eviction::Id;

impl Sources {
    /// The links of all packs, by the names that the store has for them. A later source may have
    /// another entry of that name, or that to which a link leads.
    pub(super) fn linked(&self) -> Links {
        if !self.parts.iter().any(|part| part.source.has_links()) {
            return Links::default();
        }
        let link = |(name, id)| {
            let (part, number) = self.part(id);
            let Source::Archive(archive) = &part.source else { return None };
            let is_link = archive.index.entry(number).is_link();
            let text = || archive.links.get(&number).cloned();
            is_link.then(|| Link { id, name: plain(name), text: text() })
        };
        let links = self.all_names().filter_map(link).collect();
        Links::new(links, |name| self.find_named(name).filter(|_| !is_folder(name)))
    }

    /// The file called `name`: the last source's that has it. A link is the file to which it leads.
    pub(crate) fn find(&self, name: &str) -> Option<Id> {
        match self.find_named(name) {
            Some(id) => self.links.file(id),
            None => self
                .find_named(&self.links.follow(&plain(name))?)
                .and_then(|id| self.links.file(id)),
        }
    }

    /// The file to which an entry leads, or the entry itself.
    pub(crate) fn led(&self, id: Id) -> Id {
        self.links.file(id).unwrap_or(id)
    }

    /// The text of the link called `name`.
    pub(crate) fn link_text(&self, name: &str) -> Option<&[u8]> {
        self.links.text(&plain(name))
    }

    /// Why `name` is that of no file, if links are why.
    pub(crate) fn why_not(&self, name: &str) -> Option<String> {
        let damaged = || {
            self.find_named(name)?;
            Some(format!("the link {name:?} is damaged, or longer than a path can be"))
        };
        self.links.why_not(&plain(name)).or_else(damaged)
    }
}

impl Source {
    fn has_links(&self) -> bool {
        match self {
            Self::Archive(archive) => archive.index.links().next().is_some(),
            Self::Folder(_) => false,
        }
    }
}
