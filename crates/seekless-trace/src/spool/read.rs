//! Reads the whole batches of a spool. After a kill that is all but the torn last one. Damage
//! before the end is reported as such.

use super::Start;
use super::frames::{Frame, Frames, Kind, Next};
use super::rows::{self, SpoolBatch};
use crate::error::{Error, ErrorKind, Result};
use crate::metadata::{Metadata, VERSION};
use crate::unescape_path;
use std::ffi::OsString;
use std::fs::File;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileExt;
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
        let mut first = [0; super::MAGIC.len()];
        let read = file.read_at(&mut first, 0).map_err(failed)?;
        if !super::MAGIC.starts_with(&first[..read]) {
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
        let Start { version, metadata, trace } = start(path, &first)?;
        if version != VERSION {
            let message = format!(
                "is a spool of version {version}, expected {VERSION}; a newer seekless wrote it"
            );
            return Err(Error::new(ErrorKind::Schema, path, message));
        }
        let trace = trace.map(|name| PathBuf::from(OsString::from_vec(unescape_path(&name))));
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

    /// The next whole batch. A damaged batch ends the spool as a torn one does, since the bytes
    /// behind it cannot be trusted.
    pub(super) fn next_batch(&mut self) -> Result<Option<SpoolBatch>> {
        loop {
            let (at, rest) = (self.frames.at(), self.frames.rest());
            let failed = |error| Error::io(&self.path, "could not be read", error);
            let read = match self.frames.next().map_err(failed)? {
                Next::Frame(frame) => self.read(&frame),
                Next::End => {
                    self.left = Left { bytes: rest, damaged_at: None };
                    return Ok(None);
                }
                Next::Damage => None,
            };
            match read {
                Some(Some(batch)) => return Ok(Some(batch)),
                Some(None) => {}
                None => {
                    self.left = Left { bytes: rest, damaged_at: Some(at) };
                    return Ok(None);
                }
            }
        }
    }

    /// The rows of a frame, if it holds rows; `None` if it is damaged.
    fn read(&mut self, frame: &Frame) -> Option<Option<SpoolBatch>> {
        match frame.kind {
            Kind::Start => None,
            Kind::Metadata => {
                self.metadata = serde_json::from_slice(&frame.body).ok()?;
                Some(None)
            }
            Kind::Rows => {
                let batch = rows::decode(&frame.body, self.files)?;
                self.files += batch.new_names.len() as u32;
                Some(Some(batch))
            }
        }
    }
}

/// The message about a spool that is damaged at this byte.
pub(super) fn damage(at: u64) -> String {
    format!("was damaged after it was written (a checksum differs in the batch at byte {at})")
}

fn start(path: &Path, frame: &Frame) -> Result<Start> {
    if frame.kind != Kind::Start {
        return Err(Error::corrupt(path, damage(0)));
    }
    serde_json::from_slice(&frame.body)
        .map_err(|error| Error::corrupt(path, "its metadata is damaged").because(error))
}
