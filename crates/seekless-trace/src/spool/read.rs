//! Reads a spool as far as it is whole: after a kill, all but the torn last batch. Damage before the end is told apart.

use super::frames::{Frame, Frames, Next};
use super::rows::{self, SpoolBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::metadata::{KEY_VERSION, Metadata, VERSION};
use arrow_ipc::reader::RecordBatchDecoder;
use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A spool being read.
#[derive(Debug)]
pub(super) struct SpoolReader {
    path: PathBuf,
    frames: Frames,
    metadata: Metadata,
    files: u32,
    left: Left,
}

/// What of a spool was not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Left {
    /// Bytes at the end that belong to no whole batch.
    pub(crate) bytes: u64,
    /// Where they begin, if they are damaged rather than torn.
    pub(crate) damaged_at: Option<u64>,
}

impl SpoolReader {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|error| Error::io(path, "could not be opened", error))?;
        let failed = |error| Error::io(path, "could not be read", error);
        let mut start = [0; super::MAGIC.len()];
        let read = file.read_at(&mut start, 0).map_err(failed)?;
        if !super::MAGIC.starts_with(&start[..read]) {
            let message =
                "is no spool of a recording; a spool is called like its trace, with .spool behind it";
            return Err(Error::new(ErrorKind::NotATrace, path, message));
        }
        let mut frames = Frames::new(file).map_err(failed)?;
        let first = match frames.next().map_err(failed)? {
            Next::Frame(first) => first,
            Next::Damage => return Err(Error::corrupt(path, damage(0))),
            Next::End => {
                let message = "holds no rows: the recording ended before its first batch was written";
                return Err(Error::corrupt(path, message));
            }
        };
        let (metadata, sealed) = read_schema(path, &first)?;
        if sealed != frames.sealed() {
            return Err(Error::corrupt(path, damage(0)));
        }
        Ok(SpoolReader { path: path.to_owned(), frames, metadata, files: 0, left: Left::default() })
    }

    /// The newest metadata read so far.
    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// What was not read, known at the end.
    pub(super) fn left(&self) -> Left {
        self.left
    }

    /// The next whole batch. A damaged one ends the stream as a torn one does: what lies behind cannot be trusted.
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
            // Before batches had seals, a torn one was not told from a damaged one.
            self.left = if self.frames.sealed() { damaged } else { Left { damaged_at: None, ..damaged } };
            return Ok(None);
        };
        self.files += batch.new_names.len() as u32;
        if let Some(metadata) = &batch.metadata {
            self.metadata = metadata.clone();
        }
        Ok(Some(batch))
    }
}

/// What is said of a spool that is damaged at this byte.
pub(super) fn damage(at: u64) -> String {
    format!("its bytes are not those that were written (a checksum differs in the batch at byte {at})")
}

/// What the schema message says about the trace, and whether messages have seals.
fn read_schema(path: &Path, frame: &Frame) -> Result<(Metadata, bool)> {
    let foreign =
        || Error::new(ErrorKind::NotATrace, path, "is an Arrow stream, but not a spool of seekless");
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
        let message =
            format!("is a spool of version {version}, expected {VERSION}; a newer seekless wrote it");
        return Err(Error::new(ErrorKind::Schema, path, message));
    }
    let json = pairs.get(rows::KEY_METADATA).ok_or_else(foreign)?;
    let metadata = serde_json::from_str(json);
    let metadata =
        metadata.map_err(|error| Error::corrupt(path, "its metadata is damaged").because(error))?;
    Ok((metadata, pairs.contains_key(rows::KEY_SEALED)))
}

/// The rows of one message; `None` where it is damaged.
fn decode(frame: &Frame, files: u32) -> Option<SpoolBatch> {
    let read = || {
        let message = arrow_ipc::root_as_message(&frame.header).ok()?;
        let header = message.header_as_record_batch()?;
        // Arrow takes these as they are.
        let lies_within = |start: i64, length: i64| {
            let end = start.checked_add(length).filter(|_| start >= 0 && length >= 0);
            end.is_some_and(|end| end as u64 <= frame.body.len() as u64)
        };
        if !header.buffers()?.iter().all(|buffer| lies_within(buffer.offset(), buffer.length())) {
            return None;
        }
        let (none, version) = (HashMap::new(), message.version());
        let decoder =
            RecordBatchDecoder::try_new(&frame.body, header, rows::schema(), &none, &version).ok()?;
        rows::decode(&decoder.read_record_batch().ok()?, files).ok()
    };
    // Arrow checks most of what it reads and panics on the rest; a damaged batch must not end the program.
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}
