//! A [`Picker`] for an open file. It looks up the file's SLEDs itself, and again while the program
//! reads (Van Meter and Gao 2000, section 4.2: "refreshing the state of those SLEDs occasionally").
//! If the program likes, it reads, too. The C calls `sleds_pick_*` use it.

use crate::cached;
use crate::keeper::{changed, found};
use crate::{Error, FindDelimiter, Keeper, Picker, Priced, Records};
use rustix::fs::Stat;
use seekless_sled::Surveyor;
use seekless_sys::reads::{Caching, fill};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the state of the file is believed after a look.
const BELIEVED: Duration = Duration::from_millis(500);
/// Bytes read at a time to find a delimiter.
const SEARCH_BYTES: u64 = 64 << 10;

/// Advises where to read next in an open file. Each call takes the file, which must always be the
/// same one.
///
/// ```
/// use seekless_read::{FilePicker, Records};
/// use seekless_sled::Surveyor;
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("data");
/// # std::fs::write(&path, "one\ntwo\n")?;
/// let file = std::fs::File::open(&path)?;
/// let mut surveyor = Surveyor::new()?;
/// let lines = Records::Delimiter(b'\n');
/// let mut pick = FilePicker::new(&file, &mut surveyor, 0..u64::MAX, 1 << 20, lines)?;
/// let mut lines = 0;
/// while let Some(range) = pick.next_read(&file, &mut surveyor)? {
///     let mut chunk = vec![0; (range.end - range.start) as usize];
///     pick.read(&file, &mut chunk, range.start)?;
///     lines += chunk.iter().filter(|&&byte| byte == b'\n').count();
/// }
/// assert_eq!(lines, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FilePicker {
    picker: Picker,
    records: Records,
    /// The part of the file that is handed out.
    part: Range<u64>,
    device: u64,
    inode: u64,
    looked_at: Instant,
    keeper: Arc<Keeper>,
}

impl FilePicker {
    /// Looks at the file and plans `part` of it, up to the end of the file, in chunks of at most
    /// `chunk_bytes`. A longer record is one chunk. Bytes that are appended later are not handed
    /// out.
    ///
    /// # Errors
    /// It is not a regular file, or a record boundary could not be searched for.
    pub fn new(
        file: &File,
        surveyor: &mut Surveyor,
        part: Range<u64>,
        chunk_bytes: u64,
        records: Records,
    ) -> Result<Self, Error> {
        let stat = stat(file)?;
        let ranges = priced(file, surveyor, &part)?;
        let end = ranges.last().map_or(0, |last| last.range.end);
        let keeper = Arc::new(Keeper::new(file)?);
        let picker =
            Picker::new(ranges, chunk_bytes, records, &mut Search::new(file, records, &keeper))?;
        let (device, inode, part) = (stat.st_dev, stat.st_ino, part.start.min(end)..end);
        Ok(FilePicker { picker, records, part, device, inode, looked_at: Instant::now(), keeper })
    }

    /// The next range to read, cheapest first; `None` when every byte was handed out. Looks at the
    /// file again when the last look is half a second old.
    ///
    /// # Errors
    /// The file is another one, or became shorter, or a record boundary could not be searched for.
    pub fn next_read(
        &mut self,
        file: &File,
        surveyor: &mut Surveyor,
    ) -> Result<Option<Range<u64>>, Error> {
        self.check(file)?;
        if self.looked_at.elapsed() >= BELIEVED {
            self.refresh(file, surveyor)?;
        }
        let next = self.picker.next_read(&mut Search::new(file, self.records, &self.keeper))?;
        if let Some(next) = &next {
            self.keeper.let_go(next.clone());
        }
        Ok(next)
    }

    /// Reads into the buffer from `offset` on. Cached bytes stay cached, and others come into the
    /// cache only while there is room. Returns the number of bytes, fewer than asked for only at
    /// the end of the file.
    ///
    /// # Errors
    /// As [`Keeper::read`].
    pub fn read(&self, file: &File, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        self.keeper.read(file, buffer, offset)
    }

    /// The keeper through which [`read`](Self::read) reads, for threads that read at the same time,
    /// and to finish with.
    #[must_use]
    pub fn keeper(&self) -> &Arc<Keeper> {
        &self.keeper
    }

    /// Holds up to `bytes_max` cached bytes in memory that were not yet handed out, until they are;
    /// see [`Keeper::hold`].
    pub fn hold(&self, file: &File, bytes_max: u64) -> u64 {
        self.keeper.hold(file, self.picker.unseen(), bytes_max)
    }

    /// Looks at the file at once, and sorts what has not been handed out by what it costs now.
    ///
    /// # Errors
    /// As [`next_read`](Self::next_read).
    pub fn refresh(&mut self, file: &File, surveyor: &mut Surveyor) -> Result<(), Error> {
        self.check(file)?;
        let ranges = priced(file, surveyor, &self.part)?;
        if ranges.last().map_or(self.part.start, |last| last.range.end) < self.part.end {
            return Err(shorter(file));
        }
        self.looked_at = Instant::now();
        self.picker.refresh(&ranges, &mut Search::new(file, self.records, &self.keeper))
    }

    /// Hands out chunks of at most this many bytes from now on.
    pub fn set_chunk_bytes(&mut self, bytes: u64) {
        self.picker.set_chunk_bytes(bytes);
    }

    /// Bytes not yet handed out.
    #[must_use]
    pub fn unseen_bytes(&self) -> u64 {
        self.picker.unseen_bytes()
    }

    fn check(&self, file: &File) -> Result<(), Error> {
        let stat = stat(file)?;
        if (stat.st_dev, stat.st_ino) != (self.device, self.inode) {
            return Err(changed(file, "is another file now: begin again"));
        }
        if u64::try_from(stat.st_size).unwrap_or(0) < self.part.end {
            Err(shorter(file))
        } else {
            Ok(())
        }
    }
}

/// The part's ranges, priced by latency, as in the paper's library.
fn priced(file: &File, surveyor: &mut Surveyor, part: &Range<u64>) -> Result<Vec<Priced>, Error> {
    let sleds = surveyor.file(file)?.sleds;
    let clipped = sleds.iter().map(|sled| Priced {
        range: sled.offset.max(part.start)..sled.end().min(part.end),
        cost: u64::try_from(sled.latency.as_nanos()).unwrap_or(u64::MAX),
    });
    Ok(clipped.filter(|priced| !priced.range.is_empty()).collect())
}

fn stat(file: &File) -> Result<Stat, Error> {
    rustix::fs::fstat(file).map_err(|error| found(file)(error.into()))
}

fn shorter(file: &File) -> Error {
    changed(file, "became shorter while it was read: begin again")
}

/// Finds delimiters by reading, without moving the file's position. Cached bytes are copied without
/// setting off readahead. Others are read in the way that the program reads.
struct Search<'a> {
    file: &'a File,
    records: Records,
    keeper: &'a Keeper,
}

impl<'a> Search<'a> {
    /// Finds what ends the file's records. For records without a delimiter the picker does not ask.
    fn new(file: &'a File, records: Records, keeper: &'a Keeper) -> Self {
        Search { file, records, keeper }
    }

    /// Reads the piece, which is short only at the end of the file.
    fn piece(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        let mut piece = vec![0; usize::try_from(range.end - range.start).unwrap_or(0)];
        let read = if self.keeper.is_used() {
            self.keeper.search(self.file, &mut piece, range.start)?
        } else {
            self.plain(&mut piece, range.start).map_err(found(self.file))?
        };
        piece.truncate(read);
        Ok(piece)
    }

    fn plain(&self, piece: &mut [u8], offset: u64) -> io::Result<usize> {
        if cached::is_cached(self.file, offset, piece.len() as u64)
            && cached::copy(self.file, piece, offset)
        {
            return Ok(piece.len());
        }
        fill(self.file, piece, offset, Caching::Usual)
    }
}

impl FindDelimiter for Search<'_> {
    type Error = Error;

    fn first(&mut self, range: Range<u64>) -> Result<Option<u64>, Error> {
        let mut start = range.start;
        while start < range.end {
            let end = range.end.min(start + SEARCH_BYTES);
            if let Some(cut) = self.records.first_cut(&self.piece(start..end)?, start) {
                return Ok(Some(start + cut as u64));
            }
            start = end;
        }
        Ok(None)
    }

    fn last(&mut self, range: Range<u64>) -> Result<Option<u64>, Error> {
        let mut end = range.end;
        while end > range.start {
            let start = range.start.max(end.saturating_sub(SEARCH_BYTES));
            if let Some(cut) = self.records.last_cut(&self.piece(start..end)?, start) {
                return Ok(Some(start + cut as u64));
            }
            end = start;
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
