//! The pages of one file: which were fetched ahead and not read yet, and which carry a marker.

use super::Report;
use crate::warm::bring::Opened;
use rustix::time::{ClockId, clock_gettime};
use seekless_device::Costs;
use seekless_policy::layout::extents::Extent;
use seekless_policy::readahead::{Ahead, Fate, Handle, PageNo, Read, Readahead, Trigger, Window};
use seekless_sys::residency;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::os::fd::AsFd;
use std::sync::atomic::AtomicBool;

pub(super) const PAGE_BYTES: u64 = 4096;
/// A read that took longer than this and a nanosecond a byte has waited for the device.
const WAITED_NS: u64 = 50_000;

/// The pages of a file.
#[derive(Debug)]
pub(super) struct Pages {
    file: Opened,
    /// The bytes of the file.
    bytes: u64,
    /// Fetched ahead, and not read yet; with the time at which they were asked for.
    unused: BTreeMap<PageNo, u64>,
    /// To be fetched ahead, and found in the cache: reads of the program that are not reported yet
    /// have brought them in.
    there: BTreeSet<PageNo>,
    markers: BTreeSet<PageNo>,
}

/// A read of the program that has ended.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) handle: Handle,
    pub(super) offset: u64,
    pub(super) bytes: u64,
    /// When it began, by the monotonic clock.
    pub(super) began_ns: u64,
    /// How long it took.
    pub(super) took_ns: u64,
    /// The pages of its file that came from the device for it.
    pub(super) arrived: Vec<Range<PageNo>>,
}

impl Done {
    fn pages(&self) -> Range<PageNo> {
        self.offset / PAGE_BYTES..(self.offset + self.bytes).div_ceil(PAGE_BYTES)
    }

    fn has_arrived(&self, page: PageNo) -> bool {
        self.arrived.iter().any(|range| range.contains(&page))
    }

    /// What became of a page that was asked for at this time.
    fn fate(&self, page: PageNo, asked_ns: u64) -> Fate {
        match (self.has_arrived(page), self.has_waited()) {
            (true, _) if asked_ns < self.began_ns => Fate::Wasted,
            (false, false) => Fate::InTime,
            _ => Fate::Late, // or asked for while the read was under way
        }
    }

    /// Whether it waited for the device.
    pub(super) fn has_waited(&self) -> bool {
        self.took_ns > WAITED_NS + self.bytes
    }
}

impl Pages {
    pub(super) fn new(file: Opened) -> Self {
        let (unused, there, markers) = Default::default();
        Pages { bytes: file.bytes, file, unused, there, markers }
    }

    /// The file may have grown or been cut.
    pub(super) fn has_bytes(&mut self, bytes: u64) {
        self.bytes = bytes;
    }

    /// Passes a read on to the readahead, in the order that it expects.
    pub(super) fn read(
        &mut self,
        done: &Done,
        readahead: &mut dyn Readahead,
        (costs, budget_pages): (Costs, u32),
        report: &mut Report,
    ) {
        let read = Read { file: done.handle, offset: done.offset, bytes: done.bytes };
        let pages = done.pages();
        let marked = take(&mut self.markers, &pages);
        let mut missed = missed(done, &pages);
        take(&mut self.there, &pages).iter().for_each(|page| _ = missed.remove(page));
        for (page, asked_ns) in take_asked(&mut self.unused, &pages) {
            let fate = done.fate(page, asked_ns);
            if fate == Fate::Late {
                missed.remove(&page); // it was under way
            }
            count(report, fate);
            readahead.on_fate(done.handle, page, fate);
        }
        let mut view = View { pages: self, done, missed, costs, budget_pages, fetched: 0 };
        readahead.on_read(read, &mut view);
        while let Some(page) = view.missed.first().copied() {
            readahead.on_page(read, page, Trigger::Miss, &mut view);
            view.missed.remove(&page); // if it was left out, it is read alone
        }
        for page in marked {
            readahead.on_page(read, page, Trigger::Marker, &mut view);
        }
        report.fetched_bytes += view.fetched * PAGE_BYTES;
        readahead.on_read_end(read, done.offset + done.bytes);
    }

    /// Forgets the pages that have left the cache unread.
    pub(super) fn sweep(
        &mut self,
        handle: Handle,
        readahead: &mut dyn Readahead,
        report: &mut Report,
    ) {
        self.there.clear();
        let (first, last) = (self.unused.first_key_value(), self.unused.last_key_value());
        let (Some((first, _)), Some((last, _))) = (first, last) else { return };
        let range = first * PAGE_BYTES..(last + 1) * PAGE_BYTES;
        let Ok(Some(runs)) = residency::runs(self.file.file.as_fd(), range, PAGE_BYTES) else {
            return;
        };
        for run in runs.iter().filter(|run| !run.resident) {
            let pages = run.range.start / PAGE_BYTES..run.range.end.div_ceil(PAGE_BYTES);
            for (page, _) in take_asked(&mut self.unused, &pages) {
                count(report, Fate::Wasted);
                readahead.on_fate(handle, page, Fate::Wasted);
            }
        }
    }
}

/// The pages of a read that came from the device for it.
fn missed(done: &Done, pages: &Range<PageNo>) -> BTreeSet<PageNo> {
    let cut = |range: &Range<PageNo>| range.start.max(pages.start)..range.end.min(pages.end);
    done.arrived.iter().flat_map(cut).collect()
}

fn count(report: &mut Report, fate: Fate) {
    match fate {
        Fate::InTime => report.used_bytes += PAGE_BYTES,
        Fate::Late => {
            report.used_bytes += PAGE_BYTES;
            report.late_bytes += PAGE_BYTES;
        }
        Fate::Wasted => report.wasted_bytes += PAGE_BYTES,
    }
}

/// Takes the pages of a range out of a set.
fn take(set: &mut BTreeSet<PageNo>, range: &Range<PageNo>) -> Vec<PageNo> {
    if set.is_empty() {
        return Vec::new();
    }
    let taken: Vec<PageNo> = set.range(range.clone()).copied().collect();
    taken.iter().for_each(|page| _ = set.remove(page));
    taken
}

/// The clock by which calls are reported.
fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// As [`take`], of pages that were asked for.
fn take_asked(asked: &mut BTreeMap<PageNo, u64>, range: &Range<PageNo>) -> Vec<(PageNo, u64)> {
    if asked.is_empty() {
        return Vec::new();
    }
    let taken: Vec<_> = asked.range(range.clone()).map(|(page, ns)| (*page, *ns)).collect();
    taken.iter().for_each(|(page, _)| _ = asked.remove(page));
    taken
}

/// A file as the readahead sees it after a read.
struct View<'a> {
    pages: &'a mut Pages,
    done: &'a Done,
    /// Pages that the read misses and nothing has fetched: the kernel has, but it was not ahead.
    missed: BTreeSet<PageNo>,
    costs: Costs,
    budget_pages: u32,
    /// Pages that were asked for.
    fetched: u64,
}

impl View<'_> {
    /// The pages of a range that are not in the page cache; all of them if the kernel does not say.
    fn absent(&self, range: Range<PageNo>) -> Vec<Range<PageNo>> {
        let bytes = range.start * PAGE_BYTES..range.end * PAGE_BYTES;
        match residency::runs(self.pages.file.file.as_fd(), bytes, PAGE_BYTES) {
            Ok(Some(runs)) => {
                let absent = runs.into_iter().filter(|run| !run.resident);
                absent
                    .map(|run| run.range.start / PAGE_BYTES..run.range.end.div_ceil(PAGE_BYTES))
                    .collect()
            }
            _ => vec![range],
        }
    }
}

impl Ahead for View<'_> {
    /// A page that came for the read itself was missing when it was asked for.
    fn cached(&self, page: PageNo) -> bool {
        if self.done.pages().contains(&page) {
            return !self.missed.contains(&page);
        }
        self.pages.unused.contains_key(&page) || self.done.has_arrived(page) || {
            let counted =
                residency::count(self.pages.file.file.as_fd(), page * PAGE_BYTES, PAGE_BYTES);
            counted.is_ok_and(|pages| pages.cached > 0)
        }
    }

    fn pages(&self) -> u64 {
        self.pages.bytes.div_ceil(PAGE_BYTES)
    }

    fn submit(&mut self, window: Window) -> u32 {
        let end = (window.first + u64::from(window.pages)).min(self.pages());
        let window_pages = window.first..end.max(window.first);
        let read = self.done.pages();
        // What came for the read itself counts as begun by the window.
        let mut started = take(&mut self.missed, &window_pages).len() as u64;
        let mut ahead = Vec::new();
        for part in outside(&window_pages, &read).into_iter().filter(|part| !part.is_empty()) {
            let Pages { there, unused, .. } = &mut *self.pages;
            there.extend(part.clone().filter(|page| !unused.contains_key(page)));
            ahead.extend(self.absent(part));
        }
        for part in ahead {
            let (offset, bytes) = (part.start * PAGE_BYTES, (part.end - part.start) * PAGE_BYTES);
            self.pages.file.ask(Extent { offset, bytes }, &AtomicBool::new(false));
            started += part.end - part.start;
            self.fetched += part.end - part.start;
            let now_ns = monotonic_ns();
            take(&mut self.pages.there, &part);
            self.pages.unused.extend(part.map(|page| (page, now_ns)));
        }
        if let Some(marker) =
            window.marker.filter(|marker| started > 0 && window_pages.contains(marker))
        {
            self.pages.markers.insert(marker);
        }
        u32::try_from(started).unwrap_or(u32::MAX)
    }

    fn congested(&self) -> bool {
        false
    }

    fn budget_pages(&self) -> u32 {
        self.budget_pages
    }

    fn costs(&self) -> Costs {
        self.costs
    }
}

/// The two parts of a range before and behind another.
fn outside(range: &Range<PageNo>, hole: &Range<PageNo>) -> [Range<PageNo>; 2] {
    [range.start..range.end.min(hole.start), range.start.max(hole.end)..range.end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warm::bring::{Recorded, open};
    use std::sync::{Arc, Mutex};

    const COSTS: Costs = Costs { request_ns: 1_000_000, bytes_per_second: 100_000_000, depth: 1 };

    /// What a readahead was told.
    #[derive(Clone, Debug, PartialEq, Eq)]
    enum Call {
        Fate(PageNo, Fate),
        Page(PageNo, Trigger, bool),
    }

    /// Fetches 24 pages before a read, and notes what it is called with.
    #[derive(Clone, Debug, Default)]
    struct Before(Arc<Mutex<Vec<Call>>>);

    impl Readahead for Before {
        fn open(&mut self, _: Handle) {}
        fn close(&mut self, _: Handle) {}

        fn on_page(&mut self, _: Read, page: PageNo, why: Trigger, ahead: &mut dyn Ahead) {
            self.0.lock().unwrap().push(Call::Page(page, why, ahead.cached(page)));
            let first = page.saturating_sub(24);
            let window = Window { first, pages: (page + 1 - first) as u32, marker: Some(first) };
            ahead.submit(window);
        }

        fn on_fate(&mut self, _: Handle, page: PageNo, fate: Fate) {
            self.0.lock().unwrap().push(Call::Fate(page, fate));
        }
    }

    /// A file of this many pages that are not cached; `None` where they cannot be dropped.
    fn cold(pages: usize) -> Option<(tempfile::NamedTempFile, Pages)> {
        let file = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        std::fs::write(file.path(), vec![7; pages * PAGE_BYTES as usize]).unwrap();
        file.as_file().sync_all().unwrap();
        residency::drop_cached(file.as_file().as_fd()).unwrap();
        let opened = open(file.path(), &Recorded::default(), &[]).unwrap();
        let counted = residency::count(opened.file.as_fd(), 0, 0);
        let is_cold = counted.is_ok_and(|pages| pages.cached == 0);
        is_cold.then(|| (file, Pages::new(opened)))
    }

    fn read(
        pages: Range<PageNo>,
        began_ns: u64,
        took_ns: u64,
        arrived: &[(PageNo, PageNo)],
    ) -> Done {
        Done {
            handle: Handle(0),
            offset: pages.start * PAGE_BYTES,
            bytes: (pages.end - pages.start) * PAGE_BYTES,
            began_ns,
            took_ns,
            arrived: arrived.iter().map(|&(start, end)| start..end).collect(),
        }
    }

    #[test]
    fn a_readahead_learns_of_misses_markers_and_what_became_of_its_pages() {
        let Some((_file, mut pages)) = cold(64) else {
            return eprintln!("skipped: the file cannot be dropped from the cache");
        };
        let (before, mut report) = (Before::default(), Report::default());
        let mut readahead = before.clone();
        let mut seen = |done: Done| {
            pages.read(&done, &mut readahead, (COSTS, 1000), &mut report);
            std::mem::take(&mut *before.0.lock().unwrap())
        };
        let none: Vec<Call> = Vec::new();
        assert_eq!(seen(read(50..51, 1, 2000, &[])), none, "a hit that nothing fetched");
        let miss = |page| Call::Page(page, Trigger::Miss, false);
        let missed = seen(read(40..42, 1, 9_000_000, &[(40, 42), (42, 46)]));
        assert_eq!(missed, [miss(40), miss(41)], "not the pages that came behind them");
        let now = monotonic_ns();
        assert_eq!(seen(read(30..31, now, 2000, &[])), [Call::Fate(30, Fate::InTime)]);
        assert_eq!(seen(read(31..32, now, 9_000_000, &[])), [Call::Fate(31, Fate::Late)]);
        // Asked for while the read was under way, and before it began.
        assert_eq!(seen(read(32..33, 1, 9_000_000, &[(32, 33)])), [Call::Fate(32, Fate::Late)]);
        let gone = seen(read(33..34, now + (1 << 40), 9_000_000, &[(33, 34)]));
        assert_eq!(gone, [Call::Fate(33, Fate::Wasted), miss(33)]);
        let marked = Call::Page(16, Trigger::Marker, true);
        assert_eq!(seen(read(16..17, now, 2000, &[])), [Call::Fate(16, Fate::InTime), marked]);
        assert_eq!((report.late_bytes, report.wasted_bytes), (2 * PAGE_BYTES, PAGE_BYTES));
        assert_eq!(report.used_bytes, 4 * PAGE_BYTES);
    }

    #[test]
    fn what_leaves_the_cache_unread_is_wasted() {
        let Some((file, mut pages)) = cold(64) else {
            return eprintln!("skipped: the file cannot be dropped from the cache");
        };
        let (before, mut report) = (Before::default(), Report::default());
        let mut readahead = before.clone();
        let done = read(10..11, 1, 9_000_000, &[(10, 11)]);
        pages.read(&done, &mut readahead, (COSTS, 1000), &mut report);
        std::fs::File::open(file.path()).unwrap().sync_all().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(50)); // what is read cannot be dropped
        residency::drop_cached(file.as_file().as_fd()).unwrap();
        pages.sweep(Handle(0), &mut readahead, &mut report);
        assert_eq!(report.fetched_bytes, 10 * PAGE_BYTES);
        let left = pages.unused.len() as u64;
        assert_eq!(report.wasted_bytes, (10 - left) * PAGE_BYTES);
    }
}
