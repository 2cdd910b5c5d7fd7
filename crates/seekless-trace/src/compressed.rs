//! Opens files of other formats that may be compressed with gzip, xz, lzma-alone or zstd. The
//! content decides which; a beginning that other files may have as well must also decode
//! ([`guess`]). A job that is asked to stop reads no further, even where it waits for a pipe.

mod guess;

use crate::error::{Error, Place, Result, interrupted};
use flate2::bufread::MultiGzDecoder;
use liblzma::bufread::XzDecoder;
use liblzma::stream::{CONCATENATED, Stream};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use seekless_sys::objects;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// How much memory decoding an xz file may take; `xz -9` needs 65 MiB.
const XZ_MEMORY_MAX: u64 = 80 << 20;
const BUFFER_BYTES: usize = 1 << 15;
/// How often to look whether to stop while a pipe has nothing to read.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// An opened file: how far it has been read, and how it is compressed.
pub(crate) struct Input {
    pub(crate) reader: Box<dyn BufRead + Send>,
    format: &'static str,
    consumed: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
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
        if self.cancel.load(Ordering::Relaxed) {
            return interrupted(path);
        }
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

/// Opens a plain, gzip, xz, lzma or zstd file for reading; its first bytes decide which it is.
/// Several compressed streams one after another are read as one.
///
/// # Errors
/// The file cannot be opened, or its first bytes cannot be read. Damage is found later, while
/// reading.
pub fn open_compressed(path: &Path) -> Result<Box<dyn BufRead + Send>> {
    Ok(open(path)?.reader)
}

pub(crate) fn open(path: &Path) -> Result<Input> {
    open_until(path, &Arc::default())
}

/// As [`open_compressed`]; reading ends with an error once `cancel` is set.
pub(crate) fn open_until(path: &Path, cancel: &Arc<AtomicBool>) -> Result<Input> {
    let file = match objects::of(path) {
        Some(objects) => objects.open(path),
        None => open_file(path),
    };
    of_file(file.map_err(|error| Error::io(path, "could not be opened", error))?, path, cancel)
}

fn open_file(path: &Path) -> io::Result<File> {
    // To open a pipe without this flag waits until something writes to it.
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | OFlags::NONBLOCK;
    Ok(rustix::fs::open(path, flags, Mode::empty())?.into())
}

/// As [`open_until`], of a file that is open.
fn of_file(file: File, path: &Path, cancel: &Arc<AtomicBool>) -> Result<Input> {
    let consumed = Arc::new(AtomicU64::new(0));
    let waits = file.metadata().is_ok_and(|found| !found.is_file());
    let raw = Raw { file, waits, consumed: consumed.clone(), cancel: cancel.clone() };
    match sniff(raw, path, cancel) {
        Ok((reader, format)) => Ok(Input { reader, format, consumed, cancel: cancel.clone() }),
        Err(_) if cancel.load(Ordering::Relaxed) => Err(interrupted(path)),
        Err(error) => Err(Error::io(path, "could not be read", error)),
    }
}

fn sniff(
    mut file: Raw,
    path: &Path,
    cancel: &Arc<AtomicBool>,
) -> io::Result<(Reader, &'static str)> {
    let mut start = Vec::new();
    file.by_ref().take(16).read_to_end(&mut start)?;
    let mut format = format_of(&start);
    if guess::is_weak(format) && !guess::is_named(path, format) {
        file.by_ref().take(guess::LOOK_BYTES - start.len() as u64).read_to_end(&mut start)?;
        if !guess::decodes(format, &start) {
            format = "plain";
        }
    }
    let raw = BufReader::with_capacity(BUFFER_BYTES, Cursor::new(start).chain(file));
    let reader = match format {
        "gzip" => buffered(MultiGzDecoder::new(raw), cancel),
        "xz" => {
            let stream = Stream::new_stream_decoder(XZ_MEMORY_MAX, CONCATENATED)?;
            buffered(XzDecoder::new_stream(raw, stream), cancel)
        }
        "lzma" => {
            let stream = Stream::new_lzma_decoder(XZ_MEMORY_MAX)?;
            buffered(XzDecoder::new_stream(raw, stream), cancel)
        }
        "zstd" => buffered(zstd::Decoder::with_buffer(raw)?, cancel),
        _ => Box::new(raw),
    };
    Ok((reader, format))
}

type Reader = Box<dyn BufRead + Send>;

fn buffered(content: impl Read + Send + 'static, cancel: &Arc<AtomicBool>) -> Reader {
    let content = Stopping { content, cancel: cancel.clone() };
    Box::new(BufReader::with_capacity(BUFFER_BYTES, content))
}

fn format_of(start: &[u8]) -> &'static str {
    match start {
        [0x1f, 0x8b, 8, flags, ..] if *flags < 0x20 => "gzip",
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

/// What is decoded. A few bytes of a file may unfold to gigabytes, so to stop reading the file
/// alone is not enough.
struct Stopping<R> {
    content: R,
    cancel: Arc<AtomicBool>,
}

impl<R: Read> Read for Stopping<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        stop_if(&self.cancel)?;
        self.content.read(buffer)
    }
}

/// The file itself, counted.
struct Raw {
    file: File,
    /// Whether a read may wait, as of a pipe.
    waits: bool,
    consumed: Arc<AtomicU64>,
    cancel: Arc<AtomicBool>,
}

impl Read for Raw {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            stop_if(&self.cancel)?;
            if self.waits && !is_ready(&self.file)? {
                continue;
            }
            match self.file.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                read => {
                    let read = read?;
                    self.consumed.fetch_add(read as u64, Ordering::Relaxed);
                    return Ok(read);
                }
            }
        }
    }
}

/// Whether a read would not wait; asks for a moment.
fn is_ready(file: &File) -> io::Result<bool> {
    match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&LOOK)) {
        Ok(ready) => Ok(ready > 0),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn stop_if(cancel: &AtomicBool) -> io::Result<()> {
    match cancel.load(Ordering::Relaxed) {
        true => Err(io::Error::other("interrupted")),
        false => Ok(()),
    }
}

/// How many rows files of `bytes` bytes have, if `rows` rows took `consumed` bytes of them: exact
/// where all rows are equally long. At least `rows`, as of a pipe, whose length is not known.
#[must_use]
pub fn estimated_rows(rows: u64, consumed: u64, bytes: u64) -> u64 {
    let estimate = u128::from(rows) * u128::from(bytes) / u128::from(consumed.max(1));
    u64::try_from(estimate).unwrap_or(u64::MAX).max(rows)
}
