//! The structures that hold the table: SQLite's B-tree, our hash table, and one that others use.

use super::{Progress, StoreArgs, Workload, copy_on_write, hash, tree};
use anyhow::Result;
use serde::Serialize;
use std::path::Path;

/// A structure that holds the table, and the library that implements it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    #[value(name = "b-tree")]
    #[serde(rename = "b-tree")]
    BTree,
    Hash,
    CopyOnWrite,
}

impl Kind {
    pub(super) const ALL: [Kind; 3] = [Kind::BTree, Kind::Hash, Kind::CopyOnWrite];

    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::BTree => "B-tree (SQLite)",
            Kind::Hash => "hash table",
            Kind::CopyOnWrite => "copy-on-write B+tree (redb)",
        }
    }

    /// The sizes of a database page that are compared. redb has pages of 4 KiB only.
    pub(super) fn database_pages(self) -> &'static [u32] {
        match self {
            Kind::CopyOnWrite => &[4 << 10],
            _ => &[4 << 10, 16 << 10, 64 << 10],
        }
    }

    /// Whether an update writes the row to a new place. Then a recording changes the store, and the
    /// next one needs a copy of the first state.
    pub(super) fn moves_rows(self) -> bool {
        self == Kind::CopyOnWrite
    }

    /// Makes the store at `path`. Calls `progress` with what is made and of how much.
    pub(super) fn make(
        self,
        path: &Path,
        page_bytes: u32,
        rows: u64,
        progress: Progress<'_>,
    ) -> Result<()> {
        match self {
            Kind::BTree => tree::make(path, page_bytes, rows, progress),
            Kind::Hash => hash::make(path, page_bytes, rows, progress),
            Kind::CopyOnWrite => copy_on_write::make(path, rows, progress),
        }
    }
}

impl StoreArgs {
    /// Plays the workload on the store.
    pub(super) fn play(&self, workload: &Workload, progress: Progress<'_>) -> Result<()> {
        match self.kind {
            Kind::BTree => tree::play(self, workload, progress),
            Kind::Hash => hash::play(self, workload, progress),
            Kind::CopyOnWrite => copy_on_write::play(self, workload, progress),
        }
    }

    /// The application cache in bytes.
    pub(super) fn cache_bytes(&self) -> u64 {
        self.application_cache.pages(self.page_bytes).saturating_mul(self.page_bytes.into())
    }
}

#[cfg(test)]
mod tests;
