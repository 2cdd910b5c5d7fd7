//! Perf events: the kernel reports them as they happen, through rings of records.

#![expect(clippy::host_endian_bytes, reason = "the kernel writes records for this machine")]

mod ring;

pub(crate) use ring::{Attributes, Ring, flags, run_at_tracepoint, samples};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::fs;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

/// The largest ring, in bytes: more than 20,000 page faults. If the user may not lock as much,
/// smaller ones are tried. To make one takes 0.2 ms a MiB, for each processor.
const RING_BYTES_MAX: usize = 1 << 20;
const RING_BYTES_MIN: usize = 64 << 10;

pub(crate) const HEADER_BYTES: usize = 8;
/// The kinds of records that every reader meets.
pub(crate) const LOST: u32 = 2;
pub(crate) const SAMPLE: u32 = 9;

/// Opens an event of `pid` on every processor; −1 is every process.
pub(crate) fn open_on_all(attributes: &Attributes, pid: i32) -> io::Result<Vec<Ring>> {
    let processors = online_processors();
    let mut bytes = RING_BYTES_MAX;
    loop {
        let rings: io::Result<Vec<Ring>> = processors
            .iter()
            .map(|&processor| Ring::open(attributes, pid, processor, bytes))
            .collect();
        match rings {
            Err(error) if is_a_limit(&error) && bytes > RING_BYTES_MIN => bytes /= 2,
            rings => return rings,
        }
    }
}

/// As [`open_on_all`], of several threads, which share the rings. Threads that have ended are left
/// out.
pub(crate) fn open_of_all(attributes: &Attributes, tids: &[i32]) -> io::Result<Vec<Ring>> {
    let (first, others) = tids.split_first().ok_or_else(no_thread)?;
    let mut rings = open_on_all(attributes, *first)?;
    for (ring, processor) in rings.iter_mut().zip(online_processors()) {
        for &tid in others {
            match ring.join(attributes, tid, processor) {
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                result => result?,
            }
        }
    }
    Ok(rings)
}

fn no_thread() -> io::Error {
    io::Error::from_raw_os_error(libc::ESRCH)
}

/// Waits until a ring is a quarter full, all followed processes have ended, or the time is up.
/// Returns whether they have ended: then this does not wait any more.
pub(crate) fn wait(rings: &[Ring], limit: Duration) -> io::Result<bool> {
    let mut rings: Vec<PollFd<'_>> =
        rings.iter().map(|ring| PollFd::from_borrowed_fd(ring.as_fd(), PollFlags::IN)).collect();
    let limit = Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
    match poll(&mut rings, Some(&limit)) {
        Ok(_) => Ok(rings.iter().any(|ring| ring.revents().contains(PollFlags::HUP))),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// A record of a ring: its kind, the header's `misc` field, and what follows the header.
pub(crate) struct Record<'a> {
    pub(crate) kind: u32,
    pub(crate) misc: u16,
    pub(crate) body: &'a [u8],
}

/// The records in `bytes`; one that is cut off ends them.
pub(crate) fn records(mut bytes: &[u8]) -> impl Iterator<Item = Record<'_>> {
    std::iter::from_fn(move || {
        let header = bytes.get(..HEADER_BYTES)?;
        let (kind, misc) = (u32_at(header, 0), u16_at(header, 4));
        let length = usize::from(u16_at(header, 6));
        let body = bytes.get(HEADER_BYTES..length)?;
        bytes = &bytes[length..];
        Some(Record { kind, misc, body })
    })
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

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_ne_bytes(array(bytes, at))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_ne_bytes(array(bytes, at))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_ne_bytes(array(bytes, at))
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
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
