//! An engine over real files that fails, and stops short, where reads cover several pages. A read
//! of one page alone brings what the file has, but for bytes that are bad for good.

use crate::support::random;
use rustix::fs::{OFlags, fcntl_getfl};
use seekless_device::Costs;
use seekless_engine::{AlignedBuf, BufferAndResult, Completion, Counters, Engine, Read};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

/// Which reads fail every time.
#[derive(Debug)]
pub(crate) enum Unreadable {
    /// None fails, nor stops short.
    Nothing,
    /// Those that touch these bytes, with EIO. One in four others of several pages fails or stops
    /// short.
    Bytes(Range<u64>),
    /// Those of a file that is open for direct reads, with EINVAL.
    Direct,
}

/// The engine. Reads in the thread that asks, so that each run makes its reads in the same order;
/// or, if it is driven, in any order and only in the thread that drives it.
pub(crate) struct Flaky {
    unreadable: Unreadable,
    state: Mutex<State>,
    held: Option<Mutex<Vec<Read>>>,
}

#[derive(Default)]
struct State {
    seed: u64,
    reads: u64,
    bytes: u64,
    spoilt: u64,
}

impl Flaky {
    pub(crate) fn new(unreadable: Unreadable, seed: u64) -> Self {
        let state = Mutex::new(State { seed, ..State::default() });
        Self { unreadable, state, held: None }
    }

    pub(crate) fn driven(unreadable: Unreadable, seed: u64) -> Self {
        Self { held: Some(Mutex::default()), ..Self::new(unreadable, seed) }
    }

    pub(crate) fn reads(&self) -> u64 {
        self.state.lock().unwrap().reads
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.state.lock().unwrap().bytes
    }

    /// Reads that failed or stopped short.
    pub(crate) fn spoilt(&self) -> u64 {
        self.state.lock().unwrap().spoilt
    }

    /// How many of its bytes a read may bring.
    fn judge(&self, read: &Read) -> io::Result<usize> {
        let mut state = self.state.lock().unwrap();
        let bytes = read.buffer.capacity();
        let end = read.offset + bytes as u64;
        state.reads += 1;
        let verdict = match &self.unreadable {
            Unreadable::Nothing => return Ok(bytes),
            Unreadable::Direct => match fcntl_getfl(&read.file) {
                Ok(flags) if flags.contains(OFlags::DIRECT) => Err(22),
                _ => return Ok(bytes),
            },
            Unreadable::Bytes(bad) if read.offset < bad.end && bad.start < end => Err(5),
            Unreadable::Bytes(_) if bytes == 4096 => return Ok(bytes),
            Unreadable::Bytes(_) => match random(&mut state.seed) % 8 {
                0 => Err(5),
                1 => Ok((random(&mut state.seed) % bytes as u64) as usize),
                _ => return Ok(bytes),
            },
        };
        state.spoilt += 1;
        verdict.map_err(io::Error::from_raw_os_error)
    }
}

impl Flaky {
    fn complete(&self, mut read: Read) {
        let verdict = self.judge(&read);
        let Read { file, offset, buffer, .. } = &mut read;
        let result = verdict
            .and_then(|most| file.read_at(buffer.whole_mut(), *offset).map(|read| read.min(most)));
        self.state.lock().unwrap().bytes += *result.as_ref().unwrap_or(&0) as u64;
        let Read { mut buffer, tag, done, .. } = read;
        buffer.set_len(*result.as_ref().unwrap_or(&0));
        done.send(Completion { tag, buffer, result, cached: false });
    }
}

impl Engine for Flaky {
    fn submit(&self, reads: Vec<Read>) {
        match &self.held {
            Some(held) => held.lock().unwrap().extend(reads),
            None => reads.into_iter().for_each(|read| self.complete(read)),
        }
    }

    fn read_now(&self, file: Arc<File>, offset: u64, buffer: AlignedBuf) -> BufferAndResult {
        let (done, ended) = channel();
        self.complete(Read { file, offset, buffer, tag: 0, done: done.into() });
        let Completion { buffer, result, .. } = ended.recv().unwrap();
        (buffer, result)
    }

    fn drive(&self, wait: bool) -> bool {
        let Some(held) = &self.held else { return false };
        let chance = random(&mut self.state.lock().unwrap().seed);
        let mut held = held.lock().unwrap();
        if !held.is_empty() && (wait || chance.is_multiple_of(4)) {
            let place = chance as usize / 4 % held.len();
            let read = held.swap_remove(place);
            drop(held);
            self.complete(read);
        }
        true
    }

    fn counters(&self) -> Counters {
        Counters::default()
    }

    fn name(&self) -> &'static str {
        "flaky"
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 100_000, bytes_per_second: 1_000_000_000, depth: 8 }
    }
}
