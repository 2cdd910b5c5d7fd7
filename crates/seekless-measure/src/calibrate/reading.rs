//! Reading past the page cache, or where that is refused, through it where nothing is cached.

use super::places::{Place, Places, dice_from_the_clock};
use crate::Error;
use rustix::fs::{Advice, fadvise};
use seekless_sys::direct::{alignment, open_direct};
use seekless_sys::residency::count;
use std::fs::File;
use std::io::{self, Write};
use std::num::NonZeroU64;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The files of a calibration, open.
#[derive(Debug)]
pub(super) struct Reading {
    files: Vec<(PathBuf, File)>,
    alignment: u64,
    direct: bool,
}

impl Reading {
    /// Opens all of them past the cache; if one cannot be, all through it.
    pub(super) fn of<P: AsRef<Path>>(paths: &[P], places: &Places) -> Result<Reading, Error> {
        let direct = paths.iter().map(|path| {
            let path = path.as_ref();
            open_direct(path)
                .map(|file| file.map(|file| (path.to_owned(), file)))
                .map_err(|error| (path, error))
        });
        let opened: Result<Option<Vec<_>>, _> = direct.collect();
        let opened = opened.map_err(|(path, error)| Error::io(path, "cannot be opened", error))?;
        if let Some(files) = opened
            && let Some(reading) = Reading::direct(files, places)
        {
            return Ok(reading);
        }
        let buffered = paths.iter().map(|path| {
            let path = path.as_ref();
            let failed = |error| Error::io(path, "cannot be opened", error);
            let file = File::open(path).map_err(failed)?;
            fadvise(&file, 0, None, Advice::Random).map_err(|error| failed(error.into()))?;
            Ok((path.to_owned(), file))
        });
        Ok(Reading {
            files: buffered.collect::<Result<_, Error>>()?,
            alignment: 4096,
            direct: false,
        })
    }

    /// `None` if a trial read is refused after all.
    fn direct(files: Vec<(PathBuf, File)>, places: &Places) -> Option<Reading> {
        let aligned = files
            .iter()
            .map(|(_, file)| alignment(file).ok().map(|needed| u64::from(needed.offset_bytes)));
        let alignment = aligned.collect::<Option<Vec<u64>>>()?.into_iter().max()?.max(4096);
        let reading = Reading { files, alignment, direct: true };
        let mut dice = dice_from_the_clock();
        if let Some(place) = places.pick(alignment, alignment, &mut dice) {
            let mut buffer = seekless_engine::AlignedBuf::with_capacity(alignment as usize);
            let read = reading.files[place.file]
                .1
                .read_exact_at(&mut buffer.whole_mut()[..alignment as usize], place.offset);
            if read.is_err_and(|error| error.kind() == io::ErrorKind::InvalidInput) {
                return None;
            }
        }
        Some(reading)
    }

    pub(super) fn alignment(&self) -> u64 {
        self.alignment
    }

    pub(super) fn is_direct(&self) -> bool {
        self.direct
    }

    pub(super) fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// The time of one read; `None` if part of it was cached, so that it says nothing of the
    /// device.
    pub(super) fn timed(&mut self, place: Place, buffer: &mut [u8]) -> Result<Option<u64>, Error> {
        let clock = Instant::now();
        if !self.direct && self.is_cached(place, buffer.len())? {
            return Ok(None);
        }
        let asking = clock.elapsed();
        let read = self.read(place, buffer)?;
        let elapsed = clock.elapsed().saturating_sub(asking);
        Ok(read.then(|| u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)))
    }

    /// One read; `false` if it said nothing of the device.
    pub(super) fn read(&self, place: Place, buffer: &mut [u8]) -> Result<bool, Error> {
        let (path, file) = &self.files[place.file];
        if !self.direct && self.is_cached(place, buffer.len())? {
            return Ok(false);
        }
        file.read_exact_at(buffer, place.offset)
            .map_err(|error| Error::io(path, "cannot be read", error))?;
        if !self.direct {
            // As we found it: what was not cached before is not cached afterwards. If it stays, no
            // harm is done.
            let _ =
                fadvise(file, place.offset, NonZeroU64::new(buffer.len() as u64), Advice::DontNeed);
        }
        Ok(true)
    }

    /// Whether any of it is in the page cache; where the kernel does not say, it counts as not.
    fn is_cached(&self, place: Place, bytes: usize) -> Result<bool, Error> {
        let (_, file) = &self.files[place.file];
        Ok(count(file.as_fd(), place.offset, bytes as u64).is_ok_and(|pages| pages.cached > 0))
    }
}

/// The time of a read of a file that needs no opening.
pub(super) fn timed_read(file: &File, offset: u64, buffer: &mut [u8]) -> io::Result<u64> {
    let clock = Instant::now();
    file.read_exact_at(buffer, offset)?;
    Ok(u64::try_from(clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
}

/// A file that is nowhere but in memory.
pub(super) fn in_memory(bytes: u64) -> io::Result<File> {
    let mut file =
        File::from(rustix::fs::memfd_create("seekless", rustix::fs::MemfdFlags::CLOEXEC)?);
    let block = vec![0x5A; 1 << 20];
    for _ in 0..bytes >> 20 {
        file.write_all(&block)?;
    }
    Ok(file)
}
