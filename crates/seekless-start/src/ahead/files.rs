//! The files that the program has open, and those among them that are read ahead.

use super::pages::{Done, PAGE_BYTES, Pages};
use super::price::Price;
use super::{Options, Report, no_such};
use crate::start::devices::Devices;
use crate::warm::bring::{Recorded, open};
use seekless_policy::readahead::{self, Handle, PageNo, Readahead};
use seekless_sys::memory;
use seekless_watch::call_events::{Call, Fetch, File, Which};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Files that are read ahead at once. Of more, the one whose last read is the oldest makes room.
const FILES_MAX: usize = 512;
/// Open files that are known at once. Beyond that all are forgotten, and left to the kernel unless
/// they are opened anew.
const OPEN_MAX: usize = 1 << 16;
/// What is remembered of a thread's call.
const ARRIVALS_MAX: usize = 4096;

/// Which file it is: the device of its file system, and its inode.
type Key = ((u32, u32), u64);

/// The files of a program.
pub(super) struct Files {
    readahead: Box<dyn Readahead>,
    devices: Devices,
    prices: HashMap<usize, Price>,
    /// By the key of an open file: which file it is.
    open: HashMap<u64, Known>,
    ahead: HashMap<Key, Followed>,
    /// By thread: what came into the cache in its call so far.
    arrivals: HashMap<i32, Vec<(Key, Range<PageNo>)>>,
    handles: Handles,
    reads: u64,
    /// Reads of the program, also those that were not looked at.
    pub(super) calls: u64,
    budget_pages: u32,
    pub(super) report: Report,
}

/// An open file.
#[derive(Debug)]
struct Known {
    key: Key,
    name: Vec<u8>,
    /// What the readahead calls it, once it is read ahead.
    handle: Option<Handle>,
    /// Whether it can be read ahead: a regular file, read through the page cache.
    is_regular: bool,
}

/// A file that is read ahead.
#[derive(Debug)]
struct Followed {
    /// `None` for a file that cannot be opened here.
    pages: Option<Pages>,
    device: usize,
    /// The handle and the number of the newest read.
    last: (Handle, u64),
}

impl Files {
    pub(super) fn new(options: &Options) -> crate::Result<Self> {
        let limits = readahead::Options::with_max_bytes(options.window_bytes);
        Ok(Files {
            readahead: readahead::named(&options.readahead, limits).map_err(no_such)?,
            devices: Devices::new(options.costs),
            prices: HashMap::new(),
            open: HashMap::new(),
            ahead: HashMap::new(),
            arrivals: HashMap::new(),
            handles: Handles::default(),
            reads: 0,
            calls: 0,
            budget_pages: budget_pages(),
            report: Report::default(),
        })
    }

    /// What is behind a key from now on.
    pub(super) fn opened(&mut self, key: u64, file: File) {
        if self.open.len() >= OPEN_MAX {
            for handle in self.open.drain().filter_map(|(_, known)| known.handle) {
                self.handles.give_back(handle, &mut *self.readahead);
            }
        }
        const TYPE: u32 = libc::S_IFMT;
        let is_regular = file.mode & TYPE == libc::S_IFREG && file.flags & libc::O_DIRECT == 0;
        let known =
            Known { key: (file.device, file.inode), name: file.name, handle: None, is_regular };
        if let Some(handle) = self.open.insert(key, known).and_then(|former| former.handle) {
            self.handles.give_back(handle, &mut *self.readahead);
        }
    }

    /// Pages came from a device.
    pub(super) fn fetched(&mut self, which: Which, fetch: Fetch) {
        // The kernel's pages, which are larger on some machines.
        let each = memory::page_bytes() / PAGE_BYTES;
        self.report.missed_bytes += fetch.pages * each * PAGE_BYTES;
        if fetch.call.is_none() {
            return; // a touch of a mapped page, which the kernel reads around
        }
        let arrivals = self.arrivals.entry(which.tid).or_default();
        let pages = fetch.page * each..(fetch.page + fetch.pages) * each;
        let key = (fetch.device, fetch.inode);
        let is_next =
            |(last, range): &&mut (Key, Range<PageNo>)| *last == key && range.end == pages.start;
        if let Some((_, range)) = arrivals.last_mut().filter(is_next) {
            range.end = pages.end;
        } else if arrivals.len() < ARRIVALS_MAX {
            arrivals.push((key, pages));
        }
    }

    /// Calls are not reported for a while.
    pub(super) fn pause(&mut self) {
        self.arrivals.clear();
        self.report.pauses += 1;
    }

    /// A thread has ended.
    pub(super) fn ended(&mut self, tid: i32) {
        self.arrivals.remove(&tid);
    }

    /// The program has read.
    pub(super) fn read(&mut self, which: Which, call: &Call, offset: u64) {
        self.calls += 1;
        let arrived = self.arrivals.remove(&which.tid).unwrap_or_default();
        let Some(known) = self.open.get_mut(&call.files[0]).filter(|known| known.is_regular) else {
            return;
        };
        let key = known.key;
        if call.result <= 0 || (arrived.is_empty() && !self.ahead.contains_key(&key)) {
            return;
        }
        let arrived = arrived.into_iter().filter(|(of, _)| *of == key);
        let handle = known.handle.get_or_insert_with(|| self.handles.take(&mut *self.readahead));
        let done = Done {
            handle: *handle,
            offset,
            bytes: call.result.unsigned_abs(),
            began_ns: which.time_ns,
            took_ns: call.left_ns.saturating_sub(which.time_ns),
            arrived: arrived.map(|(_, pages)| pages).collect(),
        };
        self.reads += 1;
        self.report.reads += 1;
        self.follow(call.files[0]);
        let (reads, budget_pages) = (self.reads, self.budget_pages);
        let Some(Followed { pages: Some(pages), device, last }) = self.ahead.get_mut(&key) else {
            return;
        };
        *last = (done.handle, reads);
        let Some(price) = self.prices.get_mut(device) else { return };
        if let [arrived] = &done.arrived[..]
            && done.has_waited()
        {
            price.waited((arrived.end - arrived.start) * PAGE_BYTES, done.took_ns);
        }
        if call.bytes > 0 {
            pages.has_bytes(call.bytes);
        }
        let limits = (price.costs(), budget_pages);
        pages.read(&done, &mut *self.readahead, limits, &mut self.report);
    }

    /// Makes sure that a file is read ahead.
    fn follow(&mut self, key: u64) {
        let Some(known) = self.open.get(&key) else { return };
        if self.ahead.contains_key(&known.key) {
            return;
        }
        if self.ahead.len() >= FILES_MAX {
            make_room(&mut self.ahead);
        }
        let path = Path::new(OsStr::from_bytes(&known.name));
        let device = self.devices.of(path);
        let known_device = self.devices.known(device);
        let (costs, learns) = (known_device.device.costs, known_device.assumed);
        self.prices.entry(device).or_insert_with(|| Price::new(costs, learns));
        let inode = known.key.1;
        let opened = open(path, &Recorded::default(), &[]).ok();
        // In another view of the file systems the name may be another file's.
        let same = |metadata: std::fs::Metadata| metadata.ino() == inode;
        let opened = opened.filter(|opened| opened.file.metadata().is_ok_and(same));
        let pages = opened.map(Pages::new);
        let followed = Followed { pages, device, last: (Handle(0), self.reads) };
        self.ahead.insert(known.key, followed);
    }

    /// Finds what has left the cache unread, and how much may be fetched now.
    pub(super) fn sweep(&mut self) {
        self.budget_pages = budget_pages();
        for Followed { pages, last, .. } in self.ahead.values_mut() {
            if let Some(pages) = pages {
                pages.sweep(last.0, &mut *self.readahead, &mut self.report);
            }
        }
    }
}

/// What the readahead calls open files: dense numbers, used again.
#[derive(Default)]
struct Handles {
    free: Vec<Handle>,
    made: u32,
}

impl Handles {
    fn take(&mut self, readahead: &mut dyn Readahead) -> Handle {
        let handle = self.free.pop().unwrap_or_else(|| {
            self.made += 1;
            Handle(self.made - 1)
        });
        readahead.open(handle);
        handle
    }

    fn give_back(&mut self, handle: Handle, readahead: &mut dyn Readahead) {
        readahead.close(handle);
        self.free.push(handle);
    }
}

/// Forgets the file whose last read is the oldest.
fn make_room(ahead: &mut HashMap<Key, Followed>) {
    let oldest = ahead.iter().min_by_key(|(_, followed)| followed.last.1);
    if let Some(key) = oldest.map(|(key, _)| *key) {
        ahead.remove(&key);
    }
}

/// Half of the free memory, in pages.
fn budget_pages() -> u32 {
    let free = memory::free_bytes().unwrap_or(u64::MAX);
    u32::try_from(free / 2 / PAGE_BYTES).unwrap_or(u32::MAX)
}
