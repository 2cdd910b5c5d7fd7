//! What is odd about an archive that another tool wrote: entries that are left out, and names that
//! stand elsewhere than in the header.

use super::Index;
use super::places::Order;
use super::table::{Table, Unfit};
use crate::encoding::NameEncoding;
use crate::error::Result;
use std::collections::{BTreeMap, HashMap};

/// What of an archive is left out, by reason. Nothing of what [`Index::open`](super::Index::open)
/// opens.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Entries, by the reason that each cannot be served.
    pub entries: BTreeMap<&'static str, u64>,
    /// The first of them: its name as it stands in the archive.
    pub first: Option<String>,
    /// Bytes behind the archive's end.
    pub appended_bytes: u64,
}

impl LeftOut {
    /// Whether nothing is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.appended_bytes == 0
    }

    /// In words: `2 entries left out (a name that leads out of the archive by `..`: 2), ...`.
    #[must_use]
    pub fn words(&self) -> String {
        let count: u64 = self.entries.values().sum();
        let each = self.entries.iter().map(|(why, count)| format!("{why}: {count}"));
        let each = each.collect::<Vec<_>>().join(", ");
        let first = self.first.as_deref().unwrap_or_default();
        let noun = if count == 1 { "entry" } else { "entries" };
        let entries = format!("{count} {noun} left out ({each}), the first is {first:?}");
        let appended = format!("{} bytes behind the end passed over", self.appended_bytes);
        match (count, self.appended_bytes) {
            (0, _) => appended,
            (_, 0) => entries,
            _ => format!("{entries}; {appended}"),
        }
    }
}

impl LeftOut {
    /// Counts one more entry, by its name and the reason.
    pub fn note(&mut self, why: &'static str, name: &str) {
        *self.entries.entry(why).or_default() += 1;
        self.first.get_or_insert_with(|| name.to_owned());
    }
}

/// How an archive's directory is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Reading {
    /// Whether what is odd about one entry refuses the archive.
    pub strict: bool,
    /// In which characters names are that are not said to be UTF-8.
    pub names: NameEncoding,
}

/// What is noted while the directory is read.
#[derive(Debug, Default)]
pub(super) struct Odd {
    pub(super) reading: Reading,
    pub(super) left_out: LeftOut,
    /// Where the entries begin that are left out.
    pub(super) without: Vec<u64>,
    /// Where those begin whose name is not that of their headers.
    pub(super) renamed: Vec<u64>,
}

impl Odd {
    pub(super) fn leave_out(&mut self, header_offset: u64, why: &'static str, name: &str) {
        self.left_out.note(why, name);
        self.without.push(header_offset);
    }
}

impl Index {
    /// Leaves out what is odd, and makes the table of names, unless `table` is that of all names.
    pub(super) fn settle(
        &mut self,
        order: Order,
        table: Option<Table>,
        odd: &mut Odd,
    ) -> Result<()> {
        if order != Order::Unknown {
            self.check_places(order)?;
        }
        let table = self.table(table);
        if let Err(Unfit::Duplicate(_)) = &table {
            // Those that were moved came first in the directory.
            let (moved, over) = match order {
                Order::Moved { moved, over } => (moved, over),
                Order::Right | Order::Unknown => (0, 0),
            };
            let listed = (over..over + moved).chain(0..over).chain(over + moved..self.len());
            self.note_duplicates(listed, odd);
        }
        if order == Order::Unknown {
            self.check_places(order)?;
        }
        self.leave_out(odd)?;
        self.table = match table {
            Ok(table) if order != Order::Unknown && odd.without.is_empty() => table,
            _ => self.table(None).map_err(|unfit| self.unfit(unfit))?,
        };
        Ok(())
    }

    /// Of entries of one name, all but the last are left out. They come in the directory's order.
    fn note_duplicates(&self, listed: impl Iterator<Item = usize>, odd: &mut Odd) {
        let mut last: HashMap<&str, usize> = HashMap::new();
        for number in listed {
            let name = self.names.get(number as u32);
            if name.is_empty() {
                continue; // left out already
            }
            if let Some(before) = last.insert(name, number) {
                odd.leave_out(self.rows.offset(before), "a name that stands there again", name);
            }
        }
    }

    /// Takes out what is to be left out, which was checked with the others.
    fn leave_out(&mut self, odd: &mut Odd) -> Result<()> {
        if odd.without.is_empty() {
            return Ok(());
        }
        odd.without.sort_unstable();
        let is_kept =
            |&number: &u32| odd.without.binary_search(&self.rows.offset(number as usize)).is_err();
        let order: Vec<u32> = (0..self.len() as u32).filter(is_kept).collect();
        self.arrange(&order)
    }
}
