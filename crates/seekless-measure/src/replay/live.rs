//! A real target as a stage: io_uring past the page cache, or threads.

use super::{Ended, Io, Stage, Target};
use crate::{Error, ErrorKind};
use seekless_device::Nanos;
use seekless_engine::{
    Slots, Transfer, Transferred, Transfers, Wait, transfers, transfers_by_threads,
};
use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What one slot is doing.
#[derive(Clone, Copy, Debug, Default)]
struct Doing {
    file: u32,
    write: bool,
    offset: u64,
    /// The bytes that it has to move: fewer than asked for at the end of a file.
    bytes: u32,
}

/// The target, its slots and the wall's clock.
pub struct Live {
    transfers: Box<dyn Transfers>,
    names: Vec<PathBuf>,
    file_bytes: Vec<u64>,
    doing: Vec<Doing>,
    clock: Instant,
    moved: Vec<Transferred>,
}

impl Live {
    /// Sets up `depth` slots of up to `bytes` each. `pattern` is what writes write. `threads`: by a
    /// pool of threads, although io_uring may be allowed.
    ///
    /// # Errors
    /// The slots take too much memory, or the kernel refuses them.
    pub fn new(
        target: &Target,
        depth: u32,
        bytes: u64,
        pattern: Vec<u8>,
        threads: bool,
    ) -> Result<Self, Error> {
        let files = target.handles()?;
        let slots = Slots { count: depth, bytes: bytes as usize, pattern };
        let make = if threads { transfers_by_threads } else { transfers };
        let transfers = make(files, slots).map_err(|error| {
            let message = format!("{}: no replay can be set up", target.name());
            Error::because(ErrorKind::Io, message, error)
        })?;
        Ok(Self {
            doing: vec![Doing::default(); depth as usize],
            transfers,
            names: target.paths().to_vec(),
            file_bytes: target.file_bytes().to_vec(),
            clock: Instant::now(),
            moved: Vec::new(),
        })
    }

    /// What moves the bytes: `io_uring`, or threads and the reason.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.transfers.name()
    }

    fn failed(&self, doing: Doing, why: String) -> Error {
        let name = self.names[doing.file as usize].display();
        let does = if doing.write { "write" } else { "read" };
        let (bytes, offset) = (doing.bytes, doing.offset);
        let message =
            format!("{name}: the {does} of {bytes} bytes at offset {offset} failed: {why}");
        Error::new(ErrorKind::Io, message)
    }
}

impl Stage for Live {
    fn depth(&self) -> u32 {
        self.transfers.depth()
    }

    fn now(&self) -> Nanos {
        self.clock.elapsed().as_nanos() as Nanos
    }

    fn push(&mut self, slot: u32, io: &Io) {
        let left = self.file_bytes[io.file as usize].saturating_sub(io.offset);
        let Io { file, write, offset, .. } = *io;
        self.doing[slot as usize] = Doing { file, write, offset, bytes: io.bytes.min(left) as u32 };
        self.transfers.push(Transfer { slot, file, write, offset, bytes: io.bytes as u32 });
    }

    fn start(&mut self) {
        self.transfers.start();
    }

    fn turn(&mut self, until: Option<Nanos>, ended: &mut Vec<Ended>) -> Result<(), Error> {
        let wait = match until {
            None => Wait::ForOne,
            Some(until) => Wait::AtMost(Duration::from_nanos(until.saturating_sub(self.now()))),
        };
        self.moved.clear();
        self.transfers.turn(wait, &mut self.moved).map_err(|error| {
            Error::because(ErrorKind::Io, "the kernel takes no more I/Os".to_owned(), error)
        })?;
        let at = self.now();
        for &Transferred { slot, result } in &self.moved {
            let doing = self.doing[slot as usize];
            match result {
                Ok(bytes) if bytes >= doing.bytes => ended.push(Ended { slot, at }),
                Ok(bytes) => {
                    return Err(self.failed(doing, format!("only {bytes} bytes were moved")));
                }
                Err(errno) => return Err(self.failed(doing, errno.to_string())),
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("engine", &self.engine()).finish_non_exhaustive()
    }
}
