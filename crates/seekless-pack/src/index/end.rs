//! The end of an archive: from its last bytes to where the directory lies and how much of it is to
//! be believed.

use crate::error::{Error, ErrorKind, Result};
use crate::format::{
    CENTRAL, CENTRAL_BYTES, END, END_BYTES, END64, END64_BYTES, LOCAL, LOCATOR64, LOCATOR64_BYTES,
    SEE_ZIP64_16, SEE_ZIP64_32, u16_at, u32_at, u64_at,
};
use crate::read_at::ReadAt;
use seekless_sys::file_kind::FileKind;
use seekless_sys::memory::prefer_huge_pages;

/// The longest comment with the three end records before it, rounded up to pages.
const TAIL_BYTES: u64 = 68 * 1024;

/// The last bytes of the file.
pub(super) struct Tail {
    bytes: Vec<u8>,
    /// Where `bytes` starts in the file.
    offset: u64,
    /// Whether the file starts like a Zip: only to say "truncated" rather than "not a Zip".
    starts_like_zip: bool,
}

impl Tail {
    pub(super) fn read<R: ReadAt + ?Sized>(source: &R, file_bytes: u64) -> Result<Self> {
        let length = file_bytes.min(TAIL_BYTES);
        let offset = file_bytes - length;
        let bytes = read(source, offset, length, "the end of the archive")?;
        Ok(Self { starts_like_zip: offset == 0 && starts_with(&bytes, LOCAL), bytes, offset })
    }

    /// Fills `room` with the directory's bytes from `offset` on, or the first part of it, and
    /// returns how long that is: out of the tail where it reaches, else with a read of what lies
    /// before.
    pub(super) fn fill<R: ReadAt + ?Sized>(
        &self,
        source: &R,
        offset: u64,
        room: &mut [u8],
    ) -> Result<usize> {
        let length = room.len() as u64;
        if let Some(found) = self.within(offset, length) {
            room.copy_from_slice(found);
            return Ok(room.len());
        }
        let length = self.offset.saturating_sub(offset).min(length) as usize;
        read_into(source, offset, &mut room[..length], "the directory")?;
        Ok(length)
    }

    fn within(&self, offset: u64, length: u64) -> Option<&[u8]> {
        let start = usize::try_from(offset.checked_sub(self.offset)?).ok()?;
        let length = usize::try_from(length).ok()?;
        self.bytes.get(start..)?.get(..length)
    }

    /// Where in `bytes` the end record starts, and where its comment ends: with the file. If the
    /// archive may be odd, bytes may follow; then there must be no other end before them.
    fn find_end(&self, may_be_odd: bool) -> Result<(usize, usize)> {
        let starts = (0..(self.bytes.len() + 1).saturating_sub(END_BYTES)).rev();
        let ends: Vec<(usize, usize)> = starts
            .filter(|&at| starts_with(&self.bytes[at..], END))
            .map(|at| (at, at + END_BYTES + usize::from(u16_at(&self.bytes, at + 20))))
            .collect();
        let mut fitting = ends.iter().filter(|&&(_, end)| end == self.bytes.len());
        match (fitting.next(), fitting.next(), &ends[..]) {
            (Some(_), Some(_), _) => {}
            (Some(&found), None, _) => return Ok(found),
            (None, _, &[found]) if may_be_odd && found.1 < self.bytes.len() => return Ok(found),
            (None, _, [_, _, ..]) if may_be_odd => {}
            (None, ..) => return Err(self.no_end()),
        }
        let why = "the archive has two ends, so that tools would read it differently; repack it";
        Err(Error::new(ErrorKind::NotAZip, why))
    }

    fn no_end(&self) -> Error {
        let has_end = self.bytes.windows(4).any(|window| starts_with(window, END));
        if has_end {
            let why = "the archive's end record does not end with the file: bytes were cut off or appended; copy it again";
            return Error::new(ErrorKind::Truncated, why);
        }
        if self.starts_like_zip || self.offset > 0 {
            let why = "no Zip directory at the end of the file: it is truncated, or not a Zip archive; copy it again";
            return Error::new(
                if self.starts_like_zip { ErrorKind::Truncated } else { ErrorKind::NotAZip },
                why,
            );
        }
        Error::new(ErrorKind::NotAZip, "this is not a Zip archive: it has no Zip directory")
    }
}

/// Says what a file is that has no end of an archive, if its first bytes show it.
fn named<R: ReadAt + ?Sized>(error: Error, tail: &Tail, source: &R) -> Error {
    const HEAD_BYTES: u64 = 512;
    let bytes = (tail.offset + tail.bytes.len() as u64).min(HEAD_BYTES);
    let Ok(head) = read(source, 0, bytes, "the beginning of the archive") else { return error };
    match FileKind::of_head(&head) {
        None | Some(FileKind::Zip) => error,
        Some(kind @ FileKind::Parquet) => {
            let why = format!(
                "this is {}, not a Zip archive: `seekless pack DIR -o data.zip --trace FILE` makes one",
                kind.words()
            );
            Error::new(ErrorKind::NotAZip, why)
        }
        Some(kind) => {
            let why = format!(
                "this is {}, not a Zip archive: `seekless pack DIR -o data.zip` makes one",
                kind.words()
            );
            Error::new(ErrorKind::NotAZip, why)
        }
    }
}

/// The directory's place and size, checked against the file.
#[derive(Debug)]
pub(super) struct End {
    pub(super) entries: u64,
    pub(super) directory_offset: u64,
    pub(super) directory_bytes: u64,
    /// Bytes put before the archive after it was written (a self-extractor): added to every offset
    /// in it.
    pub(super) prefix_bytes: u64,
    /// The comment of the whole archive.
    pub(super) comment: Box<[u8]>,
    /// Bytes behind it.
    pub(super) appended_bytes: u64,
}

impl End {
    pub(super) fn find<R: ReadAt + ?Sized>(
        tail: &Tail,
        source: &R,
        may_be_odd: bool,
    ) -> Result<Self> {
        let (at, comment_end) =
            tail.find_end(may_be_odd).map_err(|error| named(error, tail, source))?;
        let record = &tail.bytes[at..at + END_BYTES];
        let stated = Stated::from_end(record);
        let locator = tail.bytes[..at]
            .last_chunk::<LOCATOR64_BYTES>()
            .filter(|bytes| starts_with(&bytes[..], LOCATOR64));
        let (stated, limit) = match locator {
            Some(locator) => {
                let offset = tail.offset + (at - LOCATOR64_BYTES) as u64;
                let wide = zip64(tail, source, locator, offset);
                if stated.refers_to_zip64() {
                    wide?
                } else if wide.is_ok_and(|(wide, _)| wide.entries != stated.entries) {
                    let why = "the archive's end and its Zip64 end tell of different numbers of entries, so that tools would read it differently; repack it";
                    return Err(Error::new(ErrorKind::Sizes, why));
                } else {
                    (stated, tail.offset + at as u64)
                }
            }
            _ => (stated, tail.offset + at as u64),
        };
        stated.check_disks()?;
        let appended_bytes = (tail.bytes.len() - comment_end) as u64;
        let comment = tail.bytes[at + END_BYTES..comment_end].into();
        Ok(Self { comment, appended_bytes, ..stated.locate(limit, source)? })
    }
}

/// What the end record, or the Zip64 one, states.
struct Stated {
    disk: u32,
    directory_disk: u32,
    entries_here: u64,
    entries: u64,
    directory_bytes: u64,
    directory_offset: u64,
}

impl Stated {
    fn from_end(record: &[u8]) -> Self {
        Self {
            disk: u32::from(u16_at(record, 4)),
            directory_disk: u32::from(u16_at(record, 6)),
            entries_here: u64::from(u16_at(record, 8)),
            entries: u64::from(u16_at(record, 10)),
            directory_bytes: u64::from(u32_at(record, 12)),
            directory_offset: u64::from(u32_at(record, 16)),
        }
    }

    fn from_end64(record: &[u8]) -> Self {
        Self {
            disk: u32_at(record, 16),
            directory_disk: u32_at(record, 20),
            entries_here: u64_at(record, 24),
            entries: u64_at(record, 32),
            directory_bytes: u64_at(record, 40),
            directory_offset: u64_at(record, 48),
        }
    }

    fn refers_to_zip64(&self) -> bool {
        let count = u64::from(SEE_ZIP64_16);
        let size = u64::from(SEE_ZIP64_32);
        self.entries == count
            || self.entries_here == count
            || self.directory_bytes == size
            || self.directory_offset == size
            || self.disk == u32::from(SEE_ZIP64_16)
            || self.directory_disk == u32::from(SEE_ZIP64_16)
    }

    fn check_disks(&self) -> Result<()> {
        if self.disk == 0 && self.directory_disk == 0 && self.entries == self.entries_here {
            return Ok(());
        }
        Err(multi_disk())
    }

    /// `limit` is where the end records begin: the directory lies directly before it.
    fn locate<R: ReadAt + ?Sized>(&self, limit: u64, source: &R) -> Result<End> {
        let (bytes, entries) = (self.directory_bytes, self.entries);
        if self.directory_offset.checked_add(bytes).is_none_or(|end| end > limit) {
            let why = format!(
                "the directory should lie at offset {} with {bytes} bytes, but the records after it start at {limit}: bytes are missing from the archive; copy it again",
                self.directory_offset
            );
            return Err(Error::new(ErrorKind::Truncated, why));
        }
        if entries > bytes / CENTRAL_BYTES as u64 {
            let why = format!(
                "{entries} entries cannot stand in a directory of {bytes} bytes; the archive is damaged or hostile"
            );
            return Err(Error::new(ErrorKind::Sizes, why));
        }
        if bytes >= u64::from(u32::MAX) / 3 {
            return Err(Error::new(
                ErrorKind::Limit,
                format!("a directory of {bytes} bytes is more than is read here (1.4 GB)"),
            ));
        }
        let flush = limit - bytes;
        // Where something was put before the archive, the directory lies later than it says; a gap
        // after it does not move it.
        let moved = entries > 0 && flush != self.directory_offset && is_central(source, flush)?;
        let directory_offset = if moved { flush } else { self.directory_offset };
        Ok(End {
            entries,
            directory_offset,
            directory_bytes: bytes,
            prefix_bytes: directory_offset - self.directory_offset,
            comment: Box::default(),
            appended_bytes: 0,
        })
    }
}

/// The Zip64 end record and where it starts. It stands directly before the locator, unless it was
/// extended.
fn zip64<R: ReadAt + ?Sized>(
    tail: &Tail,
    source: &R,
    locator: &[u8],
    locator_offset: u64,
) -> Result<(Stated, u64)> {
    if u32_at(locator, 4) != 0 || u32_at(locator, 16) > 1 {
        return Err(multi_disk());
    }
    let directly_before = locator_offset.checked_sub(END64_BYTES as u64);
    for offset in [Some(u64_at(locator, 8)), directly_before].into_iter().flatten() {
        if offset.checked_add(END64_BYTES as u64).is_none_or(|end| end > locator_offset) {
            continue;
        }
        let record = match tail.within(offset, END64_BYTES as u64) {
            Some(bytes) => bytes.to_vec(),
            None => read(source, offset, END64_BYTES as u64, "the Zip64 end record")?,
        };
        if starts_with(&record, END64) {
            return Ok((Stated::from_end64(&record), offset));
        }
    }
    Err(Error::new(
        ErrorKind::Truncated,
        "the archive's Zip64 end record is not where its locator says; copy it again",
    ))
}

fn multi_disk() -> Error {
    let why = "this is one volume of an archive that spans several; join them first (`zip -s 0 split.zip --out joined.zip`)";
    Error::new(ErrorKind::MultiDisk, why)
}

fn is_central<R: ReadAt + ?Sized>(source: &R, offset: u64) -> Result<bool> {
    let bytes = read(source, offset, 4, "the directory's start")?;
    Ok(starts_with(&bytes, CENTRAL))
}

pub(super) fn starts_with(bytes: &[u8], signature: u32) -> bool {
    bytes.starts_with(&signature.to_le_bytes())
}

fn read<R: ReadAt + ?Sized>(source: &R, offset: u64, length: u64, what: &str) -> Result<Vec<u8>> {
    let mut bytes = room(length, what)?;
    read_into(source, offset, &mut bytes, what)?;
    Ok(bytes)
}

/// Memory for `length` bytes, which is never more than lies in the file.
pub(super) fn room(length: u64, what: &str) -> Result<Vec<u8>> {
    let length = usize::try_from(length)
        .map_err(|_| Error::new(ErrorKind::Limit, format!("{what} is too large")))?;
    let no_memory =
        |_| Error::new(ErrorKind::Limit, format!("there is no memory for {what} ({length} bytes)"));
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(no_memory)?;
    prefer_huge_pages(&mut bytes);
    bytes.resize(length, 0);
    Ok(bytes)
}

fn read_into<R: ReadAt + ?Sized>(
    source: &R,
    offset: u64,
    bytes: &mut [u8],
    what: &str,
) -> Result<()> {
    let length = bytes.len();
    let said =
        |error| Error::io(format!("cannot read {what} ({length} bytes at offset {offset})"), error);
    source.read_exact_at(bytes, offset).map_err(said)
}
