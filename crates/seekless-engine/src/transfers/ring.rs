//! Transfers by io_uring, with the files and the slots' memory registered where that is allowed:
//! the kernel then neither looks up the file nor pins pages for each I/O.

use super::{Slots, Transfer, Transferred, Transfers, Wait, source_start};
use crate::AlignedBuf;
use crate::ring::{Setup, open_with};
use io_uring::squeue::Entry;
use io_uring::types::{Fd, Fixed, SubmitArgs, Timespec};
use io_uring::{IoUring, opcode};
use rustix::fd::AsRawFd;
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::time::Duration;

/// How long to wait for what only the end of other I/Os can give back.
const SHORTAGE: Duration = Duration::from_millis(1);

pub(super) struct RingTransfers {
    ring: ManuallyDrop<IoUring>,
    /// All slots, one after another. Not freed while the kernel may write to it; see `drop`.
    memory: ManuallyDrop<AlignedBuf>,
    /// What writes write. Not freed while the kernel may read it.
    source: ManuallyDrop<AlignedBuf>,
    step: usize,
    files: Vec<File>,
    files_registered: bool,
    memory_registered: bool,
    /// What each slot does.
    in_flight: Vec<bool>,
    count: usize,
    /// Entries on the submission queue that the kernel has not taken.
    pushed: usize,
}

impl RingTransfers {
    /// A ring for `depth` transfers. Completions come on this thread when it waits, where the
    /// kernel can do that (Linux 6.1): nothing interrupts it in between.
    pub(super) fn open(depth: u32) -> io::Result<IoUring> {
        let ring =
            open_with(depth, Setup::OneThread).or_else(|_| open_with(depth, Setup::Plain))?;
        if ring.params().is_feature_ext_arg() {
            return Ok(ring);
        }
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn new(ring: IoUring, files: Vec<File>, slots: &Slots) -> io::Result<Self> {
        let step = slots.step();
        let mut memory = slots.memory(slots.count as usize)?;
        let mut source = slots.source()?;
        let numbers: Vec<_> = files.iter().map(AsRawFd::as_raw_fd).collect();
        let files_registered = ring.submitter().register_files(&numbers).is_ok();
        let ranges = [iovec(memory.whole_mut()), iovec(source.whole_mut())];
        // SAFETY: the ranges are all of `memory` and of `source`, which live until the ring is
        // closed.
        let memory_registered = unsafe { ring.submitter().register_buffers(&ranges) }.is_ok();
        Ok(Self {
            ring: ManuallyDrop::new(ring),
            memory: ManuallyDrop::new(memory),
            source: ManuallyDrop::new(source),
            step,
            files,
            files_registered,
            memory_registered,
            in_flight: vec![false; slots.count as usize],
            count: 0,
            pushed: 0,
        })
    }

    fn entry(&mut self, transfer: Transfer) -> Entry {
        let (memory, start) = match transfer.write {
            false => (&mut self.memory, transfer.slot as usize * self.step),
            true => (&mut self.source, source_start(transfer.offset)),
        };
        let piece = &mut memory.whole_mut()[start..start + transfer.bytes as usize];
        let (start, bytes, offset) = (piece.as_mut_ptr(), transfer.bytes, transfer.offset);
        let file = Fd(self.files[transfer.file as usize].as_raw_fd());
        let fixed = Fixed(transfer.file);
        /// An entry for the registered file, or for the plain one.
        macro_rules! entry {
            ($operation:ident($($more:expr),*)) => {
                match self.files_registered {
                    true => opcode::$operation::new(fixed, start, bytes, $($more),*).offset(offset).build(),
                    false => opcode::$operation::new(file, start, bytes, $($more),*).offset(offset).build(),
                }
            };
        }
        let entry = match (transfer.write, self.memory_registered) {
            (false, true) => entry!(ReadFixed(0)),
            (false, false) => entry!(Read()),
            (true, true) => entry!(WriteFixed(1)),
            (true, false) => entry!(Write()),
        };
        entry.user_data(u64::from(transfer.slot))
    }

    fn enter(&self, wait: Wait) -> io::Result<usize> {
        match wait {
            Wait::ForOne if self.count > 0 => self.ring.submit_and_wait(1),
            Wait::ForOne => Ok(0),
            Wait::AtMost(time) => {
                let time = Timespec::from(time);
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&time))
            }
        }
    }

    fn reap(&mut self, ended: &mut Vec<Transferred>) -> usize {
        let before = ended.len();
        for completion in self.ring.completion() {
            let slot = completion.user_data() as u32;
            let result = completion.result();
            self.in_flight[slot as usize] = false;
            let result = u32::try_from(result).map_err(|_| Errno::from_raw_os_error(-result));
            ended.push(Transferred { slot, result });
        }
        let count = ended.len() - before;
        self.count -= count;
        count
    }
}

impl Transfers for RingTransfers {
    fn push(&mut self, transfer: Transfer) {
        let slot = transfer.slot as usize;
        assert!(!self.in_flight[slot] && transfer.bytes as usize <= self.step, "{transfer:?}");
        let entry = self.entry(transfer);
        // SAFETY: the entry points into the memory of its slot, which is neither freed nor given to
        // another transfer before its completion is reaped, or into the source of writes, which
        // never changes; the files stay open as long.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        assert!(pushed.is_ok(), "a ring has an entry for each slot");
        self.in_flight[slot] = true;
        self.count += 1;
        self.pushed += 1;
    }

    fn start(&mut self) {
        // An error comes again from the turn, which knows what to do about it.
        if let Ok(taken) = self.ring.submit() {
            self.pushed -= taken.min(self.pushed);
        }
    }

    fn turn(&mut self, wait: Wait, ended: &mut Vec<Transferred>) -> io::Result<()> {
        let mut wait = wait;
        loop {
            let entered = self.enter(wait);
            let count = self.reap(ended);
            match entered.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO)) {
                Ok(taken) => {
                    self.pushed -= taken.min(self.pushed);
                    if self.pushed == 0 {
                        return Ok(());
                    }
                }
                // The time is over. What was pushed was taken before the wait.
                Err(Errno::TIME) => {
                    self.pushed = 0;
                    return Ok(());
                }
                Err(Errno::INTR) if count > 0 => {}
                Err(Errno::INTR) => continue,
                Err(Errno::AGAIN | Errno::BUSY | Errno::NOMEM) if self.count > self.pushed => {
                    std::thread::sleep(SHORTAGE);
                }
                Err(errno) => return Err(errno.into()),
            }
            // What is left on the queue is handed over without a further wait.
            wait = Wait::AtMost(Duration::ZERO);
        }
    }

    fn name(&self) -> &'static str {
        "io_uring"
    }

    fn depth(&self) -> u32 {
        self.in_flight.len() as u32
    }
}

impl Drop for RingTransfers {
    fn drop(&mut self) {
        let mut ended = Vec::new();
        while self.count > 0 {
            ended.clear();
            if self.turn(Wait::ForOne, &mut ended).is_err() {
                // The kernel may still write to the memory, so neither it nor the ring is given
                // back.
                return;
            }
        }
        // The end of a ring is slow, and until then it would hold the files open.
        if self.files_registered {
            let _ = self.ring.submitter().unregister_files();
        }
        // SAFETY: none is used again; the ring is closed before its registered memory is freed.
        unsafe {
            ManuallyDrop::drop(&mut self.ring);
            ManuallyDrop::drop(&mut self.memory);
            ManuallyDrop::drop(&mut self.source);
        }
    }
}

/// The range of `bytes` as the kernel wants it.
fn iovec(bytes: &mut [u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}
