//! An entry whose extent comes in pieces, one after another: it is decoded while its later pieces
//! are still being read.

use crate::decode::{data_start, two_sizes};
use crate::entry::{Entry, Method};
use crate::error::Result;
use crate::fault::{broken, check_crc, ends_early, no_memory, short};
use crate::foreign::{Foreign, Step};
use flate2::{Decompress, FlushDecompress, Status};
use std::ops::Range;
use zstd::stream::raw::{InBuffer, Operation, OutBuffer};

/// Content is inflated and summed in steps of this many bytes, which the processor's cache holds.
const STEP_BYTES: usize = 256 << 10;

/// How far an entry has been decoded.
pub struct Pieces {
    /// Bytes of the extent that have come.
    seen: u64,
    /// Where the data begins in the extent, once the first piece has come.
    start: Option<u64>,
    coding: Coding,
    written: usize,
    /// Whether a coded stream is at its end.
    ended: bool,
    crc: crc32fast::Hasher,
}

enum Coding {
    Stored,
    Deflate(Decompress),
    Zstd(zstd::stream::raw::Decoder<'static>),
    Foreign(Foreign),
}

impl Coding {
    fn new(entry: &Entry) -> Option<Self> {
        Some(match entry.method {
            Method::Deflate => Self::Deflate(Decompress::new(false)),
            Method::Zstd => Self::Zstd(zstd::stream::raw::Decoder::new().ok()?),
            // What cannot be read is refused once its header has come.
            Method::Other(_) => Foreign::new(entry).map_or(Self::Stored, Self::Foreign),
            Method::Stored => Self::Stored,
        })
    }

    /// Whether what follows the end of its stream is left alone; further frames of zstd are
    /// content.
    fn ends_once(&self) -> bool {
        matches!(self, Self::Deflate(_) | Self::Foreign(_))
    }

    /// Decodes as much of `data`, which is of `entry`, as `out` has room for.
    fn step(&mut self, entry: &Entry, name: &str, data: &[u8], out: &mut [u8]) -> Result<Step> {
        match self {
            Self::Stored => Ok(Step { taken: data.len(), made: 0, ended: true }),
            Self::Deflate(inflate) => {
                let before = (inflate.total_in(), inflate.total_out());
                let status = inflate.decompress(data, out, FlushDecompress::None);
                let status = status.map_err(|error| broken(entry, name, error))?;
                let taken = (inflate.total_in() - before.0) as usize;
                let made = (inflate.total_out() - before.1) as usize;
                Ok(Step { taken, made, ended: status == Status::StreamEnd })
            }
            Self::Zstd(decoder) => {
                let (mut data, mut out) = (InBuffer::around(data), OutBuffer::around(out));
                let left = decoder.run(&mut data, &mut out);
                let left = left.map_err(|error| broken(entry, name, error))?;
                Ok(Step { taken: data.pos(), made: out.pos(), ended: left == 0 })
            }
            Self::Foreign(decoder) => {
                decoder.step(data, out).map_err(|fault| fault.of(entry, name))
            }
        }
    }
}

impl Pieces {
    /// Nothing of `entry`, called `name`, has come yet.
    ///
    /// # Errors
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit): there is no memory for a decoder.
    pub fn new(entry: &Entry, name: &str) -> Result<Self> {
        let coding = Coding::new(entry).ok_or_else(|| no_memory(entry, name))?;
        let (ended, crc) = (matches!(coding, Coding::Stored), crc32fast::Hasher::new());
        Ok(Self { seen: 0, start: None, coding, written: 0, ended, crc })
    }

    /// Takes the next piece of the extent. The first must hold the local header. A coded entry is
    /// decoded into `out`, which is as long as its content, and the same each time. Of a stored one
    /// the content is only checked, and `out` is not used.
    ///
    /// # Errors
    /// As [`decode`](crate::decode); nothing more is to be added then.
    pub fn add(&mut self, entry: &Entry, name: &str, piece: &[u8], out: &mut [u8]) -> Result<()> {
        let start = match self.start {
            Some(start) => start,
            None => *self.start.insert(data_start(entry, name, piece)? as u64),
        };
        let end = start.saturating_add(entry.coded_bytes);
        let within = |at: u64| (at.clamp(self.seen, self.seen + piece.len() as u64)) - self.seen;
        let data = &piece[within(start) as usize..within(end) as usize];
        self.seen += piece.len() as u64;
        match &self.coding {
            Coding::Deflate(_) | Coding::Zstd(_) | Coding::Foreign(_) => {
                self.decode(entry, name, data, out)
            }
            Coding::Stored if entry.coded_bytes != entry.bytes => Err(two_sizes(entry, name)),
            Coding::Stored => {
                self.written += data.len();
                self.crc.update(data);
                Ok(())
            }
        }
    }

    fn decode(&mut self, entry: &Entry, name: &str, mut data: &[u8], out: &mut [u8]) -> Result<()> {
        while !(self.ended && (data.is_empty() || self.coding.ends_once())) {
            let end = out.len().min(self.written + STEP_BYTES);
            let room = &mut out[self.written..end];
            let Step { taken, made, ended } = self.coding.step(entry, name, data, room)?;
            self.crc.update(&out[self.written..self.written + made]);
            self.written += made;
            data = &data[taken..];
            self.ended = ended;
            if taken == 0 && made == 0 {
                // With room and without progress it waits for the next piece.
                return match !ended && self.written == out.len() && !data.is_empty() {
                    true => Err(broken(entry, name, "it holds more than it claims")),
                    false => Ok(()),
                };
            }
        }
        Ok(())
    }

    /// Where the content of a stored entry lies in the extent, after all of it has come; of a
    /// coded one, where its data does. Checks what was decoded.
    ///
    /// # Errors
    /// As [`decode`](crate::decode).
    pub fn finish(self, entry: &Entry, name: &str) -> Result<Range<u64>> {
        let start = self.start.unwrap_or(0);
        let end = start.saturating_add(entry.coded_bytes);
        if end > self.seen {
            return Err(short(entry, name, self.seen));
        }
        if !self.ended || self.written as u64 != entry.bytes {
            return Err(ends_early(entry, name, self.written as u64));
        }
        check_crc(entry, name, self.crc.finalize())?;
        Ok(start..end)
    }
}
