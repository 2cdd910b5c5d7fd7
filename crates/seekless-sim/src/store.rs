//! What a store of an archive would ask of a device, and how long its loads would take.
//!
//! The live store (`seekless-io`) decides with three pieces of pure code: the cache of files
//! ([`Cache`]), the planner of reads ([`Planner`]) and what it knows of the device ([`Knowledge`]).
//! This drives the same three in the same order, with a device model in place of the device. So for
//! one reader it predicts the live store's requests and bytes one for one, and its time as well as
//! the model is true.
//!
//! The reader loads one file after another, and holds each for as long as it is told to. A load
//! takes the first way that has the file: the cache, what the program still holds, a kept read, a
//! read. What the program computes between
//! two loads, and what decoding takes, is given as [`Work`]; a read is not begun before.

mod listed;

#[cfg(test)]
mod tests;

pub use listed::listed;

use crate::error::Result;
use seekless_device::{Costs, CostsSource, DeviceModel, Io, Knowledge, Nanos, parts};
use seekless_policy::cache::{Cache, Config, Filled, Step};
use seekless_policy::eviction::{Id, Named, Request, named};
use seekless_policy::extents::Extent;
use seekless_policy::planner::{Answer, BLOCKS_IN_FLIGHT, Ended, Memory, Planner, Start, blocks};
use serde::Serialize;
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
}

/// The store to simulate.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The eviction policy by name.
    pub policy: String,
    /// Its caches.
    pub memory: Memory,
    /// What it knows of the device at first. Unless it was told, its reads revise this.
    pub costs: Costs,
    /// How it knows.
    pub source: CostsSource,
    /// What is computed.
    pub work: Work,
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
    /// Of these, those of files in the cache.
    pub hits: u64,
    /// Those of files that the cache had let go of, but that the program still held.
    pub revived: u64,
    /// Those of files that had come with another file's read.
    pub read_ahead_hits: u64,
    /// Requests to the device, of at most 1 MiB each, the opening included.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Time of the opening and of all loads, in nanoseconds.
    pub time_ns: u64,
    /// Of this, time in which the reader waited for the device.
    pub wait_ns: u64,
}

/// What a program does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Loads this entry, and holds it.
    Load(Id),
    /// Lets go of one load of this entry.
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
    Ok(StoreFigures { time_ns: reader.now, ..reader.figures })
}

/// As [`on_demand`], for a program that holds files for longer: a load of a file that it still
/// holds takes no I/O, even if the cache has let go of the file. A release of what is not held does
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
    Ok(StoreFigures { time_ns: reader.now, ..reader.figures })
}

struct Reader<'a> {
    archive: &'a Archive,
    cache: Cache<Named>,
    planner: Planner,
    knowledge: Knowledge,
    /// How many loads of each entry the program holds.
    held: Vec<u32>,
    ended: Ended,
    model: &'a mut dyn DeviceModel,
    now: Nanos,
    figures: StoreFigures,
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
        let mut reader = Self {
            archive,
            cache,
            planner: Planner::new(archive.extents.clone(), archive.alignment, memory, costs),
            knowledge: Knowledge::new(costs, source),
            held: vec![0; archive.extents.len()],
            ended: Ended::default(),
            model,
            now: 0,
            figures: StoreFigures::default(),
        };
        for &extent in &archive.opening {
            reader.wait_for(0, extent);
        }
        Ok(reader)
    }

    fn load(&mut self, id: Id, work: Work) {
        let bytes = self.archive.bytes[id as usize];
        self.figures.loads += 1;
        self.now += work.load_ns;
        let mut commands = Vec::new();
        self.make_room_for(id);
        if self.cache.step(&Request::file(id, bytes), &mut commands) == Step::Ready {
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
            self.cache.complete(id, Filled::Yes, &mut commands);
        }
    }

    fn fetch(&mut self, id: Id) {
        match self.planner.demand(id, has(&self.cache)) {
            Answer::Kept(_) => self.figures.read_ahead_hits += 1,
            Answer::Read(start) => self.read(start),
            // One reader that waits for its read has none under way.
            Answer::Joined(start) => start.into_iter().for_each(|start| self.read(start)),
        }
    }

    /// The cache of files takes its share of the memory, which what is known of the device may have
    /// changed. The live store does so at a load that is no hit.
    fn make_room_for(&mut self, id: Id) {
        let bytes = self.planner.files_bytes();
        if !has(&self.cache)(id) && self.cache.config().capacity != bytes {
            self.cache.set_config(Config::files(bytes), &mut Vec::new());
        }
    }

    fn read(&mut self, Start { tag, extent, alone }: Start) {
        self.knowledge.sent(tag, self.now);
        let bytes = match alone {
            Some(_) => self.wait_for_blocks(tag, extent),
            None => {
                let there = self.there(extent);
                self.wait_for(tag, there);
                there.bytes
            }
        };
        // Of a large read, which waits for the decoder too, the live store learns nothing.
        let known = alone.is_none().then_some(bytes);
        if let Some(costs) = self.knowledge.ended(tag, known, self.now) {
            self.planner.set_costs(costs);
        }
        self.planner.ended(tag, bytes, has(&self.cache), &mut self.ended);
    }

    /// As much of an extent as lies in the archive.
    fn there(&self, extent: Extent) -> Extent {
        let bytes = extent.bytes.min(self.archive.file_bytes.saturating_sub(extent.offset));
        Extent { bytes, ..extent }
    }

    /// Submits a read of as much of an extent as lies in the archive. Returns how much.
    fn submit(&mut self, tag: u64, extent: Extent) -> u64 {
        let there = self.there(extent);
        self.ask(tag, there);
        there.bytes
    }

    fn ask(&mut self, tag: u64, Extent { offset, bytes }: Extent) {
        self.figures.requests += parts(bytes);
        self.figures.bytes += bytes;
        self.model.submit(self.now, Io { tag, write: false, offset, bytes });
    }

    /// Reads an extent in blocks, several at once. Returns how much was read.
    fn wait_for_blocks(&mut self, tag: u64, extent: Extent) -> u64 {
        let (mut rest, mut bytes, mut in_flight) = (blocks(extent), 0, 0);
        for block in rest.by_ref().take(BLOCKS_IN_FLIGHT) {
            bytes += self.submit(tag, block);
            in_flight += 1;
        }
        while in_flight > 0
            && let Some(next) = self.model.next_event()
        {
            let (mut now, mut ended) = (self.now, 0);
            self.model.advance(next, &mut |end, _| (now, ended) = (now.max(end), ended + 1));
            self.figures.wait_ns += now - self.now;
            (self.now, in_flight) = (now, in_flight - ended);
            for block in rest.by_ref().take(ended) {
                bytes += self.submit(tag, block);
                in_flight += 1;
            }
        }
        bytes
    }

    /// Asks the device for an extent, and waits for it.
    fn wait_for(&mut self, tag: u64, extent: Extent) {
        self.ask(tag, extent);
        let (mut now, mut ended) = (self.now, false);
        while !ended && let Some(next) = self.model.next_event() {
            self.model.advance(next, &mut |end, _| (now, ended) = (end, true));
        }
        self.figures.wait_ns += now - self.now;
        self.now = now;
    }
}

/// Whether the cache has the bytes of an entry.
fn has(cache: &Cache<Named>) -> impl Fn(Id) -> bool {
    |id| cache.resident(id) && !cache.in_flight(id)
}
