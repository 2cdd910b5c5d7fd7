//! A place in an entry that is coded as one stream, from which decoding goes on: so a part of a
//! large entry is decoded without keeping what comes before it, and without decoding that again for
//! each part. zlib's `examples/zran.c` does the same with a window and a bit offset; here a point
//! is a copy of the decoder's state.

use crate::decode::check_coded;
use crate::entry::{Entry, Method};
use crate::error::Result;
use crate::fault::{broken, check_crc, ends_early, no_memory};
use crate::foreign::Foreign;
use miniz_oxide::inflate::stream::{InflateState, inflate};
use miniz_oxide::{DataFormat, MZError, MZFlush, MZStatus};
use std::fmt;
use zstd::zstd_safe::{DCtx, InBuffer, OutBuffer, get_error_name};

/// How far an entry has been decoded, from its start on.
pub struct Position {
    decoder: Decoder,
    data: u64,
    content: u64,
    /// Of the content so far.
    crc: crc32fast::Hasher,
    has_ended: bool,
}

enum Decoder {
    Deflate(Box<InflateState>),
    Zstd(Box<DCtx<'static>>),
    Foreign(Foreign),
}

/// What one step came to, in bytes of data and of content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// So much of the data was used.
    pub taken: usize,
    /// So much content was made.
    pub made: usize,
}

impl Position {
    /// Memory that a position in deflated data takes, in bytes.
    pub const DEFLATE_BYTES: usize = size_of::<Self>() + size_of::<InflateState>();

    /// The start of `entry`, called `name`.
    ///
    /// # Errors
    /// [`ErrorKind::Encrypted`](crate::ErrorKind::Encrypted), or
    /// [`ErrorKind::Method`](crate::ErrorKind::Method), which stored entries get too;
    /// [`ErrorKind::Limit`](crate::ErrorKind::Limit): there is no memory for a decoder.
    pub fn start(entry: &Entry, name: &str) -> Result<Self> {
        check_coded(entry, name)?;
        let decoder = match entry.method {
            Method::Zstd => {
                let context = DCtx::try_create().ok_or_else(|| no_memory(entry, name))?;
                Decoder::Zstd(Box::new(context))
            }
            Method::Other(_) => {
                Decoder::Foreign(Foreign::new(entry).ok_or_else(|| no_memory(entry, name))?)
            }
            _ => Decoder::Deflate(InflateState::new_boxed(DataFormat::Raw)),
        };
        let crc = crc32fast::Hasher::new();
        Ok(Self { decoder, data: 0, content: 0, crc, has_ended: false })
    }

    /// Bytes of the entry's data that have been used: the next step goes on behind them.
    #[must_use]
    pub fn data(&self) -> u64 {
        self.data
    }

    /// Bytes of content that have been made.
    #[must_use]
    pub fn content(&self) -> u64 {
        self.content
    }

    /// Another one at the same place, if its decoder can be copied: only that of deflate can.
    #[must_use]
    pub fn copy(&self) -> Option<Self> {
        let Decoder::Deflate(state) = &self.decoder else { return None };
        let crc = self.crc.clone();
        Some(Self { decoder: Decoder::Deflate(state.clone()), crc, ..*self })
    }

    /// The memory it takes, in bytes. Of zstd and LZMA data, it is what the data asks for: usually
    /// some MiB, and at most 128 MiB.
    #[must_use]
    pub fn memory_bytes(&self) -> usize {
        match &self.decoder {
            Decoder::Deflate(_) => Self::DEFLATE_BYTES,
            Decoder::Zstd(context) => size_of::<Self>() + context.sizeof(),
            Decoder::Foreign(decoder) => size_of::<Self>() + decoder.memory_bytes(),
        }
    }

    /// Decodes `data`, which lies behind what has been used, into `out`, as much of it as that has
    /// room for. With the last content of the entry its CRC is checked: it is of all that was
    /// decoded up to here.
    ///
    /// A step that neither takes nor makes anything waits for more data, or for room.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt), also where the data holds less than
    /// `entry` claims, or [`ErrorKind::Crc`](crate::ErrorKind::Crc).
    pub fn step(&mut self, entry: &Entry, name: &str, data: &[u8], out: &mut [u8]) -> Result<Step> {
        let room = usize::try_from(entry.bytes - self.content).unwrap_or(usize::MAX);
        let room = room.min(out.len());
        let out = &mut out[..room];
        let before = self.has_ended;
        let step = match &mut self.decoder {
            _ if room == 0 => Step { taken: 0, made: 0 },
            Decoder::Deflate(_) | Decoder::Foreign(_) if before => Step { taken: 0, made: 0 },
            Decoder::Deflate(state) => {
                let inflated = inflate(state, data, out, MZFlush::None);
                match inflated.status {
                    Ok(status) => self.has_ended = status == MZStatus::StreamEnd,
                    Err(MZError::Buf) => {}
                    Err(_) => return Err(broken(entry, name, "it is not a deflate stream")),
                }
                Step { taken: inflated.bytes_consumed, made: inflated.bytes_written }
            }
            Decoder::Zstd(context) => {
                let (mut data, mut out) = (InBuffer::around(data), OutBuffer::around(&mut *out));
                let left = context.decompress_stream(&mut out, &mut data);
                let left = left.map_err(|code| broken(entry, name, get_error_name(code)))?;
                self.has_ended = left == 0;
                Step { taken: data.pos(), made: out.pos() }
            }
            Decoder::Foreign(decoder) => {
                let step = decoder.step(data, out).map_err(|fault| fault.of(entry, name))?;
                self.has_ended = step.ended;
                Step { taken: step.taken, made: step.made }
            }
        };
        self.data += step.taken as u64;
        self.content += step.made as u64;
        self.crc.update(&out[..step.made]);
        let nothing_came = step == Step { taken: 0, made: 0 };
        let is_over = self.data >= entry.coded_bytes || (before && self.ends_once());
        match self.content == entry.bytes {
            true if step.made > 0 => check_crc(entry, name, self.crc.clone().finalize())?,
            false if nothing_came && is_over && room > 0 => {
                return Err(ends_early(entry, name, self.content));
            }
            _ => {}
        }
        Ok(step)
    }

    /// Whether what follows the end of its stream is left alone; further frames of zstd are
    /// content.
    fn ends_once(&self) -> bool {
        matches!(self.decoder, Decoder::Deflate(_) | Decoder::Foreign(_))
    }
}

impl fmt::Debug for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Position")
            .field("data", &self.data)
            .field("content", &self.content)
            .field("has_ended", &self.has_ended)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Codec, ErrorKind, Index, Level, PackWriter, data_range, prepare};

    /// Content that shrinks to about half, and is no repetition.
    fn content(bytes: usize) -> Vec<u8> {
        let noise = |at: usize| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as u8 & 15;
        (0..bytes).map(|at| noise(at / 2) + 64).collect()
    }

    fn entry(bytes: &[u8], codec: Codec) -> (Entry, Vec<u8>) {
        let mut pack = PackWriter::new(Vec::new());
        pack.add(prepare(About::named("a"), bytes.to_vec(), codec).unwrap()).unwrap();
        let archive = pack.finish().unwrap().0;
        let entry = Index::open(archive.as_slice(), archive.len() as u64).unwrap().entry(0);
        let extent = &archive[entry.header_offset as usize..][..entry.extent_bytes as usize];
        (entry, extent[data_range(&entry, "a", extent).unwrap()].to_vec())
    }

    /// Decodes up to `end`, with pieces of data and room of these lengths. Returns what is made.
    fn advance(
        position: &mut Position,
        entry: &Entry,
        data: &[u8],
        end: u64,
        (piece, room): (usize, usize),
    ) -> Result<Vec<u8>> {
        let (mut all, mut out) = (Vec::new(), vec![0; room]);
        while position.content() < end {
            let room = room.min((end - position.content()) as usize);
            let rest = &data[position.data() as usize..];
            let rest = &rest[..piece.min(rest.len())];
            let step = position.step(entry, "a", rest, &mut out[..room])?;
            all.extend_from_slice(&out[..step.made]);
        }
        Ok(all)
    }

    #[test]
    fn decoding_goes_on_from_any_place() {
        let content = content(300_000);
        for codec in [Codec::Deflate, Codec::Zstd(Level::default())] {
            let (entry, data) = entry(&content, codec);
            assert!(data.len() < 250_000, "{codec:?}: {}", data.len());
            for lengths in [(1 << 20, 1 << 20), (1000, 777), (1, 300_000), (5000, 1)] {
                let mut position = Position::start(&entry, "a").unwrap();
                let mut points = Vec::new();
                for end in [0, 1, 70_000, 70_001, 299_999, 300_000_u64] {
                    let from = position.content() as usize;
                    let made = advance(&mut position, &entry, &data, end, lengths).unwrap();
                    assert!(made == content[from..end as usize], "{codec:?} {lengths:?} to {end}");
                    points.extend(position.copy());
                }
                for mut point in points {
                    let from = point.content() as usize;
                    let rest = advance(&mut point, &entry, &data, 300_000, lengths).unwrap();
                    assert!(rest == content[from..], "{codec:?} {lengths:?} from {from}");
                }
            }
        }
    }

    #[test]
    fn what_is_broken_or_short_is_an_error_and_no_endless_wait() {
        let content = content(300_000);
        for codec in [Codec::Deflate, Codec::Zstd(Level::default())] {
            let (entry, data) = entry(&content, codec);
            let kind = |entry: &Entry, data: &[u8]| {
                let mut position = Position::start(entry, "a").unwrap();
                let end = entry.bytes;
                advance(&mut position, entry, data, end, (4096, 65_536)).unwrap_err().kind()
            };
            let other_crc = Entry { crc: !entry.crc, ..entry };
            assert_eq!(kind(&other_crc, &data), ErrorKind::Crc);
            let longer = Entry { bytes: entry.bytes + 1, ..entry };
            assert_eq!(kind(&longer, &data), ErrorKind::Corrupt);
            let cut = &data[..data.len() / 2];
            let short = Entry { coded_bytes: cut.len() as u64, ..entry };
            assert_eq!(kind(&short, cut), ErrorKind::Corrupt);
            let behind = Entry { coded_bytes: entry.coded_bytes + 9, ..longer };
            assert_eq!(kind(&behind, &[&data[..], &[0xff; 9]].concat()), ErrorKind::Corrupt);
            let mut broken = data.clone();
            broken[100..150].fill(0xff);
            assert!(matches!(kind(&entry, &broken), ErrorKind::Corrupt | ErrorKind::Crc));
        }
        let (stored, _) = entry(&content, Codec::Stored);
        assert_eq!(Position::start(&stored, "a").unwrap_err().kind(), ErrorKind::Method);
    }
}
