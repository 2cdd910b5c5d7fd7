//! What is odd about an archive that another tool wrote: entries that are left out, and names that
//! stand elsewhere than in the header.

use crate::encoding::NameEncoding;
use std::collections::BTreeMap;

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
