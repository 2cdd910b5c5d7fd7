//! One processor's ring of perf records. The kernel writes at its head, we read at its tail.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::memory::page_bytes;

/// `struct perf_event_attr` up to the clock's number (PERF_ATTR_SIZE_VER3); later kernels take the
/// rest as zeroes.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    sample_period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint: u32,
    config1: u64,
    config2: u64,
    branch_sample_type: u64,
    sample_regs_user: u64,
    sample_stack_user: u32,
    clock: i32,
}

const SOFTWARE: u32 = 1;
const PAGE_FAULTS: u64 = 2;

const SAMPLE_TID: u64 = 1 << 1;
const SAMPLE_TIME: u64 = 1 << 2;
const SAMPLE_ADDR: u64 = 1 << 3;

const DISABLED: u64 = 1 << 0;
const INHERIT: u64 = 1 << 1;
const EXCLUDE_KERNEL: u64 = 1 << 5;
const MMAP: u64 = 1 << 8;
const COMM: u64 = 1 << 9;
const ENABLE_ON_EXEC: u64 = 1 << 12;
const TASK: u64 = 1 << 13;
const WATERMARK: u64 = 1 << 14;
const MMAP_DATA: u64 = 1 << 17;
const SAMPLE_ID_ALL: u64 = 1 << 18;
const MMAP2: u64 = 1 << 23;
const COMM_EXEC: u64 = 1 << 24;
const USE_CLOCKID: u64 = 1 << 25;

const FLAG_FD_CLOEXEC: u64 = 1 << 3;

/// Where the first page of the mapping says how far the kernel has written and we have read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

#[derive(Debug)]
pub(super) struct Ring {
    event: OwnedFd,
    address: *mut c_void,
    /// Of the records, a power of two; the control page before them not counted.
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and `take` needs `&mut`.
unsafe impl Send for Ring {}

impl Ring {
    /// An event of `pid` on one processor, from its next exec on, with a ring of `bytes`, which
    /// must be a power of two.
    pub(super) fn open(pid: i32, processor: i32, kernel: bool, bytes: usize) -> io::Result<Self> {
        let attributes = Attributes {
            kind: SOFTWARE,
            size: size_of::<Attributes>() as u32,
            config: PAGE_FAULTS,
            sample_period: 1,
            sample_type: SAMPLE_TID | SAMPLE_TIME | SAMPLE_ADDR,
            flags: DISABLED
                | INHERIT
                | MMAP
                | MMAP_DATA
                | MMAP2
                | COMM
                | COMM_EXEC
                | TASK
                | ENABLE_ON_EXEC
                | WATERMARK
                | SAMPLE_ID_ALL
                | USE_CLOCKID
                | if kernel { 0 } else { EXCLUDE_KERNEL },
            wakeup_watermark: (bytes / 4) as u32,
            clock: libc::CLOCK_MONOTONIC,
            ..Attributes::default()
        };
        // SAFETY: the attributes are of the size that they tell, and live through the call; the
        // kernel only reads them.
        let made = unsafe {
            libc::syscall(
                libc::SYS_perf_event_open,
                &raw const attributes,
                pid,
                processor,
                -1,
                FLAG_FD_CLOEXEC,
            )
        };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor that the kernel has just made for us.
        let event = unsafe { OwnedFd::from_raw_fd(made as i32) };
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let length = bytes + page_bytes() as usize;
        // SAFETY: a fresh mapping at an address of the kernel's choice; no reference to it is
        // formed but to its two counters, which are only used as atomics.
        let address =
            unsafe { mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, &event, 0)? };
        Ok(Self { event, address, bytes })
    }

    /// Appends all that was written since the last call to `out`, whole records each.
    pub(super) fn take(&mut self, out: &mut Vec<u8>) {
        let (head, tail) = (self.counter(HEAD_AT), self.counter(TAIL_AT));
        let end = head.load(Ordering::Acquire);
        let start = tail.load(Ordering::Relaxed);
        let (from, length) = (start as usize & (self.bytes - 1), (end - start) as usize);
        if length > self.bytes {
            return tail.store(end, Ordering::Release); // cannot be: the kernel never overruns
        }
        let first = length.min(self.bytes - from);
        out.reserve(length);
        for (at, count) in [(from, first), (0, length - first)] {
            // SAFETY: `at + count` is at most the ring's length, the kernel does not write between
            // tail and head, and room for `length` bytes was reserved.
            unsafe {
                let records = self.address.cast::<u8>().add(page_bytes() as usize + at);
                ptr::copy_nonoverlapping(records, out.as_mut_ptr().add(out.len()), count);
                out.set_len(out.len() + count);
            }
        }
        tail.store(end, Ordering::Release);
    }

    fn counter(&self, at: usize) -> &AtomicU64 {
        // SAFETY: the control page is mapped as long as `self`, both places are multiples of eight
        // within it, and kernel and we use them only as atomics.
        unsafe { &*self.address.cast::<u8>().add(at).cast::<AtomicU64>() }
    }
}

impl AsFd for Ring {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.event.as_fd()
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `open`, into which no reference outlives `self`.
        let unmapped = unsafe { munmap(self.address, self.bytes + page_bytes() as usize) };
        debug_assert!(unmapped.is_ok());
    }
}
