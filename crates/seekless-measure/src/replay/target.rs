//! What I/Os are played on: files or a device, open past the page cache where that is possible, and
//! for writing only if it was named for that and nothing else uses it.

use super::own_file::{Protected, check_device, check_file};
use super::{Limits, Writes};
use crate::{Error, ErrorKind};
use rustix::fs::{Advice, OFlags, fadvise, fcntl_getfl, fcntl_setfl, fsync};
use rustix::io::{Errno, pread};
use seekless_engine::AlignedBuf;
use seekless_sys::block::BlockDevice;
use seekless_sys::descriptor::allow_descriptors;
use seekless_sys::direct::alignment;
use std::fs::{File, OpenOptions};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// Descriptors that a process needs beside those of a target.
const OTHER_DESCRIPTORS: u64 = 64;

/// An open target.
#[derive(Debug)]
pub struct Target {
    paths: Vec<PathBuf>,
    files: Vec<File>,
    file_bytes: Vec<u64>,
    alignment: u64,
    direct: bool,
    writable: bool,
    device: Option<BlockDevice>,
}

impl Target {
    /// Opens files, or a device, for reading only. If one of them cannot be read past the page
    /// cache, all are read through it.
    ///
    /// # Errors
    /// One of them cannot be opened, or is neither a file nor a block device.
    pub fn read_only<P: AsRef<Path>>(paths: &[P]) -> Result<Self, Error> {
        // Each file is open twice: here and in the engine.
        allow_descriptors(2 * paths.len() as u64 + OTHER_DESCRIPTORS);
        let mut files = Vec::with_capacity(paths.len());
        for path in paths {
            // A pipe without a writer would wait for one.
            let flags = OFlags::NONBLOCK;
            files.push(open(OpenOptions::new().read(true), path.as_ref(), flags)?);
        }
        let paths = paths.iter().map(|path| path.as_ref().to_owned()).collect();
        Target::of(paths, files, false)
    }

    /// Opens a regular file to be overwritten.
    ///
    /// # Errors
    /// It is refused, and unchanged, unless it is a regular file with one name that nothing else
    /// has open or maps, and that the trace does not read from: see [`Protected`].
    pub fn write_file(path: &Path, protected: &Protected) -> Result<Self, Error> {
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = open(OpenOptions::new().read(true).write(true), path, flags)?;
        check_file(path, &file, protected)?;
        Target::of(vec![path.to_owned()], vec![file], true)
    }

    /// Opens a block device whose data is to be destroyed.
    ///
    /// # Errors
    /// It is refused, and unchanged, unless it is a block device that is not mounted, is not part
    /// of another device, and is open nowhere; this holds for its partitions too.
    pub fn destroy_device(path: &Path) -> Result<Self, Error> {
        let failed = |error| Error::io(path, "cannot be examined", error);
        if !std::fs::metadata(path).map_err(failed)?.file_type().is_block_device() {
            let message = format!("{}: refused: not a block device", path.display());
            return Err(Error::new(ErrorKind::Refused, message));
        }
        // Asked first, since its words say more than the kernel's.
        check_device(path, &open(OpenOptions::new().read(true), path, OFlags::empty())?)?;
        // Without O_CREAT the kernel takes this as a claim: as long as the device is open, it
        // cannot be mounted; what is mounted, in any name space, cannot be claimed.
        let file = open(OpenOptions::new().read(true).write(true), path, OFlags::EXCL)?;
        check_device(path, &file)?;
        Target::of(vec![path.to_owned()], vec![file], true)
    }

    fn of(paths: Vec<PathBuf>, files: Vec<File>, writable: bool) -> Result<Self, Error> {
        let mut target = Target {
            direct: reads_directly(&files),
            file_bytes: Vec::with_capacity(files.len()),
            alignment: 1,
            device: None,
            paths,
            files,
            writable,
        };
        for (path, file) in target.paths.iter().zip(&target.files) {
            let failed = |error| Error::io(path, "cannot be examined", error);
            let metadata = file.metadata().map_err(failed)?;
            let is_device = metadata.file_type().is_block_device();
            if !is_device && !metadata.is_file() {
                let message = format!("{}: neither a file nor a block device", path.display());
                return Err(Error::new(ErrorKind::Io, message));
            }
            if target.direct {
                let needed = alignment(file).map_err(failed)?;
                target.alignment = target.alignment.max(needed.offset_bytes.into());
            }
            target.file_bytes.push((&*file).seek(SeekFrom::End(0)).map_err(failed)?);
            if target.device.is_none() {
                let number = if is_device { metadata.rdev() } else { metadata.dev() };
                target.device = BlockDevice::numbered(number).map(|device| device.whole());
            }
        }
        Ok(target)
    }

    /// Its name, or the number of its files.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.paths[..] {
            [path] => path.display().to_string(),
            paths => format!("{} files", paths.len()),
        }
    }

    /// The names of its files.
    #[must_use]
    pub fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// The size of each file.
    #[must_use]
    pub fn file_bytes(&self) -> &[u64] {
        &self.file_bytes
    }

    /// Whether I/Os go past the page cache.
    #[must_use]
    pub fn is_direct(&self) -> bool {
        self.direct
    }

    /// The disk that it lies on, if the kernel says so.
    #[must_use]
    pub fn device(&self) -> Option<&BlockDevice> {
        self.device.as_ref()
    }

    /// What I/Os on it must be like.
    #[must_use]
    pub fn limits(&self) -> Limits {
        let (file_bytes, alignment) = (self.file_bytes.clone(), self.alignment);
        Limits { name: self.name(), file_bytes, alignment }
    }

    /// Whether writes of a trace may be played on it.
    #[must_use]
    pub fn allows(&self, writes: Writes) -> bool {
        self.writable || writes != Writes::Written
    }

    /// What is in the page cache of it is written back, and dropped where I/Os go through the
    /// cache. Direct reads would wait for the write-back.
    pub(super) fn make_cold(&self) {
        for file in &self.files {
            // Neither is needed for the replay to be right.
            let _ = fsync(file);
            if !self.direct {
                let _ = fadvise(file, 0, None, Advice::DontNeed);
            }
        }
    }

    /// Descriptors for an engine.
    pub(super) fn handles(&self) -> Result<Vec<File>, Error> {
        let failed = |error| {
            let message = format!("{}: too many files are open", self.name());
            Error::because(ErrorKind::Io, message, error)
        };
        self.files.iter().map(|file| file.try_clone().map_err(failed)).collect()
    }
}

fn open(options: &mut OpenOptions, path: &Path, flags: OFlags) -> Result<File, Error> {
    options.custom_flags(flags.bits() as i32).open(path).map_err(
        |error| match Errno::from_io_error(&error) {
            Some(Errno::LOOP) => {
                let message = format!(
                    "{}: refused: a symbolic link; name the file that it leads to",
                    path.display()
                );
                Error::new(ErrorKind::Refused, message)
            }
            Some(Errno::BUSY) => {
                let message = format!("{}: refused: the system uses this device", path.display());
                Error::new(ErrorKind::Refused, message)
            }
            Some(Errno::MFILE) => {
                let message = format!(
                    "{}: too many files at once: raise the limit (ulimit -n), or cut the trace \
                     (seekless trace cut)",
                    path.display()
                );
                Error::new(ErrorKind::Io, message)
            }
            _ => Error::io(path, "cannot be opened", error),
        },
    )
}

/// Makes all descriptors direct if a read of each device works that way; else none.
fn reads_directly(files: &[File]) -> bool {
    let all = files.iter().try_for_each(|file| {
        let flags = fcntl_getfl(file)?;
        fcntl_setfl(file, flags | OFlags::DIRECT)
    });
    let mut buffer = AlignedBuf::with_capacity(seekless_engine::ALIGNMENT);
    let mut tried = Vec::new();
    let works = all.is_ok()
        && files.iter().all(|file| {
            let device = file.metadata().map(|it| it.dev()).unwrap_or(0);
            if tried.contains(&device) {
                return true;
            }
            tried.push(device);
            pread(file, buffer.whole_mut(), 0) != Err(Errno::INVAL)
        });
    if !works {
        for file in files {
            // Where this fails, so did setting it.
            let _ = fcntl_getfl(file).and_then(|flags| fcntl_setfl(file, flags - OFlags::DIRECT));
        }
    }
    works
}
