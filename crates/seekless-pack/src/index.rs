//! The directory of an archive: opened with two reads, checked whole, then asked by name.

mod end;
mod header;

use crate::entry::Entry;
use crate::error::{Error, ErrorKind, Result};
use crate::format::{
    CENTRAL_BYTES, DESCRIPTOR_BYTES, FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_STRONG, FLAG_UTF8,
    LOCAL_BYTES,
};
use crate::read_at::ReadAt;
use end::{End, Tail};
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// What an entry may hold besides what is certain: the rest of its name, an extra field, a data
/// descriptor.
const SLACK_BYTES: u64 = 2 * u16::MAX as u64 + DESCRIPTOR_BYTES;

/// The entries of an archive in archive order, and a table from name to number.
///
/// Everything in it has been checked against the file's size and against each other: extents do not
/// overlap and lie before the directory, names are unique and lead nowhere outside, and no content
/// claims more bytes than its data can hold. What only the local header and the data can show is
/// checked by [`decode`](crate::decode).
#[derive(Debug, Clone, Default)]
pub struct Index {
    entries: Vec<Entry>,
    names: String,
    table: HashTable<u32>,
    hasher: RandomState,
    data_bytes: u64,
}

impl Index {
    /// Reads the directory of the archive `source`, which is `file_bytes` long: one read of its
    /// last 66 KiB, and one of what is missing.
    ///
    /// # Errors
    /// [`ErrorKind::NotAZip`], [`ErrorKind::Truncated`], [`ErrorKind::MultiDisk`],
    /// [`ErrorKind::Sizes`], [`ErrorKind::Name`], [`ErrorKind::Duplicate`], [`ErrorKind::Overlap`]
    /// or [`ErrorKind::Io`]; never a panic, nor an allocation that the file's own size does not
    /// justify.
    pub fn open<R: ReadAt + ?Sized>(source: &R, file_bytes: u64) -> Result<Self> {
        let tail = Tail::read(source, file_bytes)?;
        let end = End::find(&tail, source)?;
        let directory = tail.directory(&end, source)?;
        Self::parse(&directory, &end)
    }

    /// The entries in archive order: by the place of their data, not in the directory's own order.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The name of entry `number`.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        self.name_of(&self.entries[number as usize])
    }

    /// The number of the entry called `name`: its position in [`entries`](Self::entries).
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(name.as_bytes());
        self.table.find(hash, |&number| self.name(number) == name).copied()
    }

    /// Whether the extent of entry `number` can stand in another archive as it is
    /// ([`PackWriter::add_copied`](crate::PackWriter::add_copied)): its local header says all by
    /// itself, as each does that [`PackWriter`](crate::PackWriter) wrote.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn can_be_copied(&self, number: u32) -> bool {
        let flags = self.entries[number as usize].flags;
        flags & (FLAG_DESCRIPTOR | FLAG_ENCRYPTED | FLAG_STRONG) == 0
            && (flags & FLAG_UTF8 != 0 || self.name(number).is_ascii())
    }

    /// Where the directory starts: the bytes before it are entries.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    fn name_of(&self, entry: &Entry) -> &str {
        &self.names[entry.name_start as usize..][..entry.name_bytes as usize]
    }

    fn parse(directory: &[u8], end: &End) -> Result<Self> {
        // `End` has checked that so many headers fit into the directory.
        let count = usize::try_from(end.entries).map_err(no_memory)?;
        let (mut entries, mut names, mut table) = (Vec::new(), String::new(), HashTable::new());
        entries.try_reserve_exact(count).map_err(no_memory)?;
        names
            .try_reserve_exact(directory.len().saturating_sub(count * CENTRAL_BYTES))
            .map_err(no_memory)?;
        // The hasher is not asked while the table is empty.
        table.try_reserve(count, |_: &u32| 0).map_err(no_memory)?;
        let mut rest = directory;
        for number in 0..end.entries {
            let (entry, after) = header::parse(rest, number, end, &mut names)?;
            entries.push(entry);
            rest = after;
        }
        header::check_end(rest, end)?;
        if !entries.is_sorted_by_key(|entry| entry.header_offset) {
            entries.sort_by_key(|entry| entry.header_offset);
        }
        let mut index = Self {
            entries,
            names,
            table,
            hasher: RandomState::default(),
            data_bytes: end.directory_offset,
        };
        index.set_extents()?;
        index.fill_table()?;
        Ok(index)
    }

    /// Each entry reaches to the next header, but no further than its own records could: gaps are
    /// not read.
    fn set_extents(&mut self) -> Result<()> {
        let mut next = self.data_bytes;
        for number in (0..self.entries.len()).rev() {
            let entry = self.entries[number];
            let least = least_extent(&entry);
            let room = next.saturating_sub(entry.header_offset);
            if least > room {
                return Err(self.overlap(number, least, next));
            }
            self.entries[number].extent_bytes = room.min(least.saturating_add(SLACK_BYTES));
            next = entry.header_offset;
        }
        Ok(())
    }

    fn overlap(&self, number: usize, least: u64, next: u64) -> Error {
        let entry = &self.entries[number];
        let what = match self.entries.get(number + 1) {
            Some(other) => format!("{:?}", self.name_of(other)),
            None => "the directory".to_owned(),
        };
        let name = self.name_of(entry);
        Error::new(
            ErrorKind::Overlap,
            format!(
                "entry {name:?} at offset {} needs {least} bytes and so overlaps {what} at offset {next}; the archive is damaged or hostile",
                entry.header_offset
            ),
        )
    }

    fn fill_table(&mut self) -> Result<()> {
        let Self { entries, names, table, hasher, .. } = self;
        let name = |number: u32| {
            let entry = &entries[number as usize];
            &names[entry.name_start as usize..][..entry.name_bytes as usize]
        };
        for number in 0..entries.len() as u32 {
            let this = name(number);
            let hash = hasher.hash_one(this.as_bytes());
            if table.find(hash, |&other| name(other) == this).is_some() {
                return Err(Error::new(
                    ErrorKind::Duplicate,
                    format!(
                        "the name {this:?} stands in the archive twice, so that it is unclear which is meant; repack it"
                    ),
                ));
            }
            table.insert_unique(hash, number, |&other| hasher.hash_one(name(other).as_bytes()));
        }
        Ok(())
    }
}

fn no_memory<E>(_: E) -> Error {
    Error::new(ErrorKind::Limit, "the archive's directory needs more memory than there is")
}

/// Local header and data, without the local extra field, which only the header itself tells. The
/// stored name may have been shorter than the text (code page 437 grows to UTF-8 threefold at
/// most), hence the least that is certain.
fn least_extent(entry: &Entry) -> u64 {
    entry.coded_bytes.saturating_add(LOCAL_BYTES as u64 + u64::from(entry.name_bytes).div_ceil(3))
}
