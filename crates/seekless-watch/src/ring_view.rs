//! A look at the queues of another process's ring (io_uring), through a duplicate of its
//! descriptor: which requests wait there, and which have ended. Nothing is changed.

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ffi::c_void;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU32, Ordering, fence};

const AT_SUBMISSIONS: u64 = 0;
const AT_COMPLETIONS: u64 = 0x800_0000;
const AT_ENTRIES: u64 = 0x1000_0000;

/// How many bytes the kernel's `struct io_uring_params` has.
pub const PARAMETERS_BYTES: usize = 120;

const SETUP_POLLED: u32 = 1 << 1;
const SETUP_WIDE_ENTRIES: u32 = 1 << 10;
const SETUP_WIDE_RESULTS: u32 = 1 << 11;
const SETUP_OWN_MEMORY: u32 = 1 << 14;
const SETUP_WITHOUT_DESCRIPTOR: u32 = 1 << 15;
const SETUP_WITHOUT_ARRAY: u32 = 1 << 16;
/// Later flags change how queues are read, or may do so.
const SETUP_UNKNOWN: u32 = u32::MAX << 18;
/// More results of the same request follow.
const RESULT_MORE: u32 = 1 << 1;
/// The request names its file by a place in the ring's own table.
const ENTRY_FIXED_FILE: u8 = 1;

/// A descriptor of a ring.
#[derive(Debug)]
pub struct RingFile(File);

impl RingFile {
    /// # Errors
    /// It is no ring. What lies behind the end of another file cannot be read.
    pub fn new(file: File) -> io::Result<Self> {
        let link = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
        if link.as_os_str() == "anon_inode:[io_uring]" {
            return Ok(Self(file));
        }
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// How a ring is laid out, as io_uring_setup has said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RingShape {
    flags: u32,
    entries: u32,
    results: u32,
    submission_head: u32,
    submission_tail: u32,
    submission_array: u32,
    completion_tail: u32,
    completions: u32,
}

/// A request in a ring's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingEntry {
    /// What it asks for (IORING_OP).
    pub opcode: u8,
    /// A descriptor, or a place in the ring's own table of files.
    pub file: i32,
    /// Whether `file` is a place in that table.
    pub is_fixed: bool,
    /// The offset in the file; all ones for the file's position.
    pub offset: u64,
    /// The address of memory, or of a list of its parts.
    pub address: u64,
    /// How many bytes or parts.
    pub length: u32,
    /// What comes back with the result.
    pub user_data: u64,
}

/// A result in a ring's other queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingResult {
    /// What came with the request.
    pub user_data: u64,
    /// The result, or a negative error number.
    pub result: i32,
    /// More results of the same request follow.
    pub has_more: bool,
}

/// Results since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RingResults {
    /// In their order.
    pub results: Vec<RingResult>,
    /// How many results there have been in all, modulo 2³².
    pub tail: u32,
    /// Results that others have replaced since.
    pub missed: u32,
}

impl RingShape {
    /// From the kernel's `struct io_uring_params` after io_uring_setup. `None` if its requests
    /// cannot be seen from outside: a thread of the kernel takes them (SQPOLL), the queues lie in
    /// the program's own memory, or the ring has no descriptor.
    #[must_use]
    pub fn of(parameters: &[u8; PARAMETERS_BYTES]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = parameters.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_le_bytes)
        };
        let shape = Self {
            flags: number(8),
            entries: number(0),
            results: number(4),
            submission_head: number(40),
            submission_tail: number(44),
            submission_array: number(64),
            completion_tail: number(84),
            completions: number(100),
        };
        let unseen = SETUP_POLLED | SETUP_OWN_MEMORY | SETUP_WITHOUT_DESCRIPTOR | SETUP_UNKNOWN;
        let is_sound = shape.entries.is_power_of_two() && shape.results.is_power_of_two();
        (shape.flags & unseen == 0 && is_sound).then_some(shape)
    }

    fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Up to `most` requests that the kernel has not taken yet, in their order.
    ///
    /// # Errors
    /// The ring cannot be mapped.
    pub fn waiting(&self, ring: &RingFile, most: u32) -> io::Result<Vec<RingEntry>> {
        let entry_bytes = if self.has(SETUP_WIDE_ENTRIES) { 128 } else { 64 };
        let has_array = !self.has(SETUP_WITHOUT_ARRAY);
        let array_bytes = if has_array { 4 * self.entries as usize } else { 0 };
        let array = self.submission_array as usize;
        let queue_bytes = array.max(self.submission_tail as usize + 4) + array_bytes;
        let queue = Mapped::of(ring, AT_SUBMISSIONS, queue_bytes)?;
        let head = queue.number(self.submission_head as usize)?;
        let tail = queue.number(self.submission_tail as usize)?;
        fence(Ordering::Acquire);
        let count = tail.wrapping_sub(head).min(most).min(self.entries);
        if count == 0 {
            return Ok(Vec::new());
        }
        let entries = Mapped::of(ring, AT_ENTRIES, entry_bytes * self.entries as usize)?;
        let mut waiting = Vec::with_capacity(count as usize);
        for at in 0..count {
            let place = head.wrapping_add(at) & (self.entries - 1);
            let index = if has_array { queue.number(array + 4 * place as usize)? } else { place };
            if index < self.entries {
                waiting.push(entry(&entries, entry_bytes * index as usize)?);
            }
        }
        Ok(waiting)
    }

    /// The results since there were `seen` in all.
    ///
    /// # Errors
    /// The ring cannot be mapped.
    pub fn results_since(&self, ring: &RingFile, seen: u32) -> io::Result<RingResults> {
        let result_bytes = if self.has(SETUP_WIDE_RESULTS) { 32 } else { 16 };
        let queue_bytes = self.completions as usize + result_bytes * self.results as usize;
        let queue = Mapped::of(ring, AT_COMPLETIONS, queue_bytes)?;
        let tail = queue.number(self.completion_tail as usize)?;
        fence(Ordering::Acquire);
        let missed = tail.wrapping_sub(seen).saturating_sub(self.results);
        let first = seen.wrapping_add(missed);
        let mut results = Vec::new();
        for at in 0..tail.wrapping_sub(first) {
            let place = first.wrapping_add(at) & (self.results - 1);
            let at = self.completions as usize + result_bytes * place as usize;
            results.push(RingResult {
                user_data: queue.word(at)?,
                result: queue.number(at + 8)?.cast_signed(),
                has_more: queue.number(at + 12)? & RESULT_MORE != 0,
            });
        }
        Ok(RingResults { results, tail, missed })
    }
}

fn entry(entries: &Mapped, at: usize) -> io::Result<RingEntry> {
    let head = entries.word(at)?;
    let [opcode, flags, ..] = head.to_le_bytes();
    Ok(RingEntry {
        opcode,
        file: (head >> 32) as i32,
        is_fixed: flags & ENTRY_FIXED_FILE != 0,
        offset: entries.word(at + 8)?,
        address: entries.word(at + 16)?,
        length: entries.number(at + 24)?,
        user_data: entries.word(at + 32)?,
    })
}

/// A part of a ring, mapped to be read.
struct Mapped {
    address: NonNull<c_void>,
    bytes: usize,
}

impl Mapped {
    fn of(ring: &RingFile, offset: u64, bytes: usize) -> io::Result<Self> {
        // SAFETY: a fresh mapping at an address of the kernel's choice; no reference to it is ever
        // formed but to single atomic numbers.
        let address = unsafe {
            mmap(ptr::null_mut(), bytes, ProtFlags::READ, MapFlags::SHARED, &ring.0, offset)?
        };
        let address = NonNull::new(address).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { address, bytes })
    }

    /// The number of four bytes at an offset, which the program or the kernel may change.
    fn number(&self, at: usize) -> io::Result<u32> {
        if !at.is_multiple_of(4) || at.checked_add(4).is_none_or(|end| end > self.bytes) {
            return Err(io::ErrorKind::InvalidData.into());
        }
        // SAFETY: the number lies in the mapping, at a multiple of its size, since the mapping
        // begins at a page. Others that write to it are taken into account by the atomic type.
        let number = unsafe { self.address.cast::<u8>().add(at).cast::<AtomicU32>().as_ref() };
        Ok(number.load(Ordering::Relaxed))
    }

    fn word(&self, at: usize) -> io::Result<u64> {
        Ok(u64::from(self.number(at)?) | u64::from(self.number(at + 4)?) << 32)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping made in `of`, into which no reference points any more.
        let unmapped = unsafe { munmap(self.address.as_ptr(), self.bytes) };
        debug_assert!(unmapped.is_ok());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_that_cannot_be_seen_have_no_shape() {
        let with = |flags: u32| {
            let mut parameters = [0; PARAMETERS_BYTES];
            parameters[..4].copy_from_slice(&8_u32.to_le_bytes());
            parameters[4..8].copy_from_slice(&16_u32.to_le_bytes());
            parameters[8..12].copy_from_slice(&flags.to_le_bytes());
            RingShape::of(&parameters)
        };
        assert_eq!(with(0).map(|shape| (shape.entries, shape.results)), Some((8, 16)));
        assert!(with(SETUP_WIDE_ENTRIES | SETUP_WIDE_RESULTS | SETUP_WITHOUT_ARRAY).is_some());
        for flag in [SETUP_POLLED, SETUP_OWN_MEMORY, SETUP_WITHOUT_DESCRIPTOR, 1 << 18, 1 << 31] {
            assert_eq!(with(flag), None);
        }
        assert_eq!(RingShape::of(&[0; PARAMETERS_BYTES]), None, "it has no entries");
    }

    #[test]
    fn a_file_that_is_no_ring_is_an_error() {
        assert!(RingFile::new(tempfile::tempfile().unwrap()).is_err());
    }
}
