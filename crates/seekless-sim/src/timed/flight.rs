//! The I/Os that the device has: what each is for, and how long the device is busy.

use super::figures::SizeCounts;
use crate::unit::PAGE_BYTES;
use seekless_device::{DeviceModel, Io, Nanos};
use seekless_policy::cache::paged::FileNo;
use seekless_policy::readahead::PageNo;

/// What an I/O is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// It fills pages.
    Fill { file: FileNo, first: PageNo, pages: u32 },
    /// It writes pages back.
    WriteBack { file: FileNo, first: PageNo, pages: u32 },
    /// A reader reads a page that the cache does not keep.
    Own { reader: u32 },
}

/// An I/O to hand over: a range of the device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) purpose: Purpose,
    pub(super) write: bool,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// The I/Os in flight by tag, and what they have cost.
#[derive(Debug, Default)]
pub(super) struct Flight {
    purposes: Vec<(Purpose, Nanos)>,
    free: Vec<u64>,
    in_flight: u32,
    busy_since: Nanos,
    pub(super) busy_ns: Nanos,
    /// Sum over all I/Os of the time from hand-over to end.
    pub(super) latency_ns: Nanos,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) bytes: u64,
    pub(super) sizes: SizeCounts,
}

impl Flight {
    pub(super) fn ios(&self) -> u32 {
        self.in_flight
    }

    /// Hands one I/O over.
    pub(super) fn submit(&mut self, now: Nanos, planned: Planned, device: &mut dyn DeviceModel) {
        let Planned { purpose, write, offset, bytes } = planned;
        let tag = self.free.pop().unwrap_or_else(|| {
            self.purposes.push((purpose, now));
            self.purposes.len() as u64 - 1
        });
        self.purposes[tag as usize] = (purpose, now);
        if self.in_flight == 0 {
            self.busy_since = now;
        }
        self.in_flight += 1;
        self.reads += u64::from(!write);
        self.writes += u64::from(write);
        self.bytes += bytes;
        self.sizes.add(bytes.div_ceil(PAGE_BYTES));
        device.submit(now, Io { tag, write, offset, bytes });
    }

    /// An I/O ended.
    pub(super) fn end(&mut self, end: Nanos, io: Io) -> Purpose {
        let (purpose, begun) = self.purposes[io.tag as usize];
        self.free.push(io.tag);
        self.in_flight -= 1;
        self.latency_ns += end - begun;
        if self.in_flight == 0 {
            self.busy_ns += end - self.busy_since;
        }
        purpose
    }

    /// The device's busy time up to `now`, with what is still in flight.
    pub(super) fn busy_until(&self, now: Nanos) -> Nanos {
        let open = if self.in_flight > 0 { now.saturating_sub(self.busy_since) } else { 0 };
        self.busy_ns + open
    }
}
