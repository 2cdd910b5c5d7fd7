//! An engine that reads and writes nothing: what everything around the reads costs, and tests that
//! need no file.

use crate::tally::Tally;
use crate::write::Write;
use crate::{AlignedBuf, Completion, Counters, Engine, Read};
use seekless_device::{Costs, parts};
use std::fs::File;
use std::io;

/// Fills each buffer at once with made-up bytes, whatever the file's length. Writes go nowhere.
#[derive(Debug)]
pub struct Noop {
    patterned: bool,
    tally: Tally,
}

impl Noop {
    /// Every byte is zero.
    #[must_use]
    pub fn zeroed() -> Self {
        Noop { patterned: false, tally: Tally::default() }
    }

    /// Every byte is [`Noop::byte_at`] its offset, so that a test sees whether the right range was
    /// read.
    #[must_use]
    pub fn patterned() -> Self {
        Noop { patterned: true, tally: Tally::default() }
    }

    /// The byte that a patterned engine reads at `offset`; the pattern repeats after 251 bytes, a
    /// prime.
    #[must_use]
    pub fn byte_at(offset: u64) -> u8 {
        u8::try_from(offset % 251).expect("under 251")
    }
}

impl Engine for Noop {
    fn submit(&self, reads: Vec<Read>) {
        for Read { offset, mut buffer, tag, done, .. } in reads {
            let bytes = buffer.whole_mut();
            match self.patterned {
                true => (offset..).zip(bytes).for_each(|(at, byte)| *byte = Noop::byte_at(at)),
                false => bytes.fill(0),
            }
            let length = buffer.capacity();
            buffer.set_len(length);
            self.tally.add(parts(length as u64), length as u64, true);
            // The receiver may be gone, which is no error.
            done.send(Completion { tag, buffer, result: Ok(length), cached: false });
        }
    }

    fn write(&self, writes: Vec<Write>) {
        for Write { bytes, tag, done, .. } in writes {
            self.tally.add(parts(bytes as u64), bytes as u64, true);
            let buffer = AlignedBuf::default();
            // The receiver may be gone, which is no error.
            done.send(Completion { tag, buffer, result: Ok(bytes), cached: false });
        }
    }

    fn sync_now(&self, _file: &File, _data_only: bool) -> io::Result<()> {
        Ok(())
    }

    fn resize_now(&self, _file: &File, _bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn counters(&self) -> Counters {
        self.tally.counters()
    }

    fn name(&self) -> &'static str {
        "noop"
    }

    fn costs(&self) -> Costs {
        Costs { request_ns: 0, bytes_per_second: u64::MAX, depth: u32::MAX }
    }
}
