//! Reads and writes for a player of I/Os: by slot, into memory that was set up before, from one
//! thread. Nothing is allocated, locked or sent for an I/O, and one call both hands over a batch
//! and waits, so that the player costs little beside the device.

mod ring;
mod threads;

use crate::ring::why_refused;
use crate::{ALIGNMENT, AlignedBuf, Arena};
use rustix::io::Errno;
use std::fs::File;
use std::io;
use std::time::Duration;

use ring::RingTransfers;
use threads::ThreadTransfers;

/// Bytes that all slots may have together.
pub const SLOT_MEMORY_MAX: usize = 1 << 30;

/// The source of writes is longer than a slot by this.
const SOURCE_SPARE_BYTES: usize = 255 * ALIGNMENT;

/// One read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// Whose buffer is read into. A slot has one transfer at a time.
    pub slot: u32,
    /// Which of the files.
    pub file: u32,
    /// Whether it writes.
    pub write: bool,
    /// The first byte in the file.
    pub offset: u64,
    /// The length; at most a slot's.
    pub bytes: u32,
}

/// How a transfer ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transferred {
    /// Its slot, which is free again.
    pub slot: u32,
    /// The bytes that were moved, or the kernel's error.
    pub result: Result<u32, Errno>,
}

/// How long a turn waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Until a transfer has ended.
    ForOne,
    /// As long as this, or until a transfer has ended.
    AtMost(Duration),
}

/// Moves bytes between files and slots.
pub trait Transfers {
    /// Takes a transfer, which the next turn hands to the kernel.
    ///
    /// # Panics
    /// When the slot or file does not exist, or the slot has a transfer or is shorter.
    fn push(&mut self, transfer: Transfer);

    /// Hands over what was pushed, and does not wait: the device works on it while the caller makes
    /// more. What the kernel does not take now, the next turn hands over.
    fn start(&mut self);

    /// Hands over what was pushed, waits, and adds what has ended to `ended`.
    ///
    /// # Errors
    /// The kernel takes no more transfers at all.
    fn turn(&mut self, wait: Wait, ended: &mut Vec<Transferred>) -> io::Result<()>;

    /// With what it moves bytes; for the threads, with the reason.
    fn name(&self) -> &'static str;

    /// How many transfers the kernel may have at once.
    fn depth(&self) -> u32;
}

/// What to set up.
#[derive(Debug, Default)]
pub struct Slots {
    /// How many.
    pub count: u32,
    /// The length of each, in bytes.
    pub bytes: usize,
    /// What writes write, over and over; each write begins elsewhere in it. Empty stands for zeros.
    pub pattern: Vec<u8>,
}

impl Slots {
    /// The length of a slot, rounded up so that all begin at an aligned address.
    fn step(&self) -> usize {
        self.bytes.next_multiple_of(ALIGNMENT)
    }

    fn check(&self) -> io::Result<()> {
        let total = self.step().checked_mul(self.count as usize);
        if self.count > 0 && total.is_some_and(|total| total <= SLOT_MEMORY_MAX) {
            return Ok(());
        }
        let message = format!(
            "{} I/Os of up to {} bytes at once take more than the {} MiB of memory that a replay \
             may use: use a smaller depth",
            self.count,
            self.bytes,
            SLOT_MEMORY_MAX >> 20
        );
        Err(io::Error::new(io::ErrorKind::InvalidInput, message))
    }

    /// Memory of `slots` slots, in huge pages where it is large. In small pages a request of 1 MiB
    /// has more pieces than some devices take, and is cut in two.
    fn memory(&self, slots: usize) -> io::Result<AlignedBuf> {
        let pages = (self.step() * slots / ALIGNMENT).max(1);
        let short = || io::Error::from(io::ErrorKind::OutOfMemory);
        Arena::new(pages).take(pages).ok_or_else(short)
    }

    /// What writes write, wherever they lie: apart from the slots, since reads overwrite those.
    fn source(&self) -> io::Result<AlignedBuf> {
        let mut source =
            Slots { bytes: self.step() + SOURCE_SPARE_BYTES, ..Slots::default() }.memory(1)?;
        let pattern = self.pattern.iter().cycle();
        source.whole_mut().iter_mut().zip(pattern).for_each(|(byte, &pattern)| *byte = pattern);
        Ok(source)
    }
}

/// Where in the source a write begins: neighbours write different bytes.
fn source_start(offset: u64) -> usize {
    (offset / ALIGNMENT as u64 * ALIGNMENT as u64) as usize % (SOURCE_SPARE_BYTES + ALIGNMENT)
}

/// The best that this kernel allows: io_uring, or else threads whose name says why.
///
/// # Errors
/// The slots take too much memory, or no thread can be started.
pub fn transfers(files: Vec<File>, slots: Slots) -> io::Result<Box<dyn Transfers>> {
    slots.check()?;
    match RingTransfers::open(slots.count) {
        Ok(ring) => Ok(Box::new(RingTransfers::new(ring, files, &slots)?)),
        Err(error) => Ok(Box::new(ThreadTransfers::new(files, &slots, why_refused(&error))?)),
    }
}

/// As [`transfers`], but always by threads.
///
/// # Errors
/// As [`transfers`].
pub fn transfers_by_threads(files: Vec<File>, slots: Slots) -> io::Result<Box<dyn Transfers>> {
    slots.check()?;
    Ok(Box::new(ThreadTransfers::new(files, &slots, "threads")?))
}

#[cfg(test)]
mod tests;
