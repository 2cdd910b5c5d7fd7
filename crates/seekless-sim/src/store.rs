//! What a store of an archive would ask of a device, and how long its loads would take.
//!
//! The live store (`seekless-io`) decides with three pieces of pure code: the cache of files
//! ([`Cache`]), the planner of reads ([`Planner`]) and what it knows of the device ([`Knowledge`]).
//! This drives the same three in the same order, with a device model in place of the device. So for
//! one reader it predicts the live store's requests and bytes one for one, and its time as well as
//! the model is true.
//!
//! The reader loads one file after another, and holds each for a given time. A load takes the first
//! way that has the file: the cache, what the program still holds, a kept read, a read. What the
//! program computes between two loads, and what decoding takes, is given as [`Work`]; a read is not
//! begun before.

mod large;
mod listed;
mod waited;

#[cfg(test)]
mod tests;

pub use listed::listed;
pub use waited::{DemandRead, demand_reads};

use crate::error::Result;
use large::{Block, Large};
use seekless_device::{Brought, Costs, CostsSource, DeviceModel, Io, Knowledge, Nanos};
use seekless_policy::cache::{Cache, Command, Config, Filled, Step, Together};
use seekless_policy::eviction::{Id, Named, Request, named};
use seekless_policy::foresight::alike::Alike;
use seekless_policy::foresight::prediction::{Model, Prediction, Score};
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::{Answer, Ended, Memory, Planner, Start};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// An archive, as its directory describes it.
#[derive(Clone, Debug)]
pub struct Archive {
    /// Where each entry lies, from its local header to the next, by offset.
    pub extents: Arc<[Extent]>,
    /// Bytes of each entry's content.
    pub bytes: Vec<u64>,
    /// Length of the archive: no read goes beyond it.
    pub file_bytes: u64,
    /// Reads begin and end at multiples of this number of bytes.
    pub alignment: u64,
    /// What opening the archive asks of the device, one after another; 0 bytes for the open itself.
    /// Offsets count from the archive's first byte; what lies before it has offsets that wrap
    /// around.
    pub opening: Vec<Extent>,
    /// What is alike by name, if the store predicts by names.
    pub names: Option<Arc<Alike>>,
}

/// The store to simulate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The eviction policy by name.
    pub policy: String,
    /// Its caches.
    pub memory: Memory,
    /// Bytes of the units of the archive whose files leave the cache together ([`Together`]).
    /// `None`: each leaves by itself.
    pub together_bytes: Option<u64>,
    /// What it knows of the device at first. Unless the costs were given, its reads revise them.
    pub costs: Costs,
    /// How it knows.
    pub source: CostsSource,
    /// What is computed.
    pub work: Work,
    /// What it knows of the program's loads.
    pub prediction: Option<Model>,
}

/// Time that passes between reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// For each load.
    pub load_ns: Nanos,
    /// For each decoded mebibyte: loads that the cache of files does not have.
    pub mebibyte_ns: Nanos,
}

/// What the loads came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StoreFigures {
    /// Loads.
    pub loads: u64,
    /// Loads of files in the cache.
    pub hits: u64,
    /// Loads of files that the cache had released, but that the program still held.
    pub revived: u64,
    /// Loads of files that had come with another file's read.
    pub read_ahead_hits: u64,
    /// Requests to the device, of as many bytes as it takes at once, the opening included.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Time of the opening and of all loads, in nanoseconds.
    pub time_ns: u64,
    /// Of this, time in which the reader waited for the device.
    pub wait_ns: u64,
    /// Loads whose file was on its way with a read that had begun before.
    pub joined: u64,
    /// Of the wait, that of these loads.
    pub joined_wait_ns: u64,
    /// Bytes of the archive that were read ahead since their files were expected.
    pub predicted_bytes: u64,
    /// Of these, bytes of files that were loaded afterwards.
    pub predicted_used_bytes: u64,
}

/// What a program does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Loads this entry, and holds it.
    Load(Id),
    /// Releases one load of this entry.
    Release(Id),
}

/// Loads `loads` one after another, each an entry by number, on an idle device. Each is released
/// before the next.
///
/// # Errors
/// There is no such policy, or it needs to know the future.
pub fn on_demand(
    archive: &Archive,
    loads: &[Id],
    settings: &Settings,
    model: &mut dyn DeviceModel,
) -> Result<StoreFigures> {
    let mut reader = Reader::open(archive, settings, model)?;
    loads.iter().for_each(|&id| reader.load(id, settings.work));
    Ok(reader.figures())
}

/// As [`on_demand`], for a program that holds files for longer: a load of a file that it still
/// holds takes no I/O, even if the cache has released the file. A release of what is not held does
/// nothing.
///
/// # Errors
/// As [`on_demand`].
pub fn on_demand_held(
    archive: &Archive,
    events: &[Event],
    settings: &Settings,
    model: &mut dyn DeviceModel,
) -> Result<StoreFigures> {
    let mut reader = Reader::open(archive, settings, model)?;
    for &event in events {
        match event {
            Event::Load(id) => {
                reader.load(id, settings.work);
                reader.held[id as usize] += 1;
            }
            Event::Release(id) => {
                let held = &mut reader.held[id as usize];
                *held = held.saturating_sub(1);
            }
        }
    }
    Ok(reader.figures())
}

struct Reader<'a> {
    archive: &'a Archive,
    cache: Cache<Named>,
    planner: Planner,
    knowledge: Knowledge,
    /// How many loads of each entry the program holds.
    held: Vec<u32>,
    /// Large reads under way, by tag.
    large: BTreeMap<u64, Large>,
    ended: Ended,
    model: &'a mut dyn DeviceModel,
    now: Nanos,
    figures: StoreFigures,
    /// What loads waited for, if that is asked.
    reads: Option<Vec<DemandRead>>,
}

impl<'a> Reader<'a> {
    /// A reader that has read the archive's directory.
    fn open(
        archive: &'a Archive,
        settings: &Settings,
        model: &'a mut dyn DeviceModel,
    ) -> Result<Self> {
        let Settings { ref policy, memory, costs, source, .. } = *settings;
        let config = Config::files(memory.files_bytes(&costs));
        let mut cache = Cache::new(named(policy, config.capacity)?, config)?;
        cache.grow(archive.extents.len() as u32);
        if let Some(unit_bytes) = settings.together_bytes {
            cache.leave_together(Together::new(&archive.extents, unit_bytes));
        }
        let mut reader = Self {
            archive,
            cache,
            planner: Planner::new(archive.extents.clone(), archive.alignment, memory, costs),
            knowledge: Knowledge::new(costs, source),
            held: vec![0; archive.extents.len()],
            large: BTreeMap::new(),
            ended: Ended::default(),
            model,
            now: 0,
            figures: StoreFigures::default(),
            reads: None,
        };
        reader.read_directory();
        if let Some(model) = &settings.prediction {
            let prediction = Prediction::new(model.clone(), archive.extents.clone());
            let prediction = prediction.map(|prediction| match &archive.names {
                Some(names) => prediction.with_names(names.clone()),
                None => prediction,
            });
            reader.planner.set_prediction(prediction);
        }
        Ok(reader)
    }

    /// The figures so far.
    fn figures(&self) -> StoreFigures {
        let Score { bytes, used_bytes, .. } = self.planner.score();
        StoreFigures {
            time_ns: self.now,
            predicted_bytes: bytes,
            predicted_used_bytes: used_bytes,
            ..self.figures
        }
    }

    fn load(&mut self, id: Id, work: Work) {
        let bytes = self.archive.bytes[id as usize];
        self.figures.loads += 1;
        self.now += work.load_ns;
        self.catch_up();
        self.make_room_for(id);
        self.planner.loaded(id);
        let mut commands = Vec::new();
        let step = self.cache.step(&Request::file(id, bytes), &mut commands);
        self.let_go(&commands);
        if step == Step::Ready {
            self.figures.hits += 1;
            return;
        }
        if self.held[id as usize] > 0 {
            self.figures.revived += 1;
        } else {
            self.fetch(id);
            self.now += ((u128::from(bytes) * u128::from(work.mebibyte_ns)) >> 20) as Nanos;
        }
        if self.cache.in_flight(id) {
            commands.clear();
            self.cache.complete(id, Filled::Yes, &mut commands);
            self.let_go(&commands);
        }
    }

    fn fetch(&mut self, id: Id) {
        let mut starts = Vec::new();
        let joined = self.figures.joined;
        let comes = match self.planner.demand(id, has(&self.cache)) {
            Answer::Kept(_) => {
                self.figures.read_ahead_hits += 1;
                false
            }
            Answer::Read(start) => {
                let read = DemandRead { id, extent: start.extent };
                self.reads.iter_mut().for_each(|reads| reads.push(read));
                starts.push(start);
                true
            }
            Answer::Joined(start) => {
                starts.extend(start);
                self.figures.joined += 1;
                true
            }
        };
        self.planner.foresee(has(&self.cache), &mut starts);
        self.submit(self.now, &starts);
        if comes {
            let before = self.figures.wait_ns;
            self.wait_for(id);
            if self.figures.joined > joined {
                self.figures.joined_wait_ns += self.figures.wait_ns - before;
            }
        }
    }

    /// The cache of files takes its share of the memory, which what is known of the device may have
    /// changed. The live store does so at a load that is no hit.
    fn make_room_for(&mut self, id: Id) {
        let bytes = self.planner.files_bytes();
        if !has(&self.cache)(id) && self.cache.config().capacity != bytes {
            let mut commands = Vec::new();
            self.cache.set_config(Config::files(bytes), &mut commands);
            self.let_go(&commands);
        }
    }

    /// Reports to the planner the files that the cache has released.
    fn let_go(&mut self, commands: &[Command]) {
        for command in commands {
            if let Command::Drop(victim) = command {
                self.planner.evicted(*victim);
            }
        }
    }

    /// Submits reads at time `when`.
    fn submit(&mut self, when: Nanos, starts: &[Start]) {
        for start in starts {
            self.knowledge.sent(start.tag, when);
            match start.alone {
                Some(_) => self.begin_large(when, start),
                None => self.ask_there(when, start.tag, start.extent),
            }
        }
    }

    /// Asks the device for as much of an extent as lies in the archive.
    fn ask_there(&mut self, when: Nanos, tag: u64, extent: Extent) {
        let there = self.archive.file_bytes.saturating_sub(extent.offset);
        self.ask(when, tag, Extent { bytes: extent.bytes.min(there), ..extent });
    }

    /// Asks the device for an extent, which need not lie in the archive: what leads to it, such as
    /// its folder, lies elsewhere.
    fn ask(&mut self, when: Nanos, tag: u64, Extent { offset, bytes }: Extent) {
        self.figures.requests += self.model.requests(bytes);
        self.figures.bytes += bytes;
        self.model.submit(when, Io { tag, write: false, offset, bytes });
    }

    /// Waits until a read has brought `id`.
    fn wait_for(&mut self, id: Id) {
        let mut arrived = false;
        while !arrived && let Some(next) = self.model.next_event() {
            self.wait_until(next);
            for (end, io) in self.done(next) {
                arrived |= self.ended(end, io).contains(&id);
            }
        }
    }

    /// Takes in the reads that ended while the program computed.
    fn catch_up(&mut self) {
        while let Some(next) = self.model.next_event()
            && next <= self.now
        {
            for (end, io) in self.done(next) {
                self.ended(end, io);
            }
        }
    }

    fn wait_until(&mut self, time: Nanos) {
        self.figures.wait_ns += time.saturating_sub(self.now);
        self.now = self.now.max(time);
    }

    /// The requests that end at `time`, and when exactly.
    fn done(&mut self, time: Nanos) -> Vec<(Nanos, Io)> {
        let mut done = Vec::new();
        self.model.advance(time, &mut |end, io| done.push((end, io)));
        done
    }

    /// A request has ended at `end`. Submits what follows it at once, even if the program still
    /// computes, since the live store's workers do not wait for the program. Returns what its read
    /// was to bring, once all of that has come.
    fn ended(&mut self, end: Nanos, io: Io) -> &[Id] {
        let (bytes, brought) = match self.block_ended(end, &io) {
            Block::OfNone => (io.bytes, Brought::Bytes(io.bytes)),
            Block::Last(bytes) => (bytes, Brought::Pieces(bytes)),
            Block::Earlier => return &[],
        };
        if let Some(costs) = self.knowledge.ended(io.tag, brought, end) {
            self.planner.set_costs(costs);
        }
        self.planner.ended(io.tag, bytes, has(&self.cache), &mut self.ended);
        let mut starts = std::mem::take(&mut self.ended.starts);
        self.planner.foresee(has(&self.cache), &mut starts);
        self.submit(end, &starts);
        self.ended.starts = starts;
        &self.ended.arrived
    }

    /// Opens the archive: one extent after another.
    fn read_directory(&mut self) {
        for &extent in &self.archive.opening {
            self.ask(self.now, 0, extent);
            let mut ended = false;
            while !ended && let Some(next) = self.model.next_event() {
                self.wait_until(next);
                ended = !self.done(next).is_empty();
            }
        }
    }
}

/// Whether the cache has the bytes of an entry.
fn has(cache: &Cache<Named>) -> impl Fn(Id) -> bool {
    |id| cache.resident(id) && !cache.in_flight(id)
}
