//! His suggestions for further work: would a larger application cache make a difference, and would
//! another representation of the data fit better? Application caches of 0, 2,000 and 20,000 pages,
//! database pages of 4, 16 and 64 KiB, the B-tree, a hash table and a copy-on-write
//! tree. 90 % are reads, page accesses are merged, and each policy is as in its own
//! paper.

use super::calls::Captured;
use super::capture::capture;
use super::lines::Lines;
use super::published::POLICIES;
use super::{ApplicationCache, Kind, LedgerArgs, Setting, StoreArgs, copies};
use anyhow::Result;
use seekless::sim::{self, Case, simulate_all};
use seekless_terminal::progress;
use serde::Serialize;
use std::path::Path;

const READS_PERCENT: u64 = 90;
const APPLICATION_CACHES: [u64; 3] = [0, 2_000, 20_000];
/// The sizes of the cache below, in pages of 4096 bytes, as in his tests.
pub(super) const CACHES: [u64; 2] = [2_000, 10_000];
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
    /// Before the recording.
    pub(super) database_bytes: u64,
    pub(super) application_cache_pages: u64,
    /// Pages of 4096 bytes.
    pub(super) pages: u64,
    /// Calls of the store for each statement.
    pub(super) calls_per_statement: f64,
    pub(super) bytes_per_statement: f64,
    /// Reads of a page of 4096 bytes that the store asks for, for each statement.
    pub(super) asked_per_statement: f64,
    pub(super) policies: Vec<Policy>,
}

/// The accesses that one policy passes on, in pages of 4096 bytes.
#[derive(Serialize)]
pub(super) struct Policy {
    pub(super) policy: &'static str,
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// Pages that are still to be written at the end.
    pub(super) dirty_at_end: u64,
    pub(super) reads_per_statement: f64,
}

pub(super) fn measure(setting: &Setting, folder: &Path) -> Result<Figures> {
    let mut rows = Vec::new();
    for kind in Kind::ALL {
        for &page_bytes in kind.database_pages() {
            let made = setting.make(kind, page_bytes, folder)?;
            let database_bytes = copies::bytes_on_device(&made)?;
            for pages in APPLICATION_CACHES {
                let path = made.clone();
                let application_cache = ApplicationCache::Pages(pages / setting.scaled_down);
                let store = StoreArgs { kind, path, page_bytes, application_cache };
                let ledger = LedgerArgs { store, workload: setting.workload(READS_PERCENT) };
                let captured = capture(&ledger, folder)?;
                rows.extend(simulate(setting, &ledger.store, &captured, database_bytes)?);
            }
        }
    }
    Ok(Figures { setting: *setting, reads_percent: READS_PERCENT, rows })
}

fn simulate(
    setting: &Setting,
    store: &StoreArgs,
    captured: &Captured,
    database_bytes: u64,
) -> Result<Vec<Row>> {
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
        dirty_at_end: figures.dirty_at_end,
        reads_per_statement: figures.device_reads as f64 / statements,
    };
    let bytes: u64 = captured.calls.iter().map(|call| u64::from(call.bytes)).sum();
    let asked = requests.len() as u64 - requests.writes();
    let row = |(&pages, figures): (&u64, &[sim::Figures])| Row {
        store: store.kind,
        database_page_bytes: store.page_bytes,
        database_bytes,
        application_cache_pages: store.application_cache.pages(store.page_bytes),
        pages,
        calls_per_statement: captured.calls.len() as f64 / statements,
        bytes_per_statement: bytes as f64 / statements,
        asked_per_statement: asked as f64 / statements,
        policies: POLICIES.iter().zip(figures).map(policy).collect(),
    };
    Ok(caches.iter().zip(figures.chunks(POLICIES.len())).map(row).collect())
}
