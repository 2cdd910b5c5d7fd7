//! The pages and the policy, and what a readahead sees of them.

use super::files::{FileNo, Opener};
use super::pages::{AHEAD, About, Exit, MARKER, Pages, UNUSED};
use super::{Fetch, Limits, PageCommand, PageStep};
use crate::cache::page_keys;
use crate::cache::write_back::{DirtyPages, FlushRule};
use crate::cache::{Cache, Step};
use crate::eviction::{Eviction, Id, NEVER, Request, Use};
use crate::readahead::{Ahead, Fate, PageNo, Window};
use seekless_device::Costs;
use std::ops::Range;

/// Ids that the policy makes room for at first; later twice as many each time.
const IDS_AT_FIRST: u32 = 1024;

/// The stable name of a page.
pub(super) fn key(file: FileNo, page: PageNo) -> u64 {
    page_keys::key(file.0, page)
}

/// The keys of the file that a key belongs to.
pub(super) fn file_keys(key: u64) -> Range<u64> {
    page_keys::of_file(page_keys::place(key).0)
}

/// Which dirty pages are written while they stay: the rule, and the dirty pages by age.
#[derive(Debug, Default)]
pub(super) struct Flush {
    pub(super) rule: FlushRule,
    pub(super) dirty: DirtyPages,
    pub(super) chosen: Vec<Id>,
}

/// All but the readahead.
#[derive(Debug)]
pub(super) struct Inner<E> {
    pub(super) cache: Cache<E>,
    pub(super) pages: Pages,
    pub(super) flush: Flush,
    pub(super) limits: Limits,
    /// Ids that the policy has room for.
    pub(super) room: u32,
    pub(super) ios_in_flight: u32,
    pub(super) pages_in_flight: u32,
}

impl<E: Eviction> Inner<E> {
    /// Whether the page is resident or in flight.
    #[inline]
    pub(super) fn present(&self, file: FileNo, page: PageNo) -> bool {
        self.present_id(file, page).is_some()
    }

    /// The id of a page that is resident or in flight.
    #[inline]
    pub(super) fn present_id(&self, file: FileNo, page: PageNo) -> Option<Id> {
        self.pages.id(file, page).filter(|&id| self.cache.resident(id) || self.cache.in_flight(id))
    }

    /// Takes the page's marker away; whether it had one.
    pub(super) fn take_marker(&mut self, id: Id) -> bool {
        let flags = &mut self.pages.about_mut(id).flags;
        let marked = *flags & MARKER != 0;
        *flags &= !MARKER;
        marked
    }

    /// The page's id, with room for it in the policy.
    pub(super) fn id(&mut self, file: FileNo, page: PageNo) -> Id {
        let id = self.pages.id_or_new(file, page);
        if id >= self.room {
            self.room = (2 * self.room).max(IDS_AT_FIRST).max(self.pages.ids_end());
            self.cache.grow(self.room);
        }
        id
    }

    /// Asks the policy. Also says whether this starts a fetch.
    fn step(&mut self, id: Id, kind: Use, out: &mut Vec<PageCommand>) -> (Step, bool) {
        let about = self.pages.about(id);
        let key = key(about.file, about.page);
        let request = Request { id, weight: 1, cost: 1, kind, key, next_use: NEVER };
        let mut exit = Exit { pages: &mut self.pages, out, requested: Some(id), evicts: true };
        let (step, fetches) = self.cache.step_with(&request, &mut exit);
        self.pages_in_flight += u32::from(fetches);
        self.pages.asked(id, self.cache.resident(id));
        (step, fetches)
    }

    /// A read or write asks for one page, after the readahead has had its say.
    pub(super) fn demand(&mut self, id: Id, kind: Use, out: &mut Vec<PageCommand>) -> PageStep {
        let About { file, page, flags, .. } = *self.pages.about(id);
        if flags & AHEAD != 0 {
            let fate = if self.cache.in_flight(id) { Fate::Late } else { Fate::InTime };
            self.pages.end(id, fate);
        }
        self.pages.about_mut(id).flags &= !UNUSED;
        let first_use = kind == Use::Read && flags & UNUSED != 0 && self.cache.resident(id);
        let (step, fetches) = self.step(id, if first_use { Use::FirstUse } else { kind }, out);
        if fetches {
            self.pages.account.fetched += 1;
            self.fetch(Fetch { file, first: page, pages: 1, demand: true }, out);
        }
        match step {
            Step::Ready => {
                self.pages.account.ready += 1;
                PageStep::Ready(id)
            }
            Step::Wait => PageStep::Wait(id),
            Step::Bypass => PageStep::Bypass,
        }
    }

    fn fetch(&mut self, fetch: Fetch, out: &mut Vec<PageCommand>) {
        self.pages.account.fetches.add(fetch.pages);
        out.push(PageCommand::Fetch(fetch));
    }

    /// Pages leave the cache without the policy's doing.
    pub(super) fn discard(
        &mut self,
        file: FileNo,
        range: &Range<PageNo>,
        out: &mut Vec<PageCommand>,
    ) {
        for id in self.pages.ids_within(file, range) {
            self.discard_one(id, out);
        }
    }

    pub(super) fn discard_one(&mut self, id: Id, out: &mut Vec<PageCommand>) {
        let mut exit = Exit { pages: &mut self.pages, out, requested: None, evicts: false };
        self.cache.discard(id, &mut exit);
    }
}

/// What a readahead may see and do during one call.
pub(super) struct View<'a, E> {
    pub(super) inner: &'a mut Inner<E>,
    pub(super) file: FileNo,
    pub(super) opener: Opener,
    /// The pages of the read under way.
    pub(super) asked: Range<PageNo>,
    /// The page that the call is about, if it is missing.
    pub(super) missing: Option<PageNo>,
    /// Whether a window has brought that page.
    pub(super) served: bool,
    pub(super) out: &'a mut Vec<PageCommand>,
}

impl<E: Eviction> View<'_, E> {
    /// Starts to fetch one page of a window. False if it is there, or the policy refuses it.
    fn start(&mut self, page: PageNo, marked: bool) -> bool {
        let id = self.inner.id(self.file, page);
        let is_missing = self.missing == Some(page);
        let kind = if is_missing { Use::Read } else { Use::Prefetch };
        let (_, fetches) = self.inner.step(id, kind, self.out);
        if !fetches {
            return false;
        }
        let asked = self.asked.contains(&page);
        let account = &mut self.inner.pages.account;
        match asked {
            true => account.fetched += 1,
            false => {
                account.prefetched += 1;
                account.unused += 1;
            }
        }
        self.served |= is_missing;
        let about = self.inner.pages.about_mut(id);
        about.opener = self.opener;
        about.flags |= if marked { MARKER } else { 0 };
        about.flags |= if is_missing { 0 } else { UNUSED };
        about.flags |= if asked { 0 } else { AHEAD };
        true
    }

    fn resident(&self, page: PageNo) -> bool {
        let id = self.inner.pages.id(self.file, page);
        id.is_some_and(|id| self.inner.cache.resident(id))
    }

    fn end_run(&mut self, run: &mut Range<PageNo>) {
        if !run.is_empty() {
            let demand = run.start < self.asked.end && self.asked.start < run.end;
            let pages = (run.end - run.start) as u32;
            let fetch = Fetch { file: self.file, first: run.start, pages, demand };
            self.inner.fetch(fetch, self.out);
        }
        *run = 0..0;
    }
}

impl<E: Eviction> Ahead for View<'_, E> {
    fn cached(&self, page: PageNo) -> bool {
        self.inner.present(self.file, page)
    }

    fn pages(&self) -> u64 {
        self.inner.pages.files.get(self.file).pages
    }

    fn submit(&mut self, window: Window) -> u32 {
        let limits = self.inner.limits;
        // A larger window would push out its own beginning.
        let pages = u64::from(window.pages).min(limits.capacity);
        let end = window.first.saturating_add(pages).min(self.pages());
        let (mut started, mut run) = (0, 0..0);
        for page in window.first..end {
            if self.resident(page) {
                self.end_run(&mut run);
                continue;
            }
            if self.inner.pages_in_flight >= limits.in_flight && !self.asked.contains(&page) {
                break;
            }
            if !self.start(page, window.marker == Some(page)) {
                self.end_run(&mut run);
                continue;
            }
            started += 1;
            run = if run.is_empty() { page..page + 1 } else { run.start..page + 1 };
        }
        self.end_run(&mut run);
        self.inner.pages.account.windows.add(started);
        started
    }

    fn congested(&self) -> bool {
        self.inner.ios_in_flight >= self.inner.limits.congested_ios
    }

    fn budget_pages(&self) -> u32 {
        self.inner.limits.budget
    }

    fn costs(&self) -> Costs {
        self.inner.limits.costs
    }
}
