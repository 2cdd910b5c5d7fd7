//! The order of triggers, what is fetched, what becomes of it, and that numbers are used again.

use super::*;
use crate::eviction::{Lru, NAMES, named, needs_of};
use crate::readahead::Fate;
use proptest::prelude::*;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

const COSTS: Costs = Costs { request_ns: 100, bytes_per_second: 1 << 30, depth: 4 };

/// What was reported to a readahead, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Told {
    Read(u64),
    Page(PageNo, Trigger),
    End(u64),
    Fate(u32, PageNo, Fate),
}

/// Fetches `pages` from each missing page, with a marker at `marker` of them, and again from the
/// marker on.
#[derive(Clone, Debug)]
struct Fixed {
    pages: u32,
    marker: Option<u64>,
    told: Arc<Mutex<Vec<Told>>>,
}

impl Fixed {
    fn new(pages: u32, marker: Option<u64>) -> Self {
        Self { pages, marker, told: Arc::default() }
    }

    fn told(&self) -> Vec<Told> {
        std::mem::take(&mut self.told.lock().unwrap())
    }

    fn note(&self, told: Told) {
        self.told.lock().unwrap().push(told);
    }
}

impl Readahead for Fixed {
    fn open(&mut self, _file: Handle) {}

    fn close(&mut self, _file: Handle) {}

    fn on_read(&mut self, read: Read, _ahead: &mut dyn Ahead) {
        self.note(Told::Read(read.offset));
    }

    fn on_page(&mut self, _: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
        self.note(Told::Page(page, why));
        let first = match why {
            Trigger::Marker => (page..).find(|&page| !ahead.cached(page)).unwrap_or(page),
            _ => page,
        };
        let marker = self.marker.map(|place| first + place);
        ahead.submit(Window { first, pages: self.pages, marker });
    }

    fn on_read_end(&mut self, _read: Read, end_byte: u64) {
        self.note(Told::End(end_byte));
    }

    fn on_fate(&mut self, file: Handle, page: PageNo, fate: Fate) {
        self.note(Told::Fate(file.0, page, fate));
    }
}

/// A cache, its commands, and the ids that its steps answered with.
struct Driven {
    cache: PagedCache<Lru>,
    readahead: Fixed,
    out: Vec<PageCommand>,
}

impl Driven {
    fn new(capacity: u64, readahead: &Fixed) -> Self {
        let limits = Limits::pages(capacity, COSTS);
        let boxed = Box::new(readahead.clone());
        let cache = PagedCache::new(Lru::new(capacity), boxed, limits).unwrap();
        Self { cache, readahead: readahead.clone(), out: Vec::new() }
    }

    fn read(&mut self, file: Handle, pages: Range<PageNo>) -> Vec<PageStep> {
        let bytes = (pages.end - pages.start) * PAGE_BYTES;
        let read = Read { file, offset: pages.start * PAGE_BYTES, bytes };
        self.cache.begin(read, &mut self.out);
        let steps = pages.map(|page| self.cache.page(read, page, &mut self.out)).collect();
        self.cache.end(read, read.offset + bytes);
        steps
    }

    /// Ends all fetches, and returns them as ranges.
    fn complete(&mut self, filled: Filled) -> Vec<Range<PageNo>> {
        let mut ranges = Vec::new();
        for command in std::mem::take(&mut self.out) {
            let PageCommand::Fetch(fetch) = command else { continue };
            for page in fetch.range() {
                let id = self.cache.id(fetch.file, page).unwrap();
                self.cache.complete(id, filled, &mut self.out);
            }
            ranges.push(fetch.range());
        }
        ranges
    }
}

#[test]
fn a_missing_page_triggers_and_then_its_marker_does() {
    let mut driven = Driven::new(100, &Fixed::new(4, Some(0)));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 3..4);
    let expected = [
        Told::Read(3 * PAGE_BYTES),
        Told::Page(3, Trigger::Miss),
        Told::Page(3, Trigger::Marker),
        Told::End(4 * PAGE_BYTES),
    ];
    assert_eq!(driven.readahead.told(), expected);
    assert_eq!(driven.complete(Filled::Yes), [3..7, 7..11]);
}

#[test]
fn a_marker_triggers_once() {
    let mut driven = Driven::new(100, &Fixed::new(4, Some(2)));
    let file = driven.cache.add_file(6);
    let handle = driven.cache.open(file);
    driven.read(handle, 0..1);
    driven.readahead.told();
    driven.read(handle, 2..3);
    assert_eq!(driven.readahead.told()[1], Told::Page(2, Trigger::Marker));
    driven.read(handle, 2..3);
    assert_eq!(driven.readahead.told().len(), 2, "a read without a trigger");
    let ranges = driven.complete(Filled::Yes);
    assert_eq!(ranges, [0..4, 4..6], "a window ends with the file");
}

#[test]
fn a_page_that_no_window_brings_is_read_alone() {
    let mut driven = Driven::new(100, &Fixed::new(0, None));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    let steps = driven.read(handle, 5..7);
    assert!(matches!(steps[..], [PageStep::Wait(_), PageStep::Wait(_)]));
    assert_eq!(driven.complete(Filled::Yes), [5..6, 6..7]);
    let account = *driven.cache.account();
    assert_eq!((account.demanded, account.fetched, account.prefetched), (2, 2, 0));
}

#[test]
fn a_window_skips_what_is_there_and_each_run_is_one_fetch() {
    let mut driven = Driven::new(100, &Fixed::new(1, None));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 12..13);
    driven.complete(Filled::Yes);
    assert_eq!(driven.cache.will_need(handle, 10..16, &mut driven.out), 5);
    assert_eq!(driven.complete(Filled::Yes), [10..12, 13..16]);
    assert_eq!(driven.cache.account().fetches.0[..3], [1, 2, 0]);
}

#[test]
fn each_prefetched_page_has_one_fate() {
    let mut driven = Driven::new(4, &Fixed::new(4, None));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 0..2);
    driven.readahead.told();
    assert_eq!(driven.cache.account().prefetched, 2, "0 and 1 are the read's own");
    driven.read(handle, 2..3);
    driven.complete(Filled::Yes);
    driven.read(handle, 3..4);
    driven.read(handle, 3..4);
    driven.read(handle, 50..51);
    driven.read(handle, 90..91);
    let fates: Vec<Told> = driven.readahead.told();
    let fates: Vec<&Told> = fates.iter().filter(|told| matches!(told, Told::Fate(..))).collect();
    assert_eq!(fates[..2], [&Told::Fate(0, 2, Fate::Late), &Told::Fate(0, 3, Fate::InTime)]);
    driven.complete(Filled::Yes);
    let account = driven.cache.account();
    assert_eq!((account.used, account.late, account.wasted), (2, 1, 3));
    assert_eq!((account.evicted_unused, account.unused), (3, 3));
}

#[test]
fn a_failed_prefetch_is_wasted_and_read_again_on_demand() {
    let mut driven = Driven::new(10, &Fixed::new(2, None));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 0..1);
    driven.complete(Filled::Failed);
    let account = driven.cache.account();
    assert_eq!((account.wasted, account.evicted_unused), (1, 0));
    assert_eq!(driven.cache.resident_pages(), 0);
    driven.read(handle, 1..2);
    assert_eq!(driven.complete(Filled::Yes).first(), Some(&(1..3)));
}

#[test]
fn a_new_handle_does_not_get_the_fates_of_an_old_one() {
    let mut driven = Driven::new(10, &Fixed::new(2, None));
    let file = driven.cache.add_file(100);
    let first = driven.cache.open(file);
    driven.read(first, 0..1);
    driven.complete(Filled::Yes);
    driven.cache.close(first);
    driven.cache.close(first);
    let second = driven.cache.open(file);
    assert_eq!(first, second, "the number is used again");
    assert_ne!(driven.cache.open(file), second);
    driven.readahead.told();
    driven.read(second, 1..2);
    assert_eq!(driven.readahead.told().len(), 2, "a read without a trigger or a fate");
    assert_eq!(driven.cache.account().used, 1);
}

#[test]
fn a_removed_file_leaves_nothing_and_its_number_is_used_again() {
    let mut driven = Driven::new(10, &Fixed::new(2, None));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 0..1);
    let mut flying = std::mem::take(&mut driven.out);
    driven.cache.close(handle);
    driven.cache.remove_file(file, &mut driven.out);
    assert_ne!(driven.cache.add_file(1), file, "its pages are in flight");
    driven.out.append(&mut flying);
    driven.complete(Filled::Yes);
    assert_eq!(driven.out.len(), 2, "both pages are dropped");
    assert_eq!(driven.cache.add_file(1), file);
}

#[test]
fn a_cut_file_loses_its_end() {
    let mut driven = Driven::new(10, &Fixed::new(4, None));
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 0..1);
    driven.complete(Filled::Yes);
    driven.cache.set_pages(file, 2, &mut driven.out);
    assert_eq!(driven.out.len(), 2);
    assert_eq!(
        (0..4).map(|page| driven.cache.is_present(file, page)).collect::<Vec<_>>(),
        [true, true, false, false]
    );
}

#[test]
fn ids_are_used_again_so_memory_follows_the_cache() {
    let mut driven = Driven::new(64, &Fixed::new(4, Some(2)));
    let file = driven.cache.add_file(1 << 40);
    let handle = driven.cache.open(file);
    for number in 0..20_000u64 {
        driven.read(handle, number * 1_000_003..number * 1_000_003 + 2);
        driven.complete(Filled::Yes);
    }
    assert!(driven.cache.ids_end() <= 64 + 8, "{} ids", driven.cache.ids_end());
}

#[test]
fn prefetching_stops_at_the_limit_of_pages_in_flight() {
    let mut driven = Driven::new(100, &Fixed::new(20, None));
    let limits = Limits { in_flight: 8, ..driven.cache.limits() };
    driven.cache.set_limits(limits, &mut driven.out);
    let file = driven.cache.add_file(100);
    let handle = driven.cache.open(file);
    driven.read(handle, 0..4);
    driven.read(handle, 50..51);
    assert_eq!(driven.complete(Filled::Yes), [0..8, 50..51]);
    assert_eq!(driven.cache.pages_in_flight(), 0);
}

#[derive(Clone, Debug)]
enum Action {
    Read(u8, u64, u64),
    Complete(usize, bool),
    Discard(u64, u64),
    Cut(u64),
    Capacity(u64),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        8 => (0u8..3, 0u64..120, 1u64..9).prop_map(|(file, page, pages)| Action::Read(file, page, pages)),
        8 => (any::<usize>(), prop::bool::weighted(0.8)).prop_map(|(at, good)| Action::Complete(at, good)),
        1 => (0u64..120, 1u64..60).prop_map(|(page, pages)| Action::Discard(page, pages)),
        1 => (1u64..120).prop_map(Action::Cut),
        1 => (1u64..60).prop_map(Action::Capacity),
    ]
}

/// Where the bytes of each page are, according to the commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bytes {
    Flying,
    Filled,
}

proptest! {
    /// No page is fetched twice, `Ready` has bytes, each drop is of a page that has bytes or whose
    /// fetch failed, ids name their pages, and the account adds up. Under every policy.
    #[test]
    fn commands_keep_the_bytes_of_each_page_true(
        actions in prop::collection::vec(action(), 1..200),
        name in prop::sample::select(NAMES),
        window in 0u32..12,
        marker in prop::option::of(0u64..12),
    ) {
        prop_assume!(!needs_of(name).unwrap().next_use);
        let limits = Limits { in_flight: 30, ..Limits::pages(40, COSTS) };
        let readahead = Box::new(Fixed::new(window, marker));
        let mut cache = PagedCache::new(named(name, 40).unwrap(), readahead, limits).unwrap();
        let files = [cache.add_file(100), cache.add_file(128)];
        let handles = [cache.open(files[0]), cache.open(files[1]), cache.open(files[1])];
        let mut ends = HashMap::from([(files[0], 100), (files[1], 128)]);
        let mut bytes: HashMap<Id, Bytes> = HashMap::new();
        let mut flying: Vec<(FileNo, PageNo)> = Vec::new();
        let mut capacity = 40;
        for action in actions {
            let mut out = Vec::new();
            let mut ready = Vec::new();
            match action {
                Action::Read(handle, first, pages) => {
                    let file = handles[usize::from(handle)];
                    let end = ends[&cache.file(file)].min(first + pages);
                    if first >= end { continue; }
                    let read = Read {
                        file,
                        offset: first * PAGE_BYTES,
                        bytes: (end - first) * PAGE_BYTES,
                    };
                    cache.begin(read, &mut out);
                    for page in first..end {
                        match cache.page(read, page, &mut out) {
                            PageStep::Ready(id) => {
                                prop_assert_eq!(cache.place(id), (cache.file(file), page));
                                prop_assert_eq!(bytes.get(&id), Some(&Bytes::Filled));
                            }
                            PageStep::Wait(id) => ready.push(id),
                            PageStep::Bypass => {}
                        }
                        take(&mut out, &cache, &mut bytes, &mut flying)?;
                    }
                    prop_assert!(ready.iter().all(|id| bytes[id] == Bytes::Flying));
                    cache.end(read, end * PAGE_BYTES);
                }
                Action::Complete(at, good) => {
                    if flying.is_empty() { continue; }
                    let (file, page) = flying.swap_remove(at % flying.len());
                    let id = cache.id(file, page).expect("what is in flight has an id");
                    bytes.insert(id, Bytes::Filled);
                    cache.complete(id, if good { Filled::Yes } else { Filled::Failed }, &mut out);
                }
                Action::Discard(page, pages) => cache.discard(files[0], page..page + pages, &mut out),
                Action::Cut(pages) => {
                    ends.insert(files[1], pages);
                    cache.set_pages(files[1], pages, &mut out);
                }
                Action::Capacity(pages) => {
                    capacity = pages;
                    let limits = Limits { capacity, ..cache.limits() };
                    cache.set_limits(limits, &mut out);
                }
            }
            take(&mut out, &cache, &mut bytes, &mut flying)?;
            let account = cache.account();
            prop_assert_eq!(account.prefetched, account.used + account.wasted + account.unused);
            prop_assert!(cache.resident_pages() <= capacity);
            prop_assert_eq!(cache.pages_in_flight() as usize, flying.len());
        }
    }
}

/// Carries out commands on the model.
fn take<E: Eviction>(
    out: &mut Vec<PageCommand>,
    cache: &PagedCache<E>,
    bytes: &mut HashMap<Id, Bytes>,
    flying: &mut Vec<(FileNo, PageNo)>,
) -> Result<(), TestCaseError> {
    for command in out.drain(..) {
        match command {
            PageCommand::Fetch(fetch) => {
                for page in fetch.range() {
                    let id = cache.id(fetch.file, page).expect("what is fetched has an id");
                    prop_assert_eq!(bytes.insert(id, Bytes::Flying), None, "fetched twice");
                    flying.push((fetch.file, page));
                }
            }
            PageCommand::Drop(id) => {
                prop_assert_eq!(bytes.remove(&id), Some(Bytes::Filled), "dropped in flight");
            }
            PageCommand::WriteBack(_) => prop_assert!(false, "nothing was written"),
        }
    }
    Ok(())
}
