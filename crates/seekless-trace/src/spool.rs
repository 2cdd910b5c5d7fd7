//! The spool: the file to which a recorder writes rows while the program runs. If either of them is
//! killed, at most one batch is lost.
//!
//! It is a sequence of frames, each with checksums (see `frames`). The first says what is known at
//! the start, as JSON. Rows follow in small batches, the name of a file with its first row. What
//! becomes known later (lost events, blind spots, the exit status) is a frame of metadata; the last
//! one counts.

mod files;
mod frames;
mod kept;
mod place;
mod read;
mod rows;

pub use kept::{KeptSpool, kept_spools};
pub(crate) use place::find;
pub use place::spool_path;

use crate::error::{Error, ErrorKind, Result};
use crate::metadata::VERSION;
use crate::trace::{Origin, Trace};
use crate::{Access, Columns, FileId, Metadata, Summary, Writer, escape_path};
use files::{Files, Mention};
use frames::Kind;
pub(crate) use read::Left;
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use seekless_sys::output::Destination;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The first bytes of a spool.
pub(crate) const MAGIC: [u8; 4] = frames::MARK;
const BATCH_ROWS: usize = 4096;
const BATCH_TIME: Duration = Duration::from_millis(250);

/// What is known at the start.
#[derive(Serialize, Deserialize)]
struct Start {
    version: String,
    metadata: Metadata,
    /// The path of the trace that is to be written, escaped.
    trace: Option<String>,
}

/// Writes a spool. After a drop the file is kept, with all rows that were pushed.
pub struct SpoolWriter {
    path: PathBuf,
    out: BufWriter<File>,
    /// The body of the frame that is being written.
    body: Vec<u8>,
    files: Files,
    /// The trace so far. `None` if it could not be written: then it is made of the spool.
    trace: Option<Writer>,
    /// The number that the trace has for a file, by the spool's.
    numbers: Vec<FileId>,
    rows: Vec<Access>,
    /// The spool's number for the file of each of these rows.
    numbered: Vec<FileId>,
    /// The names of the files that are new in these rows.
    names: Vec<String>,
    oldest: Option<Instant>,
    metadata: Metadata,
    saved: Metadata,
    /// A batch was written in part. Nothing may follow it, or it would be read as the rest of that
    /// batch.
    torn: bool,
}

impl SpoolWriter {
    /// Starts a spool at `path`. Replaces a spool that is there.
    ///
    /// # Errors
    /// The file cannot be created or written, or another process is writing it.
    pub fn create(path: &Path, metadata: &Metadata) -> Result<Self> {
        Self::begin(path, None, metadata)
    }

    /// As [`SpoolWriter::create`], of the spool that a recording of `trace` has ([`spool_path`]).
    ///
    /// # Errors
    /// As [`SpoolWriter::create`].
    pub fn create_for(trace: &Path, path: &Path, metadata: &Metadata) -> Result<Self> {
        Self::begin(path, Some(&place::absolute(trace)), metadata)
    }

    fn begin(path: &Path, trace: Option<&Path>, metadata: &Metadata) -> Result<Self> {
        let file = create_locked(path)?;
        let trace = trace.map(|trace| escape_path(trace.as_os_str().as_bytes()));
        let start = Start { version: VERSION.to_owned(), metadata: metadata.clone(), trace };
        let mut spool = SpoolWriter {
            path: path.to_owned(),
            out: BufWriter::with_capacity(1 << 18, file),
            body: Vec::new(),
            files: Files::default(),
            trace: Writer::beside(path).ok(),
            numbers: Vec::new(),
            rows: Vec::with_capacity(BATCH_ROWS),
            numbered: Vec::with_capacity(BATCH_ROWS),
            names: Vec::new(),
            oldest: None,
            metadata: metadata.clone(),
            saved: metadata.clone(),
            torn: false,
        };
        // A file with half a header would be taken for a recording that was killed.
        spool
            .write(Kind::Start, &to_json(&start))
            .and_then(|()| spool.sync_buffer())
            .inspect_err(|_| drop(std::fs::remove_file(path)))?;
        Ok(spool)
    }

    /// Numbers the file called `path`, for rows to come. Numbers go up from 0. A path that is not
    /// UTF-8 must be escaped by [`escape_path`](crate::escape_path). Call this once for each file:
    /// paths are not compared before the spool becomes a trace, which then joins files of one path.
    pub fn file(&mut self, path: impl Into<String>) -> FileId {
        self.files.add(path.into())
    }

    /// Adds a row. Rows may come in any order.
    ///
    /// # Errors
    /// `access.file` is not from [`SpoolWriter::file`], or a full batch could not be written.
    pub fn push(&mut self, access: Access) -> Result<()> {
        self.push_all(std::slice::from_ref(&access)).map_err(|(_, error)| error)
    }

    /// Adds rows as [`SpoolWriter::push`] does, and looks at the clock once.
    ///
    /// # Errors
    /// As [`SpoolWriter::push`]. Also returns how many of them were added before.
    pub fn push_all(&mut self, rows: &[Access]) -> Result<(), (usize, Error)> {
        let mut added = 0;
        while added < rows.len() {
            let room = BATCH_ROWS - self.rows.len();
            let part = &rows[added..rows.len().min(added + room)];
            self.add(part).map_err(|(before, error)| (added + before, error))?;
            added += part.len();
        }
        self.flush_if_due().map_err(|error| (added, error))
    }

    /// Adds rows, for which the batch has room.
    fn add(&mut self, part: &[Access]) -> Result<(), (usize, Error)> {
        for (at, access) in part.iter().enumerate() {
            let Some(Mention { file, path }) = self.files.mention(access.file) else {
                self.rows.extend_from_slice(&part[..at]);
                let message = format!("file number {} was not given by this spool", access.file);
                return Err((at, Error::new(ErrorKind::Usage, &self.path, message)));
            };
            if let Some(path) = path {
                self.numbers.extend(self.trace.as_mut().map(|trace| trace.file(&path)));
                self.names.push(path);
            }
            self.numbered.push(file);
            if let Some(trace) = &mut self.trace
                && trace.push(Access { file: self.numbers[file as usize], ..*access }).is_err()
            {
                self.trace = None; // the spool has it all
            }
        }
        let written = match part.len() {
            BATCH_ROWS => self.write_rows(part), // from where they are
            _ => {
                self.rows.extend_from_slice(part);
                Ok(())
            }
        };
        let is_full = self.numbered.is_empty() || self.numbered.len() >= BATCH_ROWS;
        let written = written.and_then(|()| if is_full { self.flush() } else { Ok(()) });
        written.map_err(|error| (part.len().saturating_sub(1), error))
    }

    /// What the trace will say about itself. Changes are written with the next batch.
    pub fn metadata_mut(&mut self) -> &mut Metadata {
        &mut self.metadata
    }

    /// Writes the batch if its oldest row has waited 250 ms. A recorder calls this when its program
    /// is quiet.
    ///
    /// # Errors
    /// The batch could not be written.
    pub fn flush_if_due(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let oldest = *self.oldest.get_or_insert_with(Instant::now);
        if oldest.elapsed() >= BATCH_TIME { self.flush() } else { Ok(()) }
    }

    /// Hands all rows so far to the kernel. They survive if this process is killed.
    ///
    /// # Errors
    /// The batch could not be written.
    pub fn flush(&mut self) -> Result<()> {
        if !self.rows.is_empty() {
            let rows = std::mem::take(&mut self.rows);
            let written = self.write_rows(&rows);
            self.rows = rows;
            written?;
            self.rows.clear();
        }
        if self.metadata != self.saved {
            let metadata = to_json(&self.metadata);
            self.write(Kind::Metadata, &metadata)?;
            self.saved = self.metadata.clone();
        }
        self.oldest = None;
        self.sync_buffer()
    }

    /// Turns the spool into the trace at `out` and deletes it.
    ///
    /// # Errors
    /// The trace could not be written, or exists and may not be replaced. The spool is kept then,
    /// for `seekless trace recover`.
    pub fn finish_into(mut self, out: impl Into<Destination>) -> Result<Summary> {
        let out = out.into();
        self.flush()?;
        let made = self.trace.take().and_then(|mut trace| {
            *trace.metadata_mut() = self.metadata.clone();
            trace.finish_at(&out).ok()
        });
        // A second attempt also finds out what is wrong with the output.
        let summary = made.map_or_else(|| self.convert_into(&out), Ok)?;
        std::fs::remove_file(&self.path)
            .map_err(|error| Error::io(&self.path, "could not be deleted", error))?;
        Ok(summary)
    }

    /// Reads the spool, and writes its rows as the trace at `out`.
    fn convert_into(&mut self, out: impl Into<Destination>) -> Result<Summary> {
        self.sync_buffer()?;
        let (summary, left) = convert(&self.path, out, Damage::IsAnError)?;
        debug_assert_eq!(left, Left::default());
        Ok(summary)
    }

    /// Writes a batch of these rows, whose numbers and names have been noted.
    fn write_rows(&mut self, rows: &[Access]) -> Result<()> {
        let mut body = std::mem::take(&mut self.body);
        rows::encode(rows, &self.numbered, &self.names, &mut body);
        let written = self.write(Kind::Rows, &body);
        body.clear();
        self.body = body;
        written?;
        self.numbered.clear();
        self.names.clear();
        Ok(())
    }

    fn write(&mut self, kind: Kind, body: &[u8]) -> Result<()> {
        let written = frames::write(kind, body, &mut self.out);
        self.torn |= written.is_err();
        written.map_err(|error| not_taken(&self.path, error))
    }

    fn sync_buffer(&mut self) -> Result<()> {
        let flushed = self.out.flush();
        self.torn |= flushed.is_err();
        flushed.map_err(|error| not_taken(&self.path, error))
    }
}

impl fmt::Debug for SpoolWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpoolWriter")
            .field("path", &self.path)
            .field("waiting", &self.rows.len())
            .finish_non_exhaustive()
    }
}

impl Drop for SpoolWriter {
    fn drop(&mut self) {
        if !self.torn {
            let _ = self.flush(); // an error cannot be returned here; what was flushed before is safe
        }
    }
}

/// Creates the file and locks it. The lock keeps a second recording from emptying the spool of a
/// first, and ends with the process.
fn create_locked(path: &Path) -> Result<File> {
    let failed = |error| Error::io(path, "could not be created", error);
    let file = open_for_us(path).map_err(failed)?;
    if !is_locked_soon(&file) {
        let message =
            "is being written by another recording; wait for its end, or name another output";
        return Err(Error::new(ErrorKind::Usage, path, message));
    }
    if !stands_at(&file, path) {
        return create_locked(path); // it was removed before it was locked, as one of a killed recorder
    }
    file.set_len(0).map_err(failed)?;
    Ok(file)
}

/// Locks the file. Whoever lists spools tries their locks, for a moment.
fn is_locked_soon(file: &File) -> bool {
    const ATTEMPTS: u32 = 20;
    (0..ATTEMPTS).any(|attempt| {
        std::thread::sleep(Duration::from_millis(if attempt > 0 { 5 } else { 0 }));
        let locked = rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive);
        locked != Err(Errno::WOULDBLOCK)
    })
}

/// Opens the file, or makes it. It is for this user alone: it holds the program's arguments.
fn open_for_us(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(path)?;
    file.set_permissions(std::fs::Permissions::from_mode(0o600))?; // of one that was there
    Ok(file)
}

/// Whether the open file still has this name.
fn stands_at(file: &File, path: &Path) -> bool {
    let same = |found: std::fs::Metadata| {
        let own = file.metadata()?;
        Ok::<_, io::Error>((own.dev(), own.ino()) == (found.dev(), found.ino()))
    };
    std::fs::symlink_metadata(path).and_then(same).unwrap_or(false)
}

fn to_json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default() // text and numbers always serialise
}

/// The disk took no more rows. Says what to do if it is full.
fn not_taken(path: &Path, error: io::Error) -> Error {
    let full =
        [io::ErrorKind::StorageFull, io::ErrorKind::QuotaExceeded, io::ErrorKind::FileTooLarge];
    let message = match full.contains(&error.kind()) {
        true => {
            "the spool has no room left: free some in its folder, set XDG_STATE_HOME to a folder \
             with more, or record less (--only, --exclude, --rows)"
        }
        false => "the spool cannot be written",
    };
    Error::io(path, message, error)
}

/// What to do with a spool that is damaged before its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Damage {
    IsAnError,
    /// Keep the rows before the damage.
    EndsTheSpool,
}

/// Writes the spool at `spool` as the trace `out`. Returns which part of it was not read.
pub(crate) fn convert(
    spool: &Path,
    out: impl Into<Destination>,
    damage: Damage,
) -> Result<(Summary, Left)> {
    let mut writer = Writer::create(out, Metadata::default())?;
    let left = copy(spool, &mut writer, damage)?;
    Ok((writer.finish()?, left))
}

/// Copies all whole batches of a spool. Returns which part of it was not read.
fn copy(spool: &Path, writer: &mut Writer, damage: Damage) -> Result<Left> {
    let mut reader = read::SpoolReader::open(spool)?;
    let mut files = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        for name in &batch.new_names {
            files.push(writer.file(name));
        }
        for row in batch.rows {
            let file = files[row.file as usize]; // the reader has checked it
            writer.push(Access { file, ..row })?;
        }
    }
    let left = reader.left();
    if let (Some(at), Damage::IsAnError) = (left.damaged_at, damage) {
        let message = format!(
            "{}; `seekless trace recover` makes a trace of what lies before",
            read::damage(at)
        );
        return Err(Error::corrupt(spool, message));
    }
    *writer.metadata_mut() = reader.metadata().clone();
    Ok(left)
}

/// Opens a spool as a trace in a temporary file.
pub(crate) fn open(spool: &Path) -> Result<Trace> {
    let mut writer = Writer::unplaced(spool, Columns::NONE)?;
    let left = copy(spool, &mut writer, Damage::IsAnError)?;
    Ok(writer.into_trace()?.named(spool, Origin::Spool { torn_bytes: left.bytes }))
}

#[cfg(test)]
mod tests;
