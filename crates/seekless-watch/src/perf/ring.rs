//! One processor's ring of perf records. The kernel writes at its head, we read at its tail.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

use seekless_sys::memory::page_bytes;

/// `struct perf_event_attr` up to the clock's number (PERF_ATTR_SIZE_VER3); later kernels take the
/// rest as zeroes.
#[repr(C)]
#[derive(Default)]
pub(crate) struct Attributes {
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

impl Attributes {
    pub(crate) const SOFTWARE: u32 = 1;
    pub(crate) const TRACEPOINT: u32 = 2;
    /// The software event of page faults.
    pub(crate) const PAGE_FAULTS: u64 = 2;

    /// An event whose samples hold what `sample_type` says.
    pub(crate) fn new(kind: u32, config: u64, sample_type: u64, flags: u64) -> Self {
        Self { kind, config, sample_type, flags, ..Self::default() }
    }
}

/// What a sample holds, in this order.
pub(crate) mod samples {
    pub(crate) const TID: u64 = 1 << 1;
    pub(crate) const TIME: u64 = 1 << 2;
    pub(crate) const ADDR: u64 = 1 << 3;
    pub(crate) const RAW: u64 = 1 << 10;
}

/// Bits of [`Attributes::flags`].
pub(crate) mod flags {
    pub(crate) const DISABLED: u64 = 1 << 0;
    pub(crate) const INHERIT: u64 = 1 << 1;
    pub(crate) const EXCLUDE_KERNEL: u64 = 1 << 5;
    pub(crate) const MMAP: u64 = 1 << 8;
    pub(crate) const COMM: u64 = 1 << 9;
    pub(crate) const ENABLE_ON_EXEC: u64 = 1 << 12;
    pub(crate) const TASK: u64 = 1 << 13;
    pub(super) const WATERMARK: u64 = 1 << 14;
    pub(crate) const MMAP_DATA: u64 = 1 << 17;
    pub(crate) const SAMPLE_ID_ALL: u64 = 1 << 18;
    pub(crate) const MMAP2: u64 = 1 << 23;
    pub(crate) const COMM_EXEC: u64 = 1 << 24;
    pub(super) const USE_CLOCKID: u64 = 1 << 25;
}

const FLAG_FD_CLOEXEC: u64 = 1 << 3;
/// PERF_EVENT_IOC_SET_OUTPUT.
const SET_OUTPUT: libc::Ioctl = 0x2405;
/// PERF_EVENT_IOC_SET_BPF.
const SET_BPF: libc::Ioctl = 0x4004_2408;

/// Where the first page of the mapping says how far the kernel has written and we have read.
const HEAD_AT: usize = 1024;
const TAIL_AT: usize = 1032;

#[derive(Debug)]
pub(crate) struct Ring {
    event: OwnedFd,
    address: *mut c_void,
    /// Of the records, a power of two; the control page before them not counted.
    bytes: usize,
    /// Events that write here too.
    others: Vec<OwnedFd>,
}

// SAFETY: the mapping belongs to the process, not to a thread, and `take` needs `&mut`.
unsafe impl Send for Ring {}

impl Ring {
    /// An event of `pid` on one processor, with a ring of `bytes`, which must be a power of two.
    /// Every event makes a sample; times are of the monotonic clock.
    pub(crate) fn open(
        attributes: &Attributes,
        pid: i32,
        processor: i32,
        bytes: usize,
    ) -> io::Result<Self> {
        let event = open(attributes, pid, processor, bytes)?;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let length = bytes + page_bytes() as usize;
        // SAFETY: a fresh mapping at an address of the kernel's choice; no reference to it is
        // formed but to its two counters, which are only used as atomics.
        let address =
            unsafe { mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, &event, 0)? };
        Ok(Self { event, address, bytes, others: Vec::new() })
    }

    /// The event of another thread, on the same processor, whose records come into this ring too.
    pub(crate) fn join(
        &mut self,
        attributes: &Attributes,
        tid: i32,
        processor: i32,
    ) -> io::Result<()> {
        let event = open(attributes, tid, processor, self.bytes)?;
        // SAFETY: both descriptors are of perf events, and the request takes one by value.
        let result = unsafe { libc::ioctl(event.as_raw_fd(), SET_OUTPUT, self.event.as_raw_fd()) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        self.others.push(event);
        Ok(())
    }

    /// Appends all that was written since the last call to `out`, whole records each.
    pub(crate) fn take(&mut self, out: &mut Vec<u8>) {
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

/// Has the kernel run a loaded program at a tracepoint, on all processors and in all processes,
/// until the event is closed.
///
/// # Errors
/// This process may not, or the program asks for more than the tracepoint gives.
pub(crate) fn run_at_tracepoint(number: u64, program: &OwnedFd) -> io::Result<OwnedFd> {
    const ANY_PROCESS: i32 = -1;
    const ONE_PROCESSOR: i32 = 0; // the kernel hangs the program on the place itself
    let attributes = Attributes::new(Attributes::TRACEPOINT, number, 0, 0);
    let event = open(&attributes, ANY_PROCESS, ONE_PROCESSOR, 0)?;
    // SAFETY: the descriptors are of a perf event and a program; the request takes one by value.
    let result = unsafe { libc::ioctl(event.as_raw_fd(), SET_BPF, program.as_raw_fd()) };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(event)
}

fn open(attributes: &Attributes, pid: i32, processor: i32, bytes: usize) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        size: size_of::<Attributes>() as u32,
        sample_period: 1,
        flags: attributes.flags | flags::WATERMARK | flags::USE_CLOCKID,
        wakeup_watermark: (bytes / 4) as u32,
        clock: libc::CLOCK_MONOTONIC,
        ..*attributes
    };
    // SAFETY: the attributes have the size that they state, and live through the call; the kernel
    // only reads them.
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
    Ok(unsafe { OwnedFd::from_raw_fd(made as i32) })
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
