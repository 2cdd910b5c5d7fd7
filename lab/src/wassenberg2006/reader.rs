//! A reader that asks a device model for ranges, some of them at once, and decodes what it gets.

use seekless::device::{AnyDevice, DeviceModel, DeviceSpec, Io, Nanos};
use seekless::policy::layout::extents::Extent;
use std::collections::VecDeque;

/// Blocks that the paper's block cache keeps, the last ones read: "the last few".
const BLOCKS_KEPT: usize = 16;
/// Blocks of a file in flight at once (3.2).
const AT_ONCE: usize = 4;

pub(super) struct Reader {
    model: AnyDevice,
    now: Nanos,
    reads: u64,
    in_flight: Vec<u64>,
    kept: VecDeque<u64>,
}

/// A block of a file that was asked for.
struct Block {
    /// `None` if the block cache had it.
    read: Option<u64>,
    decode_ns: Nanos,
}

impl Reader {
    pub(super) fn new(device: &DeviceSpec) -> Self {
        Reader {
            model: device.model(),
            now: 0,
            reads: 0,
            in_flight: Vec::new(),
            kept: VecDeque::new(),
        }
    }

    /// Asks for a range as soon as fewer than `at_once` are in flight. Returns the read's number.
    pub(super) fn read(&mut self, offset: u64, bytes: u64, at_once: usize) -> u64 {
        self.wait_for(at_once - 1);
        self.let_pass(self.now);
        let tag = self.reads;
        self.reads += 1;
        self.model.submit(self.now, Io { tag, write: false, offset, bytes });
        self.in_flight.push(tag);
        tag
    }

    /// As [`read`](Self::read), and waits for the range. Others stay in flight.
    pub(super) fn read_now(&mut self, offset: u64, bytes: u64, at_once: usize) {
        let read = self.read(offset, bytes, at_once);
        self.wait_while(|in_flight| in_flight.contains(&read));
    }

    /// Waits until at most this many reads are in flight.
    pub(super) fn wait_for(&mut self, in_flight: usize) {
        self.wait_while(|reads| reads.len() > in_flight);
    }

    fn wait_while(&mut self, waits: impl Fn(&[u64]) -> bool) {
        while waits(&self.in_flight)
            && let Some(next) = self.model.next_event()
        {
            self.let_pass(next.max(self.now));
        }
    }

    /// Goes on to a time, with what the device completes until then.
    fn let_pass(&mut self, now: Nanos) {
        let in_flight = &mut self.in_flight;
        self.model.advance(now, &mut |_, io| in_flight.retain(|&tag| tag != io.tag));
        self.now = now;
    }

    /// Loads a file the paper's way: some blocks of it are in flight, those that the block cache
    /// does not have; each is decoded while the next ones are read; decoding all takes `decode_ns`.
    pub(super) fn load(&mut self, file: Extent, block_bytes: u64, decode_ns: Nanos) {
        let mut waiting = VecDeque::new();
        for number in file.offset / block_bytes..file.end().div_ceil(block_bytes) {
            if waiting.len() == AT_ONCE {
                self.decode(waiting.pop_front());
            }
            let block = Extent { offset: number * block_bytes, bytes: block_bytes };
            let part = file.end().min(block.end()) - file.offset.max(block.offset);
            waiting.push_back(Block {
                read: (!self.keep(number)).then(|| self.read(block.offset, block.bytes, AT_ONCE)),
                decode_ns: decode_ns * part / file.bytes,
            });
        }
        while !waiting.is_empty() {
            self.decode(waiting.pop_front());
        }
    }

    fn decode(&mut self, block: Option<Block>) {
        let Some(Block { read, decode_ns }) = block else { return };
        self.wait_while(|in_flight| read.is_some_and(|read| in_flight.contains(&read)));
        self.let_pass(self.now + decode_ns);
    }

    /// Makes a block the last one used of the block cache. Whether it was there.
    fn keep(&mut self, block: u64) -> bool {
        let kept = self.kept.iter().position(|&kept| kept == block);
        if let Some(at) = kept {
            self.kept.remove(at);
        }
        self.kept.push_back(block);
        if self.kept.len() > BLOCKS_KEPT {
            self.kept.pop_front();
        }
        kept.is_some()
    }

    /// What has passed.
    pub(super) fn seconds(&self) -> f64 {
        self.now as f64 / 1e9
    }
}
