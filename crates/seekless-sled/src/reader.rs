//! Delivers the bytes of files and streams, the cheapest first, each exactly once, in whole records.

use crate::{Error, Records};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What must not be cut apart.
    pub records: Records,
    /// In what order.
    pub plan: Plan,
    /// Deliver only what costs no device anything; the rest is counted in [`Event::End`]'s `skipped`.
    pub cached_only: bool,
    /// About how many bytes a chunk has; a single record may make it longer.
    pub chunk_bytes: usize,
}

/// The order of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Plan {
    /// The cheapest chunk of all files first, the lowest offset among equals.
    #[default]
    Best,
    /// File by file, from the first byte to the last.
    Linear,
}

/// A piece of a file: whole records.
#[derive(Clone, Copy, Debug)]
pub struct Chunk<'a> {
    /// Which file, in the order they were added.
    pub file: usize,
    /// Where it starts.
    pub offset: u64,
    /// What it holds, never empty.
    pub bytes: &'a [u8],
}

/// What happens to the files, a chunk at a time.
#[derive(Debug)]
pub enum Event<'a> {
    /// The next piece.
    Chunk(Chunk<'a>),
    /// Every byte of the file has been delivered once, but those skipped.
    End {
        /// Which file.
        file: usize,
        /// Its size as read.
        bytes: u64,
        /// Bytes left out because of [`Options::cached_only`].
        skipped: u64,
    },
    /// Forget what the chunks of this file told: it changed meanwhile. All of it comes again, from its first byte to the last.
    Restart {
        /// Which file.
        file: usize,
    },
    /// Forget what the chunks of this file told: the rest cannot be had. The other files go on.
    Failed {
        /// Which file.
        file: usize,
        /// Why.
        error: Error,
    },
}

/// What a reader has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Bytes delivered.
    pub bytes: u64,
    /// Chunks delivered.
    pub chunks: u64,
    /// Bytes that were in memory when they were first asked about.
    pub resident_bytes: u64,
}

/// Reads files and streams; see the crate's example.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    sources: Vec<Source>,
    current: usize,
    buffer: Vec<u8>,
    held: usize,
    statistics: Statistics,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    stream: Option<File>,
    offset: u64,
    ended: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { records: Records::None, plan: Plan::Best, cached_only: false, chunk_bytes: 256 << 10 }
    }
}

impl Reader {
    /// A reader of nothing yet.
    #[must_use]
    pub fn new(options: Options) -> Self {
        let (sources, buffer) = (Vec::new(), Vec::new());
        Reader { options, sources, current: 0, buffer, held: 0, statistics: Statistics::default() }
    }

    /// Adds a file by its path; it is opened when its turn comes. Returns its number.
    pub fn add_path(&mut self, path: &Path) -> usize {
        self.add(path, None)
    }

    /// Adds an open file or a stream (a pipe, a terminal), read from where it stands; `name` is what errors call it.
    pub fn add_file(&mut self, name: &Path, file: File) -> usize {
        self.add(name, Some(file))
    }

    fn add(&mut self, path: &Path, stream: Option<File>) -> usize {
        self.sources.push(Source { path: path.to_owned(), stream, offset: 0, ended: false });
        self.sources.len() - 1
    }

    /// What the reader has done so far.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        self.statistics
    }

    /// Keeps a range in memory if it can: a hit that a later pass will look for again (`reference/latency.md`, section 2).
    pub fn pin(&mut self, file: usize, offset: u64, bytes: u64) {
        let Some(stream) = self.sources.get(file).and_then(|source| source.stream.as_ref()) else { return };
        let length = std::num::NonZeroU64::new(bytes);
        let _ = rustix::fs::fadvise(stream, offset, length, rustix::fs::Advice::WillNeed);
    }

    /// Leaves out what is still to come of a file; it gets no further event.
    pub fn finish_file(&mut self, file: usize) {
        if let Some(source) = self.sources.get_mut(file) {
            source.ended = true;
            source.stream = None;
        }
    }

    /// The next event, or `None` when all files have ended.
    #[expect(clippy::should_implement_trait, reason = "an event lends the reader's buffer")]
    pub fn next(&mut self) -> Option<Event<'_>> {
        while self.sources.get(self.current)?.ended {
            self.current += 1;
            self.held = 0;
        }
        let file = self.current;
        match self.fill() {
            Ok(0) => {
                self.sources[file].ended = true;
                Some(Event::End { file, bytes: self.sources[file].offset, skipped: 0 })
            }
            Ok(length) => {
                let offset = self.sources[file].offset;
                self.sources[file].offset += length as u64;
                self.statistics.bytes += length as u64;
                self.statistics.chunks += 1;
                Some(Event::Chunk(Chunk { file, offset, bytes: &self.buffer[..length] }))
            }
            Err(error) => {
                self.sources[file].ended = true;
                let error = Error::io(&self.sources[file].path, error);
                Some(Event::Failed { file, error })
            }
        }
    }

    /// Reads until the buffer starts with whole records; returns their length, 0 at the end.
    fn fill(&mut self) -> io::Result<usize> {
        let source = &mut self.sources[self.current];
        if source.stream.is_none() {
            source.stream = Some(File::open(&source.path)?);
        }
        let Some(stream) = &mut source.stream else { return Ok(0) };
        self.buffer.drain(..self.held.min(self.buffer.len()));
        self.held = 0;
        loop {
            let start = self.buffer.len();
            self.buffer.resize(start + self.options.chunk_bytes, 0);
            let read = stream.read(&mut self.buffer[start..]);
            self.buffer.truncate(start + read.as_ref().map_or(0, |&read| read));
            let read = match read {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let length = match self.options.records {
                _ if read == 0 => self.buffer.len(),
                Records::None => self.buffer.len(),
                Records::Delimiter(delimiter) => {
                    self.buffer.iter().rposition(|&byte| byte == delimiter).map_or(0, |last| last + 1)
                }
                Records::Fixed { origin, bytes } => {
                    let end = source.offset + self.buffer.len() as u64;
                    let whole = end.checked_sub(origin).map(|after| origin + after / bytes * bytes);
                    whole.map_or(0, |whole| whole.saturating_sub(source.offset) as usize)
                }
            };
            if length > 0 || read == 0 {
                self.held = length;
                return Ok(length);
            }
        }
    }
}
