//! What the cache knows of each page beside the policy's view: its place in a file, its marker, and
//! whether a read has used it. Ids are given out here, and taken back once the policy has forgotten
//! them and no bytes are left.

use super::PageCommand;
use super::account::Account;
use super::files::{FileNo, Files, Opener};
use super::table::Nodes;
use crate::cache::Sink;
use crate::eviction::Id;
use crate::readahead::{Fate, Handle, PageNo};

/// The page where the readahead is called again.
pub(super) const MARKER: u8 = 1;
/// A window brought it, and no read has used it. Its first use is a request of kind
/// `FirstUse`.
pub(super) const UNUSED: u8 = 2;
/// Its fetch began before a read asked for it, so its fate is counted.
pub(super) const AHEAD: u8 = 4;
/// It has no bytes, and none are on their way.
const EMPTY: u8 = 8;
/// The policy does not know it, not even as a ghost.
const UNKNOWN: u8 = 16;

/// What belongs to an id.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    pub(super) file: FileNo,
    pub(super) page: PageNo,
    /// For whom it was prefetched.
    pub(super) opener: Opener,
    pub(super) flags: u8,
}

/// All pages that have an id.
#[derive(Debug, Default)]
pub(super) struct Pages {
    about: Vec<About>,
    free: Vec<Id>,
    nodes: Nodes,
    pub(super) files: Files,
    /// What became of prefetched pages, to be reported to the readahead.
    pub(super) fates: Vec<(Handle, PageNo, Fate)>,
    pub(super) account: Account,
}

impl Pages {
    #[inline]
    pub(super) fn id(&self, file: FileNo, page: PageNo) -> Option<Id> {
        self.nodes.get(self.files.get(file).tree, page)
    }

    pub(super) fn id_or_new(&mut self, file: FileNo, page: PageNo) -> Id {
        if let Some(id) = self.id(file, page) {
            return id;
        }
        let about = About { file, page, opener: Opener::NOBODY, flags: EMPTY | UNKNOWN };
        let id = match self.free.pop() {
            Some(id) => {
                self.about[id as usize] = about;
                id
            }
            None => {
                self.about.push(about);
                Id::try_from(self.about.len() - 1).expect("memory ends before 2^32 pages do")
            }
        };
        let of = self.files.get_mut(file);
        of.ids += 1;
        self.nodes.insert(&mut of.tree, page, id);
        id
    }

    /// Ids are below this number.
    pub(super) fn ids_end(&self) -> u32 {
        self.about.len() as u32
    }

    /// The ids of a range of pages of a file.
    pub(super) fn ids_within(&self, file: FileNo, range: &std::ops::Range<PageNo>) -> Vec<Id> {
        let mut ids = Vec::new();
        self.nodes.ids(self.files.get(file).tree, range, &mut ids);
        ids
    }

    #[inline]
    pub(super) fn about(&self, id: Id) -> &About {
        &self.about[id as usize]
    }

    #[inline]
    pub(super) fn about_mut(&mut self, id: Id) -> &mut About {
        &mut self.about[id as usize]
    }

    /// The policy has been asked for `id`.
    pub(super) fn asked(&mut self, id: Id, resident: bool) {
        let flags = &mut self.about[id as usize].flags;
        if resident {
            *flags &= !(EMPTY | UNKNOWN);
        } else if *flags & (EMPTY | UNKNOWN) == EMPTY | UNKNOWN {
            self.release(id);
        }
    }

    /// A prefetched page meets its fate.
    pub(super) fn end(&mut self, id: Id, fate: Fate) {
        let about = &mut self.about[id as usize];
        about.flags &= !(AHEAD | UNUSED);
        let (opener, page) = (about.opener, about.page);
        self.account.end(fate);
        if let Some(handle) = self.files.still_open(opener) {
            self.fates.push((handle, page, fate));
        }
    }

    fn dropped(&mut self, id: Id, evicted: bool) {
        if self.about(id).flags & AHEAD != 0 {
            self.account.evicted_unused += u64::from(evicted);
            self.end(id, Fate::Wasted);
        }
        let flags = &mut self.about[id as usize].flags;
        *flags = *flags & !(MARKER | UNUSED) | EMPTY;
    }

    fn release_if_nothing_is_left(&mut self, id: Id) {
        if self.about(id).flags & (EMPTY | UNKNOWN) == EMPTY | UNKNOWN {
            self.release(id);
        }
    }

    fn release(&mut self, id: Id) {
        let About { file, page, .. } = self.about[id as usize];
        let of = self.files.get_mut(file);
        of.ids -= 1;
        self.nodes.remove(&mut of.tree, page);
        self.files.free_if_unused(file);
        self.free.push(id);
    }
}

/// Where the pages go that leave the cache.
pub(super) struct Exit<'a> {
    pub(super) pages: &'a mut Pages,
    pub(super) out: &'a mut Vec<PageCommand>,
    /// The policy is being asked for this id: it keeps its number.
    pub(super) requested: Option<Id>,
    /// Whether the policy evicts them.
    pub(super) evicts: bool,
}

impl Sink for Exit<'_> {
    fn dropped(&mut self, id: Id) {
        self.out.push(PageCommand::Drop(id));
        self.pages.dropped(id, self.evicts);
        if self.requested != Some(id) {
            self.pages.release_if_nothing_is_left(id);
        }
    }

    fn write_back(&mut self, id: Id) -> bool {
        self.out.push(PageCommand::WriteBack(id));
        true
    }

    fn forgotten(&mut self, id: Id) {
        self.pages.about_mut(id).flags |= UNKNOWN;
        if self.requested != Some(id) {
            self.pages.release_if_nothing_is_left(id);
        }
    }
}
