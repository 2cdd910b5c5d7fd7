//! Whether a file is as it was packed, by what `stat` says of it. Size and time can show that it
//! has changed, or that it has not; where they show neither, the content decides.

use crate::entry::Entry;
use crate::ntfs;
use std::io::{self, Read};

/// A file system's clock moves in steps, and two writes within one leave the same time. Linux's
/// moves every 1 to 10 ms.
const CLOCK_NS: i128 = 20_000_000;
/// The step of file systems that keep whole seconds (FAT keeps even ones), and of times that an
/// archive keeps so.
const WHOLE_SECONDS_NS: i128 = 2_000_000_000;
const SECOND_NS: i128 = 1_000_000_000;
const PIECE_BYTES: usize = 256 << 10;

/// A time as `stat` gives it: seconds since 1970 UTC, and nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileTime {
    /// Seconds since 1970 UTC.
    pub seconds: i64,
    /// Nanoseconds after that.
    pub ns: u32,
}

impl FileTime {
    /// The time of these fields of `stat`.
    #[must_use]
    pub fn new(seconds: i64, ns: i64) -> Self {
        Self { seconds, ns: u32::try_from(ns).unwrap_or(0) }
    }

    /// Without what a Zip cannot hold: a multiple of 100 ns, from the year 1601 to 30828.
    #[must_use]
    pub fn in_steps(self) -> Self {
        let (seconds, ns) = ntfs::nearest(self.seconds, self.ns);
        Self { seconds, ns }
    }

    /// How long a file with this time may be written to again without having another time, in
    /// nanoseconds.
    #[must_use]
    pub fn step_ns(self) -> u64 {
        self.step() as u64
    }

    fn step(self) -> i128 {
        if self.in_steps().ns == 0 { WHOLE_SECONDS_NS } else { CLOCK_NS }
    }

    /// Nanoseconds since 1970.
    #[must_use]
    pub fn total_ns(self) -> i128 {
        i128::from(self.seconds) * SECOND_NS + i128::from(self.ns)
    }
}

/// What size and time say of a file and its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// The file is as it was packed.
    Same,
    /// They do not show whether it is: compare the content ([`Entry::holds`]).
    Unproven,
    /// It has changed.
    Changed,
}

impl Entry {
    /// When the file was modified, as far as the archive knows.
    #[must_use]
    pub fn file_time(&self) -> Option<FileTime> {
        Some(FileTime { seconds: self.modified_here()?, ns: self.modified_ns })
    }

    /// What size and time say of a file of `bytes` bytes that was last modified at `modified`.
    /// `archive` is when the archive itself was modified, if that is known.
    ///
    /// Nothing is proven where one of the two times has whole seconds only and the other has more,
    /// nor for a file modified when or just before the archive was made: it may have been written
    /// to again after it was packed, and have the same time ("racy git").
    #[must_use]
    pub fn likeness(&self, bytes: u64, modified: FileTime, archive: Option<FileTime>) -> Likeness {
        if self.is_dir() {
            return Likeness::Same;
        }
        let (Some(packed), modified) = (self.file_time(), modified.in_steps()) else {
            return Likeness::Changed;
        };
        if self.bytes != bytes || packed.seconds != modified.seconds {
            return Likeness::Changed;
        }
        let is_racy = |made: FileTime| modified.total_ns() + modified.step() > made.total_ns();
        match (packed.ns == modified.ns, packed.ns == 0 || modified.ns == 0) {
            (true, _) if archive.is_some_and(is_racy) => Likeness::Unproven,
            (true, _) => Likeness::Same,
            (false, true) => Likeness::Unproven,
            (false, false) => Likeness::Changed,
        }
    }

    /// Whether `content` has the size and the CRC-32 of this entry. Reads no more of it than one
    /// byte past that size.
    ///
    /// # Errors
    /// Reading fails.
    pub fn holds(&self, content: impl Read) -> io::Result<bool> {
        let mut content = content.take(self.bytes.saturating_add(1));
        let room = usize::try_from(self.bytes).unwrap_or(usize::MAX).saturating_add(1);
        let mut piece = vec![0; room.min(PIECE_BYTES)];
        let (mut bytes, mut crc) = (0_u64, crc32fast::Hasher::new());
        loop {
            match content.read(&mut piece) {
                Ok(0) => return Ok((bytes, crc.finalize()) == (self.bytes, self.crc)),
                Ok(read) => {
                    crc.update(&piece[..read]);
                    bytes += read as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{About, Codec, Index, PackWriter, prepare};

    fn entry(time: FileTime) -> Entry {
        let mut pack = PackWriter::new(Vec::new());
        let about = About::named("a").modified(time.seconds).modified_ns(time.ns);
        pack.add(prepare(about, b"four".to_vec(), Codec::Auto).unwrap()).unwrap();
        let archive = pack.finish().unwrap().0;
        Index::open(archive.as_slice(), archive.len() as u64).unwrap().entry(0)
    }

    fn at(seconds: i64, ns: u32) -> FileTime {
        FileTime { seconds, ns }
    }

    #[test]
    fn equal_whole_seconds_prove_nothing() {
        let later = Some(at(2000, 0));
        for (packed, found, likeness) in [
            (at(1000, 123_456_789), at(1000, 123_456_701), Likeness::Same),
            (at(1000, 123_456_789), at(1000, 123_456_600), Likeness::Changed),
            (at(1000, 123_456_789), at(1001, 123_456_789), Likeness::Changed),
            (at(1000, 0), at(1000, 5_000), Likeness::Unproven),
            (at(1000, 5_000), at(1000, 0), Likeness::Unproven),
            (at(1000, 0), at(1000, 99), Likeness::Same),
            (at(1000, 0), at(1001, 0), Likeness::Changed),
        ] {
            assert_eq!(entry(packed).likeness(4, found, later), likeness, "{packed:?} {found:?}");
            assert_eq!(entry(packed).likeness(5, found, later), Likeness::Changed);
        }
    }

    #[test]
    fn times_before_1980_and_after_2107_are_compared_as_they_are() {
        let days = |days: i64| days * 86_400 + 1;
        for seconds in [0, -1, days(-25_000), days(-130_000), days(66_000), days(1_000_000)] {
            for ns in [0, 123_456_700] {
                let time = at(seconds, ns);
                let packed = entry(time);
                assert_eq!(packed.file_time(), Some(time));
                assert_eq!(packed.likeness(4, time, None), Likeness::Same, "{time:?}");
                let other = at(seconds + 1, ns);
                assert_eq!(packed.likeness(4, other, None), Likeness::Changed, "{time:?}");
            }
        }
        // What not even 100 ns since 1601 can say is still as it was packed.
        for time in [at(i64::MIN, 0), at(i64::MAX, 999_999_999)] {
            assert_eq!(entry(time).likeness(4, time, None), Likeness::Same, "{time:?}");
        }
    }

    #[test]
    fn a_file_as_young_as_its_archive_proves_nothing() {
        for (time, archive, likeness) in [
            (at(1000, 500_000_000), at(1000, 500_000_000), Likeness::Unproven),
            (at(1000, 500_000_000), at(1000, 519_999_999), Likeness::Unproven),
            (at(1000, 500_000_000), at(1000, 520_000_000), Likeness::Same),
            (at(1000, 500_000_000), at(999, 0), Likeness::Unproven),
            (at(1000, 0), at(1001, 999_999_999), Likeness::Unproven),
            (at(1000, 0), at(1002, 0), Likeness::Same),
        ] {
            let found = entry(time).likeness(4, time, Some(archive));
            assert_eq!(found, likeness, "{time:?} {archive:?}");
            assert_eq!(entry(time).likeness(4, time, None), Likeness::Same);
        }
    }

    #[test]
    fn content_is_compared_by_size_and_crc() {
        let entry = entry(at(1, 0));
        assert!(entry.holds(&b"four"[..]).unwrap());
        for other in [&b"fouR"[..], b"fou", b"fourr", b""] {
            assert!(!entry.holds(other).unwrap(), "{other:?}");
        }
    }
}
