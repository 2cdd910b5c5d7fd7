//! One file made ready for the archive: compressed if that is worth it, with its CRC. Needs no
//! writer, so it runs on as many threads as there are.

use crate::chunks;
use crate::entry::Method;
use crate::error::{Error, ErrorKind, Result};
use crate::format::FILE_TYPE;
use crate::name;
use crate::zstandard::{self, Level};
use libdeflater::{CompressionLvl, Compressor};
use std::cell::RefCell;

/// libdeflate's default. Higher levels gain a percent or two on game data and cost several times
/// the time.
const LEVEL: i32 = 6;
/// Coded data below this share of the content is kept (in percent): a smaller gain does not pay for
/// decoding.
const WORTH_PERCENT: u64 = 97;
const REGULAR: u32 = 0o100_000;
const DIRECTORY: u32 = 0o040_000;

thread_local! {
    static DEFLATER: RefCell<Deflater> = RefCell::new(Deflater::new());
}

/// How to code an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Codec {
    /// Deflate, but stored where that saves under 3 %.
    #[default]
    Auto,
    /// As it is.
    Stored,
    /// Deflate, even where that saves nothing.
    Deflate,
    /// Zstandard (method 93), but stored where that saves under 3 %. Older tools cannot open it.
    Zstd(Level),
}

impl Codec {
    /// What this does with a file like `sample`: itself, or [`Codec::Stored`]. For files too large
    /// to be tried whole.
    #[must_use]
    pub fn for_sample(self, sample: &[u8]) -> Self {
        if coded(sample, self).is_some() { self } else { Self::Stored }
    }

    /// The method of what is coded, not stored.
    pub(crate) fn method(self) -> Method {
        match self {
            Self::Stored => Method::Stored,
            Self::Auto | Self::Deflate => Method::Deflate,
            Self::Zstd(_) => Method::Zstd,
        }
    }
}

/// What is known of a file besides its content.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct About {
    /// Its name in the archive; see [`check_name`](crate::check_name).
    pub name: String,
    /// Unix mode; a missing file type is filled in.
    pub mode: u32,
    /// Last modification in seconds since 1970 UTC.
    pub modified: Option<i64>,
    /// Nanoseconds after `modified`. An archive keeps multiples of 100.
    pub modified_ns: u32,
}

impl About {
    /// A file called `name`, readable by all, without a time.
    #[must_use]
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), mode: 0o644, modified: None, modified_ns: 0 }
    }

    /// With this Unix mode.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// With this time of modification, in seconds since 1970 UTC.
    #[must_use]
    pub fn modified(mut self, unix_s: i64) -> Self {
        self.modified = Some(unix_s);
        self
    }

    /// With these nanoseconds after the second of modification.
    #[must_use]
    pub fn modified_ns(mut self, ns: u32) -> Self {
        self.modified_ns = ns;
        self
    }

    /// The mode with its file type.
    pub(crate) fn full_mode(&self) -> u32 {
        let kind = if self.name.ends_with('/') { DIRECTORY } else { REGULAR };
        if self.mode & FILE_TYPE == 0 { self.mode | kind } else { self.mode }
    }

    pub(crate) fn check_file(&self) -> Result<()> {
        name::check_new(&self.name)?;
        if self.name.ends_with('/') {
            let why = format!(
                "{:?} ends in `/`, which only directories do: a file cannot be called that",
                self.name
            );
            return Err(Error::new(ErrorKind::Name, why));
        }
        Ok(())
    }
}

/// An entry ready to be written by [`PackWriter::add`](crate::PackWriter::add).
#[derive(Debug)]
pub struct Prepared {
    pub(crate) about: About,
    pub(crate) method: Method,
    pub(crate) crc: u32,
    pub(crate) bytes: u64,
    pub(crate) data: Vec<u8>,
    /// The table of its chunks, if it has any.
    pub(crate) chunks: Vec<u8>,
}

impl Prepared {
    /// The name it will have.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.about.name
    }

    /// How it was coded.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Size of the content, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Size of the data in the archive, in bytes.
    #[must_use]
    pub fn coded_bytes(&self) -> u64 {
        self.data.len() as u64
    }
}

/// Codes one file. Same input, same bytes. Deflated content of more than 4 MiB is coded in chunks
/// of 1 MiB that readers of ours decode one by one ([`Chunks`](crate::Chunks)); to others it is one
/// stream.
///
/// # Errors
/// [`ErrorKind::Name`] if the name may not stand in an archive.
pub fn prepare(about: About, bytes: Vec<u8>, codec: Codec) -> Result<Prepared> {
    about.check_file()?;
    let crc = crc32fast::hash(&bytes);
    let length = bytes.len() as u64;
    let (method, (data, chunks)) = match coded(&bytes, codec) {
        Some(coded) => (codec.method(), coded),
        None => (Method::Stored, (bytes, Vec::new())),
    };
    Ok(Prepared { about, method, crc, bytes: length, data, chunks })
}

/// An entry for a directory, for those that would otherwise be lost: the empty ones. A missing `/`
/// is added.
///
/// # Errors
/// [`ErrorKind::Name`] if the name may not stand in an archive.
pub fn prepare_directory(mut about: About) -> Result<Prepared> {
    if !about.name.ends_with('/') {
        about.name.push('/');
    }
    name::check_new(&about.name)?;
    let (data, chunks) = Default::default();
    Ok(Prepared { about, method: Method::Stored, crc: 0, bytes: 0, data, chunks })
}

/// The content as `codec` codes it, and the table of its chunks, which only large deflated content
/// has; `None` if it is to be stored.
fn coded(bytes: &[u8], codec: Codec) -> Option<(Vec<u8>, Vec<u8>)> {
    let worth = worth_bytes(bytes.len() as u64);
    match codec {
        Codec::Stored => None,
        Codec::Auto => deflate_below(bytes, worth),
        Codec::Deflate => deflate_below(bytes, u64::MAX),
        Codec::Zstd(level) => Some((zstandard::code_below(bytes, level, worth)?, Vec::new())),
    }
}

/// The most that coded data may take to be kept.
fn worth_bytes(length: u64) -> u64 {
    (u128::from(length) * u128::from(WORTH_PERCENT) / 100) as u64
}

/// Deflates, unless the result is larger than `limit`.
fn deflate_below(bytes: &[u8], limit: u64) -> Option<(Vec<u8>, Vec<u8>)> {
    if bytes.is_empty() {
        return None;
    }
    match chunks::log_bytes(bytes.len() as u64) {
        Some(log_bytes) => chunks::code_below(bytes, log_bytes, limit),
        None => {
            Some((DEFLATER.with_borrow_mut(|deflater| deflater.run(bytes, limit))?, Vec::new()))
        }
    }
}

/// A compressor (its tables are 700 KB) and a scratch buffer, kept by each thread.
struct Deflater {
    compressor: Compressor,
    scratch: Vec<u8>,
}

/// A scratch buffer larger than this is given back after use.
const SCRATCH_KEEP_BYTES: usize = 4 << 20;

impl Deflater {
    fn new() -> Self {
        let level = CompressionLvl::new(LEVEL).unwrap_or_default();
        Self { compressor: Compressor::new(level), scratch: Vec::new() }
    }

    fn run(&mut self, bytes: &[u8], limit: u64) -> Option<Vec<u8>> {
        let bound = self.compressor.deflate_compress_bound(bytes.len());
        let room = usize::try_from(limit).unwrap_or(usize::MAX).min(bound);
        if self.scratch.len() < room {
            self.scratch.resize(room, 0);
        }
        // Too little room is the only error there is.
        let written = self.compressor.deflate_compress(bytes, &mut self.scratch[..room]).ok();
        let coded = written.map(|written| self.scratch[..written].to_vec());
        if self.scratch.len() > SCRATCH_KEEP_BYTES {
            self.scratch = Vec::new();
        }
        coded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_stores_what_does_not_shrink() {
        let noise: Vec<u8> = (0..4096u32)
            .map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8 ^ (n >> 3) as u8)
            .collect();
        let text = b"the same words, the same words, the same words".to_vec();
        for (bytes, codec, method) in [
            (text.clone(), Codec::Auto, Method::Deflate),
            (text.clone(), Codec::Stored, Method::Stored),
            (b"x".to_vec(), Codec::Auto, Method::Stored),
            (b"x".to_vec(), Codec::Deflate, Method::Deflate),
            (Vec::new(), Codec::Auto, Method::Stored),
            (Vec::new(), Codec::Deflate, Method::Stored),
        ] {
            let ready = prepare(About::named("x"), bytes.clone(), codec).expect("a good name");
            assert_eq!(ready.method(), method, "{} bytes with {codec:?}", bytes.len());
            assert_eq!(ready.bytes(), bytes.len() as u64);
        }
        assert!(
            noise.len() as u64
                >= prepare(About::named("n"), noise.clone(), Codec::Auto)
                    .expect("fine")
                    .coded_bytes()
        );
    }

    #[test]
    fn the_bound_is_three_percent() {
        assert_eq!(worth_bytes(100), 97);
        assert_eq!(worth_bytes(10), 9);
        assert!(worth_bytes(u64::MAX) > u64::MAX / 2);
    }

    #[test]
    fn modes_get_a_type_and_directories_a_slash() {
        assert_eq!(About::named("a").mode(0o600).full_mode(), 0o100_600);
        assert_eq!(About::named("a").mode(0o100_755).full_mode(), 0o100_755);
        let directory = prepare_directory(About::named("a/b").mode(0o755)).expect("a good name");
        assert_eq!((directory.name(), directory.about.full_mode()), ("a/b/", 0o040_755));
        assert_eq!(
            prepare(About::named("a/"), Vec::new(), Codec::Auto).expect_err("a directory").kind(),
            ErrorKind::Name
        );
    }
}
