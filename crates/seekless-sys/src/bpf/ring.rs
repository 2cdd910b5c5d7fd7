//! The ring of records that programs in the kernel fill and we empty (BPF_MAP_TYPE_RINGBUF).

use super::map::{Kind, Map};
use crate::memory::page_bytes;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const BUSY: u32 = 1 << 31;
const DISCARDED: u32 = 1 << 30;
const HEADER_BYTES: u64 = 8;

#[derive(Debug)]
pub(crate) struct Ring {
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
    pub(crate) fn create(bytes: u32) -> io::Result<Self> {
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

    pub(crate) fn map(&self) -> &Map {
        &self.map
    }

    /// Hands out each complete record, the oldest first, and frees its room. Stops after at most a
    /// ring's worth. Returns whether there was any.
    pub(crate) fn take(&mut self, mut each: impl FnMut(&[u8])) -> bool {
        let (consumer, producer) = (counter(self.ours), counter(self.theirs));
        let end = producer.load(Ordering::Acquire);
        let first = consumer.load(Ordering::Relaxed);
        let mut at = first;
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
            consumer.store(at, Ordering::Release);
        }
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
