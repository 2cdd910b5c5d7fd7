//! A cache for tests of readaheads: the pages of one file as a set, every fetch done at once. It
//! calls a readahead in the order that the module's documentation fixes, and notes what it submits.

use super::{Ahead, Fate, Handle, PageNo, Read, Readahead, Trigger, Window};
use seekless_device::Costs;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

const PAGE_BYTES: u64 = 4096;

/// The file and its cached pages: what a readahead sees.
#[derive(Debug)]
pub(crate) struct File {
    /// The pages of the file.
    pub(crate) pages: u64,
    /// What [`Ahead::congested`] answers.
    pub(crate) congested: bool,
    /// What [`Ahead::budget_pages`] answers.
    pub(crate) budget_pages: u32,
    /// What [`Ahead::costs`] answers.
    pub(crate) costs: Costs,
    /// Every window submitted, in order.
    pub(crate) windows: Vec<Window>,
    /// Every contiguous range of pages whose fetch began, in order. A page that the cache read
    /// alone is one of them.
    pub(crate) ios: Vec<Range<PageNo>>,
    /// The pages that the cache read alone, since the readahead left them out.
    pub(crate) alone: Vec<PageNo>,
    cached: BTreeSet<PageNo>,
    markers: BTreeSet<PageNo>,
    /// Prefetched and not read yet, with the handle that asked.
    unused: BTreeMap<PageNo, Handle>,
    /// The handle and the demanded pages of the read under way.
    reading: (Handle, Range<PageNo>),
}

impl File {
    /// Begins the fetch of a page. It joins the last I/O if that ends here and was begun by the
    /// current call (it is `first_io` or later). False if the page is cached.
    fn start(&mut self, page: PageNo, first_io: usize) -> bool {
        if !self.cached.insert(page) {
            return false;
        }
        match self.ios[first_io..].last_mut() {
            Some(io) if io.end == page => io.end = page + 1,
            _ => self.ios.push(page..page + 1),
        }
        true
    }

    /// The pages that carry a marker, in order.
    pub(crate) fn markers(&self) -> Vec<PageNo> {
        self.markers.iter().copied().collect()
    }

    /// How many pages were prefetched and not read yet.
    pub(crate) fn unused(&self) -> usize {
        self.unused.len()
    }
}

impl Ahead for File {
    fn cached(&self, page: PageNo) -> bool {
        self.cached.contains(&page)
    }

    fn pages(&self) -> u64 {
        self.pages
    }

    fn submit(&mut self, window: Window) -> u32 {
        self.windows.push(window);
        let first_io = self.ios.len();
        let mut started = 0;
        for page in window.first..(window.first + u64::from(window.pages)).min(self.pages) {
            if self.start(page, first_io) {
                started += 1;
                if !self.reading.1.contains(&page) {
                    self.unused.insert(page, self.reading.0);
                }
                if window.marker == Some(page) {
                    self.markers.insert(page);
                }
            }
        }
        started
    }

    fn congested(&self) -> bool {
        self.congested
    }

    fn budget_pages(&self) -> u32 {
        self.budget_pages
    }

    fn costs(&self) -> Costs {
        self.costs
    }
}

/// A readahead and the file it works on.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) readahead: Box<dyn Readahead>,
    pub(crate) file: File,
    /// What the first read of a prefetched page reports to the readahead.
    pub(crate) fate_of_use: Fate,
}

impl Host {
    /// A file of `pages` pages, none of them cached, opened under handle 0. The device costs what a
    /// disk does: 8 ms a request, 50 MB/s.
    pub(crate) fn new(readahead: impl Readahead + 'static, pages: u64) -> Self {
        Self::boxed(Box::new(readahead), pages)
    }

    /// As [`Host::new`], for a readahead chosen by name.
    pub(crate) fn boxed(readahead: Box<dyn Readahead>, pages: u64) -> Self {
        let file = File {
            pages,
            congested: false,
            budget_pages: u32::MAX,
            costs: Costs { request_ns: 8_000_000, bytes_per_second: 50_000_000, depth: 1 },
            windows: Vec::new(),
            ios: Vec::new(),
            alone: Vec::new(),
            cached: BTreeSet::new(),
            markers: BTreeSet::new(),
            unused: BTreeMap::new(),
            reading: (Handle(0), 0..0),
        };
        let mut host = Host { readahead, file, fate_of_use: Fate::InTime };
        host.readahead.open(Handle(0));
        host
    }

    /// Reads whole pages through handle 0 in one call.
    pub(crate) fn read(&mut self, first: PageNo, pages: u64) {
        self.read_bytes(Handle(0), first * PAGE_BYTES, pages * PAGE_BYTES);
    }

    /// Reads each of these pages with a call of its own.
    pub(crate) fn read_each(&mut self, pages: impl IntoIterator<Item = PageNo>) {
        pages.into_iter().for_each(|page| self.read(page, 1));
    }

    /// One read call, cut at the end of the file.
    pub(crate) fn read_bytes(&mut self, file: Handle, offset: u64, bytes: u64) {
        let bytes = bytes.min((self.file.pages * PAGE_BYTES).saturating_sub(offset));
        if bytes == 0 {
            return;
        }
        let read = Read { file, offset, bytes };
        let pages = offset / PAGE_BYTES..(offset + bytes).div_ceil(PAGE_BYTES);
        self.file.reading = (file, pages.clone());
        self.readahead.on_read(read, &mut self.file);
        for page in pages {
            self.touch(read, page, Trigger::Miss);
        }
        self.readahead.on_read_end(read, offset + bytes);
    }

    /// Touches a page of a mapped file through handle 0.
    pub(crate) fn fault(&mut self, page: PageNo) {
        let read = Read { file: Handle(0), offset: page * PAGE_BYTES, bytes: 1 };
        self.file.reading = (Handle(0), page..page + 1);
        self.touch(read, page, Trigger::Fault);
    }

    /// One page of a read: a miss, a marker, or both.
    fn touch(&mut self, read: Read, page: PageNo, miss: Trigger) {
        if !self.file.cached(page) {
            self.readahead.on_page(read, page, miss, &mut self.file);
            if !self.file.cached(page) {
                self.file.start(page, self.file.ios.len());
                self.file.alone.push(page);
            }
        }
        if let Some(asked) = self.file.unused.remove(&page) {
            self.readahead.on_fate(asked, page, self.fate_of_use);
        }
        if self.file.markers.remove(&page) {
            self.readahead.on_page(read, page, Trigger::Marker, &mut self.file);
        }
    }

    /// Takes pages out of the cache, as an eviction does.
    pub(crate) fn evict(&mut self, pages: impl IntoIterator<Item = PageNo>) {
        for page in pages {
            self.file.cached.remove(&page);
            self.file.markers.remove(&page);
            if let Some(asked) = self.file.unused.remove(&page) {
                self.readahead.on_fate(asked, page, Fate::Wasted);
            }
        }
    }

    /// Takes what is noted of windows and I/Os, and forgets it.
    pub(crate) fn take(&mut self) -> (Vec<Window>, Vec<Range<PageNo>>) {
        self.file.alone.clear();
        (std::mem::take(&mut self.file.windows), std::mem::take(&mut self.file.ios))
    }
}
