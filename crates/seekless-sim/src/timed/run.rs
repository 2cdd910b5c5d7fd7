//! The loop.

use super::case::{Pacing, Rules, TimedCase, check};
use super::figures::{Measured, TimedFigures};
use super::flight::{Flight, Planned, Purpose};
use super::flusher::Flusher;
use super::workload::{Ask, Phase, TimedAccess, Workload};
use crate::Result;
use crate::unit::PAGE_BYTES;
use seekless_device::{DeviceModel, Nanos};
use seekless_policy::cache::Filled;
use seekless_policy::cache::paged::{
    Fetch, FileNo, Limits, PageCommand, PageStep, PagedCache, pages_of,
};
use seekless_policy::eviction::{Id, Named, named};
use seekless_policy::readahead::{self, Handle, PageNo, Read};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

/// Runs the workload through one cache, with an idle device.
///
/// # Errors
/// As [`check`].
pub fn simulate(
    workload: &Workload,
    case: &TimedCase,
    rules: &Rules,
    device: &mut dyn DeviceModel,
) -> Result<TimedFigures> {
    check(std::slice::from_ref(case))?;
    rules.check()?;
    let pages = case.capacity.map_or(workload.pages().max(1), |bytes| bytes / PAGE_BYTES);
    let limits =
        Limits { congested_ios: rules.congested_ios, ..Limits::pages(pages, device.costs()) };
    let readahead = readahead::named(&case.readahead, case.options)?;
    let mut cache = PagedCache::new(named(&case.policy, pages)?, readahead, limits)?;
    let add = |file: &super::FilePlace| cache.add_file(file.bytes.div_ceil(PAGE_BYTES));
    let files = workload.files.iter().map(add).collect();
    let flusher = Flusher::new(rules.write_back, &mut cache);
    let mut run = Run {
        workload,
        rules,
        cache,
        flusher,
        device,
        files,
        flight: Flight::default(),
        commands: Vec::new(),
        planned: Vec::new(),
        measured: Measured::default(),
        now: 0,
    };
    for phase in &workload.phases {
        if run.now < rules.until_ns {
            run.phase(phase);
        }
    }
    Ok(run.figures(case))
}

/// What outlasts a phase.
struct Run<'a> {
    workload: &'a Workload,
    rules: &'a Rules,
    cache: PagedCache<Named>,
    flusher: Flusher,
    device: &'a mut dyn DeviceModel,
    /// The cache's number of each file.
    files: Vec<FileNo>,
    flight: Flight,
    /// What the cache wants done, until the end of the instant.
    commands: Vec<PageCommand>,
    planned: Vec<Planned>,
    measured: Measured,
    now: Nanos,
}

/// The readers of a phase.
struct Readers<'a> {
    phase: &'a Phase,
    handles: Vec<Handle>,
    begin: Nanos,
    positions: Vec<Position>,
    /// Readers that go on, by time; those of one time by number.
    due: BinaryHeap<Reverse<(Nanos, u32)>>,
    /// Readers that wait for a page.
    waiting: HashMap<Id, Vec<u32>>,
}

/// How far a reader is.
#[derive(Clone, Copy, Debug, Default)]
struct Position {
    /// Its next access, or the one under way.
    access: usize,
    /// The pages of that access which are not done, if it is under way.
    rest: Option<(PageNo, PageNo)>,
    /// Since when it waits for a page.
    waits_since: Nanos,
    /// How long it has waited in the access under way.
    waited_ns: Nanos,
}

impl Run<'_> {
    fn phase(&mut self, phase: &Phase) {
        let handles =
            phase.handles.iter().map(|&file| self.cache.open(self.files[file as usize])).collect();
        let mut readers = Readers {
            phase,
            handles,
            begin: self.now,
            positions: vec![Position::default(); phase.readers.len()],
            due: (0..phase.readers.len() as u32)
                .map(|reader| Reverse((self.now, reader)))
                .collect(),
            waiting: HashMap::new(),
        };
        let mut unfinished = phase.readers.len();
        while unfinished > 0 {
            let reader = readers.due.peek().map(|Reverse((time, _))| *time);
            let events = [reader, self.device.next_event(), self.flusher.next(&self.cache)];
            let Some(next) = events.into_iter().flatten().min() else {
                debug_assert!(false, "a reader waits for nothing");
                break;
            };
            self.now = next.max(self.now);
            if self.now >= self.rules.until_ns {
                break;
            }
            self.complete(&mut readers);
            self.flusher.run(self.now, &mut self.cache, &mut self.commands);
            while let Some(&Reverse((time, reader))) = readers.due.peek()
                && time <= self.now
            {
                readers.due.pop();
                unfinished -= usize::from(!self.step(&mut readers, reader));
            }
            self.submit();
        }
        readers.handles.iter().for_each(|&handle| self.cache.close(handle));
    }

    /// Ends what the device has done by now, fills pages and wakes their readers.
    fn complete(&mut self, readers: &mut Readers<'_>) {
        let mut ended = Vec::new();
        self.device.advance(self.now, &mut |end, io| ended.push((end, io)));
        for (end, io) in ended {
            match self.flight.end(end, io) {
                Purpose::Fill { file, first, pages } => {
                    for page in first..first + u64::from(pages) {
                        self.fill(readers, file, page);
                    }
                }
                Purpose::WriteBack { file, first, pages } => {
                    for page in first..first + u64::from(pages) {
                        self.written(readers, file, page);
                    }
                }
                Purpose::Own { reader } => self.wake(readers, reader),
            }
        }
    }

    fn fill(&mut self, readers: &mut Readers<'_>, file: FileNo, page: PageNo) {
        let Some(id) = self.cache.id(file, page) else { return };
        let waiting = readers.waiting.remove(&id);
        self.cache.complete(id, Filled::Yes, &mut self.commands);
        for reader in waiting.into_iter().flatten() {
            self.wake(readers, reader);
        }
    }

    fn written(&mut self, readers: &mut Readers<'_>, file: FileNo, page: PageNo) {
        let Some(id) = self.cache.id(file, page) else { return };
        self.cache.written(id, &mut self.commands);
        for reader in self.flusher.ended(id, &self.cache) {
            self.wake(readers, reader);
        }
    }

    /// A reader has what it waited for.
    fn wake(&mut self, readers: &mut Readers<'_>, reader: u32) {
        let position = &mut readers.positions[reader as usize];
        let waited_ns = self.now - position.waits_since;
        position.waited_ns += waited_ns;
        self.measured.wait_ns += waited_ns;
        self.page_done(readers, reader);
    }

    /// One step of a reader that is due. False if it has come to its end.
    fn step(&mut self, readers: &mut Readers<'_>, reader: u32) -> bool {
        let position = readers.positions[reader as usize];
        let accesses = &readers.phase.readers[reader as usize].accesses;
        let Some(&access) = accesses.get(position.access) else { return false };
        let begins = position.rest.is_none();
        if begins && self.rules.pacing == Pacing::Arrivals {
            let arrival = readers.begin.saturating_add(access.time_ns);
            if arrival > self.now {
                readers.due.push(Reverse((arrival, reader)));
                return true;
            }
        }
        self.cache.set_ios_in_flight(self.flight.ios());
        let read = read_of(readers, access);
        let pages = pages_of(read);
        let (page, end) = position.rest.unwrap_or((pages.start, pages.end));
        if begins && access.ask == Ask::Read {
            self.cache.begin(read, &mut self.commands);
        }
        readers.positions[reader as usize].rest = Some((page, end));
        let file = self.cache.file(read.file);
        let (step, held) = self.ask(access.ask, read, page);
        self.plan();
        if !held.is_empty() {
            readers.positions[reader as usize].waits_since = self.now;
            self.flusher.hold(reader, held);
            return true;
        }
        match step {
            PageStep::Ready(_) => self.page_done(readers, reader),
            PageStep::Wait(id) => {
                readers.positions[reader as usize].waits_since = self.now;
                readers.waiting.entry(id).or_default().push(reader);
            }
            PageStep::Bypass => {
                readers.positions[reader as usize].waits_since = self.now;
                let purpose = Purpose::Own { reader };
                let place = self.place(file, page, 1);
                self.planned.push(Planned { purpose, write: access.ask == Ask::Write, ..place });
            }
        }
        true
    }

    /// Asks the cache for a page. Also returns the pages that the device must have before the
    /// reader goes on.
    fn ask(&mut self, ask: Ask, read: Read, page: PageNo) -> (PageStep, Vec<Id>) {
        let Run { cache, commands, flusher, .. } = self;
        let file = cache.file(read.file);
        match ask {
            Ask::Read => (cache.page(read, page, commands), Vec::new()),
            Ask::Write => {
                let step = cache.write(file, page, self.now, commands);
                let held = match step {
                    PageStep::Ready(_) => flusher.written(cache, commands),
                    PageStep::Wait(_) | PageStep::Bypass => Vec::new(),
                };
                self.measured.held_up += u64::from(!held.is_empty());
                (step, held)
            }
            Ask::Sync => {
                let held = match flusher.rule().on_sync {
                    true => cache.sync(file, commands),
                    false => Vec::new(),
                };
                (PageStep::Ready(0), held)
            }
        }
    }

    /// A reader has a page: it works on it, then goes on with the next, or with the next access.
    fn page_done(&mut self, readers: &mut Readers<'_>, reader: u32) {
        let position = &mut readers.positions[reader as usize];
        let access = readers.phase.readers[reader as usize].accesses[position.access];
        let Some((page, end)) = position.rest else { return };
        position.rest = (page + 1 < end).then_some((page + 1, end));
        if position.rest.is_none() {
            position.access += 1;
            self.measured.accesses += 1;
            self.measured.waits.note(std::mem::take(&mut position.waited_ns));
            if access.ask == Ask::Read {
                let read = read_of(readers, access);
                self.measured.delivered += access.bytes;
                self.cache.end(read, access.offset + access.bytes);
            }
        }
        readers.due.push(Reverse((self.now + self.rules.think_ns, reader)));
    }

    /// Turns what the cache wants done into I/Os.
    fn plan(&mut self) {
        for command in std::mem::take(&mut self.commands) {
            match command {
                PageCommand::Fetch(fetch) => self.plan_fetch(fetch),
                PageCommand::WriteBack(id) => {
                    let (file, page) = self.cache.place(id);
                    self.plan_write(file, page);
                }
                PageCommand::Drop(_) => {}
            }
        }
    }

    /// Writes a page back, in one I/O with the page before it where that has just been planned.
    fn plan_write(&mut self, file: FileNo, page: PageNo) {
        let place = self.place(file, page, 1);
        if let Some(last) = self.planned.last_mut()
            && let Purpose::WriteBack { file: same, first, pages } = &mut last.purpose
            && *same == file
            && *first + u64::from(*pages) == page
            && last.bytes + PAGE_BYTES <= self.rules.io_bytes_max
        {
            *pages += 1;
            last.bytes += PAGE_BYTES;
            return;
        }
        let purpose = Purpose::WriteBack { file, first: page, pages: 1 };
        self.planned.push(Planned { purpose, write: true, ..place });
    }

    fn plan_fetch(&mut self, fetch: Fetch) {
        let part_max = (self.rules.io_bytes_max / PAGE_BYTES).clamp(1, u64::from(u32::MAX));
        let Fetch { file, first, pages, .. } = fetch;
        let end = first + u64::from(pages);
        let mut from = first;
        while from < end {
            let pages = part_max.min(end - from) as u32;
            self.planned.push(self.place(file, from, pages));
            from += u64::from(pages);
        }
    }

    /// The I/O that fills these pages.
    fn place(&self, file: FileNo, first: PageNo, pages: u32) -> Planned {
        let offset = self.workload.files[file.0 as usize].offset + first * PAGE_BYTES;
        let purpose = Purpose::Fill { file, first, pages };
        Planned { purpose, write: false, offset, bytes: u64::from(pages) * PAGE_BYTES }
    }

    /// Hands over the I/Os of this instant, so that the device may join them.
    fn submit(&mut self) {
        self.plan();
        for planned in self.planned.drain(..) {
            self.flight.submit(self.now, planned, self.device);
        }
    }

    fn figures(mut self, case: &TimedCase) -> TimedFigures {
        let flight = self.flight;
        let measured = &mut self.measured;
        measured.elapsed_ns = self.now;
        measured.dirty_at_end = self.cache.dirty_pages();
        measured.busy_ns = flight.busy_until(self.now);
        (measured.latency_ns, measured.sizes) = (flight.latency_ns, flight.sizes);
        (measured.reads, measured.writes, measured.bytes) =
            (flight.reads, flight.writes, flight.bytes);
        TimedFigures::new(case, self.cache.account(), measured)
    }
}

fn read_of(readers: &Readers<'_>, access: TimedAccess) -> Read {
    let file = readers.handles[access.handle as usize];
    Read { file, offset: access.offset, bytes: access.bytes }
}
