//! What is kept of each entry: 32 bytes, since an archive may have millions.

use crate::civil;
use crate::entry::{Entry, Method};
use crate::format::{FILE_TYPE, FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_UTF8, LINK};
use crate::ntfs::STEP_NS;
use seekless_sys::memory::prefer_huge_pages;
use std::collections::TryReserveError;
use std::ops::Range;

/// The bit of [`Row::marks`] of an entry whose name ends in `/`.
const DIRECTORY: u8 = 1;
/// Of one whose `time` is in seconds since 1970; else it is a DOS date and time.
const EXACT_TIME: u8 = 2;
/// Of one whose sizes are in [`Rows::wide`], at `coded_bytes`.
const WIDE: u8 = 4;
/// Of one that has chunks.
const CHUNKED: u8 = 8;
/// Beside [`EXACT_TIME`]: `time` is in seconds after [`LATE_S`]. Alone: it is a place in
/// [`Rows::far`].
const LATE: u8 = 16;
/// Of entries with these flags, the only ones that are asked for. (An entry that is encrypted
/// strongly is also encrypted.)
const ENCRYPTED: u8 = 32;
const DESCRIPTOR: u8 = 64;
const UTF8: u8 = 128;
const FLAGS: [(u8, u16); 3] =
    [(ENCRYPTED, FLAG_ENCRYPTED), (DESCRIPTOR, FLAG_DESCRIPTOR), (UTF8, FLAG_UTF8)];

/// The first second that 32 bits do not hold with a sign.
const LATE_S: i64 = 1 << 31;

/// All entries.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows {
    rows: Vec<Row>,
    /// Sizes of content and data of entries of 4 GiB and more.
    wide: Vec<(u64, u64)>,
    /// Seconds since 1970 of entries whose time is before 1901 or after 2174.
    far: Vec<i64>,
    /// The tables of chunks, one behind the other.
    tables: Vec<u8>,
    /// Where each table lies there, by the offset of its entry's header.
    chunked: Vec<(u64, Range<usize>)>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    header_offset: u64,
    bytes: u32,
    coded_bytes: u32,
    crc: u32,
    time: u32,
    mode: u16,
    method: u16,
    marks: u8,
    /// Steps of 100 ns after the second, little-endian.
    steps: [u8; 3],
}

const _: () = assert!(size_of::<Row>() == 32);

/// When an entry was modified, as the directory has it.
#[derive(Clone, Copy)]
pub(super) enum Time {
    /// Seconds since 1970 UTC, and nanoseconds.
    Exact { seconds: i64, ns: u32 },
    /// The two fields of DOS, which may be no date.
    Dos { time: u16, date: u16 },
}

/// What one header says, as it is kept.
pub(super) struct Header {
    pub(super) header_offset: u64,
    pub(super) bytes: u64,
    pub(super) coded_bytes: u64,
    pub(super) crc: u32,
    pub(super) time: Time,
    /// 0 if the writer recorded none.
    pub(super) mode: u16,
    pub(super) method: Method,
    pub(super) flags: u16,
    pub(super) directory: bool,
}

impl Rows {
    pub(super) fn with_room(count: usize) -> Result<Self, TryReserveError> {
        let mut rows = Self::default();
        rows.rows.try_reserve_exact(count)?;
        prefer_huge_pages(&mut rows.rows);
        Ok(rows)
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Adds an entry, and the table of its chunks, which is empty if it has none.
    pub(super) fn push(&mut self, header: &Header, table: &[u8]) -> Result<(), TryReserveError> {
        let narrow = |bytes: u64| u32::try_from(bytes).ok();
        let sizes = narrow(header.bytes).zip(narrow(header.coded_bytes));
        let (exact, time, ns) = match header.time {
            Time::Exact { seconds, ns } => {
                let (marks, time) = self.exact_time(seconds)?;
                (marks, time, ns)
            }
            Time::Dos { time, date } => (0, u32::from(date) << 16 | u32::from(time), 0),
        };
        let [steps @ .., _] = (ns / STEP_NS).to_le_bytes();
        let flags = FLAGS.iter().filter(|(_, flag)| header.flags & flag != 0);
        let flags = flags.fold(0, |marks, (mark, _)| marks | mark);
        let chunked = if table.is_empty() { 0 } else { CHUNKED };
        if !table.is_empty() {
            self.tables.try_reserve(table.len())?;
            self.tables.extend_from_slice(table);
            let place = self.tables.len() - table.len()..self.tables.len();
            self.chunked.push((header.header_offset, place));
        }
        let directory = if header.directory { DIRECTORY } else { 0 };
        let wide = if sizes.is_none() { WIDE } else { 0 };
        let (bytes, coded_bytes) = sizes.unwrap_or((0, self.wide.len() as u32));
        if sizes.is_none() {
            self.wide.push((header.bytes, header.coded_bytes));
        }
        self.rows.push(Row {
            header_offset: header.header_offset,
            bytes,
            coded_bytes,
            crc: header.crc,
            time,
            mode: header.mode,
            method: header.method.number(),
            marks: directory | exact | wide | chunked | flags,
            steps,
        });
        Ok(())
    }

    /// Where the last entry begins, and the size of its data in bytes.
    pub(super) fn last(&self) -> (u64, u64) {
        let Some(last) = self.rows.len().checked_sub(1) else { return (0, 0) };
        (self.offset(last), self.sizes(last).1)
    }

    /// Whether an entry is a symbolic link.
    pub(super) fn is_link(&self, number: usize) -> bool {
        let Row { mode, marks, .. } = self.rows[number];
        marks & DIRECTORY == 0 && u32::from(mode) & FILE_TYPE == LINK
    }

    /// Whether the name of an entry ends in `/`.
    pub(super) fn is_folder(&self, number: usize) -> bool {
        self.rows[number].marks & DIRECTORY != 0
    }

    pub(super) fn offset(&self, number: usize) -> u64 {
        self.rows[number].header_offset
    }

    /// Sizes of content and data in bytes.
    #[inline]
    pub(super) fn sizes(&self, number: usize) -> (u64, u64) {
        let row = &self.rows[number];
        match row.marks & WIDE {
            0 => (u64::from(row.bytes), u64::from(row.coded_bytes)),
            _ => self.wide[row.coded_bytes as usize],
        }
    }

    /// The table of an entry's chunks; empty if it has none. To be called once the entries are in
    /// archive order.
    pub(super) fn table(&self, number: usize) -> &[u8] {
        let row = &self.rows[number];
        if row.marks & CHUNKED == 0 {
            return &[];
        }
        let found = self.chunked.binary_search_by_key(&row.header_offset, |(offset, _)| *offset);
        found.map_or(&[], |place| &self.tables[self.chunked[place].1.clone()])
    }

    /// The entry, but for its extent.
    pub(super) fn entry(&self, number: usize) -> Entry {
        let (row, (bytes, coded_bytes)) = (&self.rows[number], self.sizes(number));
        let modified = match row.marks & (EXACT_TIME | LATE) {
            0 => civil::from_dos(row.time as u16, (row.time >> 16) as u16),
            EXACT_TIME => Some(i64::from(row.time.cast_signed())),
            LATE => Some(self.far[row.time as usize]),
            _ => Some(i64::from(row.time) + LATE_S),
        };
        let [low, middle, high] = row.steps;
        let flags = FLAGS.iter().filter(|(mark, _)| row.marks & mark != 0);
        Entry {
            header_offset: row.header_offset,
            extent_bytes: 0,
            coded_bytes,
            bytes,
            crc: row.crc,
            method: Method::from_number(row.method),
            mode: (row.mode != 0).then(|| u32::from(row.mode)),
            modified,
            modified_ns: u32::from_le_bytes([low, middle, high, 0]) * STEP_NS,
            flags: flags.fold(0, |flags, (_, flag)| flags | flag),
            directory: row.marks & DIRECTORY != 0,
            renamed: false,
            dos_time: row.marks & (EXACT_TIME | LATE) == 0,
        }
    }

    /// The marks and the time of a row for this second.
    fn exact_time(&mut self, seconds: i64) -> Result<(u8, u32), TryReserveError> {
        if let Ok(seconds) = i32::try_from(seconds) {
            return Ok((EXACT_TIME, seconds.cast_unsigned()));
        }
        if let Ok(late) = u32::try_from(seconds - LATE_S) {
            return Ok((EXACT_TIME | LATE, late));
        }
        self.far.try_reserve(1)?;
        self.far.push(seconds);
        Ok((LATE, self.far.len() as u32 - 1))
    }

    /// The numbers in the order of their places, if that is another one.
    pub(super) fn archive_order(&mut self) -> Option<Vec<u32>> {
        self.chunked.sort_by_key(|(offset, _)| *offset);
        if self.rows.is_sorted_by_key(|row| row.header_offset) {
            return None;
        }
        let mut order: Vec<u32> = (0..self.rows.len() as u32).collect();
        order.sort_by_key(|&number| self.rows[number as usize].header_offset);
        Some(order)
    }

    /// Puts the first `moved` entries behind the `over` that follow them.
    pub(super) fn move_back(&mut self, moved: usize, over: usize) {
        self.chunked.sort_by_key(|(offset, _)| *offset);
        self.rows[..moved + over].rotate_left(moved);
    }

    pub(super) fn arrange(&mut self, order: &[u32]) {
        self.rows = order.iter().map(|&number| self.rows[number as usize]).collect();
    }
}
