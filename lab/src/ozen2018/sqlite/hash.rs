//! The hash table beside the B-tree, written for this lab: one file of bucket pages. The hash of
//! the account gives the bucket of a row. Overflow pages are chained behind the last bucket. The
//! workload inserts nothing, so no bucket is ever split. A lookup reads one page, sometimes two,
//! where a B-tree reads its height. There is no journal.
//!
//! ```text
//! little-endian:
//! page:  next overflow page u32 (0: none) | rows u32 | rows of 64 bytes
//! row:   account u64 | name, 18 bytes | address, 28 bytes | money i64 | 2 bytes unused
//! ```

mod pages;

use super::workload::{Account, Rows, Statements, Store, Workload};
use super::{Progress, StoreArgs, row};
use anyhow::{Context, Result, ensure};
use pages::Pages;
use seekless::device::SplitMix64;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

const HEAD_BYTES: usize = 8;
const ROW_BYTES: usize = 64;
/// The row behind its account.
const ROW: std::ops::Range<usize> = 8..8 + row::ROW_BYTES;
/// How full buckets are on average, in percent. A B-tree that was filled in order is denser.
const FILL_PERCENT: u64 = 80;

fn rows_per_page(page_bytes: u32) -> usize {
    (page_bytes as usize - HEAD_BYTES) / ROW_BYTES
}

fn buckets(rows: u64, page_bytes: u32) -> u64 {
    (rows * 100).div_ceil(rows_per_page(page_bytes) as u64 * FILL_PERCENT).max(1)
}

fn bucket(account: u64, buckets: u64) -> u64 {
    SplitMix64::mix(account) % buckets
}

/// Makes the file. Calls `progress` with the number of buckets made and of all.
pub(super) fn make(path: &Path, page_bytes: u32, rows: u64, progress: Progress<'_>) -> Result<()> {
    let buckets = buckets(rows, page_bytes);
    ensure!(u32::try_from(2 * buckets).is_ok(), "too many rows for a hash file");
    let mut order: Vec<(u32, u32)> =
        (0..rows).map(|account| (bucket(account, buckets) as u32, account as u32)).collect();
    order.sort_unstable();
    let mut file = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let per_page = rows_per_page(page_bytes);
    let (mut overflow, mut rest) = (Vec::new(), order.as_slice());
    for number in 0..buckets {
        let (bucket, others) =
            rest.split_at(rest.iter().take_while(|row| u64::from(row.0) == number).count());
        rest = others;
        let mut parts = bucket.chunks(per_page).peekable();
        let first = parts.next().unwrap_or_default();
        let next = |overflow: &Vec<_>| (buckets + overflow.len() as u64) as u32;
        file.write_all(&page(
            first,
            if parts.peek().is_some() { next(&overflow) } else { 0 },
            page_bytes,
        ))?;
        while let Some(part) = parts.next() {
            let after = if parts.peek().is_some() { next(&overflow) + 1 } else { 0 };
            overflow.push(page(part, after, page_bytes));
        }
        if number % 1024 == 0 {
            progress(number, buckets);
        }
    }
    overflow.iter().try_for_each(|page| file.write_all(page))?;
    Ok(file.flush()?)
}

fn page(rows: &[(u32, u32)], next: u32, page_bytes: u32) -> Vec<u8> {
    let mut page = Vec::with_capacity(page_bytes as usize);
    page.extend(next.to_le_bytes());
    page.extend((rows.len() as u32).to_le_bytes());
    for &(_, account) in rows {
        let account = u64::from(account);
        page.extend(account.to_le_bytes());
        page.extend(row::new(account));
        page.extend([0; 2]);
    }
    page.resize(page_bytes as usize, 0);
    page
}

/// Plays the workload.
pub(super) fn play(store: &StoreArgs, workload: &Workload, progress: Progress<'_>) -> Result<()> {
    workload.play(&mut Table::open(store, workload.rows)?, progress)
}

/// An open file.
pub(super) struct Table {
    pages: Pages,
    buckets: u64,
}

impl Table {
    pub(super) fn open(store: &StoreArgs, rows: u64) -> Result<Self> {
        let cached = store.application_cache.pages(store.page_bytes);
        let pages = Pages::open(&store.path, store.page_bytes, cached)
            .with_context(|| format!("cannot open {}", store.path.display()))?;
        Ok(Self { pages, buckets: buckets(rows, store.page_bytes) })
    }

    /// The page with the row of an account, and the place of the row in it.
    fn find(&mut self, account: u64) -> Result<(u32, usize)> {
        let mut number = bucket(account, self.buckets) as u32;
        loop {
            let page = self.pages.read(number)?;
            let count = number_at(page, 4) as usize;
            let rows = page[HEAD_BYTES..].chunks_exact(ROW_BYTES).take(count);
            if let Some(row) =
                rows.into_iter().position(|row| row.starts_with(&account.to_le_bytes()))
            {
                return Ok((number, HEAD_BYTES + row * ROW_BYTES));
            }
            number = number_at(page, 0);
            ensure!(number != 0, "account {account} is not in the hash file");
        }
    }
}

fn number_at(page: &[u8], at: usize) -> u32 {
    page[at..at + 4].iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

impl Store for Table {
    fn transaction(&mut self, statements: Statements<'_>) -> Result<()> {
        statements(self)?;
        self.pages.flush()
    }
}

impl Rows for Table {
    fn select(&mut self, account: u64) -> Result<Account> {
        let (number, at) = self.find(account)?;
        row::read(&self.pages.read(number)?[at..][ROW])
    }

    fn add_money(&mut self, account: u64, amount: i64) -> Result<()> {
        let (number, at) = self.find(account)?;
        row::add_money(&mut self.pages.write(number)?[at..][ROW], amount);
        Ok(())
    }

    fn turn_address(&mut self, account: u64) -> Result<()> {
        let (number, at) = self.find(account)?;
        row::turn_address(&mut self.pages.write(number)?[at..][ROW]);
        Ok(())
    }
}

#[cfg(test)]
#[path = "hash/tests.rs"]
mod tests;
