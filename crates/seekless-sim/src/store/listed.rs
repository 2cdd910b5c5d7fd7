//! A list of loads that is known beforehand: `Store::load_many` of the live store, on a model.
//!
//! The store asks for a window of files, has their reads planned together, and asks for more once
//! half of the window was handed out. Several reads are in flight; the consumer takes each file as
//! it arrives and computes nothing. What was cached is handed out before what arrived, and what
//! arrived in its order, as the live store does.

use super::{Archive, Reader, Settings, StoreFigures};
use crate::error::Result;
use seekless_device::DeviceModel;
use seekless_policy::cache::{Filled, Step};
use seekless_policy::eviction::{Id, Request};
use std::collections::VecDeque;

/// Files in the window, however small they are; as the live store has it.
const WINDOW_FILES_MAX: u64 = 8192;

/// Loads `loads`, entries by number, as one list on an idle device. What is computed between loads
/// ([`Settings::work`]) is left out: it passes while reads are under way.
///
/// # Errors
/// There is no such policy, or it needs to know the future.
pub fn listed(
    archive: &Archive,
    loads: &[Id],
    settings: &Settings,
    model: &mut dyn DeviceModel,
) -> Result<StoreFigures> {
    let reader = Reader::open(archive, settings, model)?;
    let waiting = vec![0; archive.extents.len()];
    let mut listing = Listing {
        reader,
        loads,
        next: 0,
        files: 0,
        bytes: 0,
        cached: VecDeque::new(),
        arrived: VecDeque::new(),
        waiting,
    };
    while listing.step() {}
    Ok(listing.reader.figures())
}

struct Listing<'a> {
    reader: Reader<'a>,
    loads: &'a [Id],
    /// Loads before this position have been asked for.
    next: usize,
    /// What has been asked for and was not yet handed out.
    files: u64,
    bytes: u128,
    /// What was cached, and what has arrived, and was not yet handed out.
    cached: VecDeque<Id>,
    arrived: VecDeque<Id>,
    /// How many loads wait for each entry.
    waiting: Vec<u32>,
}

impl Listing<'_> {
    /// Hands out what has arrived, or waits for the device. False at the end.
    fn step(&mut self) -> bool {
        self.refill();
        if self.files == 0 {
            return false;
        }
        match self.cached.pop_front().or_else(|| self.arrived.pop_front()) {
            Some(id) => {
                self.files -= 1;
                self.bytes -= self.memory_bytes(id);
                true
            }
            None => self.wait(),
        }
    }

    /// Fills the window again once half of it has been used.
    fn refill(&mut self) {
        let window = u128::from(self.reader.planner.window_bytes());
        let has_room = |files, bytes| files < WINDOW_FILES_MAX && bytes < window;
        if self.next == self.loads.len() || !has_room(self.files * 2, self.bytes * 2) {
            return;
        }
        let mut fetch = Vec::new();
        while self.next < self.loads.len() && (self.files == 0 || has_room(self.files, self.bytes))
        {
            let id = self.loads[self.next];
            self.next += 1;
            self.files += 1;
            self.bytes += self.memory_bytes(id);
            self.ask(id, &mut fetch);
        }
        self.fetch(fetch);
    }

    fn ask(&mut self, id: Id, fetch: &mut Vec<Id>) {
        self.reader.make_room_for(id);
        self.reader.planner.loaded(id);
        self.reader.figures.loads += 1;
        let mut commands = Vec::new();
        let request = Request::file(id, self.reader.archive.bytes[id as usize]);
        let step = self.reader.cache.step(&request, &mut commands);
        self.reader.let_go(&commands);
        if step == Step::Ready {
            self.reader.figures.hits += 1;
            self.cached.push_back(id);
            return;
        }
        self.waiting[id as usize] += 1;
        if self.waiting[id as usize] == 1 {
            fetch.push(id);
        }
    }

    fn fetch(&mut self, mut ids: Vec<Id>) {
        let (mut found, mut starts) = (Vec::new(), Vec::new());
        self.reader.planner.plan(&mut ids, &mut found, &mut starts);
        self.reader.figures.read_ahead_hits += found.len() as u64;
        found.iter().for_each(|&(id, _)| self.arrived(id));
        self.reader.submit(self.reader.now, &starts);
    }

    /// Waits for the next read to end. False if none is under way.
    fn wait(&mut self) -> bool {
        let Some(next) = self.reader.model.next_event() else { return false };
        for (end, io) in self.reader.done(next) {
            self.reader.wait_until(end);
            let arrived = self.reader.ended(end, io).to_vec();
            arrived.into_iter().for_each(|id| self.arrived(id));
        }
        true
    }

    fn arrived(&mut self, id: Id) {
        if self.reader.cache.in_flight(id) {
            let mut commands = Vec::new();
            self.reader.cache.complete(id, Filled::Yes, &mut commands);
            self.reader.let_go(&commands);
        }
        let waiters = std::mem::take(&mut self.waiting[id as usize]);
        self.arrived.extend((0..waiters).map(|_| id));
    }

    /// Coded and decoded bytes, which count against the window.
    fn memory_bytes(&self, id: Id) -> u128 {
        let Archive { extents, bytes, .. } = self.reader.archive;
        u128::from(extents[id as usize].bytes) + u128::from(bytes[id as usize])
    }
}
