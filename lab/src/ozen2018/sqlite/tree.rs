//! The B-tree: SQLite itself, with his table. The rollback journal is kept in memory, and nothing
//! is synchronised. His collector lost the journal anyway, since the file was gone when it looked
//! for its sectors. The database file is read and written in the same way.

use super::workload::{Account, MONEY, Rows, Statements, Store, Workload, address, name};
use super::{ApplicationCache, Progress, StoreArgs};
use anyhow::{Context, Result};
use rusqlite::{Connection, OpenFlags, Statement, params};
use std::path::Path;

const TURN: &str =
    "UPDATE ledger SET address = substr(address, 2) || substr(address, 1, 1) WHERE accountId = ?";

/// Makes the database. Calls `progress` with the number of rows made and of all.
pub(super) fn make(path: &Path, page_bytes: u32, rows: u64, progress: Progress<'_>) -> Result<()> {
    let connection = Connection::open(path)?;
    connection.execute_batch(&format!(
        "PRAGMA page_size={page_bytes}; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF; PRAGMA cache_size=-65536;
         CREATE TABLE ledger(accountId INTEGER PRIMARY KEY, name TEXT, address TEXT, money INTEGER); BEGIN"
    ))?;
    let mut insert = connection.prepare("INSERT INTO ledger VALUES(?, ?, ?, ?)")?;
    for account in 0..rows {
        insert.execute(params![
            account as i64,
            name(account),
            address(account % 100_000),
            MONEY
        ])?;
        if account % 65_536 == 0 {
            progress(account, rows);
        }
    }
    Ok(connection.execute_batch("COMMIT")?)
}

/// Plays the workload.
pub(super) fn play(store: &StoreArgs, workload: &Workload, progress: Progress<'_>) -> Result<()> {
    let connection = open(store)?;
    workload.play(&mut Ledger::prepare(&connection)?, progress)
}

/// Opens the database without its journal's file and with the cache that `store` says.
pub(super) fn open(store: &StoreArgs) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&store.path, flags)
        .with_context(|| format!("cannot open {}", store.path.display()))?;
    connection
        .execute_batch("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA mmap_size=0")?;
    if let ApplicationCache::Pages(pages) = store.application_cache {
        connection.execute_batch(&format!("PRAGMA cache_size={pages}"))?;
    }
    Ok(connection)
}

/// The prepared statements.
pub(super) struct Ledger<'a> {
    connection: &'a Connection,
    select: Statement<'a>,
    add_money: Statement<'a>,
    turn_address: Statement<'a>,
}

impl<'a> Ledger<'a> {
    pub(super) fn prepare(connection: &'a Connection) -> Result<Self> {
        Ok(Self {
            select: connection.prepare("SELECT * FROM ledger WHERE accountId = ?")?,
            add_money: connection
                .prepare("UPDATE ledger SET money = money + ? WHERE accountId = ?")?,
            turn_address: connection.prepare(TURN)?,
            connection,
        })
    }
}

impl Store for Ledger<'_> {
    fn transaction(&mut self, statements: Statements<'_>) -> Result<()> {
        self.connection.execute_batch("BEGIN")?;
        statements(self)?;
        Ok(self.connection.execute_batch("COMMIT")?)
    }
}

impl Rows for Ledger<'_> {
    fn select(&mut self, account: u64) -> Result<Account> {
        let row = |row: &rusqlite::Row<'_>| {
            Ok(Account { name: row.get(1)?, address: row.get(2)?, money: row.get(3)? })
        };
        self.select
            .query_row([account as i64], row)
            .with_context(|| format!("select account {account}"))
    }

    fn add_money(&mut self, account: u64, amount: i64) -> Result<()> {
        self.add_money.execute(params![amount, account as i64])?;
        Ok(())
    }

    fn turn_address(&mut self, account: u64) -> Result<()> {
        self.turn_address.execute([account as i64])?;
        Ok(())
    }
}
