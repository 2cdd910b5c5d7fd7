//! Reads the whole directory, header by header. Of a long one the table of names is made on the
//! way, while what follows is still to come.

use super::end::End;
use super::feed::Feed;
use super::header;
use super::odd::Odd;
use super::places::{Order, Places};
use super::row::Rows;
use super::table::Table;
use super::{Index, Names, NamesView, least_extent, no_memory};
use crate::error::Result;
use crate::format::CENTRAL_BYTES;
use crate::read_at::ReadAt;
use seekless_sys::memory::prefer_huge_pages;

/// So many names are added to the table at once.
const ADDED_AT_ONCE: u64 = 1 << 14;

/// A directory that was read.
pub(super) struct Parsed {
    /// Its entries, in the directory's order, without a table of their names.
    pub(super) index: Index,
    /// Unless it is unknown, no entry overlaps what follows it: then nothing is left to be checked
    /// of their places.
    pub(super) order: Order,
    /// The table of all names in archive order, if it was made: no two of them are alike.
    pub(super) table: Option<Table>,
}

/// Reads the whole directory, and finds its order.
pub(super) fn parse<R: ReadAt + ?Sized>(
    mut feed: Feed<'_, R>,
    end: &End,
    odd: &mut Odd,
) -> Result<Parsed> {
    // `End` has checked that this many headers fit into the directory.
    let count = usize::try_from(end.entries).map_err(no_memory)?;
    let mut rows = Rows::with_room(count).map_err(no_memory)?;
    let text_bytes = end.directory_bytes.saturating_sub(count as u64 * CENTRAL_BYTES as u64);
    let (mut text, mut ends) = (Vec::new(), Vec::new());
    text.try_reserve_exact(text_bytes as usize).map_err(no_memory)?;
    prefer_huge_pages(&mut text);
    ends.try_reserve_exact(count).map_err(no_memory)?;
    prefer_huge_pages(&mut ends);
    let mut places = Places::default();
    // That of a shorter one is made once the memory of its read is free.
    let mut table = match feed.is_long() {
        true => Some(Table::with_room(end.entries as u32).map_err(no_memory)?),
        false => None,
    };
    for first in (0..end.entries).step_by(ADDED_AT_ONCE as usize) {
        let numbers = first..end.entries.min(first + ADDED_AT_ONCE);
        for number in numbers.clone() {
            let rest = feed.rest()?;
            let start = text.len();
            let header_bytes = header::parse(rest, number, end, &mut rows, &mut text, odd)?;
            feed.skip(header_bytes);
            ends.push(text.len() as u32);
            let (offset, coded_bytes) = rows.last();
            let least = least_extent((text.len() - start) as u64, coded_bytes);
            places.add(offset, offset.saturating_add(least));
        }
        let names = NamesView { text: &text, ends: &ends };
        let numbers = numbers.start as u32..numbers.end as u32;
        table = table.filter(|_| !places.is_unknown());
        table = table.and_then(|mut table| table.add(numbers, names).ok().map(|()| table));
    }
    let order = places.order(end.directory_offset);
    header::check_end(feed.rest()?, end)?;
    // Each name is UTF-8, so this cannot fail; to look at all of them at once is quicker.
    let text = String::from_utf8(text).map_err(no_memory)?;
    let mut names = Names { text, ends };
    // Room for extra fields was reserved too.
    names.text.shrink_to_fit();
    let data_bytes = end.directory_offset;
    let index = Index { rows, names, data_bytes, ..Index::default() };
    Ok(Parsed { index, order, table: in_order(table, order) })
}

/// The table of entries in the directory's order, once they are put in archive order.
fn in_order(table: Option<Table>, order: Order) -> Option<Table> {
    let mut table = table?;
    match order {
        Order::Right => {}
        Order::Moved { moved, over } => table.move_back(moved as u32, over as u32),
        Order::Unknown => return None,
    }
    Some(table)
}

#[cfg(test)]
mod tests {
    use super::super::end::Tail;
    use super::*;
    use crate::{About, Codec, PackWriter, prepare, prepare_directory};

    const FILES: usize = 3000;

    fn name(number: usize) -> String {
        format!("folder/{number:04}")
    }

    /// Files, and a folder that lies behind them and is listed before them.
    fn archive() -> Vec<u8> {
        let mut pack = PackWriter::new(Vec::new());
        for number in 0..FILES {
            pack.add(prepare(About::named(name(number)), vec![7], Codec::Stored).unwrap()).unwrap();
        }
        pack.add(prepare_directory(About::named("folder/")).unwrap()).unwrap();
        pack.finish().unwrap().0
    }

    fn parsed(archive: &[u8], read_bytes: u64) -> Parsed {
        let tail = Tail::read(archive, archive.len() as u64).unwrap();
        let end = End::find(&tail, archive, true).unwrap();
        let feed = Feed::with_reads(archive, &tail, &end, read_bytes).unwrap();
        parse(feed, &end, &mut Odd::default()).unwrap()
    }

    #[test]
    fn the_table_of_a_long_directory_is_that_of_the_archive_order() {
        let Parsed { mut index, order, table } = parsed(&archive(), 1000);
        assert_eq!(order, Order::Moved { moved: 1, over: FILES });
        index.check_places(order).unwrap();
        let table = table.unwrap();
        for number in 0..FILES {
            let found = table.find(name(number).as_bytes(), index.names.view());
            assert_eq!(found, Some(number as u32));
        }
        assert_eq!(table.find(b"folder/", index.names.view()), Some(FILES as u32));
        assert_eq!(table.find(b"folder", index.names.view()), None);
    }

    #[test]
    fn no_table_is_made_of_like_names_nor_of_a_short_directory() {
        let mut archive = archive();
        assert!(parsed(&archive, 1 << 20).table.is_none());
        let listed = archive.windows(11).rposition(|window| window == name(2000).as_bytes());
        archive[listed.unwrap()..][..11].copy_from_slice(name(1000).as_bytes());
        let Parsed { index, table, .. } = parsed(&archive, 1000);
        assert!(table.is_none());
        assert_eq!(index.len(), FILES + 1);
    }
}
