//! Opens files of other formats that may be compressed with gzip, xz, lzma-alone or zstd. Their
//! content tells which; their name does not matter.

use crate::error::{Error, Place, Result};
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much memory decoding an xz file may take; `xz -9` needs 65 MiB.
const XZ_MEMORY_MAX: u64 = 80 << 20;
const BUFFER_BYTES: usize = 1 << 15;

/// An opened file: how far it has been read, and how it is compressed.
pub(crate) struct Input {
    pub(crate) reader: Box<dyn BufRead + Send>,
    format: &'static str,
    consumed: Arc<AtomicU64>,
}

impl Input {
    /// The first bytes of the content, at most `bytes_max`. They are read again afterwards. Call
    /// it before anything is read.
    pub(crate) fn head(&mut self, path: &Path, bytes_max: usize) -> Result<Vec<u8>> {
        let mut head = Vec::new();
        let read = self.reader.by_ref().take(bytes_max as u64).read_to_end(&mut head);
        read.map_err(|error| self.unreadable(path, head.len() as u64, error))?;
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(Cursor::new(head.clone()).chain(rest));
        Ok(head)
    }

    /// Fills `buffer`, or less of it at the end. Returns how much. `at` is the number of bytes of
    /// content that were read before.
    pub(crate) fn fill(&mut self, path: &Path, buffer: &mut [u8], at: u64) -> Result<usize> {
        let mut filled = 0;
        while filled < buffer.len() {
            match self.reader.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(more) => filled += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.unreadable(path, at + filled as u64, error)),
            }
        }
        Ok(filled)
    }

    /// The error of a read that failed after `read` bytes of content.
    pub(crate) fn unreadable(&self, path: &Path, read: u64, error: io::Error) -> Error {
        if self.format == "plain" {
            return Error::io(path, "could not be read", error).at(Place::Byte(read));
        }
        let message = format!(
            "its {} data is damaged or cut short after {read} bytes of content; copy the file again",
            self.format
        );
        Error::corrupt(path, message).because(error)
    }

    /// How many bytes of the file itself have been read.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }
}

/// Opens a plain, gzip, xz, lzma or zstd file for reading; its first bytes tell which it is.
/// Several compressed streams one after another are read as one.
///
/// # Errors
/// The file cannot be opened, or its first bytes cannot be read. Damage is found later, while
/// reading.
pub fn open_compressed(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    Ok(open(path)?.reader)
}

pub(crate) fn open(path: &Path) -> Result<Input> {
    let file = File::open(path).map_err(|error| Error::io(path, "could not be opened", error))?;
    let (reader, format, consumed) =
        sniff(file).map_err(|error| Error::io(path, "could not be read", error))?;
    Ok(Input { reader, format, consumed })
}

fn sniff(file: File) -> io::Result<(Box<dyn BufRead + Send>, &'static str, Arc<AtomicU64>)> {
    let consumed = Arc::new(AtomicU64::new(0));
    let mut file = Counted { file, consumed: consumed.clone() };
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start)?;
    let format = format_of(&start);
    let raw = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(file));
    let reader: Box<dyn BufRead + Send> = match format {
        "gzip" => buffered(MultiGzDecoder::new(raw)),
        "xz" => buffered(XzDecoder::new_stream(
            raw,
            Stream::new_stream_decoder(XZ_MEMORY_MAX, CONCATENATED)?,
        )),
        "lzma" => buffered(XzDecoder::new_stream(raw, Stream::new_lzma_decoder(XZ_MEMORY_MAX)?)),
        "zstd" => buffered(zstd::Decoder::with_buffer(raw)?),
        _ => Box::new(raw),
    };
    Ok((reader, format, consumed))
}

fn buffered(reader: impl Read + Send + 'static) -> Box<dyn BufRead + Send> {
    Box::new(BufReader::with_capacity(BUFFER_BYTES, reader))
}

fn format_of(start: &[u8]) -> &'static str {
    match start {
        [0x1f, 0x8b, ..] => "gzip",
        [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => "xz",
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
        [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..] => "zstd", // a skippable frame
        _ if is_lzma(start) => "lzma",
        _ => "plain",
    }
}

/// A file in lzma-alone has no magic. It begins with a byte of properties, the dictionary's size
/// and the data's size. We apply liblzma's own rule: the dictionary has 2^n or 2^n + 2^(n−1) bytes,
/// and the data's size is unknown or under 256 GiB.
fn is_lzma(start: &[u8]) -> bool {
    let [properties, rest @ ..] = start else { return false };
    let Some((dictionary, rest)) = rest.split_first_chunk() else { return false };
    let Some((size, _)) = rest.split_first_chunk() else { return false };
    let (dictionary, size) = (u32::from_le_bytes(*dictionary), u64::from_le_bytes(*size));
    let shifted = dictionary.checked_shr(dictionary.trailing_zeros()).unwrap_or(0);
    *properties < 225
        && (shifted == 1 || shifted == 3 || dictionary == u32::MAX)
        && dictionary >= 1 << 12
        && (size == u64::MAX || size < 1 << 38)
}

struct Counted {
    file: File,
    consumed: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.consumed.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}

/// How many rows files of `bytes` bytes have, if `rows` rows took `consumed` bytes of them: exact
/// where all rows are equally long. At least `rows`, as of a pipe, whose length is not known.
#[must_use]
pub fn estimated_rows(rows: u64, consumed: u64, bytes: u64) -> u64 {
    let estimate = u128::from(rows) * u128::from(bytes) / u128::from(consumed.max(1));
    u64::try_from(estimate).unwrap_or(u64::MAX).max(rows)
}
