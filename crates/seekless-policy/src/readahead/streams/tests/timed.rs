//! A program that reads one file through a cache and a readahead, on a modelled device, in time.

use crate::readahead::{Ahead, Fate, Handle, PageNo, Read, Readahead, Trigger, Window};
use seekless_device::Costs;
use std::collections::VecDeque;

const PAGE_BYTES: u64 = 4096;
/// A fetch is cut into commands of 1 MiB.
const COMMAND_PAGES: u64 = 256;
/// What the program does with a page takes a microsecond.
const THINK_NS: u64 = 1000;

/// A device with `depth` places. A command takes `request_ns` in a place and then its bytes at
/// `place_bytes_per_second`; all commands together move `bytes_per_second`. Handing it over takes
/// the program `processor_ns`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Device {
    pub(super) request_ns: u64,
    pub(super) depth: usize,
    pub(super) place_bytes_per_second: u64,
    pub(super) bytes_per_second: u64,
    pub(super) processor_ns: u64,
}

/// The drive behind the measurements of real readahead: 4 KiB in 190 µs, 64 KiB in 1.07 ms, some
/// 1.1 GB/s with 16 at once.
pub(super) const DRIVE: Device = Device {
    request_ns: 130_000,
    depth: 16,
    place_bytes_per_second: 70_000_000,
    bytes_per_second: 1_100_000_000,
    processor_ns: 0,
};

/// A drive so deep that the requests are dear for what they take of the processor only.
pub(super) const DEEP_DRIVE: Device = Device {
    request_ns: 100_000,
    depth: 32,
    place_bytes_per_second: 200_000_000,
    bytes_per_second: 1_250_000_000,
    processor_ns: 5_000,
};

/// A volume of 200 requests a second.
pub(super) const VOLUME: Device = Device {
    request_ns: 5_000_000,
    depth: 1,
    place_bytes_per_second: u64::MAX,
    bytes_per_second: 150_000_000,
    processor_ns: 0,
};

/// A disk: a request costs a seek and half a turn.
pub(super) const DISK: Device = Device {
    request_ns: 12_000_000,
    depth: 1,
    place_bytes_per_second: u64::MAX,
    bytes_per_second: 50_000_000,
    processor_ns: 0,
};

/// What a run took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Figures {
    pub(super) nanos: u64,
    pub(super) requests: u64,
    /// Pages that the device moved.
    pub(super) pages: u64,
    /// Pages that the program asked for.
    pub(super) demanded: u64,
    /// Times that the program waited.
    pub(super) waits: u64,
    /// Pages evicted before use.
    pub(super) wasted: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Page {
    /// When its fetch ends; 0 if it is not cached.
    ready: u64,
    marker: bool,
    unused: bool,
}

#[derive(Debug)]
struct File {
    device: Device,
    pages: Vec<Page>,
    budget_pages: u32,
    /// Prefetched pages in the order of their fetch; those that were used since are skipped.
    unused: VecDeque<PageNo>,
    unused_count: u32,
    evicted: Vec<PageNo>,
    now: u64,
    places: Vec<u64>,
    bus: u64,
    reading: std::ops::Range<PageNo>,
    figures: Figures,
}

impl File {
    /// Hands a contiguous range to the device.
    fn command(&mut self, pages: std::ops::Range<PageNo>) {
        let count = pages.end - pages.start;
        let bytes = count * PAGE_BYTES;
        self.now += self.device.processor_ns;
        let nanos = |rate: u64| (u128::from(bytes) * 1_000_000_000 / u128::from(rate)) as u64;
        let place = self.places.iter_mut().min().unwrap();
        let begun = (*place).max(self.now) + self.device.request_ns;
        *place = begun + nanos(self.device.place_bytes_per_second);
        self.bus = self.bus.max(begun) + nanos(self.device.bytes_per_second);
        let ready = self.bus.max(*place);
        self.figures.requests += 1;
        self.figures.pages += count;
        for page in pages {
            self.pages[page as usize].ready = ready;
        }
    }

    fn keep_to_budget(&mut self) {
        while self.unused_count > self.budget_pages {
            let page = self.unused.pop_front().unwrap();
            let entry = &mut self.pages[page as usize];
            // A page still in flight cannot leave.
            if entry.unused && entry.ready <= self.now {
                *entry = Page::default();
                self.unused_count -= 1;
                self.figures.wasted += 1;
                self.evicted.push(page);
            } else if entry.unused {
                self.unused.push_back(page);
                break;
            }
        }
    }
}

impl Ahead for File {
    fn cached(&self, page: PageNo) -> bool {
        self.pages.get(page as usize).is_some_and(|page| page.ready > 0)
    }

    fn pages(&self) -> u64 {
        self.pages.len() as u64
    }

    fn submit(&mut self, window: Window) -> u32 {
        let end = (window.first + u64::from(window.pages)).min(self.pages());
        let (mut started, mut first) = (0, None);
        for page in window.first..=end {
            let is_missing = page < end && !self.cached(page);
            if is_missing {
                started += 1;
                if window.marker == Some(page) {
                    self.pages[page as usize].marker = true;
                }
                if !self.reading.contains(&page) {
                    self.pages[page as usize].unused = true;
                    self.unused.push_back(page);
                    self.unused_count += 1;
                }
                first = first.or(Some(page));
            }
            if let Some(begin) = first
                && (!is_missing || page + 1 - begin == COMMAND_PAGES)
            {
                self.command(begin..if is_missing { page + 1 } else { page });
                first = None;
            }
        }
        started
    }

    fn congested(&self) -> bool {
        false
    }

    fn budget_pages(&self) -> u32 {
        self.budget_pages
    }

    fn costs(&self) -> Costs {
        Costs {
            request_ns: self.device.request_ns,
            bytes_per_second: self.device.bytes_per_second,
            depth: self.device.depth as u32,
        }
    }
}

/// Reads a file of `pages` pages: each read is a first page and a number of pages.
pub(super) fn run(
    readahead: &mut dyn Readahead,
    device: Device,
    pages: u64,
    budget_pages: u32,
    reads: &[(PageNo, u64)],
) -> Figures {
    let file = Handle(0);
    readahead.open(file);
    let mut state = File {
        device,
        pages: vec![Page::default(); pages as usize],
        budget_pages,
        unused: VecDeque::new(),
        unused_count: 0,
        evicted: Vec::new(),
        now: 1,
        places: vec![0; device.depth],
        bus: 0,
        reading: 0..0,
        figures: Figures::default(),
    };
    for &(first, count) in reads {
        let read = Read { file, offset: first * PAGE_BYTES, bytes: count * PAGE_BYTES };
        state.reading = first..first + count;
        readahead.on_read(read, &mut state);
        for page in first..first + count {
            touch(readahead, &mut state, read, page);
        }
        readahead.on_read_end(read, read.offset + read.bytes);
        state.keep_to_budget();
        for page in std::mem::take(&mut state.evicted) {
            readahead.on_fate(file, page, Fate::Wasted);
        }
    }
    Figures { nanos: state.now, ..state.figures }
}

fn touch(readahead: &mut dyn Readahead, state: &mut File, read: Read, page: PageNo) {
    if !state.cached(page) {
        readahead.on_page(read, page, Trigger::Miss, state);
        if !state.cached(page) {
            state.command(page..page + 1);
        }
    }
    let entry = &mut state.pages[page as usize];
    let (marker, unused) = (std::mem::take(&mut entry.marker), std::mem::take(&mut entry.unused));
    let is_late = entry.ready > state.now;
    let ready = entry.ready;
    if unused {
        state.unused_count -= 1;
        readahead.on_fate(read.file, page, if is_late { Fate::Late } else { Fate::InTime });
    }
    if marker {
        readahead.on_page(read, page, Trigger::Marker, state);
    }
    state.figures.demanded += 1;
    state.figures.waits += u64::from(is_late);
    state.now = state.now.max(ready) + THINK_NS;
}
