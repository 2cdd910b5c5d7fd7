//! Reads the whole batches of a spool. After a kill that is all but the torn last one. Damage
//! before the end is reported as such.

use super::frames::{Frame, Frames, Next};
use super::rows::{self, SpoolBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::metadata::{KEY_VERSION, Metadata, VERSION};
use crate::unescape_path;
use arrow_ipc::reader::RecordBatchDecoder;
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A spool being read.
#[derive(Debug)]
pub(super) struct SpoolReader {
    path: PathBuf,
    frames: Frames,
    metadata: Metadata,
    trace: Option<PathBuf>,
    files: u32,
    left: Left,
}

/// The part of a spool that was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// How many bytes at the end belong to no whole batch.
    pub(crate) bytes: u64,
    /// Where they begin, if they are damaged rather than torn.
    pub(crate) damaged_at: Option<u64>,
}

impl SpoolReader {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file =
            File::open(path).map_err(|error| Error::io(path, "could not be opened", error))?;
        let failed = |error| Error::io(path, "could not be read", error);
        let mut start = [0; super::MAGIC.len()];
        let read = file.read_at(&mut start, 0).map_err(failed)?;
        if !super::MAGIC.starts_with(&start[..read]) {
            let message = "is not a spool of a recording, whose name would end in .spool";
            return Err(Error::new(ErrorKind::NotATrace, path, message));
        }
        let mut frames = Frames::new(file).map_err(failed)?;
        let first = match frames.next().map_err(failed)? {
            Next::Frame(first) => first,
            Next::Damage => return Err(Error::corrupt(path, damage(0))),
            Next::End => {
                let message =
                    "holds no rows: the recording ended before its first batch was written";
                return Err(Error::corrupt(path, message));
            }
        };
        let Head { metadata, sealed, trace } = read_schema(path, &first)?;
        if sealed != frames.sealed() {
            return Err(Error::corrupt(path, damage(0)));
        }
        let (path, left) = (path.to_owned(), Left::default());
        Ok(SpoolReader { path, frames, metadata, trace, files: 0, left })
    }

    /// The trace that the recording was to write, if the spool says so.
    pub(super) fn trace(&self) -> Option<&Path> {
        self.trace.as_deref()
    }

    /// The newest metadata read so far.
    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// The part that was not read; known at the end.
    pub(super) fn left(&self) -> Left {
        self.left
    }

    /// The next whole batch. A damaged batch ends the stream as a torn one does, since the bytes
    /// behind it cannot be trusted.
    pub(super) fn next_batch(&mut self) -> Result<Option<SpoolBatch>> {
        let (at, rest) = (self.frames.at(), self.frames.rest());
        let failed = |error| Error::io(&self.path, "could not be read", error);
        let damaged = Left { bytes: rest, damaged_at: Some(at) };
        let frame = match self.frames.next().map_err(failed)? {
            Next::Frame(frame) => frame,
            Next::End => {
                self.left = Left { bytes: self.frames.rest(), damaged_at: None };
                return Ok(None);
            }
            Next::Damage => {
                self.left = damaged;
                return Ok(None);
            }
        };
        let Some(batch) = decode(&frame, self.files) else {
            // Without seals, a torn batch looks like a damaged one.
            self.left =
                if self.frames.sealed() { damaged } else { Left { damaged_at: None, ..damaged } };
            return Ok(None);
        };
        self.files += batch.new_names.len() as u32;
        if let Some(metadata) = &batch.metadata {
            self.metadata = metadata.clone();
        }
        Ok(Some(batch))
    }
}

/// The message about a spool that is damaged at this byte.
pub(super) fn damage(at: u64) -> String {
    format!("was damaged after it was written (a checksum differs in the batch at byte {at})")
}

/// What the schema message says.
struct Head {
    metadata: Metadata,
    /// Whether messages have seals.
    sealed: bool,
    /// The trace that is to be written.
    trace: Option<PathBuf>,
}

fn read_schema(path: &Path, frame: &Frame) -> Result<Head> {
    let foreign = || {
        Error::new(ErrorKind::NotATrace, path, "is an Arrow stream, but not a spool of seekless")
    };
    let message = arrow_ipc::root_as_message(&frame.header).map_err(|_| foreign())?;
    let schema = message.header_as_schema().ok_or_else(foreign)?;
    let pairs: HashMap<&str, &str> = schema
        .custom_metadata()
        .into_iter()
        .flatten()
        .filter_map(|pair| Some((pair.key()?, pair.value()?)))
        .collect();
    let version = pairs.get(KEY_VERSION).ok_or_else(foreign)?;
    if *version != VERSION {
        let message = format!(
            "is a spool of version {version}, expected {VERSION}; a newer seekless wrote it"
        );
        return Err(Error::new(ErrorKind::Schema, path, message));
    }
    let json = pairs.get(rows::KEY_METADATA).ok_or_else(foreign)?;
    let metadata = serde_json::from_str(json);
    let metadata =
        metadata.map_err(|error| Error::corrupt(path, "its metadata is damaged").because(error))?;
    let trace = pairs.get(rows::KEY_TRACE).map(|name| OsString::from_vec(unescape_path(name)));
    let sealed = pairs.contains_key(rows::KEY_SEALED);
    Ok(Head { metadata, sealed, trace: trace.map(PathBuf::from) })
}

/// The rows of one message; `None` if it is damaged.
fn decode(frame: &Frame, files: u32) -> Option<SpoolBatch> {
    let read = || {
        let message = arrow_ipc::root_as_message(&frame.header).ok()?;
        let header = message.header_as_record_batch()?;
        // Arrow does not check these.
        let lies_within = |start: i64, length: i64| {
            let end = start.checked_add(length).filter(|_| start >= 0 && length >= 0);
            end.is_some_and(|end| end as u64 <= frame.body.len() as u64)
        };
        if !header.buffers()?.iter().all(|buffer| lies_within(buffer.offset(), buffer.length())) {
            return None;
        }
        let (none, version) = (HashMap::new(), message.version());
        let decoder =
            RecordBatchDecoder::try_new(&frame.body, header, rows::schema(), &none, &version)
                .ok()?;
        rows::decode(&decoder.read_record_batch().ok()?, files).ok()
    };
    // Arrow panics on some damaged batches, which must not end the program.
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}
