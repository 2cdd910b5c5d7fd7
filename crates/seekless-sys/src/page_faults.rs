//! The page faults of a program and of all that it starts, as perf samples, with what they need to
//! be understood: which file is mapped where, and which process was born from which.
//!
//! One software event a processor, with a ring of records that the kernel fills. An unprivileged
//! user may open it where `kernel.perf_event_paranoid` is 2 or less, without the faults that the
//! kernel itself takes for the program (a `write` from mapped memory).

mod event;
mod ring;

pub use event::{Event, Mapped, What};

use event::parse;
use ring::Ring;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// The largest ring, in bytes. If the user may not lock as much, smaller ones are tried.
const RING_BYTES_MAX: usize = 4 << 20;
const RING_BYTES_MIN: usize = 64 << 10;

/// How many bytes the kernel maps around a fault unless its debug file says otherwise.
const FAULT_AROUND_BYTES: u64 = 64 << 10;

/// Follows a process that is about to execute a program.
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
        let with_kernel = Self::open(pid, true);
        let (rings, sees_kernel) = match with_kernel {
            Ok(rings) => (rings, true),
            Err(_) => (Self::open(pid, false)?, false),
        };
        Ok(Self { rings, scratch: Vec::new(), sees_kernel })
    }

    fn open(pid: i32, kernel: bool) -> io::Result<Vec<Ring>> {
        let processors = online_processors();
        let mut bytes = RING_BYTES_MAX;
        loop {
            let rings: io::Result<Vec<Ring>> = processors
                .iter()
                .map(|&processor| Ring::open(pid, processor, kernel, bytes))
                .collect();
            match rings {
                Err(error) if is_a_limit(&error) && bytes > RING_BYTES_MIN => bytes /= 2,
                rings => return rings,
            }
        }
    }

    /// Whether it sees the faults that the kernel takes for the program, too.
    #[must_use]
    pub fn sees_kernel(&self) -> bool {
        self.sees_kernel
    }

    /// Waits until a ring is a quarter full, all followed processes have ended, or the time is up.
    ///
    /// # Errors
    /// Never but for lack of memory.
    pub fn wait(&self, limit: Duration) -> io::Result<()> {
        let mut rings: Vec<PollFd<'_>> = self
            .rings
            .iter()
            .map(|ring| PollFd::from_borrowed_fd(ring.as_fd(), PollFlags::IN))
            .collect();
        let limit =
            Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
        match poll(&mut rings, Some(&limit)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
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

/// Which bytes of an address range the kernel maps at one fault: so many, aligned to as many. The
/// kernel tells it in a debug file that only root can read, else its default is assumed.
#[must_use]
pub fn fault_around_bytes() -> u64 {
    let told = fs::read_to_string("/sys/kernel/debug/fault_around_bytes");
    told.ok().and_then(|text| text.trim().parse().ok()).unwrap_or(FAULT_AROUND_BYTES)
}

fn is_a_limit(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EPERM | libc::ENOMEM | libc::EINVAL))
}

/// The numbers of the processors that run, such as 0 to 3 of "0-3".
fn online_processors() -> Vec<i32> {
    let text = fs::read_to_string("/sys/devices/system/cpu/online").unwrap_or_default();
    let numbers = numbers_of(text.trim());
    if !numbers.is_empty() {
        return numbers;
    }
    let count = std::thread::available_parallelism().map_or(1, |count| count.get() as i32);
    (0..count).collect()
}

fn numbers_of(list: &str) -> Vec<i32> {
    let ranges = list.split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse().ok()?..=last.parse().ok()?)
    });
    ranges.flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_processors_are_understood() {
        assert_eq!(numbers_of("0-3"), [0, 1, 2, 3]);
        assert_eq!(numbers_of("0,2-3,7"), [0, 2, 3, 7]);
        assert_eq!(numbers_of(""), [0; 0]);
    }
}
