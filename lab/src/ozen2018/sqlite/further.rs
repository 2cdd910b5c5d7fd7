//! His suggestions for further work: would a larger application cache make a difference, and would
//! another representation of the data fit better? Application caches of 0, 2,000 and 20,000 pages,
//! database pages of 4, 16 and 64 KiB, the B-tree and a hash table. 90 % are reads, page accesses
//! are merged, and each policy is as in its own paper.

use super::capture::{Captured, capture};
use super::lines::Lines;
use super::published::POLICIES;
use super::{ApplicationCache, Kind, LedgerArgs, Setting, StoreArgs};
use anyhow::Result;
use seekless::sim::{self, Case, simulate_all};
use seekless_terminal::progress;
use serde::Serialize;
use std::path::Path;

const READS_PERCENT: u64 = 90;
const APPLICATION_CACHES: [u64; 3] = [0, 2_000, 20_000];
const DATABASE_PAGES: [u32; 3] = [4 << 10, 16 << 10, 64 << 10];
/// The sizes of the cache below, in pages of 4096 bytes, as in his tests.
const CACHES: [u64; 2] = [2_000, 10_000];
const PAGE_BYTES: u64 = 4096;

/// The setting and the results.
#[derive(Serialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    pub(super) setting: Setting,
    pub(super) reads_percent: u64,
    pub(super) rows: Vec<Row>,
}

/// One store with one application cache over one cache of pages.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) store: Kind,
    pub(super) database_page_bytes: u32,
    pub(super) database_bytes: u64,
    pub(super) application_cache_pages: u64,
    /// Pages of 4096 bytes.
    pub(super) pages: u64,
    /// Calls of the store for each statement.
    pub(super) calls_per_statement: f64,
    pub(super) bytes_per_statement: f64,
    pub(super) policies: Vec<Policy>,
}

/// The accesses that one policy passes on, in pages of 4096 bytes.
#[derive(Serialize)]
pub(super) struct Policy {
    pub(super) policy: &'static str,
    pub(super) reads: u64,
    pub(super) writes: u64,
    pub(super) reads_per_statement: f64,
}

pub(super) fn measure(setting: &Setting, folder: &Path) -> Result<Figures> {
    let mut rows = Vec::new();
    for store in [Kind::BTree, Kind::Hash] {
        for page_bytes in DATABASE_PAGES {
            let path = setting.make(store, page_bytes, folder)?;
            for pages in APPLICATION_CACHES {
                let application_cache = ApplicationCache::Pages(pages / setting.scaled_down);
                let args =
                    StoreArgs { kind: store, path: path.clone(), page_bytes, application_cache };
                let ledger = LedgerArgs { store: args, workload: setting.workload(READS_PERCENT) };
                rows.extend(simulate(setting, &ledger.store, &capture(&ledger, folder)?)?);
            }
        }
    }
    Ok(Figures { setting: *setting, reads_percent: READS_PERCENT, rows })
}

fn simulate(setting: &Setting, store: &StoreArgs, captured: &Captured) -> Result<Vec<Row>> {
    let requests = captured.requests(Lines::Merged);
    let caches = CACHES.map(|pages| pages / setting.scaled_down);
    let case = |(pages, policy): (u64, &str)| Case {
        policy: policy.to_owned(),
        capacity: pages * PAGE_BYTES,
    };
    let cases: Vec<Case> = caches
        .iter()
        .flat_map(|&pages| POLICIES.iter().map(move |policy| (pages, policy.2)))
        .map(case)
        .collect();
    let mut bar = progress(format!("caches below the {}", store.kind.name()));
    let figures = simulate_all(&requests, &cases, &mut bar)?;
    let statements = setting.statements as f64;
    let policy = |(name, figures): (&(_, _, &'static str), &sim::Figures)| Policy {
        policy: name.2,
        reads: figures.device_reads,
        writes: figures.write_backs,
        reads_per_statement: figures.device_reads as f64 / statements,
    };
    let bytes: u64 = captured.calls.iter().map(|call| u64::from(call.bytes)).sum();
    let row = |(&pages, figures): (&u64, &[sim::Figures])| Row {
        store: store.kind,
        database_page_bytes: store.page_bytes,
        database_bytes: captured.file_bytes,
        application_cache_pages: store.application_cache.pages(store.page_bytes),
        pages,
        calls_per_statement: captured.calls.len() as f64 / statements,
        bytes_per_statement: bytes as f64 / statements,
        policies: POLICIES.iter().zip(figures).map(policy).collect(),
    };
    Ok(caches.iter().zip(figures.chunks(POLICIES.len())).map(row).collect())
}
