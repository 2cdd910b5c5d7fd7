//! The copy-on-write B+tree: redb, in the manner of LMDB. An update writes the leaf and the whole
//! path above it to free pages, and a commit turns the root over. It reads and writes with pread
//! and pwrite, and maps nothing.
//!
//! A transaction has as many statements as with SQLite, and its commit synchronises the file: redb
//! reuses freed pages only after such a commit. Nine tenths of its cache hold pages that were read,
//! one tenth those to be written. A size of 0 is possible.

use super::row::{self, ROW_BYTES};
use super::workload::{Account, Rows, Statements, Store, Workload};
use super::{Progress, StoreArgs};
use anyhow::{Context, Result};
use redb::{Builder, Database, ReadableTable, TableDefinition};
use std::path::Path;

const LEDGER: TableDefinition<'_, u64, &[u8; ROW_BYTES]> = TableDefinition::new("ledger");
/// The cache while the database is made, as with SQLite.
const MAKER_CACHE_BYTES: usize = 64 << 20;

/// Makes the database. Calls `progress` with the number of rows made and of all.
pub(super) fn make(path: &Path, rows: u64, progress: Progress<'_>) -> Result<()> {
    let mut database = Builder::new().set_cache_size(MAKER_CACHE_BYTES).create(path)?;
    let transaction = database.begin_write()?;
    let mut ledger = transaction.open_table(LEDGER)?;
    for account in 0..rows {
        ledger.insert(account, &row::new(account))?;
        if account % 65_536 == 0 {
            progress(account, rows);
        }
    }
    drop(ledger);
    transaction.commit()?;
    // The file grows by doubling, and filling it leaves free pages between the others.
    database.compact()?;
    Ok(())
}

/// Plays the workload.
pub(super) fn play(store: &StoreArgs, workload: &Workload, progress: Progress<'_>) -> Result<()> {
    workload.play(&mut Ledger::open(store)?, progress)
}

/// An open database.
pub(super) struct Ledger(Database);

impl Ledger {
    pub(super) fn open(store: &StoreArgs) -> Result<Self> {
        let database =
            Builder::new().set_cache_size(store.cache_bytes() as usize).open(&store.path);
        database.map(Self).with_context(|| format!("cannot open {}", store.path.display()))
    }
}

impl Store for Ledger {
    fn transaction(&mut self, statements: Statements<'_>) -> Result<()> {
        let transaction = self.0.begin_write()?;
        statements(&mut Table(transaction.open_table(LEDGER)?))?;
        Ok(transaction.commit()?)
    }
}

/// The table within a transaction.
struct Table<'a>(redb::Table<'a, u64, &'static [u8; ROW_BYTES]>);

impl Table<'_> {
    fn find(&self, account: u64) -> Result<[u8; ROW_BYTES]> {
        let row = self.0.get(account)?;
        let row = row.with_context(|| format!("account {account} is not in the database"))?;
        Ok(*row.value())
    }

    fn update(&mut self, account: u64, change: impl FnOnce(&mut [u8])) -> Result<()> {
        let mut row = self.find(account)?;
        change(&mut row);
        self.0.insert(account, &row)?;
        Ok(())
    }
}

impl Rows for Table<'_> {
    fn select(&mut self, account: u64) -> Result<Account> {
        row::read(&self.find(account)?)
    }

    fn add_money(&mut self, account: u64, amount: i64) -> Result<()> {
        self.update(account, |row| row::add_money(row, amount))
    }

    fn turn_address(&mut self, account: u64) -> Result<()> {
        self.update(account, row::turn_address)
    }
}
