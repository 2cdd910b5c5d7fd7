//! Entries coded by methods that only other tools write: Deflate64 (9), bzip2 (12) and LZMA (14).
//! Each is behind a feature of this crate. They are decoded piece by piece, without tables of
//! chunks or places to go on from.

#[cfg(feature = "lzma")]
mod lzma;

use crate::entry::Entry;
#[cfg(any(feature = "bzip2", feature = "deflate64", feature = "lzma"))]
use crate::entry::Method;
use crate::error::Error;
use crate::fault::broken;

/// What is decoded at once where the content is not kept.
pub(crate) const PIECE_BYTES: usize = 64 << 10;

/// A decoder of one entry's data, which comes in pieces.
pub(crate) struct Foreign {
    decoder: Decoder,
    /// Bytes of data, and of content, that are still to come.
    data_left: u64,
    content_left: u64,
}

enum Decoder {
    #[cfg(feature = "bzip2")]
    Bzip2(Box<bzip2::Decompress>),
    #[cfg(feature = "deflate64")]
    Deflate64(Box<deflate64::InflaterManaged>),
    #[cfg(feature = "lzma")]
    Lzma(Box<lzma::Lzma>),
}

/// What one step came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Step {
    pub(crate) taken: usize,
    pub(crate) made: usize,
    /// Whether all content has been made, or the data holds no more.
    pub(crate) ended: bool,
}

/// Why data cannot be decoded any further.
#[derive(Debug)]
pub(crate) enum Fault {
    /// It is not what its method makes.
    Broken(String),
    /// It asks for more memory than there may be.
    #[cfg(any(feature = "bzip2", feature = "lzma"))]
    Limit(String),
}

impl Fault {
    /// The error of this entry.
    pub(crate) fn of(self, entry: &Entry, name: &str) -> Error {
        match self {
            Self::Broken(why) => broken(entry, name, why),
            #[cfg(any(feature = "bzip2", feature = "lzma"))]
            Self::Limit(why) => Error::of(entry, name, crate::error::ErrorKind::Limit, why),
        }
    }
}

impl Foreign {
    /// The start of an entry of such a method that this build reads (`Method::is_foreign`);
    /// `None` of others.
    #[cfg_attr(
        not(any(feature = "bzip2", feature = "deflate64", feature = "lzma")),
        expect(
            unreachable_code,
            unused_variables,
            reason = "without these features there is no decoder"
        )
    )]
    pub(crate) fn new(entry: &Entry) -> Option<Self> {
        let decoder = match entry.method {
            #[cfg(feature = "bzip2")]
            Method::Other(12) => Decoder::Bzip2(Box::new(bzip2::Decompress::new(false))),
            #[cfg(feature = "deflate64")]
            Method::Other(9) => Decoder::Deflate64(Box::new(deflate64::InflaterManaged::new())),
            #[cfg(feature = "lzma")]
            Method::Other(14) => Decoder::Lzma(Box::new(lzma::Lzma::new(entry.bytes))),
            _ => return None,
        };
        Some(Self { decoder, data_left: entry.coded_bytes, content_left: entry.bytes })
    }

    /// Decodes as much of `data` as `out` has room for.
    pub(crate) fn step(&mut self, data: &[u8], out: &mut [u8]) -> Result<Step, Fault> {
        let room = usize::try_from(self.content_left).unwrap_or(usize::MAX).min(out.len());
        let out = &mut out[..room];
        if self.content_left == 0 {
            return Ok(Step { ended: true, ..Step::default() });
        }
        let is_last = data.len() as u64 >= self.data_left;
        let mut step = self.decoder.step(data, out, is_last)?;
        self.data_left -= (step.taken as u64).min(self.data_left);
        self.content_left -= step.made as u64;
        step.ended |= self.content_left == 0;
        Ok(step)
    }

    /// Decodes all of `data` into `out`, as far as that has room. Returns how many bytes were made.
    pub(crate) fn decode(mut self, mut data: &[u8], out: &mut [u8]) -> Result<usize, Fault> {
        let mut written = 0;
        loop {
            let Step { taken, made, ended } = self.step(data, &mut out[written..])?;
            data = &data[taken..];
            written += made;
            if ended || (taken, made) == (0, 0) {
                return Ok(written);
            }
        }
    }

    /// The memory that it takes, in bytes.
    pub(crate) fn memory_bytes(&self) -> usize {
        size_of::<Self>() + self.decoder.memory_bytes()
    }
}

impl Decoder {
    #[cfg_attr(
        not(feature = "lzma"),
        expect(unused_variables, reason = "LZMA alone asks whether the data ends")
    )]
    fn step(&mut self, data: &[u8], out: &mut [u8], is_last: bool) -> Result<Step, Fault> {
        match *self {
            #[cfg(feature = "bzip2")]
            Self::Bzip2(ref mut decoder) => bzip2_step(decoder, data, out),
            #[cfg(feature = "deflate64")]
            Self::Deflate64(ref mut decoder) => {
                let done = decoder.inflate(data, out);
                let (taken, made) = (done.bytes_consumed, done.bytes_written);
                match done.data_error {
                    true => Err(Fault::Broken("it is not a Deflate64 stream".to_owned())),
                    false => Ok(Step { taken, made, ended: decoder.finished() }),
                }
            }
            #[cfg(feature = "lzma")]
            Self::Lzma(ref mut decoder) => decoder.step(data, out, is_last),
        }
    }

    fn memory_bytes(&self) -> usize {
        match *self {
            // Its blocks are of 900 KB, and take four bytes for each.
            #[cfg(feature = "bzip2")]
            Self::Bzip2(_) => 3_700_000,
            #[cfg(feature = "deflate64")]
            Self::Deflate64(_) => size_of::<deflate64::InflaterManaged>(),
            #[cfg(feature = "lzma")]
            Self::Lzma(ref decoder) => decoder.memory_bytes(),
        }
    }
}

#[cfg(feature = "bzip2")]
fn bzip2_step(decoder: &mut bzip2::Decompress, data: &[u8], out: &mut [u8]) -> Result<Step, Fault> {
    let before = (decoder.total_in(), decoder.total_out());
    let status = decoder.decompress(data, out);
    let status = status.map_err(|error| Fault::Broken(error.to_string()))?;
    if status == bzip2::Status::MemNeeded {
        return Err(Fault::Limit("there is no memory for a block of it".to_owned()));
    }
    let taken = (decoder.total_in() - before.0) as usize;
    let made = (decoder.total_out() - before.1) as usize;
    Ok(Step { taken, made, ended: status == bzip2::Status::StreamEnd })
}
