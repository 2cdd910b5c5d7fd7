//! io_uring where calls stop: the requests that wait in a ring when the kernel is called to take
//! them (io_uring_enter), and the results that have come by then. A ring that a thread of the
//! kernel empties (SQPOLL) needs no such call: it is counted as not seen.

use super::Tracer;
use super::handed_over::{HandedOver, bytes_of_parts};
use super::rows::Outcome;
use crate::call::{Call, Offset};
use crate::descriptions::DescriptionId;
use crate::inspect;
use crate::request_key::Owner;
use hashbrown::HashMap;
use seekless_watch::ring_view::{PARAMETERS_BYTES, RingEntry, RingFile, RingShape};
use std::collections::BTreeMap;
use std::io;
use std::ops::RangeInclusive;

/// Operations that move bytes of a file: READV, READ_FIXED, READ, READV_FIXED, and so on.
const READS: [u8; 4] = [1, 4, 22, 60];
const WRITES: [u8; 4] = [2, 5, 23, 61];
const FSYNC: u8 = 3;
/// Those whose length counts parts of memory.
const VECTORS: [u8; 4] = [1, 2, 60, 61];

/// io_uring_enter's flag: its first argument is a number that io_uring_register has given.
const ENTER_REGISTERED: u64 = 1 << 4;
/// Of io_uring_register.
const REGISTER_FILES: u32 = 2;
const UNREGISTER_FILES: u32 = 3;
const UPDATE_FILES: u32 = 6;
const REGISTER_FILES_2: u32 = 13;
const UPDATE_FILES_2: u32 = 14;
const REGISTER_RINGS: u32 = 20;
const BY_REGISTERED_RING: u32 = 1 << 31;
const SPARSE: u32 = 1;
/// In a list of files: this place stays as it is.
const SKIPPED: i32 = -2;
const FILES_MAX: usize = 1 << 16;

/// The rings of all processes.
#[derive(Default)]
pub(super) struct SeenRings {
    /// By process and descriptor.
    rings: HashMap<(i32, i32), Ring>,
    /// The descriptors that threads have registered, by thread and number.
    registered: HashMap<(i32, u32), i32>,
    made: u32,
}

struct Ring {
    number: u32,
    shape: RingShape,
    /// How many results have been seen.
    seen: u32,
    /// Its own table of files; `None` for a file that is not recorded.
    files: BTreeMap<u32, Option<DescriptionId>>,
}

impl Tracer {
    /// At the exit of io_uring_setup.
    pub(super) fn ring_made(&mut self, tid: i32, arguments: &[u64; 6], outcome: Outcome) {
        let parameters = inspect::bytes(tid, arguments[1], PARAMETERS_BYTES);
        let parameters: Option<[u8; PARAMETERS_BYTES]> =
            parameters.and_then(|bytes| bytes.try_into().ok());
        let shape = parameters.as_ref().and_then(RingShape::of);
        let (Ok(fd), Some(shape)) = (outcome, shape) else { return self.blind("io_uring_setup") };
        let pid = self.moment(tid).pid;
        self.end_ring(pid, fd as i32);
        self.seen_rings.made += 1;
        let number = self.seen_rings.made;
        let ring = Ring { number, shape, seen: 0, files: BTreeMap::new() };
        self.seen_rings.rings.insert((pid, fd as i32), ring);
    }

    /// The process and the descriptor of the ring that io_uring_enter is about.
    fn ring_of_enter(&self, tid: i32, arguments: &[u64; 6]) -> Option<(i32, i32)> {
        let fd = match arguments[3] & ENTER_REGISTERED {
            0 => arguments[0] as i32,
            _ => *self.seen_rings.registered.get(&(tid, arguments[0] as u32))?,
        };
        let key = (self.moment(tid).pid, fd);
        self.seen_rings.rings.contains_key(&key).then_some(key)
    }

    /// At the entry of io_uring_enter. Returns whether its exit matters.
    pub(super) fn ring_enters(&mut self, tid: i32, arguments: &[u64; 6]) -> bool {
        let Some(key) = self.ring_of_enter(tid, arguments) else {
            self.blind("io_uring_enter");
            return false;
        };
        let Ok(ring) = duplicate(key) else {
            self.blind("io_uring_enter");
            return false;
        };
        self.take_results(key, &ring, false);
        let Some(shape) = self.seen_rings.rings.get(&key).map(|ring| ring.shape) else {
            return false;
        };
        match shape.waiting(&ring, arguments[1] as u32) {
            Ok(entries) => {
                entries.iter().for_each(|entry| self.note_entry_of_ring(tid, key, entry))
            }
            Err(_) => self.blind("io_uring_enter"),
        }
        true
    }

    /// At its exit.
    pub(super) fn ring_entered(&mut self, tid: i32, arguments: &[u64; 6], outcome: Outcome) {
        self.taken_over(tid, outcome.map_or(0, |count| count as usize));
        if let Some(key) = self.ring_of_enter(tid, arguments)
            && let Ok(ring) = duplicate(key)
        {
            self.take_results(key, &ring, true);
        }
    }

    fn note_entry_of_ring(&mut self, tid: i32, key: (i32, i32), entry: &RingEntry) {
        let Some(ring) = self.seen_rings.rings.get(&key) else { return };
        let call = match entry.opcode {
            opcode if READS.contains(&opcode) => Some(Call::Read(Offset::ArgumentOrPosition)),
            opcode if WRITES.contains(&opcode) => Some(Call::Write(Offset::ArgumentOrPosition)),
            FSYNC => Some(Call::Sync),
            _ => None,
        };
        let owner = Owner::Ring(ring.number);
        let file = entry.is_fixed.then(|| ring.files.get(&(entry.file as u32)).copied());
        if call.is_some() && file == Some(None) {
            self.blind("file that io_uring has opened itself");
        }
        let asked = if call.is_some() { asked(tid, entry) } else { 0 };
        let arguments =
            [entry.file as u64, entry.address, u64::from(entry.length), entry.offset, 0, 0];
        let key = (owner, entry.user_data);
        let file = file.map(Option::flatten);
        self.hand_over(tid, HandedOver { key, call, arguments, file, asked });
    }

    /// Takes the results that have come into a ring since the last look.
    fn take_results(&mut self, key: (i32, i32), ring: &RingFile, came_now: bool) {
        let Some(known) = self.seen_rings.rings.get_mut(&key) else { return };
        let Ok(new) = known.shape.results_since(ring, known.seen) else { return };
        known.seen = new.tail;
        let owner = Owner::Ring(known.number);
        for result in new.results {
            if !result.has_more {
                let key = (owner, result.user_data);
                self.completed_request(key, i64::from(result.result), came_now);
            }
        }
    }

    /// At the exit of io_uring_register.
    pub(super) fn ring_registered(&mut self, tid: i32, arguments: &[u64; 6], outcome: Outcome) {
        let (Ok(count), pid) = (outcome, self.moment(tid).pid) else { return };
        let [place, operation, address, number, ..] = *arguments;
        let by_number = operation as u32 & BY_REGISTERED_RING != 0;
        let operation = operation as u32 & !BY_REGISTERED_RING;
        if operation == REGISTER_RINGS {
            return self.register_rings(tid, address, count);
        }
        let fd = if by_number {
            self.seen_rings.registered.get(&(tid, place as u32)).copied()
        } else {
            Some(place as i32)
        };
        let Some(key) = fd.map(|fd| (pid, fd)) else { return };
        let half =
            |at: u64| inspect::bytes(tid, address + at, 4).map_or(0, |bytes| number_at(&bytes));
        let word = |at: u64| inspect::word(tid, address + at).unwrap_or(0);
        match operation {
            REGISTER_FILES => self.register_files(tid, key, 0, address, number),
            UNREGISTER_FILES => self.forget_files(key),
            UPDATE_FILES => self.register_files(tid, key, half(0), word(8), count),
            REGISTER_FILES_2 if half(4) & SPARSE == 0 => {
                self.register_files(tid, key, 0, word(16), half(0).into());
            }
            UPDATE_FILES_2 => self.register_files(tid, key, half(0), word(8), count),
            _ => {}
        }
    }

    fn register_rings(&mut self, tid: i32, address: u64, count: u64) {
        const UPDATE_BYTES: usize = 16;
        let count = (count as usize).min(FILES_MAX);
        let updates = inspect::bytes(tid, address, UPDATE_BYTES * count).unwrap_or_default();
        for update in updates.chunks_exact(UPDATE_BYTES) {
            let (number, fd) = (number_at(update), number_at(&update[8..]) as i32);
            self.seen_rings.registered.insert((tid, number), fd);
        }
    }

    /// Descriptors become files of a ring's own table, from a place on.
    fn register_files(&mut self, tid: i32, key: (i32, i32), first: u32, address: u64, count: u64) {
        let count = (count as usize).min(FILES_MAX);
        let fds = inspect::bytes(tid, address, 4 * count).unwrap_or_default();
        for (fd, place) in fds.chunks_exact(4).map(|fd| number_at(fd) as i32).zip(first..) {
            if fd == SKIPPED {
                continue;
            }
            let file = if fd < 0 { None } else { Some(self.hold(tid, fd)) };
            let Some(ring) = self.seen_rings.rings.get_mut(&key) else { return };
            let former = match file {
                Some(file) => ring.files.insert(place, file),
                None => ring.files.remove(&place),
            };
            if let Some(id) = former.flatten() {
                self.release(id, self.moment(tid));
            }
        }
    }

    fn forget_files(&mut self, key: (i32, i32)) {
        let files = self.seen_rings.rings.get_mut(&key).map(|ring| std::mem::take(&mut ring.files));
        for id in files.unwrap_or_default().into_values().flatten() {
            self.release(id, self.moment(key.0));
        }
    }

    /// Before a descriptor is closed, which may be a ring's: the last look at its results.
    pub(super) fn close_ring(&mut self, tid: i32, fd: i32) {
        if self.seen_rings.rings.is_empty() {
            return;
        }
        let key = (self.moment(tid).pid, fd);
        if self.seen_rings.rings.contains_key(&key) {
            if let Ok(ring) = duplicate(key) {
                self.take_results(key, &ring, false);
            }
            self.end_ring(key.0, fd);
        }
    }

    /// Before all descriptors of a range are closed.
    pub(super) fn close_rings_in(&mut self, tid: i32, closed: RangeInclusive<u32>) {
        for fd in self.rings_of(self.moment(tid).pid) {
            if closed.contains(&(fd as u32)) {
                self.close_ring(tid, fd);
            }
        }
    }

    /// Before a process ends or executes another program.
    pub(super) fn close_rings(&mut self, tid: i32) {
        let pid = self.moment(tid).pid;
        for fd in self.rings_of(pid) {
            self.close_ring(tid, fd);
        }
    }

    /// After a process has ended or has executed another program.
    pub(super) fn end_rings(&mut self, pid: i32) {
        for fd in self.rings_of(pid) {
            self.end_ring(pid, fd);
        }
    }

    fn rings_of(&self, pid: i32) -> Vec<i32> {
        let of_process = self.seen_rings.rings.keys().filter(|key| key.0 == pid);
        of_process.map(|key| key.1).collect()
    }

    fn end_ring(&mut self, pid: i32, fd: i32) {
        self.forget_files((pid, fd));
        if let Some(ring) = self.seen_rings.rings.remove(&(pid, fd)) {
            self.end_requests(Owner::Ring(ring.number));
        }
    }
}

/// A ring's descriptor, as one of ours.
fn duplicate((pid, fd): (i32, i32)) -> io::Result<RingFile> {
    inspect::duplicate(pid, fd).and_then(RingFile::new)
}

/// How many bytes a request asks for.
fn asked(tid: i32, entry: &RingEntry) -> u64 {
    if entry.opcode == FSYNC {
        return 0;
    }
    if !VECTORS.contains(&entry.opcode) {
        return entry.length.into();
    }
    let read = |bytes| inspect::resident_bytes(tid, entry.address, bytes);
    bytes_of_parts(entry.length.into(), read)
}

fn number_at(bytes: &[u8]) -> u32 {
    bytes.get(..4).and_then(|number| number.try_into().ok()).map_or(0, u32::from_le_bytes)
}
