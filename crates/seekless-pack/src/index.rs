//! The directory of an archive: read in a few pieces, checked whole, then asked by name.

mod end;
mod feed;
mod header;
mod odd;
mod parse;
mod places;
mod row;
mod table;

use crate::chunks::Chunks;
use crate::entry::{Entry, Method};
use crate::error::{Error, ErrorKind, Result};
use crate::format::{DESCRIPTOR_BYTES, FLAG_DESCRIPTOR, FLAG_ENCRYPTED, FLAG_UTF8, LOCAL_BYTES};
use crate::read_at::ReadAt;
use end::{End, Tail};
use feed::Feed;
use odd::Odd;
pub use odd::{LeftOut, Reading};
use parse::{Parsed, parse};
use places::Order;
use row::Rows;
use std::ops::Range;
use table::{Table, Unfit};

/// What an entry may hold besides what is certain: the rest of its name, an extra field, a data
/// descriptor.
const SLACK_BYTES: u64 = 2 * u16::MAX as u64 + DESCRIPTOR_BYTES;

/// The entries of an archive in archive order, and a table from name to number.
///
/// Everything in it has been checked against the file's size and against each other: extents do not
/// overlap and lie before the directory, names are unique and lead nowhere outside, and no content
/// claims more bytes than its data can hold. What only the local header and the data can show is
/// checked by [`decode`](crate::decode).
///
/// It takes 42 to 48 bytes and the name for each entry, and 8 bytes for each chunk of a large
/// deflated one.
#[derive(Debug, Clone, Default)]
pub struct Index {
    rows: Rows,
    names: Names,
    table: Table,
    data_bytes: u64,
    comment: Box<[u8]>,
    left_out: LeftOut,
    /// Where the entries begin whose name is not that of their headers, in rising order.
    renamed: Vec<u64>,
}

/// The names of all entries, one behind the other. Where they end lies apart from all else that is
/// known of an entry, so that few cache lines are touched to compare a name.
#[derive(Debug, Clone, Default)]
struct Names {
    text: String,
    /// Where each ends; the next begins there.
    ends: Vec<u32>,
}

impl Names {
    #[inline]
    fn range(&self, number: usize) -> Range<usize> {
        self.view().range(number)
    }

    fn get(&self, number: u32) -> &str {
        &self.text[self.range(number as usize)]
    }

    #[inline]
    fn view(&self) -> NamesView<'_> {
        NamesView { text: self.text.as_bytes(), ends: &self.ends }
    }

    /// Puts the first `moved` names behind the `over` that follow them.
    fn move_back(&mut self, moved: usize, over: usize) {
        let (first, all) = (self.range(moved).start, self.range(moved + over - 1).end);
        let behind = self.text[first..all].to_owned() + &self.text[..first];
        self.text.replace_range(..all, &behind);
        let (before, after) = (first as u32, (all - first) as u32);
        self.ends[..moved].iter_mut().for_each(|end| *end += after);
        self.ends[moved..moved + over].iter_mut().for_each(|end| *end -= before);
        self.ends[..moved + over].rotate_left(moved);
    }

    fn push(&mut self, name: &str) {
        self.text.push_str(name);
        self.ends.push(self.text.len() as u32);
    }
}

/// Names as bytes, before or after all of them are known to be text.
#[derive(Clone, Copy)]
struct NamesView<'a> {
    text: &'a [u8],
    ends: &'a [u32],
}

impl<'a> NamesView<'a> {
    #[inline]
    fn range(self, number: usize) -> Range<usize> {
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[number] as usize
    }

    #[inline]
    fn bytes(self, number: u32) -> &'a [u8] {
        &self.text[self.range(number as usize)]
    }
}

impl Index {
    /// Reads the directory of the archive `source`, which is `file_bytes` long: one read of its
    /// last 66 KiB, and one of what is missing; of more than 8 MiB, one for each 8 MiB.
    ///
    /// # Errors
    /// [`ErrorKind::NotAZip`], [`ErrorKind::Truncated`], [`ErrorKind::MultiDisk`],
    /// [`ErrorKind::Sizes`], [`ErrorKind::Name`], [`ErrorKind::Duplicate`], [`ErrorKind::Overlap`]
    /// or [`ErrorKind::Io`]; never a panic, nor an allocation that the file's own size does not
    /// justify.
    pub fn open<R: ReadAt + ?Sized>(source: &R, file_bytes: u64) -> Result<Self> {
        Self::open_as(source, file_bytes, Reading { strict: true, ..Reading::default() })
    }

    /// As [`open`](Self::open), for archives of other tools. What is odd about one entry costs that
    /// entry alone, and [`left_out`](Self::left_out) says so: a name that no file can have; a name
    /// that stands in the archive again, since the last counts. Bytes behind the end are passed
    /// over, unless there are two ends. A folder may be known by its attributes. Name and time may
    /// stand in fields that [`PackWriter`](crate::PackWriter) does not write.
    ///
    /// # Errors
    /// As [`open`](Self::open), but never [`ErrorKind::Name`] and [`ErrorKind::Duplicate`].
    pub fn open_odd<R: ReadAt + ?Sized>(source: &R, file_bytes: u64) -> Result<Self> {
        Self::open_as(source, file_bytes, Reading::default())
    }

    /// As [`open`](Self::open) if `reading` is strict, else as [`open_odd`](Self::open_odd).
    ///
    /// # Errors
    /// As these.
    pub fn open_as<R: ReadAt + ?Sized>(
        source: &R,
        file_bytes: u64,
        reading: Reading,
    ) -> Result<Self> {
        let tail = Tail::read(source, file_bytes)?;
        let end = End::find(&tail, source, !reading.strict)?;
        let mut odd = Odd { reading, ..Odd::default() };
        odd.left_out.appended_bytes = end.appended_bytes;
        let feed = Feed::new(source, &tail, &end)?;
        let Parsed { mut index, order, table } = parse(feed, &end, &mut odd)?;
        odd.renamed.sort_unstable();
        index.renamed = std::mem::take(&mut odd.renamed);
        index.comment = end.comment;
        if reading.strict {
            index.check_places(order)?;
            index.table = index.table(table).map_err(|unfit| index.unfit(unfit))?;
        } else {
            index.settle(order, table, &mut odd)?;
        }
        index.left_out = odd.left_out;
        Ok(index)
    }

    /// What of the archive is left out.
    #[must_use]
    pub fn left_out(&self) -> &LeftOut {
        &self.left_out
    }

    /// How many entries there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no entry.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Entry `number`, counted from 0 in archive order: by the place of the data, not in the
    /// directory's own order.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn entry(&self, number: u32) -> Entry {
        let mut entry = self.rows.entry(number as usize);
        let extent = self.extent(number);
        entry.extent_bytes = extent.end - extent.start;
        entry.renamed = self.renamed.binary_search(&entry.header_offset).is_ok();
        entry
    }

    /// Where entry `number` lies in the archive: from its header to the next one, but no further
    /// than its own records could reach, so that gaps are not read.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn extent(&self, number: u32) -> Range<u64> {
        let number = number as usize;
        let begin = self.rows.offset(number);
        let room = self.next_header(number).saturating_sub(begin);
        let least = self.least_extent(number, self.rows.sizes(number).1);
        begin..begin + room.min(least.saturating_add(SLACK_BYTES))
    }

    /// All entries in archive order.
    pub fn entries(
        &self,
    ) -> impl ExactSizeIterator<Item = Entry> + DoubleEndedIterator + Clone + '_ {
        (0..self.len() as u32).map(|number| self.entry(number))
    }

    /// The numbers of the entries that are symbolic links ([`Entry::is_link`]).
    pub fn links(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.len() as u32).filter(|&number| self.rows.is_link(number as usize))
    }

    /// Whether entry `number` is a folder, whose name ends in `/`.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn is_folder(&self, number: u32) -> bool {
        self.rows.is_folder(number as usize)
    }

    /// The size of the content of entry `number`, in bytes.
    ///
    /// # Panics
    /// If there is no such entry.
    #[inline]
    #[must_use]
    pub fn bytes(&self, number: u32) -> u64 {
        self.rows.sizes(number as usize).0
    }

    /// The name of entry `number`.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn name(&self, number: u32) -> &str {
        self.names.get(number)
    }

    /// Where the name of entry `number` stands among those of all entries, for
    /// [`is_at`](Self::is_at).
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn name_place(&self, number: u32) -> Range<u32> {
        let range = self.names.range(number as usize);
        range.start as u32..range.end as u32
    }

    /// Whether exactly `name` stands at a place that [`name_place`](Self::name_place) gave: looks
    /// at the bytes of the name, and at nothing else.
    #[inline]
    #[must_use]
    pub fn is_at(&self, place: Range<u32>, name: &str) -> bool {
        let place = place.start as usize..place.end as usize;
        self.names.text.as_bytes().get(place).is_some_and(|own| is_same(own, name.as_bytes()))
    }

    /// The number of the entry called `name`: its position in [`entries`](Self::entries).
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.table.find(name.as_bytes(), self.names.view())
    }

    /// The chunks of entry `number`, which can be inflated one by one; `None` if it has none, or if
    /// the directory's table of them is not that of its content.
    ///
    /// Takes a few microseconds a chunk: to be kept while chunks are inflated.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn chunks(&self, number: u32) -> Option<Chunks> {
        match self.chunk_table(number) {
            [] => None,
            table => Chunks::of(&self.rows.entry(number as usize), table),
        }
    }

    /// The table of the chunks of entry `number`; empty if it has none.
    pub(crate) fn chunk_table(&self, number: u32) -> &[u8] {
        self.rows.table(number as usize)
    }

    /// Whether the extent of entry `number` can stand in another archive as it is
    /// ([`PackWriter::add_copied`](crate::PackWriter::add_copied)): its local header says all by
    /// itself, as each does that [`PackWriter`](crate::PackWriter) wrote.
    ///
    /// # Panics
    /// If there is no such entry.
    #[must_use]
    pub fn can_be_copied(&self, number: u32) -> bool {
        let Entry { flags, renamed, method, .. } = self.entry(number);
        flags & (FLAG_DESCRIPTOR | FLAG_ENCRYPTED) == 0
            && !renamed
            // LZMA says in a flag how its data ends.
            && !matches!(method, Method::Other(_))
            && (flags & FLAG_UTF8 != 0 || self.name(number).is_ascii())
    }

    /// Where the directory starts: the bytes before it are entries.
    #[must_use]
    pub fn data_bytes(&self) -> u64 {
        self.data_bytes
    }

    /// The comment of the whole archive; empty if it has none. The format does not say in which
    /// characters it is.
    #[must_use]
    pub fn comment(&self) -> &[u8] {
        &self.comment
    }

    /// Puts the entries in archive order.
    fn sort(&mut self) -> Result<()> {
        let Some(order) = self.rows.archive_order() else { return Ok(()) };
        self.arrange(&order)
    }

    /// Keeps these entries alone, in this order.
    fn arrange(&mut self, order: &[u32]) -> Result<()> {
        let mut names = Names::default();
        names.text.try_reserve_exact(self.names.text.len()).map_err(no_memory)?;
        names.ends.try_reserve_exact(order.len()).map_err(no_memory)?;
        order.iter().for_each(|&number| names.push(self.names.get(number)));
        self.rows.arrange(order);
        self.names = names;
        Ok(())
    }

    /// Puts the entries in archive order, and checks that none overlaps another.
    fn check_places(&mut self, order: Order) -> Result<()> {
        match order {
            Order::Right => {}
            Order::Moved { moved, over } => {
                self.rows.move_back(moved, over);
                self.names.move_back(moved, over);
            }
            Order::Unknown => {
                self.sort()?;
                self.check_extents()?;
            }
        }
        Ok(())
    }

    /// The table of all names: the one that was made while they were read, if it holds.
    fn table(&self, made: Option<Table>) -> std::result::Result<Table, Unfit> {
        made.map_or_else(|| Table::of(self.names.view()), Ok)
    }

    /// Where the next entry begins, or the directory.
    fn next_header(&self, number: usize) -> u64 {
        if number + 1 < self.len() { self.rows.offset(number + 1) } else { self.data_bytes }
    }

    fn least_extent(&self, number: usize, coded_bytes: u64) -> u64 {
        least_extent(self.names.range(number).len() as u64, coded_bytes)
    }

    fn check_extents(&self) -> Result<()> {
        for number in (0..self.len()).rev() {
            let (offset, next) = (self.rows.offset(number), self.next_header(number));
            let least = self.least_extent(number, self.rows.sizes(number).1);
            if least > next.saturating_sub(offset) {
                return Err(self.overlap(number, least, next));
            }
        }
        Ok(())
    }

    fn overlap(&self, number: usize, least: u64, next: u64) -> Error {
        let what = match number + 1 < self.len() {
            true => format!("{:?}", self.name(number as u32 + 1)),
            false => "the directory".to_owned(),
        };
        let (name, offset) = (self.name(number as u32), self.rows.offset(number));
        Error::new(
            ErrorKind::Overlap,
            format!(
                "entry {name:?} at offset {offset} needs {least} bytes and so overlaps {what} at offset {next}; the archive is damaged or hostile"
            ),
        )
    }

    fn unfit(&self, unfit: Unfit) -> Error {
        match unfit {
            Unfit::Memory(error) => no_memory(error),
            Unfit::Duplicate(number) => Error::new(
                ErrorKind::Duplicate,
                format!(
                    "the name {:?} stands in the archive twice, so that it is unclear which is meant; repack it",
                    self.name(number)
                ),
            ),
        }
    }
}

/// Local header and data, without the local extra field, which only the header itself says. The
/// stored name may have been shorter than the text (code page 437 grows to UTF-8 threefold at
/// most), hence the least that is certain.
fn least_extent(name_bytes: u64, coded_bytes: u64) -> u64 {
    coded_bytes.saturating_add(LOCAL_BYTES as u64 + name_bytes.div_ceil(3))
}

/// Whether two names are alike: 16 bytes at a time, without a call. The last 16 are looked at by
/// themselves.
#[inline]
fn is_same(one: &[u8], other: &[u8]) -> bool {
    let ends = one.last_chunk::<16>().zip(other.last_chunk::<16>());
    let Some((end, other_end)) = ends.filter(|_| one.len() == other.len()) else {
        return one == other;
    };
    let (chunks, others) = (one.as_chunks::<16>().0, other.as_chunks::<16>().0);
    end == other_end && chunks.iter().zip(others).all(|(one, other)| one == other)
}

fn no_memory<E>(_: E) -> Error {
    Error::new(ErrorKind::Limit, "the archive's directory needs more memory than there is")
}

#[cfg(test)]
mod tests {
    use super::is_same;

    #[test]
    fn names_are_compared_to_their_last_byte() {
        for length in 0..100 {
            let name: Vec<u8> = (0..length).collect();
            assert!(is_same(&name, &name.clone()));
            for at in 0..name.len() {
                let mut other = name.clone();
                other[at] ^= 0x80;
                assert!(!is_same(&name, &other), "{length} bytes, of which {at} differs");
            }
            assert!(!is_same(&name, &[&name[..], &[0]].concat()));
        }
    }
}
