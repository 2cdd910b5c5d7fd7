//! What is read: files on a device, and readers that read and write parts of them.

use crate::unit::PAGE_BYTES;
use seekless_device::Nanos;
use seekless_trace::PageNumbers;

/// Files on one device, and what is done with them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Where the files lie.
    pub files: Vec<FilePlace>,
    /// What is done, one phase after the other: the runs of a trace. The cache stays warm between
    /// them.
    pub phases: Vec<Phase>,
}

/// A file in one piece on the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// Its first byte on the device.
    pub offset: u64,
    /// Its size.
    pub bytes: u64,
}

/// Readers that begin together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Phase {
    /// The open files: the number of the file of each.
    pub handles: Vec<u32>,
    /// The readers.
    pub readers: Vec<Reader>,
}

/// Accesses that come one after another, as those of a thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reader {
    /// In their order.
    pub accesses: Vec<TimedAccess>,
}

/// What a reader asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To read a part of a file.
    Read,
    /// To write it.
    Write,
    /// To have all that was written to the file on the device. It has no bytes of its own.
    Sync,
}

/// A read, write or sync of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimedAccess {
    /// The open file, an index of [`Phase::handles`].
    pub handle: u32,
    /// What is asked for.
    pub ask: Ask,
    /// The first byte.
    pub offset: u64,
    /// The number of bytes, more than 0 but of a sync.
    pub bytes: u64,
    /// When it came, from the start of the phase.
    pub time_ns: Nanos,
}

impl Workload {
    /// One reader that reads these ranges (offset, bytes) of one file, through one open file.
    #[must_use]
    pub fn of_one_file(bytes: u64, reads: impl IntoIterator<Item = (u64, u64)>) -> Self {
        let access =
            |(offset, bytes)| TimedAccess { handle: 0, ask: Ask::Read, offset, bytes, time_ns: 0 };
        let reader = Reader { accesses: reads.into_iter().map(access).collect() };
        let phase = Phase { handles: vec![0], readers: vec![reader] };
        Self { files: vec![FilePlace { offset: 0, bytes }], phases: vec![phase] }
    }

    /// The pages of all files.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.files.iter().map(|file| file.bytes.div_ceil(PAGE_BYTES)).sum()
    }

    /// The number of different pages that the accesses touch.
    #[must_use]
    pub fn distinct_pages(&self) -> u64 {
        let mut numbers = PageNumbers::default();
        for phase in &self.phases {
            for access in phase.readers.iter().flat_map(|reader| &reader.accesses) {
                let file = phase.handles[access.handle as usize];
                let end = (access.offset + access.bytes).div_ceil(PAGE_BYTES);
                (access.offset / PAGE_BYTES..end).for_each(|page| {
                    numbers.id(file, page);
                });
            }
        }
        numbers.len() as u64
    }

    /// The number of accesses.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        let readers = self.phases.iter().flat_map(|phase| &phase.readers);
        readers.map(|reader| reader.accesses.len() as u64).sum()
    }
}
