//! A cache of pages with a readahead: what the simulator and the live engine both drive, without
//! I/O, clock or lock.
//!
//! It watches the reads, keeps the markers, triggers the [`Readahead`], and reports to it what
//! became of the pages that it prefetched. It numbers the pages: an id is given out when a page is
//! first asked for, and given to another page once the policy has forgotten it. So memory follows
//! the pages in the cache and the policy's ghosts, not the pages ever read.
//!
//! For each read the owner calls [`begin`](PagedCache::begin), then [`page`](PagedCache::page) for
//! each page in order, waiting where the answer is to wait, then [`end`](PagedCache::end). It
//! carries out the commands in the order given and calls [`complete`](PagedCache::complete) for
//! each page of an ended fetch.
//!
//! ```
//! use seekless_device::Costs;
//! use seekless_policy::cache::Filled;
//! use seekless_policy::cache::paged::{Limits, PageCommand, PageStep, PagedCache};
//! use seekless_policy::eviction::Lru;
//! use seekless_policy::readahead::{Ahead, Handle, PageNo, Read, Readahead, Trigger, Window};
//!
//! /// Two pages for each that is missing.
//! #[derive(Debug)]
//! struct Pair;
//!
//! impl Readahead for Pair {
//!     fn open(&mut self, _file: Handle) {}
//!     fn close(&mut self, _file: Handle) {}
//!     fn on_page(&mut self, _: Read, page: PageNo, _: Trigger, ahead: &mut dyn Ahead) {
//!         ahead.submit(Window { first: page, pages: 2, marker: None });
//!     }
//! }
//!
//! let costs = Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 32 };
//! let mut cache = PagedCache::new(Lru::new(100), Box::new(Pair), Limits::pages(100, costs))?;
//! let file = cache.add_file(10); // of 10 pages
//! let handle = cache.open(file);
//! let (read, mut out) = (Read { file: handle, offset: 0, bytes: 4096 }, Vec::new());
//! cache.begin(read, &mut out);
//! let PageStep::Wait(id) = cache.page(read, 0, &mut out) else { panic!("a miss") };
//! let PageCommand::Fetch(fetch) = out[0] else { panic!("one fetch of two pages") };
//! assert_eq!((fetch.first, fetch.pages), (0, 2));
//! cache.complete(id, Filled::Yes, &mut out);
//! cache.end(read, 4096);
//! assert_eq!(cache.account().prefetched, 1);
//! # Ok::<(), seekless_policy::Error>(())
//! ```

mod account;
mod files;
mod flush;
mod pages;
mod table;
mod view;

use super::{Cache, Config, Filled};
use crate::Result;
use crate::eviction::{Eviction, Id, Needs, Use};
use crate::readahead::{Ahead, Handle, PageNo, Read, Readahead, Trigger, Window};
pub use account::{Account, Sizes};
pub use files::FileNo;
use files::Opener;
use pages::{Exit, Pages};
use seekless_device::Costs;
use std::ops::Range;
use view::{Flush, Inner, View};

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;

/// What this owner supplies to a policy. It does not know the future.
const OFFER: Needs = Needs {
    next_use: false,
    state: true,
    neighbours: true,
    unit_weights: true,
    equal_weights: true,
};

/// How much a cache of pages may keep and fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pages that may be resident.
    pub capacity: u64,
    /// How many pages a readahead may have prefetched and unused at a time, over all files.
    pub budget: u32,
    /// Pages that may be in flight. At that number prefetching stops; what a read asks for is still
    /// fetched.
    pub in_flight: u32,
    /// The number of I/Os in flight from which on the device counts as congested.
    pub congested_ios: u32,
    /// What the device charges.
    pub costs: Costs,
}

impl Limits {
    /// A cache of `capacity` pages on a device that is never congested. Half of the pages may be
    /// prefetched.
    #[must_use]
    pub fn pages(capacity: u64, costs: Costs) -> Self {
        let budget = u32::try_from(capacity / 2).unwrap_or(u32::MAX).max(1);
        Self { capacity, budget, in_flight: u32::MAX, congested_ios: u32::MAX, costs }
    }
}

/// Neighbouring pages of a file to read at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetch {
    /// The file.
    pub file: FileNo,
    /// The first page.
    pub first: PageNo,
    /// How many, at least 1.
    pub pages: u32,
    /// Whether the read under way asks for one of them.
    pub demand: bool,
}

impl Fetch {
    /// The pages.
    #[must_use]
    pub fn range(&self) -> Range<PageNo> {
        self.first..self.first + u64::from(self.pages)
    }
}

/// What the owner must do, in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageCommand {
    /// Start reading these pages; call [`PagedCache::complete`] for each at the end.
    Fetch(Fetch),
    /// The cache holds the bytes of this id no longer. The id may be another page's from now on.
    Drop(Id),
    /// Dirty and evicted: start writing it; call [`PagedCache::written`] at the end.
    WriteBack(Id),
}

/// The outcome for one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStep {
    /// Its bytes are there.
    Ready(Id),
    /// It is being fetched.
    Wait(Id),
    /// The caller reads it itself, and the cache does not keep it.
    Bypass,
}

/// A policy, a readahead, and the pages.
#[derive(Debug)]
pub struct PagedCache<E> {
    inner: Inner<E>,
    readahead: Box<dyn Readahead>,
}

impl<E: Eviction> PagedCache<E> {
    /// An empty cache around an empty `policy` of the same capacity.
    ///
    /// # Errors
    /// The policy must know the future.
    pub fn new(mut policy: E, readahead: Box<dyn Readahead>, limits: Limits) -> Result<Self> {
        policy.charged_by(&limits.costs, PAGE_BYTES);
        let cache = Cache::with_offer(policy, Config::pages(limits.capacity), OFFER)?;
        let pages = Pages::default();
        let flush = Flush::default();
        let inner =
            Inner { cache, pages, flush, limits, room: 0, ios_in_flight: 0, pages_in_flight: 0 };
        Ok(Self { inner, readahead })
    }

    /// A file of `pages` pages. Its number is the next one, or that of a removed file.
    pub fn add_file(&mut self, pages: u64) -> FileNo {
        self.inner.pages.files.add(pages)
    }

    /// The file is gone. Its pages leave the cache, and its handles must be closed.
    pub fn remove_file(&mut self, file: FileNo, out: &mut Vec<PageCommand>) {
        self.inner.discard(file, &(0..PageNo::MAX), out);
        self.inner.pages.files.get_mut(file).removed = true;
        self.inner.pages.files.free_if_unused(file);
        self.tell_fates();
    }

    /// The file now has `pages` pages. Those past the new end leave the cache.
    pub fn set_pages(&mut self, file: FileNo, pages: u64, out: &mut Vec<PageCommand>) {
        self.inner.pages.files.get_mut(file).pages = pages;
        self.discard(file, pages..PageNo::MAX, out);
    }

    /// Opens a file. Several handles may be open on one.
    pub fn open(&mut self, file: FileNo) -> Handle {
        let handle = self.inner.pages.files.open(file);
        self.readahead.open(handle);
        handle
    }

    /// Closes a handle, which may then be given out again. Pages stay.
    pub fn close(&mut self, handle: Handle) {
        if self.inner.pages.files.close(handle) {
            self.readahead.close(handle);
        }
    }

    /// A read begins.
    pub fn begin(&mut self, read: Read, out: &mut Vec<PageCommand>) {
        let mut view = view(&mut self.inner, read, None, out);
        self.readahead.on_read(read, &mut view);
        self.tell_fates();
    }

    /// The read asks for one of its pages: in their order, each once.
    pub fn page(&mut self, read: Read, page: PageNo, out: &mut Vec<PageCommand>) -> PageStep {
        self.touch(read, page, Trigger::Miss, out)
    }

    /// A mapped page is touched: as [`page`](Self::page), but a missing one is a
    /// [`Trigger::Fault`].
    pub fn fault(&mut self, read: Read, page: PageNo, out: &mut Vec<PageCommand>) -> PageStep {
        self.touch(read, page, Trigger::Fault, out)
    }

    /// A part of the page is to be written, and the rest must be there first: as
    /// [`page`](Self::page), but no readahead is asked, and no read counted.
    pub fn read_to_write(
        &mut self,
        file: FileNo,
        page: PageNo,
        out: &mut Vec<PageCommand>,
    ) -> PageStep {
        let id = self.inner.id(file, page);
        let step = self.inner.demand(id, Use::Read, out);
        self.tell_fates();
        step
    }

    /// A page is written whole, at this time of the owner's clock, which must not go back.
    pub fn write(
        &mut self,
        file: FileNo,
        page: PageNo,
        now: u64,
        out: &mut Vec<PageCommand>,
    ) -> PageStep {
        let id = self.inner.id(file, page);
        let was_dirty = self.inner.cache.is_dirty(id);
        let step = self.inner.demand(id, Use::Write, out);
        if !was_dirty && self.inner.cache.is_dirty(id) {
            self.inner.soiled(id, now);
        }
        self.tell_fates();
        step
    }

    /// The read has ended; `end_byte` is the first byte after what it returned.
    pub fn end(&mut self, read: Read, end_byte: u64) {
        self.readahead.on_read_end(read, end_byte);
    }

    fn touch(
        &mut self,
        read: Read,
        page: PageNo,
        missing: Trigger,
        out: &mut Vec<PageCommand>,
    ) -> PageStep {
        self.inner.pages.account.demanded += 1;
        let file = self.inner.pages.files.of(read.file);
        let mut present = self.inner.present_id(file, page);
        let mut served = false;
        if present.is_none() {
            served = self.trigger(read, page, missing, out);
            present = self.inner.present_id(file, page);
        }
        // A page that is still missing gets no marker when it is read alone.
        if present.is_some_and(|id| self.inner.take_marker(id)) {
            self.trigger(read, page, Trigger::Marker, out);
            present = self.inner.present_id(file, page);
        }
        let step = match present {
            Some(id) if served && self.inner.cache.in_flight(id) => PageStep::Wait(id),
            Some(id) => self.inner.demand(id, Use::Read, out),
            None => {
                let id = self.inner.id(file, page);
                self.inner.demand(id, Use::Read, out)
            }
        };
        self.tell_fates();
        step
    }

    /// Calls the readahead. True if it brought the page of the call.
    fn trigger(
        &mut self,
        read: Read,
        page: PageNo,
        why: Trigger,
        out: &mut Vec<PageCommand>,
    ) -> bool {
        let mut view = view(&mut self.inner, read, Some(page), out);
        self.readahead.on_page(read, page, why, &mut view);
        view.served
    }

    /// Fetches pages that the program says it will need, whatever the readahead does: as many
    /// as fit into the cache. Returns how many were started.
    pub fn will_need(
        &mut self,
        handle: Handle,
        pages: Range<PageNo>,
        out: &mut Vec<PageCommand>,
    ) -> u32 {
        let nothing = Read { file: handle, offset: 0, bytes: 0 };
        let wanted = u32::try_from(pages.end.saturating_sub(pages.start)).unwrap_or(u32::MAX);
        let window = Window { first: pages.start, pages: wanted, marker: None };
        let started = view(&mut self.inner, nothing, None, out).submit(window);
        self.tell_fates();
        started
    }

    /// Pages leave the cache: the program needs them no longer, or they are no longer true. One
    /// that is in flight leaves when its fetch ends.
    pub fn discard(&mut self, file: FileNo, pages: Range<PageNo>, out: &mut Vec<PageCommand>) {
        self.inner.discard(file, &pages, out);
        self.tell_fates();
    }

    /// As [`discard`](Self::discard), but what is not yet on the device stays.
    pub fn discard_clean(
        &mut self,
        file: FileNo,
        pages: Range<PageNo>,
        out: &mut Vec<PageCommand>,
    ) {
        for id in self.inner.pages.ids_within(file, &pages) {
            if self.writes_left(id) == 0 && !self.is_dirty(id) {
                self.inner.discard_one(id, out);
            }
        }
        self.tell_fates();
    }

    /// The fetch of one page ended. A failed one leaves the cache, and may be asked for again.
    pub fn complete(&mut self, id: Id, filled: Filled, out: &mut Vec<PageCommand>) {
        let Inner { cache, pages, pages_in_flight, .. } = &mut self.inner;
        *pages_in_flight -= u32::from(cache.in_flight(id));
        let evicts = filled == Filled::Yes;
        cache.complete(id, filled, &mut Exit { pages, out, requested: None, evicts });
        self.tell_fates();
    }

    /// The write-back of one page ended.
    pub fn written(&mut self, id: Id, out: &mut Vec<PageCommand>) {
        let Inner { cache, pages, .. } = &mut self.inner;
        cache.written(id, &mut Exit { pages, out, requested: None, evicts: true });
        self.tell_fates();
    }

    fn tell_fates(&mut self) {
        for (handle, page, fate) in self.inner.pages.fates.drain(..) {
            self.readahead.on_fate(handle, page, fate);
        }
    }

    /// The I/Os that the device has, for [`Ahead::congested`].
    pub fn set_ios_in_flight(&mut self, ios: u32) {
        self.inner.ios_in_flight = ios;
    }

    /// The limits in force.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.inner.limits
    }

    /// Changes the limits. Pages that no longer fit are evicted.
    pub fn set_limits(&mut self, limits: Limits, out: &mut Vec<PageCommand>) {
        let Inner { cache, pages, limits: old, .. } = &mut self.inner;
        if old.capacity != limits.capacity {
            let mut exit = Exit { pages, out, requested: None, evicts: true };
            cache.set_config(Config::pages(limits.capacity), &mut exit);
        }
        *old = limits;
        self.tell_fates();
    }

    /// What has happened so far.
    #[must_use]
    pub fn account(&self) -> &Account {
        &self.inner.pages.account
    }

    /// The id of a page that has one.
    #[must_use]
    pub fn id(&self, file: FileNo, page: PageNo) -> Option<Id> {
        self.inner.pages.id(file, page)
    }

    /// The page that has this id now.
    #[must_use]
    pub fn place(&self, id: Id) -> (FileNo, PageNo) {
        let about = self.inner.pages.about(id);
        (about.file, about.page)
    }

    /// The file of an open handle.
    #[must_use]
    pub fn file(&self, handle: Handle) -> FileNo {
        self.inner.pages.files.of(handle)
    }

    /// Whether the page is in the cache, or on its way.
    #[must_use]
    pub fn is_present(&self, file: FileNo, page: PageNo) -> bool {
        self.inner.present(file, page)
    }

    /// Whether the fetch of the page with this id has started and not ended.
    #[must_use]
    pub fn in_flight(&self, id: Id) -> bool {
        self.inner.cache.in_flight(id)
    }

    /// Pages in the cache, filled or being filled.
    #[must_use]
    pub fn resident_pages(&self) -> u64 {
        self.inner.cache.resident_weight()
    }

    /// Pages whose fetch has started and not ended.
    #[must_use]
    pub fn pages_in_flight(&self) -> u32 {
        self.inner.pages_in_flight
    }

    /// Ids are below this number: an array over ids needs no more places.
    #[must_use]
    pub fn ids_end(&self) -> u32 {
        self.inner.pages.ids_end()
    }
}

/// What the readahead sees during a call for `read`.
fn view<'a, E>(
    inner: &'a mut Inner<E>,
    read: Read,
    missing: Option<PageNo>,
    out: &'a mut Vec<PageCommand>,
) -> View<'a, E> {
    let file = inner.pages.files.of(read.file);
    let opener: Opener = inner.pages.files.opener(read.file);
    View { inner, file, opener, asked: pages_of(read), missing, served: false, out }
}

/// The pages of a read.
#[must_use]
pub fn pages_of(read: Read) -> Range<PageNo> {
    let end = read.offset.saturating_add(read.bytes).div_ceil(PAGE_BYTES);
    read.offset / PAGE_BYTES..end
}

#[cfg(test)]
mod tests;
