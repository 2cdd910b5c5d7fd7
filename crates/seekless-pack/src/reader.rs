//! The content of one entry, read from front to end in memory that does not grow with it.

use crate::decode::{data_offset, two_sizes};
use crate::entry::{Entry, Method};
use crate::error::{Error, Result};
use crate::fault::{broken, check_crc};
use crate::format::LOCAL_BYTES_MAX;
use crate::position::{Position, Step};
use crate::read_at::ReadAt;
use std::fmt;
use std::io::{self, Read};

/// What is read of the archive at once.
const PIECE_BYTES: u64 = 1 << 20;

/// Reads the content of an entry of any method that [`decode`](crate::decode()) reads. The call
/// that gives the last of it checks its CRC.
pub struct ContentReader<R> {
    source: R,
    entry: Entry,
    name: String,
    /// Where its data begins in the archive.
    data: u64,
    coding: Coding,
}

enum Coding {
    Stored {
        given: u64,
        crc: crc32fast::Hasher,
    },
    Coded {
        position: Box<Position>,
        /// What was read of the data, and where that begins in it.
        piece: Vec<u8>,
        begin: u64,
    },
}

impl<R: ReadAt> ContentReader<R> {
    /// The content of `entry`, called `name`, of the archive `source`.
    ///
    /// # Errors
    /// As [`data_offset`](crate::data_offset()) and [`Position::start`], or
    /// [`ErrorKind::Io`](crate::ErrorKind::Io).
    pub fn new(source: R, entry: Entry, name: &str) -> Result<Self> {
        let mut head = vec![0; entry.extent_bytes.min(LOCAL_BYTES_MAX) as usize];
        let read = source.read_exact_at(&mut head, entry.header_offset);
        read.map_err(|error| unreadable(&entry, error))?;
        let data = entry.header_offset + data_offset(&entry, name, &head)?;
        let coding = match entry.method {
            Method::Stored if entry.coded_bytes != entry.bytes => {
                return Err(two_sizes(&entry, name));
            }
            Method::Stored => Coding::Stored { given: 0, crc: crc32fast::Hasher::new() },
            _ => Coding::Coded {
                position: Box::new(Position::start(&entry, name)?),
                piece: Vec::new(),
                begin: 0,
            },
        };
        if entry.bytes == 0 {
            check_crc(&entry, name, 0)?;
        }
        Ok(Self { source, entry, name: name.to_owned(), data, coding })
    }

    fn give(&mut self, out: &mut [u8]) -> Result<usize> {
        let Self { source, entry, name, data, coding } = self;
        match coding {
            Coding::Stored { given, crc } => {
                let bytes = (entry.bytes - *given).min(out.len() as u64) as usize;
                let out = &mut out[..bytes];
                let read = source.read_exact_at(out, *data + *given);
                read.map_err(|error| unreadable(entry, error))?;
                crc.update(out);
                *given += bytes as u64;
                if bytes > 0 && *given == entry.bytes {
                    check_crc(entry, name, crc.clone().finalize())?;
                }
                Ok(bytes)
            }
            Coding::Coded { position, .. } if position.content() == entry.bytes => Ok(0),
            Coding::Coded { position, piece, begin } => loop {
                let used = position.data();
                if used == *begin + piece.len() as u64 && used < entry.coded_bytes {
                    let bytes = (entry.coded_bytes - used).min(PIECE_BYTES);
                    piece.resize(bytes as usize, 0);
                    *begin = used;
                    let read = source.read_exact_at(piece, *data + used);
                    read.map_err(|error| unreadable(entry, error))?;
                }
                let rest = &piece[(used - *begin) as usize..];
                let Step { taken, made } = position.step(entry, name, rest, out)?;
                if made > 0 {
                    return Ok(made);
                }
                if taken == 0 && !rest.is_empty() {
                    return Err(broken(entry, name, "it cannot be decoded any further"));
                }
            },
        }
    }
}

impl<R: ReadAt> Read for ContentReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() { Ok(0) } else { self.give(out).map_err(io::Error::other) }
    }
}

impl<R> fmt::Debug for ContentReader<R> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ContentReader").field("name", &self.name).finish_non_exhaustive()
    }
}

fn unreadable(entry: &Entry, error: io::Error) -> Error {
    Error::io(format!("cannot read the archive at offset {}", entry.header_offset), error)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Codec, Index, Level, PackWriter, prepare};

    #[test]
    fn content_comes_in_pieces_and_is_checked() {
        let text: Vec<u8> = (0..3_000_000_u32).flat_map(|word| (word / 9).to_le_bytes()).collect();
        for codec in [Codec::Stored, Codec::Deflate, Codec::Zstd(Level::default())] {
            let mut pack = PackWriter::new(Vec::new());
            for (name, content) in [("empty", Vec::new()), ("a", text.clone())] {
                pack.add(prepare(About::named(name), content, codec).unwrap()).unwrap();
            }
            let mut archive = pack.finish().unwrap().0;
            let index = Index::open(archive.as_slice(), archive.len() as u64).unwrap();
            let read = |archive: &Vec<u8>, number: u32| {
                let reader =
                    ContentReader::new(archive.clone(), index.entry(number), index.name(number));
                let mut all = Vec::new();
                reader.unwrap().read_to_end(&mut all).map(|_| all)
            };
            assert_eq!(read(&archive, 0).unwrap(), b"");
            assert!(read(&archive, 1).unwrap() == text, "{codec:?}");
            let entry = index.entry(1);
            archive[(entry.header_offset + entry.extent_bytes - 100) as usize] ^= 0x55;
            let why = read(&archive, 1).unwrap_err().to_string();
            assert!(why.contains("entry \"a\" at offset"), "{codec:?}: {why}");
        }
    }
}
