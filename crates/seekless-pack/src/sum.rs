//! Size and CRC of an entry's content that is not kept: for content larger than memory, and for
//! claims not yet believed.

use crate::entry::{Entry, Method};
use crate::error::Result;
use crate::fault::{broken, check_crc, ends_early, no_memory};
use crate::foreign::{Fault, Foreign, PIECE_BYTES, Step};
use crate::zstandard;
use flate2::write::DeflateDecoder;
use std::io::{self, Write};

/// A sum over the data of one entry, which comes in pieces.
pub(crate) struct Sum<'a> {
    entry: &'a Entry,
    name: &'a str,
    content: Content,
}

enum Content {
    Stored(Count),
    Deflate(DeflateDecoder<Count>),
    Zstd(zstd::stream::write::Decoder<'static, Count>),
    Foreign { decoder: Foreign, count: Count, made: Vec<u8> },
}

impl<'a> Sum<'a> {
    pub(crate) fn new(entry: &'a Entry, name: &'a str) -> Result<Self> {
        let count = Count { crc: crc32fast::Hasher::new(), bytes: 0, most: entry.bytes };
        let content = match entry.method {
            Method::Deflate => Content::Deflate(DeflateDecoder::new(count)),
            Method::Zstd => {
                let decoder = zstandard::decoder(count);
                Content::Zstd(decoder.map_err(|_| no_memory(entry, name))?)
            }
            Method::Other(_) => {
                // The caller has checked that this build reads the method.
                let decoder = Foreign::new(entry).ok_or_else(|| no_memory(entry, name))?;
                Content::Foreign { decoder, count, made: vec![0; PIECE_BYTES] }
            }
            Method::Stored => Content::Stored(count),
        };
        Ok(Self { entry, name, content })
    }

    /// Checks all of an entry's data.
    pub(crate) fn of(entry: &'a Entry, name: &'a str, data: &[u8]) -> Result<()> {
        let mut sum = Self::new(entry, name)?;
        sum.add(data)?;
        sum.finish()
    }

    pub(crate) fn add(&mut self, data: &[u8]) -> Result<()> {
        let result = match &mut self.content {
            Content::Stored(count) => count.write_all(data),
            Content::Deflate(decoder) => decoder.write_all(data),
            Content::Zstd(decoder) => decoder.write_all(data),
            Content::Foreign { decoder, count, made } => {
                let added = add_foreign(decoder, count, made, data);
                return added.map_err(|fault| fault.of(self.entry, self.name));
            }
        };
        result.map_err(|error| broken(self.entry, self.name, error))
    }

    pub(crate) fn finish(self) -> Result<()> {
        let Self { entry, name, content } = self;
        let count = match content {
            Content::Stored(count) | Content::Foreign { count, .. } => count,
            Content::Deflate(decoder) => {
                decoder.finish().map_err(|error| broken(entry, name, error))?
            }
            Content::Zstd(mut decoder) => {
                decoder.flush().map_err(|error| broken(entry, name, error))?;
                decoder.into_inner()
            }
        };
        if count.bytes != entry.bytes {
            return Err(ends_early(entry, name, count.bytes));
        }
        check_crc(entry, name, count.crc.finalize())
    }
}

fn add_foreign(
    decoder: &mut Foreign,
    count: &mut Count,
    out: &mut [u8],
    mut data: &[u8],
) -> Result<(), Fault> {
    loop {
        let Step { taken, made, ended } = decoder.step(data, out)?;
        count.write_all(&out[..made]).map_err(|error| Fault::Broken(error.to_string()))?;
        data = &data[taken..];
        if ended || (taken, made) == (0, 0) {
            return Ok(());
        }
    }
}

struct Count {
    crc: crc32fast::Hasher,
    bytes: u64,
    most: u64,
}

impl Write for Count {
    fn write(&mut self, content: &[u8]) -> io::Result<usize> {
        self.crc.update(content);
        self.bytes += content.len() as u64;
        if self.bytes > self.most {
            return Err(io::Error::other("it holds more than it claims"));
        }
        Ok(content.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
