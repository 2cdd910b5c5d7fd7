//! Reads a spool as far as it is whole: after a kill, all but the torn last batch.

use super::frames::{Frame, Frames};
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
    torn_bytes: u64,
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
        let Some(first) = frames.next().map_err(failed)? else {
            return Err(Error::corrupt(
                path,
                "holds no rows: the recording ended before its first batch was written",
            ));
        };
        let metadata = starting_metadata(path, &first)?;
        Ok(SpoolReader { path: path.to_owned(), frames, metadata, files: 0, torn_bytes: 0 })
    }

    /// The newest metadata read so far.
    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// How many bytes at the end belong to no whole batch.
    pub(super) fn torn_bytes(&self) -> u64 {
        self.torn_bytes
    }

    /// The next whole batch. A damaged one ends the stream as a torn one does: what lies behind cannot be trusted.
    pub(super) fn next_batch(&mut self) -> Result<Option<SpoolBatch>> {
        let rest = self.frames.rest();
        let failed = |error| Error::io(&self.path, "could not be read", error);
        let Some(frame) = self.frames.next().map_err(failed)? else {
            self.torn_bytes = self.frames.rest();
            return Ok(None);
        };
        let Some(batch) = decode(&frame, self.files) else {
            self.torn_bytes = rest;
            return Ok(None);
        };
        self.files += batch.new_names.len() as u32;
        if let Some(metadata) = &batch.metadata {
            self.metadata = metadata.clone();
        }
        Ok(Some(batch))
    }
}

/// What the schema message says about the trace.
fn starting_metadata(path: &Path, frame: &Frame) -> Result<Metadata> {
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
    serde_json::from_str(json).map_err(|error| Error::corrupt(path, "its metadata is damaged").because(error))
}

/// The rows of one message; `None` where it is damaged.
fn decode(frame: &Frame, files: u32) -> Option<SpoolBatch> {
    let read = || {
        let message = arrow_ipc::root_as_message(&frame.header).ok()?;
        let header = message.header_as_record_batch()?;
        let (none, version) = (HashMap::new(), message.version());
        let decoder =
            RecordBatchDecoder::try_new(&frame.body, header, rows::schema(), &none, &version).ok()?;
        rows::decode(&decoder.read_record_batch().ok()?, files).ok()
    };
    // Arrow checks most of what it reads and panics on the rest; a damaged batch must not end the program.
    catch_unwind(AssertUnwindSafe(read)).ok().flatten()
}
