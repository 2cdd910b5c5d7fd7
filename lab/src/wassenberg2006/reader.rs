//! A reader that asks a device model for ranges, some of them at once.

use seekless::device::{AnyDevice, DeviceModel, DeviceSpec, Io, Nanos};
use seekless::policy::layout::extents::Extent;
use std::collections::VecDeque;

/// Blocks that the paper's block cache keeps, the last ones read: "the last few".
const BLOCKS_KEPT: usize = 16;
/// Blocks of a file in flight at once.
const AT_ONCE: usize = 8;

pub(super) struct Reader {
    model: AnyDevice,
    now: Nanos,
    in_flight: usize,
    kept: VecDeque<u64>,
}

impl Reader {
    pub(super) fn new(device: &DeviceSpec) -> Self {
        Reader { model: device.model(), now: 0, in_flight: 0, kept: VecDeque::new() }
    }

    /// Asks for a range as soon as fewer than `at_once` are in flight.
    pub(super) fn read(&mut self, offset: u64, bytes: u64, at_once: usize) {
        self.wait_for(at_once - 1);
        self.model.submit(self.now, Io { tag: 0, write: false, offset, bytes });
        self.in_flight += 1;
    }

    /// Waits until at most this many reads are in flight.
    pub(super) fn wait_for(&mut self, in_flight: usize) {
        while self.in_flight > in_flight
            && let Some(next) = self.model.next_event()
        {
            let (now, count) = (&mut self.now, &mut self.in_flight);
            self.model.advance(next, &mut |end, _| {
                *now = end.max(*now);
                *count -= 1;
            });
        }
    }

    /// Asks for the blocks of an extent that the block cache does not have.
    pub(super) fn read_blocks(&mut self, extent: Extent, block_bytes: u64) {
        for block in extent.offset / block_bytes..extent.end().div_ceil(block_bytes) {
            if let Some(at) = self.kept.iter().position(|&kept| kept == block) {
                self.kept.remove(at);
            } else {
                self.read(block * block_bytes, block_bytes, AT_ONCE);
            }
            self.kept.push_back(block);
            if self.kept.len() > BLOCKS_KEPT {
                self.kept.pop_front();
            }
        }
    }

    /// What has passed.
    pub(super) fn seconds(&self) -> f64 {
        self.now as f64 / 1e9
    }
}
