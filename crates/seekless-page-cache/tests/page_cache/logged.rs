//! An engine that keeps a log of what it writes and syncs, holds writes back to end them in any
//! order, and lets them fail where the test wants it.

use crate::support::random;
use seekless_device::{Costs, Nanos};
use seekless_engine::{AlignedBuf, BufferAndResult, Completion, Counters, Engine, Read, Write};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::{Arc, Mutex};

/// What the device was asked for, in order. Writes are named by their number.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    Began { number: usize, inode: u64, offset: u64, bytes: Vec<u8> },
    Ended { number: usize },
    Synced { inode: u64 },
    Resized { inode: u64, bytes: u64 },
}

#[derive(Clone, Debug)]
pub(crate) struct Fault {
    pub(crate) inode: u64,
    pub(crate) bytes: Range<u64>,
    pub(crate) errno: i32,
}

#[derive(Default)]
struct State {
    seed: u64,
    now: Nanos,
    log: Vec<Event>,
    writes: usize,
    held: Vec<(usize, Write)>,
    fault: Option<Fault>,
    sync_fault: Option<i32>,
}

/// The engine. Reads, and writes unless it holds them back, in the thread that asks.
pub(crate) struct Logged {
    state: Mutex<State>,
    holds_back: bool,
}

impl Logged {
    pub(crate) fn new() -> Self {
        Self { state: Mutex::default(), holds_back: false }
    }

    /// Ends writes in any order, when it is driven.
    pub(crate) fn holding_back(seed: u64) -> Self {
        let state = State { seed: seed.wrapping_mul(2) + 1, ..State::default() };
        Self { state: Mutex::new(state), holds_back: true }
    }

    pub(crate) fn set_now(&self, now: Nanos) {
        self.state.lock().unwrap().now = now;
    }

    pub(crate) fn set_fault(&self, fault: Option<Fault>) {
        self.state.lock().unwrap().fault = fault;
    }

    /// Syncs fail with this number from now on.
    pub(crate) fn set_sync_fault(&self, errno: Option<i32>) {
        self.state.lock().unwrap().sync_fault = errno;
    }

    pub(crate) fn log(&self) -> Vec<Event> {
        self.state.lock().unwrap().log.clone()
    }

    /// Events so far.
    pub(crate) fn position(&self) -> usize {
        self.state.lock().unwrap().log.len()
    }

    fn begin(&self, write: &Write) -> usize {
        let inode = write.file.metadata().unwrap().ino();
        let mut bytes: Vec<u8> = write.pages.iter().flat_map(|page| page.iter().copied()).collect();
        bytes.truncate(write.bytes);
        let mut state = self.state.lock().unwrap();
        let number = state.writes;
        state.writes += 1;
        state.log.push(Event::Began { number, inode, offset: write.offset, bytes });
        number
    }

    fn end(&self, number: usize, write: Write) {
        let span = write.offset..write.offset + write.bytes as u64;
        let inode = write.file.metadata().unwrap().ino();
        let fault = self.state.lock().unwrap().fault.clone().filter(|fault| {
            fault.inode == inode && fault.bytes.start < span.end && span.start < fault.bytes.end
        });
        let result = match fault {
            Some(fault) => Err(io::Error::from_raw_os_error(fault.errno)),
            None => {
                for (number, page) in write.pages.iter().enumerate() {
                    let bytes = &page[..(write.bytes - number * 4096).min(4096)];
                    write.file.write_all_at(bytes, write.offset + number as u64 * 4096).unwrap();
                }
                self.state.lock().unwrap().log.push(Event::Ended { number });
                Ok(write.bytes)
            }
        };
        let buffer = AlignedBuf::default();
        write.done.send(Completion { tag: write.tag, buffer, result, cached: false });
    }
}

impl Engine for Logged {
    fn submit(&self, reads: Vec<Read>) {
        for Read { file, offset, buffer, tag, done } in reads {
            let (buffer, result) = self.read_now(file, offset, buffer);
            done.send(Completion { tag, buffer, result, cached: false });
        }
    }

    fn read_now(&self, file: Arc<File>, offset: u64, mut buffer: AlignedBuf) -> BufferAndResult {
        let result = file.read_at(buffer.whole_mut(), offset);
        buffer.set_len(*result.as_ref().unwrap_or(&0));
        (buffer, result)
    }

    fn write(&self, writes: Vec<Write>) {
        for write in writes {
            let number = self.begin(&write);
            match self.holds_back {
                true => self.state.lock().unwrap().held.push((number, write)),
                false => self.end(number, write),
            }
        }
    }

    fn write_now(&self, write: Write) {
        let number = self.begin(&write);
        self.end(number, write);
    }

    fn sync_now(&self, file: &File, _data_only: bool) -> io::Result<()> {
        let inode = file.metadata()?.ino();
        let mut state = self.state.lock().unwrap();
        if let Some(errno) = state.sync_fault {
            return Err(io::Error::from_raw_os_error(errno));
        }
        state.log.push(Event::Synced { inode });
        Ok(())
    }

    fn resize_now(&self, file: &File, bytes: u64) -> io::Result<()> {
        file.set_len(bytes)?;
        let inode = file.metadata()?.ino();
        self.state.lock().unwrap().log.push(Event::Resized { inode, bytes });
        Ok(())
    }

    fn drive(&self, wait: bool) -> bool {
        if !self.holds_back {
            return false;
        }
        let mut state = self.state.lock().unwrap();
        let chance = random(&mut state.seed);
        if !state.held.is_empty() && (wait || chance.is_multiple_of(4)) {
            let place = chance as usize / 4 % state.held.len();
            let (number, write) = state.held.swap_remove(place);
            drop(state);
            self.end(number, write);
        }
        true
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn name(&self) -> &'static str {
        "logged"
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 }
    }

    fn now(&self) -> Nanos {
        self.state.lock().unwrap().now
    }
}
