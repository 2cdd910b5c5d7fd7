//! Where a pack that is brought up to date lies: in a file, or in object storage.

use crate::remote::{Base, Travelled, open_file};
use seekless_engine::ObjectName;
use seekless_job::{Error, ErrorKind, Result};
use seekless_pack::ReadAt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// Between these many bytes it is looked whether to stop.
const PIECE_BYTES: u64 = 64 << 20;

/// A pack as it was.
pub(super) enum Source {
    File(File),
    #[cfg_attr(not(feature = "remote"), expect(dead_code, reason = "made with the feature alone"))]
    Object(Box<Object>),
}

/// Of an object little is read.
pub(super) struct Object {
    base: Base,
    /// The ranges that stay: where they lie in the old pack and in the new one, and their bytes.
    kept: Mutex<Vec<(u64, u64, u64)>>,
    /// All of it, if that is to be checked. Else what stays is a hole in the new pack's file.
    whole: Option<File>,
}

impl Source {
    /// # Errors
    /// It cannot be opened.
    pub(super) fn open(path: &Path) -> Result<Self> {
        match ObjectName::parse(path) {
            None => open_file(path).map(Self::File),
            Some(Err(error)) => Err(Error::new(ErrorKind::Invalid, error.to_string())),
            Some(Ok(name)) => opened(name).map_err(|error| Error::unreadable(path, error)),
        }
    }

    /// # Errors
    /// The file system does not say.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        match self {
            Self::File(file) => Ok(file.metadata()?.len()),
            Self::Object(object) => Ok(bytes_of(&object.base)),
        }
    }

    /// Has all of an object at hand.
    ///
    /// # Errors
    /// It cannot be read, or there is no room for it.
    pub(super) fn read_whole(&mut self) -> io::Result<()> {
        if let Self::Object(object) = self {
            object.whole = Some(whole_of(&object.base)?);
        }
        Ok(())
    }

    /// Appends a range of the pack to `sink`, unless cancelled. The kernel copies it, or shares it
    /// where the file system can.
    pub(super) fn copy(
        &self,
        range: Range<u64>,
        sink: &mut BufWriter<&File>,
        cancel: &AtomicBool,
    ) -> io::Result<()> {
        let mut left = range.end - range.start;
        let mut file = match self {
            Self::File(file) => file,
            Self::Object(object) => {
                let to = sink.stream_position()?;
                let mut kept = object.kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push((range.start, to, left));
                match &object.whole {
                    Some(whole) => whole,
                    None => return sink.seek(SeekFrom::Start(to + left)).map(drop),
                }
            }
        };
        file.seek(SeekFrom::Start(range.start))?;
        while left > 0 {
            if cancel.load(Ordering::Relaxed) {
                return Err(io::Error::other("interrupted"));
            }
            match io::copy(&mut file.take(left.min(PIECE_BYTES)), sink)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                copied => left -= copied,
            }
        }
        Ok(())
    }

    /// Makes `content`, to which ranges were copied, the new version of an object; `None` if this
    /// is a file, which is replaced by another.
    ///
    /// # Errors
    /// It cannot be written, or was replaced meanwhile.
    pub(super) fn renew(&self, content: &File) -> Option<io::Result<Travelled>> {
        match self {
            Self::File(_) => None,
            Self::Object(object) => {
                let kept = object.kept.lock().unwrap_or_else(PoisonError::into_inner);
                Some(renewed(&object.base, content, kept.clone()))
            }
        }
    }
}

impl ReadAt for Source {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Self::File(file) => ReadAt::read_exact_at(file, buffer, offset),
            Self::Object(object) => match &object.whole {
                Some(whole) => ReadAt::read_exact_at(whole, buffer, offset),
                None => read(&object.base, buffer, offset),
            },
        }
    }
}

#[cfg(feature = "remote")]
mod object {
    use super::{Base, File, Mutex, Object, ObjectName, Source, Travelled, io};

    pub(super) fn opened(name: ObjectName) -> io::Result<Source> {
        let base = Base::open(name)?;
        Ok(Source::Object(Box::new(Object { base, kept: Mutex::default(), whole: None })))
    }

    pub(super) fn bytes_of(base: &Base) -> u64 {
        base.bytes()
    }

    pub(super) fn whole_of(base: &Base) -> io::Result<File> {
        base.whole()
    }

    pub(super) fn read(base: &Base, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        base.read_exact_at(buffer, offset)
    }

    pub(super) fn renewed(
        base: &Base,
        content: &File,
        kept: Vec<(u64, u64, u64)>,
    ) -> io::Result<Travelled> {
        base.renew(content, kept)
    }
}

#[cfg(not(feature = "remote"))]
mod object {
    use super::{Base, File, ObjectName, Source, Travelled, io};

    pub(super) fn opened(_: ObjectName) -> io::Result<Source> {
        Err(ObjectName::unsupported_here())
    }

    pub(super) fn bytes_of(base: &Base) -> u64 {
        match *base {}
    }

    pub(super) fn whole_of(base: &Base) -> io::Result<File> {
        match *base {}
    }

    pub(super) fn read(base: &Base, _: &mut [u8], _: u64) -> io::Result<()> {
        match *base {}
    }

    pub(super) fn renewed(base: &Base, _: &File, _: Vec<(u64, u64, u64)>) -> io::Result<Travelled> {
        match *base {}
    }
}

use object::{bytes_of, opened, read, renewed, whole_of};
