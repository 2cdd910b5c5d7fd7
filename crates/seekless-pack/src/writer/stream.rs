//! Files too large for memory: written as they are read, their header filled in afterwards.

use super::PackWriter;
use crate::chunks::{self, ChunkCoder, Table};
use crate::entry::Method;
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::{About, Codec};
use crate::record::Record;
use crate::zstandard;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use std::io::{Read, Seek, SeekFrom, Write};

const CHUNK_BYTES: usize = 1 << 20;
/// Threads that code the chunks of one file.
const THREADS_MAX: usize = 16;
/// As the small files' level; another implementation, so not the same bytes.
const LEVEL: u32 = 6;
/// Deflate's worst case is 5 bytes for each stored block of 16 KiB or more, zstd's 3 for each of
/// 128 KiB: far below a 64th.
const GROWTH_SHIFT: u32 = 6;

impl<W: Write + Seek> PackWriter<W> {
    /// Appends a file of `bytes` bytes from `source` in constant memory; the sink must be able to
    /// seek back to the header. The content is not tried first: [`Codec::Auto`] deflates it, and
    /// [`Codec::Zstd`] codes it, even where that saves nothing ([`Codec::for_sample`]).
    ///
    /// # Errors
    /// [`ErrorKind::Disagrees`] if `source` does not give exactly `bytes`; [`ErrorKind::Name`],
    /// [`ErrorKind::Duplicate`] and [`ErrorKind::Io`] as [`add`](Self::add). After an error in the
    /// middle, every call fails.
    pub fn add_stream(
        &mut self,
        about: &About,
        source: &mut dyn Read,
        bytes: u64,
        codec: Codec,
    ) -> Result<()> {
        about.check_file()?;
        self.admit(&about.name)?;
        self.failed = true; // until the header is whole again
        let mut record = self.blank(about, bytes, codec.method());
        self.put_header(&record)?;
        let (start, mut table) = (self.at, Vec::new());
        let (crc, read) = match (codec, chunks::log_bytes(bytes)) {
            (Codec::Stored, _) => self.copy_from(source, &about.name)?,
            (Codec::Auto | Codec::Deflate, Some(log_bytes)) => {
                let (crc, read, made) = self.code_chunks(source, &about.name, bytes, log_bytes)?;
                table = made;
                (crc, read)
            }
            (Codec::Auto | Codec::Deflate, None) => {
                let coder = DeflateEncoder::new(Vec::new(), Compression::new(LEVEL));
                self.code_from(source, &about.name, coder)?
            }
            (Codec::Zstd(level), _) => {
                let coder = zstandard::encoder(Vec::new(), level);
                let coder = coder.map_err(|error| Error::io("cannot start zstd", error))?;
                self.code_from(source, &about.name, coder)?
            }
        };
        if read != bytes {
            let why = format!(
                "{:?} gave {read} bytes instead of {bytes}: it changed while it was packed; try again",
                about.name
            );
            return Err(Error::new(ErrorKind::Disagrees, why));
        }
        record.crc = crc;
        record.coded_bytes = self.at - start;
        record.chunks = &table;
        self.rewrite_header(&record)?;
        self.note(&record);
        self.failed = false;
        Ok(())
    }

    fn blank<'a>(&self, about: &'a About, bytes: u64, method: Method) -> Record<'a> {
        let most = match method {
            Method::Stored => bytes,
            _ => bytes.saturating_add(bytes >> GROWTH_SHIFT),
        };
        Record {
            name: &about.name,
            mode: about.full_mode(),
            modified: about.modified,
            modified_ns: about.modified_ns,
            method,
            crc: 0,
            bytes,
            coded_bytes: 0,
            header_offset: self.at,
            wide_sizes: most.saturating_add(64) >= self.limits.bytes,
            chunks: &[],
        }
    }

    fn copy_from(&mut self, source: &mut dyn Read, name: &str) -> Result<(u32, u64)> {
        let mut reader = Checked::new(source);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = reader.read(&mut chunk).map_err(|error| unreadable(name, error))?;
            if length == 0 {
                return Ok((reader.crc.finalize(), reader.bytes));
            }
            self.put(&chunk[..length])?;
        }
    }

    fn code_from(
        &mut self,
        source: &mut dyn Read,
        name: &str,
        mut coder: impl Coder,
    ) -> Result<(u32, u64)> {
        let mut reader = Checked::new(source);
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let length = reader.read(&mut chunk).map_err(|error| unreadable(name, error))?;
            if length == 0 {
                break;
            }
            coder.write_all(&chunk[..length]).map_err(|error| unreadable(name, error))?;
            self.put(coder.coded())?;
            coder.coded().clear();
        }
        let rest = coder.end().map_err(|error| unreadable(name, error))?;
        self.put(&rest)?;
        Ok((reader.crc.finalize(), reader.bytes))
    }

    /// Codes `source` in chunks, several at once on threads of their own. Returns the CRC and the
    /// length of what it gave, and the table of the chunks.
    fn code_chunks(
        &mut self,
        source: &mut dyn Read,
        name: &str,
        bytes: u64,
        log_bytes: u8,
    ) -> Result<(u32, u64, Vec<u8>)> {
        let mut reader = Checked::new(source);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS_MAX);
        let mut coders: Vec<_> = (0..threads).map(|_| ChunkCoder::new()).collect();
        let mut contents = vec![Vec::new(); threads];
        let mut table = Table::new(log_bytes);
        loop {
            for content in &mut contents {
                let chunk = (&mut reader).take(1 << log_bytes);
                fill(chunk, content).map_err(|error| unreadable(name, error))?;
            }
            let whole = reader.bytes >= bytes;
            let last = contents.iter().rposition(|content| !content.is_empty());
            let Some(last) = last else { break };
            let coded = std::thread::scope(|scope| {
                let each = coders.iter_mut().zip(&contents[..=last]).enumerate();
                let code = each.map(|(at, (coder, content))| {
                    scope.spawn(move || coder.code(content, whole && at == last))
                });
                let running: Vec<_> = code.collect();
                running.into_iter().map(|thread| thread.join()).collect::<Vec<_>>()
            });
            for chunk in coded {
                let chunk = chunk.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                let chunk = chunk.map_err(|error| unreadable(name, error.into()))?;
                table.push(&chunk);
                self.put(&chunk.data)?;
            }
            if whole {
                break;
            }
        }
        // What comes after that is too much, which the caller sees.
        let mut more = [0];
        reader.read(&mut more).map_err(|error| unreadable(name, error))?;
        Ok((reader.crc.finalize(), reader.bytes, table.into_bytes()))
    }

    /// Writes the header once more where it stands, now that CRC and size are known; its length is
    /// the same.
    fn rewrite_header(&mut self, record: &Record<'_>) -> Result<()> {
        let end = self.at;
        let back = i64::try_from(end - record.header_offset).unwrap_or(i64::MAX);
        self.seek(-back)?;
        self.at = record.header_offset;
        self.put_header(record)?;
        let forth = i64::try_from(end - self.at).unwrap_or(i64::MAX);
        self.seek(forth)?;
        self.at = end;
        Ok(())
    }

    fn seek(&mut self, by: i64) -> Result<()> {
        let result = self.sink.seek(SeekFrom::Current(by));
        result.map(drop).map_err(|error| Error::io("cannot seek in the archive", error))
    }
}

/// Codes what is written to it.
trait Coder: Write {
    /// What has been coded and not been taken.
    fn coded(&mut self) -> &mut Vec<u8>;

    /// The rest.
    fn end(self) -> std::io::Result<Vec<u8>>;
}

impl Coder for DeflateEncoder<Vec<u8>> {
    fn coded(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }

    fn end(self) -> std::io::Result<Vec<u8>> {
        self.finish()
    }
}

impl Coder for zstd::stream::write::Encoder<'static, Vec<u8>> {
    fn coded(&mut self) -> &mut Vec<u8> {
        self.get_mut()
    }

    fn end(self) -> std::io::Result<Vec<u8>> {
        self.finish()
    }
}

/// Replaces `content` by all of `source`.
fn fill(mut source: impl Read, content: &mut Vec<u8>) -> std::io::Result<()> {
    content.clear();
    source.read_to_end(content).map(drop)
}

fn unreadable(name: &str, error: std::io::Error) -> Error {
    Error::io(format!("cannot read {name:?}"), error)
}

/// Counts and sums what passes.
struct Checked<'a> {
    source: &'a mut dyn Read,
    crc: crc32fast::Hasher,
    bytes: u64,
}

impl<'a> Checked<'a> {
    fn new(source: &'a mut dyn Read) -> Self {
        Self { source, crc: crc32fast::Hasher::new(), bytes: 0 }
    }
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let length = loop {
            match self.source.read(buffer) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.crc.update(&buffer[..length]);
        self.bytes += length as u64;
        Ok(length)
    }
}
