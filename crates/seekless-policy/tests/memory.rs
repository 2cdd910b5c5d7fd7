//! What each policy says it takes for each id, against what it takes: every byte that it allocates
//! is counted.

#[path = "../../../tests/allocations.rs"]
mod allocations;

use allocations::peak_of_thread;
use seekless_device::Costs;
use seekless_policy::eviction::{
    Eviction, Id, NAMES, NEVER, Outcome, PageState, Pool, Request, Use, bytes_per_id, named,
    needs_of,
};

use seekless_policy::cache::Filled;
use seekless_policy::cache::paged::{Limits, PageCommand, PagedCache, pages_of};
use seekless_policy::eviction::Lru;
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::{Answer, Ended, Memory, Planner};
use seekless_policy::readahead::{Options, Read, named as readahead};

/// One more than a power of two: arrays that grow by doubling are at their emptiest.
const IDS: u32 = (1 << 13) + 1;
/// A policy takes at most so much.
const BYTES_MAX: u64 = 64;
/// That of the policy that chooses between four others.
const CHOOSER_BYTES_MAX: u64 = 200;
/// How much less than it says a policy may take.
const SLACK: f64 = 8.0;

/// An owner of which every second page is dirty.
struct Owner {
    resident: Vec<bool>,
}

impl Pool for Owner {
    fn evict(&mut self, victim: Id) {
        self.resident[victim as usize] = false;
    }

    fn forget(&mut self, _id: Id) {}

    fn state(&self, id: Id) -> PageState {
        PageState { dirty: id.is_multiple_of(2), ..PageState::default() }
    }
}

/// Each id once, then each twice in a scattered order; sizes and costs too are spread
/// widely if not all 1.
fn requests(unit: bool) -> Vec<Request> {
    let scattered = (0..IDS).map(|turn| turn * 5_003 % IDS).flat_map(|id| [id, id]);
    let mut requests: Vec<_> = (0..IDS)
        .chain(scattered)
        .map(|id| {
            let spread = 512 + id.wrapping_mul(2_654_435_761) % 65_536;
            let (weight, cost) = if unit { (1, 1) } else { (spread, 1 + id % 4) };
            let kind = if id.is_multiple_of(2) { Use::Write } else { Use::Read };
            Request { cost, kind, ..Request::file(id, weight.into()) }
        })
        .collect();
    let mut next_uses = vec![NEVER; IDS as usize];
    for (position, request) in requests.iter_mut().enumerate().rev() {
        request.next_use = std::mem::replace(&mut next_uses[request.id as usize], position as u64);
    }
    requests
}

/// The most bytes an id that `name` took at `capacity`.
fn measure(name: &str, capacity: u64, requests: &[Request]) -> f64 {
    let mut owner = Owner { resident: vec![false; IDS as usize] };
    let (_policy, taken) = peak_of_thread(|| {
        let mut policy = named(name, capacity).unwrap();
        policy.grow(IDS);
        for (turn, request) in requests.iter().enumerate() {
            if policy.request(request, &mut owner) == Outcome::Admitted {
                owner.resident[request.id as usize] = true;
            }
            if turn % IDS as usize == IDS as usize - 1 {
                (0..IDS)
                    .filter(|&id| owner.resident[id as usize])
                    .for_each(|id| policy.cleaned(id));
            }
        }
        policy
    });
    taken as f64 / f64::from(IDS)
}

#[test]
fn every_policy_takes_what_it_says_and_that_is_little() {
    let mut wrong = Vec::new();
    for unit in [true, false] {
        let requests = requests(unit);
        let all = requests[..IDS as usize].iter().map(|request| request.weight).sum::<u64>();
        for name in NAMES.iter().filter(|name| unit || !needs_of(name).unwrap().unit_weights) {
            let capacities = [all, all / 2, all / 8];
            let taken = capacities.map(|capacity| measure(name, capacity, &requests));
            let taken = taken.into_iter().fold(0.0, f64::max);
            let told = bytes_per_id(name, unit).unwrap();
            let most = if *name == "auto" { CHOOSER_BYTES_MAX } else { BYTES_MAX };
            if taken > told as f64 || taken < told as f64 - SLACK || told > most {
                wrong.push(format!(
                    "{name}, unit weights {unit}: takes {taken:.2} bytes an id and says {told}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every entry is demanded, in a scattered order; some are demanded again.
fn plan(planner: &mut Planner, ended: &mut Ended, turns: std::ops::Range<u32>) {
    for turn in turns {
        let id = turn * 5_003 % IDS;
        if let Answer::Read(start) = planner.demand(id, |_| false) {
            planner.ended(start.tag, start.extent.bytes, |_| false, ended);
        }
    }
}

#[test]
fn a_planner_takes_a_few_bytes_an_entry_and_allocates_nothing_once_it_has_grown() {
    let extent = |id: Id| Extent { offset: u64::from(id) * 5_000, bytes: 5_000 };
    let entries: std::sync::Arc<[Extent]> = (0..IDS).map(extent).collect();
    let memory = Memory { cache_bytes: 1, read_ahead_bytes: Some(4 << 20), window_bytes: None };
    let ((mut planner, mut ended), taken) = peak_of_thread(|| {
        let mut planner = Planner::new(entries.clone(), 4096, memory, Costs::ASSUMED);
        let mut ended = Ended::default();
        plan(&mut planner, &mut ended, 0..2 * IDS);
        (planner, ended)
    });
    // 25 bytes an entry, and room for the reads that are kept.
    assert!(taken <= 25 * IDS as usize + (64 << 10), "{taken} bytes for {IDS} entries");
    let ((), taken) = peak_of_thread(|| plan(&mut planner, &mut ended, 2 * IDS..6 * IDS));
    assert_eq!(taken, 0);
}

/// A cache of 2,048 pages takes up to 512 bytes a page, and `streams` 270 bytes for each of 16,384
/// streams with indexes that double: whatever the number of streams.
#[test]
fn a_hundred_thousand_streams_take_no_more_than_the_table_of_streams() {
    const STREAMS: u64 = 100_000;
    const PAGES: u64 = 2048;
    let ((), taken) = peak_of_thread(|| {
        let options = Options::with_max_bytes(1 << 20);
        let readahead = readahead("streams", options).unwrap();
        let limits = Limits::pages(PAGES, Costs::ASSUMED);
        let mut cache = PagedCache::new(Lru::new(PAGES), readahead, limits).unwrap();
        let file = cache.add_file(STREAMS << 10);
        let handle = cache.open(file);
        let mut out = Vec::new();
        for page in (0..3).flat_map(|page| (0..STREAMS).map(move |stream| (stream << 10) + page)) {
            let read = Read { file: handle, offset: page << 12, bytes: 4096 };
            cache.begin(read, &mut out);
            for page in pages_of(read) {
                cache.page(read, page, &mut out);
            }
            fill(&mut cache, &mut out);
            cache.end(read, read.offset + read.bytes);
            assert!(cache.resident_pages() <= PAGES);
        }
    });
    let bound = (PAGES * 512 + 2 * 270 * 16_384) as usize;
    assert!(taken <= bound, "{taken} bytes of {bound}");
}

/// Ends what was fetched.
fn fill(cache: &mut PagedCache<Lru>, out: &mut Vec<PageCommand>) {
    for command in std::mem::take(out) {
        let PageCommand::Fetch(fetch) = command else { continue };
        for page in fetch.range() {
            if let Some(id) = cache.id(fetch.file, page) {
                cache.complete(id, Filled::Yes, out);
            }
        }
    }
    out.clear();
}

/// Bytes of this process's memory that are in use.
fn resident_bytes() -> u64 {
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap();
    pages.split(' ').nth(1).unwrap().parse::<u64>().unwrap() * 4096
}

#[test]
fn a_store_of_many_entries_takes_memory_only_for_those_that_are_used() {
    const ENTRIES: u32 = 1 << 24;
    let before = resident_bytes();
    let mut policy = named("landlord", 1 << 20).unwrap();
    policy.grow(ENTRIES);
    let mut owner = Owner { resident: vec![false; ENTRIES as usize] };
    for id in [0, ENTRIES / 2, ENTRIES - 1] {
        let outcome = policy.request(&Request::file(id, 100), &mut owner);
        assert_eq!(outcome, Outcome::Admitted);
    }
    // Filled, they would take 512 MB. The other tests of this binary use little.
    let taken = resident_bytes().saturating_sub(before);
    assert!(taken < 64 << 20, "{taken} bytes for {ENTRIES} entries, of which 3 were used");
}
