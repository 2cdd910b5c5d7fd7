//! What one lock guards: the decisions, where the bytes of each page are, and the files.

mod stuck;
pub(super) mod write_back;
pub(super) mod writes;

use super::flight::Flight;
use super::frame::{FRAME_BYTES, Frame, Pool};
use super::source::{Key, Source, Version};
use foldhash::fast::RandomState;
use seekless_policy::cache::Filled;
use seekless_policy::cache::paged::{Fetch, FileNo, PageCommand, PageStep, PagedCache};
use seekless_policy::eviction::{Id, Named};
use seekless_policy::readahead::{Handle, PageNo, Read};
use std::collections::{HashMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::Arc;
use stuck::Stuck;
use write_back::Writing;
use writes::Writes;

/// Files without a handle whose pages are kept.
const CLOSED_FILES_MAX: usize = 4096;

/// A demand of at most this many pages is read by the thread that waits for it.
const OWN_PAGES_MAX: u32 = 64;

/// Pages that a thread waits for, and how many write-backs of each must have ended.
pub(super) type Needs = Vec<(Id, u32)>;

/// Where the bytes of a page are.
#[derive(Clone, Debug, Default)]
pub(super) enum Place {
    /// Nowhere.
    #[default]
    Nowhere,
    /// On their way.
    Flying(Arc<Flight>),
    /// Here.
    Held(Frame),
}

/// A read to be made.
#[derive(Debug)]
pub(super) struct Start {
    pub(super) tag: u64,
    /// Whether a read waits for it.
    pub(super) demand: bool,
    pub(super) flying: Flying,
}

impl Start {
    /// Whether the thread that waits for it makes it, if it is the only one: a large one takes so
    /// long that the way through the engine does not matter.
    pub(super) fn is_own(&self) -> bool {
        self.demand && self.flying.pages() <= OWN_PAGES_MAX as usize
    }
}

/// A read that is under way.
#[derive(Clone, Debug)]
pub(super) struct Flying {
    pub(super) flight: Arc<Flight>,
    pub(super) source: Arc<Source>,
    pub(super) file: FileNo,
    pub(super) pages: Range<PageNo>,
    /// The file as it was when the read began: which of its contents, and its end as a byte.
    generation: u64,
    end: u64,
}

impl Flying {
    pub(super) fn pages(&self) -> usize {
        (self.pages.end - self.pages.start) as usize
    }

    pub(super) fn offset(&self) -> u64 {
        self.pages.start * FRAME_BYTES as u64
    }

    /// The file's end as a byte, when the read began.
    pub(super) fn end(&self) -> u64 {
        self.end
    }
}

/// A file that has pages or handles.
#[derive(Debug)]
pub(super) struct Known {
    key: Key,
    /// `None` while it has no handle and nothing to be written: a file that is only remembered
    /// takes no descriptor.
    pub(super) source: Option<Arc<Source>>,
    pub(super) version: Version,
    /// Counts the changes that made what was read before untrue.
    pub(super) generation: u64,
    pub(super) handles: u32,
    /// Since it was opened to write.
    pub(super) writes: Option<Box<Writes>>,
}

/// All that is known of the cache.
#[derive(Debug)]
pub(super) struct State {
    pub(super) cache: PagedCache<Named>,
    pub(super) pool: Arc<Pool>,
    pub(super) places: Vec<Place>,
    /// By their numbers, which are dense.
    pub(super) files: Vec<Option<Known>>,
    by_key: HashMap<Key, FileNo>,
    /// Files without a handle, the oldest first, with some that have been opened again.
    pub(super) closed: VecDeque<FileNo>,
    /// Files without a handle that have dirty pages, as `closed`.
    pub(super) unwritten: VecDeque<FileNo>,
    /// The reads that the engine has.
    flying: HashMap<u64, Flying, RandomState>,
    /// How many reads their readers make themselves.
    own: usize,
    /// Writes that are decided on, and not yet the engine's.
    pub(super) due: Vec<Writing>,
    /// The writes that the engine has.
    pub(super) writing: HashMap<u64, Writing, RandomState>,
    /// Pages whose last write-back failed.
    pub(super) stuck: Stuck,
    /// How many write-backs of each page have ended.
    pub(super) ended: Vec<u32>,
    /// The first error of a write-back that no sync has reported, for a file that is forgotten.
    pub(super) untold: Option<io::Error>,
    pub(super) next_tag: u64,
    pub(super) command_pages: u32,
    pub(super) commands: Vec<PageCommand>,
}

impl State {
    pub(super) fn new(cache: PagedCache<Named>, pool: Arc<Pool>, command_pages: u32) -> Self {
        Self {
            cache,
            pool,
            places: Vec::new(),
            files: Vec::new(),
            by_key: HashMap::new(),
            closed: VecDeque::new(),
            unwritten: VecDeque::new(),
            flying: HashMap::default(),
            own: 0,
            due: Vec::new(),
            writing: HashMap::default(),
            stuck: Stuck::default(),
            ended: Vec::new(),
            untold: None,
            next_tag: 0,
            command_pages,
            commands: Vec::new(),
        }
    }

    /// Opens a handle on a file, which may be known from an earlier one.
    pub(super) fn open(
        &mut self,
        mut source: Arc<Source>,
        version: Version,
    ) -> (Handle, Arc<Source>) {
        let key = source.key();
        let number = match self.by_key.get(&key) {
            Some(&number) => number,
            None => {
                let number = self.cache.add_file(pages(version.bytes));
                self.by_key.insert(key, number);
                let place = number.0 as usize;
                self.files.resize_with(self.files.len().max(place + 1), || None);
                self.files[place] = Some(Known {
                    key,
                    source: None,
                    version,
                    generation: 0,
                    handles: 0,
                    writes: None,
                });
                number
            }
        };
        let known = self.known_mut(number).expect("just found or made");
        if let (Some(old), Some(new)) = (&known.source, Arc::get_mut(&mut source)) {
            new.share(old);
        }
        self.refresh(number, version);
        let known = self.known_mut(number).expect("just found or made");
        known.handles += 1;
        if source.is_writable() && known.writes.is_none() {
            known.writes = Some(Box::new(Writes::new(version.bytes)));
        }
        let keeps = |old: &Arc<Source>| old.is_writable() || !source.is_writable();
        let source = match known.source.as_ref().filter(|old| keeps(old)) {
            Some(old) => Arc::clone(old),
            None => Arc::clone(known.source.insert(source)),
        };
        (self.cache.open(number), source)
    }

    pub(super) fn close(&mut self, handle: Handle) {
        let number = self.cache.file(handle);
        self.cache.close(handle);
        let Some(known) = self.known_mut(number) else { return };
        known.handles -= 1;
        if known.handles > 0 {
            return;
        }
        if known.writes.is_some() && self.cache.is_unwritten(number) {
            self.unwritten.push_back(number);
        } else {
            self.retire(number);
        }
    }

    /// A file without a handle has nothing left to be written: its pages stay, its descriptor does
    /// not.
    pub(super) fn retire(&mut self, number: FileNo) {
        self.end_writes(number);
        let Some(known) = self.known_mut(number) else { return };
        known.source = None;
        self.closed.push_back(number);
        while self.closed.len() > CLOSED_FILES_MAX {
            let Some(oldest) = self.closed.pop_front() else { return };
            // One that was opened again and closed has a later place, or something to be written.
            if self.known(oldest).is_some_and(Known::is_only_remembered) {
                self.forget(oldest);
            }
        }
    }

    pub(super) fn known(&self, number: FileNo) -> Option<&Known> {
        self.files.get(number.0 as usize)?.as_ref()
    }

    pub(super) fn known_mut(&mut self, number: FileNo) -> Option<&mut Known> {
        self.files.get_mut(number.0 as usize)?.as_mut()
    }

    /// What a file has that is open to write.
    pub(super) fn writes_mut(&mut self, number: FileNo) -> Option<&mut Writes> {
        self.known_mut(number)?.writes.as_deref_mut()
    }

    fn forget(&mut self, number: FileNo) {
        if let Some(known) = self.files[number.0 as usize].take() {
            self.by_key.remove(&known.key);
            self.cache.remove_file(number, &mut self.commands);
            self.carry_out(&mut Vec::new());
        }
    }

    /// Forgets all pages of all files, but for what the device lacks.
    pub(super) fn clear(&mut self) {
        for number in (0..self.files.len() as u32).map(FileNo) {
            match self.known(number).map(Known::is_only_remembered) {
                Some(true) => self.forget(number),
                Some(false) => self.discard(number, 0..PageNo::MAX),
                None => {}
            }
        }
    }

    /// The file was looked at. If it has changed, what is cached of it is no longer true.
    pub(super) fn refresh(&mut self, number: FileNo, version: Version) {
        let Some(known) = self.known_mut(number) else { return };
        if known.version != version {
            if known.writes.is_some() {
                return self.refresh_written(number);
            }
            known.version = version;
            known.generation += 1;
            self.cache.discard(number, 0..PageNo::MAX, &mut self.commands);
            self.cache.set_pages(number, pages(version.bytes), &mut self.commands);
            self.carry_out(&mut Vec::new());
        }
    }

    pub(super) fn begin(&mut self, read: Read, starts: &mut Vec<Start>) {
        self.cache.begin(read, &mut self.commands);
        self.carry_out(starts);
    }

    /// Where the bytes of a page of the read are, or will be.
    pub(super) fn page(&mut self, read: Read, page: PageNo, starts: &mut Vec<Start>) -> Place {
        let step = self.cache.page(read, page, &mut self.commands);
        self.carry_out(starts);
        match step {
            PageStep::Ready(id) | PageStep::Wait(id) => self.places[id as usize].clone(),
            PageStep::Bypass => Place::Nowhere,
        }
    }

    pub(super) fn will_need(
        &mut self,
        handle: Handle,
        pages: Range<PageNo>,
        starts: &mut Vec<Start>,
    ) -> u32 {
        let started = self.cache.will_need(handle, pages, &mut self.commands);
        self.carry_out(starts);
        started
    }

    /// These pages leave the cache, but for those that the device lacks.
    pub(super) fn discard(&mut self, file: FileNo, pages: Range<PageNo>) {
        self.cache.discard_clean(file, pages, &mut self.commands);
        self.carry_out(&mut Vec::new());
    }

    pub(super) fn carry_out(&mut self, starts: &mut Vec<Start>) {
        let mut commands = std::mem::take(&mut self.commands);
        for command in commands.drain(..) {
            match command {
                PageCommand::Drop(id) => *self.place(id) = Place::Nowhere,
                PageCommand::Fetch(fetch) => self.fetch(fetch, starts),
                PageCommand::WriteBack(id) => self.write_back(id),
            }
        }
        self.commands = commands;
    }

    pub(super) fn place(&mut self, id: Id) -> &mut Place {
        if self.places.len() <= id as usize {
            let ids = self.cache.ids_end() as usize;
            self.places.resize(ids.max(2 * self.places.len()), Place::Nowhere);
        }
        &mut self.places[id as usize]
    }

    /// Makes commands of a fetch. They are cut where the file's commands would be, so that two
    /// windows that meet ask for the same ones.
    fn fetch(&mut self, fetch: Fetch, starts: &mut Vec<Start>) {
        let known = self.known(fetch.file).expect("what is fetched is of a known file");
        let source = Arc::clone(known.source.as_ref().expect("what is fetched has a handle"));
        let (generation, end) = (known.generation, known.version.bytes);
        for page in fetch.range() {
            let joins = starts.last_mut().filter(|last| {
                last.flying.file == fetch.file
                    && last.flying.pages.end == page
                    && last.flying.pages() < self.command_pages as usize
                    && last.demand == fetch.demand
            });
            let flight = match joins {
                Some(last) => {
                    last.flying.pages.end += 1;
                    Arc::clone(&last.flying.flight)
                }
                None => {
                    let flight = Arc::new(Flight::new(page));
                    let flying = Flying {
                        flight: Arc::clone(&flight),
                        source: Arc::clone(&source),
                        file: fetch.file,
                        pages: page..page + 1,
                        generation,
                        end,
                    };
                    starts.push(Start { tag: self.next_tag, demand: fetch.demand, flying });
                    self.next_tag += 1;
                    flight
                }
            };
            if let Some(id) = self.cache.id(fetch.file, page) {
                *self.place(id) = Place::Flying(flight);
            }
        }
    }

    /// These reads are made now: by the engine, or by the calling thread if it is a single one that
    /// a read waits for.
    pub(super) fn take_off(&mut self, starts: &[Start]) {
        if let [start] = starts
            && start.is_own()
        {
            start.flying.flight.make_own();
            self.own += 1;
        } else {
            for start in starts {
                self.flying.insert(start.tag, start.flying.clone());
            }
        }
        self.tell_depth();
    }

    /// A read of the engine has ended.
    pub(super) fn touch_down(&mut self, tag: u64) -> Option<Flying> {
        let flying = self.flying.remove(&tag);
        self.tell_depth();
        flying
    }

    pub(super) fn tell_depth(&mut self) {
        let ios = self.flying.len() + self.own + self.writing.len();
        self.cache.set_ios_in_flight(u32::try_from(ios).unwrap_or(u32::MAX));
    }

    /// A read that its reader made itself has ended: as [`settle`](Self::settle).
    pub(super) fn settle_own(&mut self, flying: &Flying, frames: &mut [Option<Frame>]) {
        self.own -= 1;
        self.tell_depth();
        self.settle(flying, frames);
    }

    /// Takes the pages of an ended read in. If the file has changed meanwhile, they may be as it
    /// was before: then they are forgotten.
    pub(super) fn settle(&mut self, flying: &Flying, frames: &mut [Option<Frame>]) {
        let known = self.known(flying.file);
        let is_true = known.is_some_and(|known| known.generation == flying.generation);
        if !is_true {
            frames.fill(None);
        }
        for (page, frame) in flying.pages.clone().zip(frames) {
            let Some(id) = self.cache.id(flying.file, page) else { continue };
            let place = self.place(id);
            if !matches!(place, Place::Flying(flight) if Arc::ptr_eq(flight, &flying.flight)) {
                continue;
            }
            *place = frame.clone().map_or(Place::Nowhere, Place::Held);
            let filled = if frame.is_some() { Filled::Yes } else { Filled::Failed };
            self.cache.complete(id, filled, &mut self.commands);
        }
        self.carry_out(&mut Vec::new());
    }
}

impl Known {
    /// Whether it has neither a handle nor anything to be written.
    fn is_only_remembered(&self) -> bool {
        self.handles == 0 && self.writes.is_none()
    }
}

/// Pages of a file of `bytes` bytes.
pub(super) fn pages(bytes: u64) -> u64 {
    bytes.div_ceil(FRAME_BYTES as u64)
}
