//! The page faults of a program and of all that it starts, as perf samples, with what they need to
//! be understood: which file is mapped where, and which process was born from which.
//!
//! One software event a processor, with a ring of records that the kernel fills. An unprivileged
//! user may open it where `kernel.perf_event_paranoid` is 2 or less, without the faults that the
//! kernel itself takes for the program (a `write` from mapped memory).

mod event;
mod mapped;

pub use event::{Event, Mapped, What};
pub use mapped::mapped_now;

use crate::perf::{self, Attributes, Ring, flags, samples};
use event::parse;
use std::fs;
use std::io;
use std::time::Duration;

/// How many bytes the kernel maps around a fault unless its debug file says otherwise.
const FAULT_AROUND_BYTES: u64 = 64 << 10;

/// Follows processes.
#[derive(Debug)]
pub struct PageFaults {
    rings: Vec<Ring>,
    scratch: Vec<u8>,
    sees_kernel: bool,
}

impl PageFaults {
    /// Follows process `pid`, from its next exec on, and all its later descendants. Times are of
    /// the monotonic clock.
    ///
    /// # Errors
    /// The kernel, a container or the user's limits refuse perf events.
    pub fn follow(pid: i32) -> io::Result<Self> {
        let flags = flags::DISABLED | flags::INHERIT | flags::ENABLE_ON_EXEC;
        Self::open(flags, |attributes| perf::open_on_all(attributes, pid))
    }

    /// Follows threads that run, from now on, and all that they start. Existing mappings are not
    /// reported: [`mapped_now`] lists them.
    ///
    /// # Errors
    /// As [`PageFaults::follow`]; or none of the threads is there any more.
    pub fn follow_running(tids: &[i32]) -> io::Result<Self> {
        Self::open(flags::INHERIT, |attributes| perf::open_of_all(attributes, tids))
    }

    /// As [`PageFaults::follow_running`], all processes of the machine. This is for root.
    ///
    /// # Errors
    /// As [`PageFaults::follow`].
    pub fn follow_machine() -> io::Result<Self> {
        const EVERY_PROCESS: i32 = -1;
        Self::open(0, |attributes| perf::open_on_all(attributes, EVERY_PROCESS))
    }

    /// Opens with the faults that the kernel takes for programs or, where that is refused, without.
    fn open(more: u64, open: impl Fn(&Attributes) -> io::Result<Vec<Ring>>) -> io::Result<Self> {
        let attributes = |kernel: u64| {
            let flags = flags::MMAP
                | flags::MMAP_DATA
                | flags::MMAP2
                | flags::COMM
                | flags::COMM_EXEC
                | flags::TASK
                | flags::SAMPLE_ID_ALL;
            let samples = samples::TID | samples::TIME | samples::ADDR;
            let flags = flags | more | kernel;
            Attributes::new(Attributes::SOFTWARE, Attributes::PAGE_FAULTS, samples, flags)
        };
        let (rings, sees_kernel) = match open(&attributes(0)) {
            Ok(rings) => (rings, true),
            Err(_) => (open(&attributes(flags::EXCLUDE_KERNEL))?, false),
        };
        Ok(Self { rings, scratch: Vec::new(), sees_kernel })
    }

    /// Whether it sees the faults that the kernel takes for the program, too.
    #[must_use]
    pub fn sees_kernel(&self) -> bool {
        self.sees_kernel
    }

    /// Waits until a ring is a quarter full, the followed process has ended, or the time is up.
    /// Returns whether it has ended: then this does not wait any more, though its descendants may
    /// live.
    ///
    /// # Errors
    /// Never but for lack of memory.
    pub fn wait(&self, limit: Duration) -> io::Result<bool> {
        perf::wait(&self.rings, limit)
    }

    /// Takes all records out of the rings and appends them to `events`: in the order of their times
    /// within one ring, which is not the order over all of them.
    pub fn drain(&mut self, events: &mut Vec<Event>) {
        for ring in &mut self.rings {
            self.scratch.clear();
            ring.take(&mut self.scratch);
            parse(&self.scratch, events);
        }
    }
}

/// The bytes of an address range that the kernel maps at one fault: a fixed number, aligned to that
/// number. The number is in a debug file of the kernel that only root can read, else the default is
/// assumed.
#[must_use]
pub fn fault_around_bytes() -> u64 {
    let text = fs::read_to_string("/sys/kernel/debug/fault_around_bytes");
    text.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(FAULT_AROUND_BYTES)
}
