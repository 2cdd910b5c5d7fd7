//! The ring of records that programs in the kernel fill and we empty (BPF_MAP_TYPE_RINGBUF).
//!
//! To make a large ring takes longer than all that a short program is recorded for, so the first is
//! small. Once it fills, a large one takes its place.

use super::map::{Kind, Map};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use seekless_sys::memory::page_bytes;
use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER_BYTES: u64 = 8;

/// Of the first ring.
const FIRST_BYTES: u32 = 1 << 20;

/// A ring that becomes larger when much waits in it.
#[derive(Debug)]
pub(crate) struct GrowingRing {
    ring: Ring,
    /// Where programs find the ring.
    place: Map,
    bytes_max: u32,
}

impl GrowingRing {
    /// A ring that may become `bytes_max` large, a power of two and at least a page.
    pub(crate) fn create(bytes_max: u32) -> io::Result<Self> {
        let ring = Ring::create(bytes_max.min(FIRST_BYTES))?;
        Ok(Self { place: Map::with(&ring.map)?, ring, bytes_max })
    }

    /// The table that has the ring under the key 0.
    pub(crate) fn place(&self) -> &Map {
        &self.place
    }

    /// Hands out the complete records, the oldest first, at most some rings' worth. Returns whether
    /// there was any.
    pub(crate) fn take(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        let fills = self.ring.waiting() > self.ring.bytes as u64 / 8;
        let any = self.ring.take(&mut each);
        if fills && self.ring.bytes < self.bytes_max as usize {
            match self.grow(each) {
                Ok(more) => return any || more,
                Err(_) => self.bytes_max = self.ring.bytes as u32, // there is no memory
            }
        }
        any
    }

    /// A record that another followed is in the same ring or in an earlier one: a program that
    /// begins after another has found the large ring finds it, too.
    fn grow(&mut self, each: impl FnMut(&[u8])) -> io::Result<bool> {
        let next = Ring::create(self.bytes_max)?;
        self.place.set_map(0, &next.map)?;
        let any = self.ring.take(each);
        self.ring = next;
        Ok(any)
    }
}

#[derive(Debug)]
struct Ring {
    map: Map,
    bytes: usize,
    /// One page that says how far we have read.
    ours: *mut c_void,
    /// One page that says how far the kernel has written, and the records, twice in a row, so that
    /// none is cut.
    theirs: *mut c_void,
}

// SAFETY: the mappings belong to the process, not to a thread, and `take` needs `&mut`.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring of `bytes`, a power of two and at least a page.
    fn create(bytes: u32) -> io::Result<Self> {
        let map = Map::create(Kind::Ring, 0, 0, bytes)?;
        let (page, bytes) = (page_bytes() as usize, bytes as usize);
        let both = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: fresh mappings at addresses of the kernel's choice; no reference into them is
        // formed but to counters, used as atomics, and to records that the kernel has completed.
        let (ours, theirs) = unsafe {
            let ours = mmap(ptr::null_mut(), page, both, MapFlags::SHARED, &map, 0)?;
            let length = page + 2 * bytes;
            let offset = page as u64;
            let theirs =
                mmap(ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, &map, offset);
            if theirs.is_err() {
                let _ = munmap(ours, page);
            }
            (ours, theirs?)
        };
        Ok(Self { map, bytes, ours, theirs })
    }

    /// How many bytes of records wait.
    fn waiting(&self) -> u64 {
        let first = counter(self.ours).load(Ordering::Relaxed);
        counter(self.theirs).load(Ordering::Relaxed).saturating_sub(first)
    }

    /// Hands out each complete record, the oldest first, and frees its room, of many at once: the
    /// kernel looks at our counter with each record. Stops after at most a ring's worth. Returns
    /// whether there was any.
    fn take(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        let (consumer, producer) = (counter(self.ours), counter(self.theirs));
        let end = producer.load(Ordering::Acquire);
        let first = consumer.load(Ordering::Relaxed);
        let (mut at, mut freed) = (first, first);
        while at < end {
            let place = page_bytes() as usize + (at as usize & (self.bytes - 1));
            // SAFETY: a record's header lies at each place between the two counters, which are
            // multiples of eight, within the mapping.
            let header = unsafe { &*self.theirs.cast::<u8>().add(place).cast::<AtomicU32>() };
            let length = header.load(Ordering::Acquire);
            if length & BUSY != 0 {
                break; // a processor is still writing it
            }
            let bytes = (length & !DISCARDED) as usize;
            if length & DISCARDED == 0 {
                // SAFETY: the kernel has completed these bytes and does not write there until we
                // move our counter; a record is shorter than the ring, which is mapped twice.
                let record = unsafe {
                    let start = self.theirs.cast::<u8>().add(place + HEADER_BYTES as usize);
                    std::slice::from_raw_parts(start, bytes)
                };
                each(record);
            }
            at += (bytes as u64 + HEADER_BYTES).next_multiple_of(8);
            if at - freed > self.bytes as u64 / 16 {
                consumer.store(at, Ordering::Release);
                freed = at;
            }
        }
        consumer.store(at, Ordering::Release);
        at > first
    }
}

/// The counter at the start of a page.
fn counter<'a>(page: *mut c_void) -> &'a AtomicU64 {
    // SAFETY: a mapped page of a living ring begins with its counter, which kernel and we use only
    // as an atomic; the callers do not keep the reference.
    unsafe { &*page.cast::<AtomicU64>() }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let page = page_bytes() as usize;
        // SAFETY: exactly the mappings made in `create`, into which no reference outlives `self`.
        unsafe {
            let _ = munmap(self.ours, page);
            let _ = munmap(self.theirs, page + 2 * self.bytes);
        }
    }
}
