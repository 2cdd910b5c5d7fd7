//! All stores hold the same rows after the same statements, with every application cache.

use super::super::workload::{Account, MONEY, Rows, Statements, Store, Workload, address, name};
use super::super::{ApplicationCache, copies};
use super::*;

const WORKLOAD: Workload = Workload { rows: 3000, statements: 25_000, reads_percent: 10, seed: 5 };
const PAGE_BYTES: u32 = 4096;

/// The table in memory.
struct Model(Vec<Account>);

impl Model {
    fn new() -> Self {
        let new = |account| Account {
            name: name(account),
            address: address(account % 100_000),
            money: MONEY,
        };
        Self((0..WORKLOAD.rows).map(new).collect())
    }
}

impl Store for Model {
    fn transaction(&mut self, statements: Statements<'_>) -> Result<()> {
        statements(self)
    }
}

impl Rows for Model {
    fn select(&mut self, account: u64) -> Result<Account> {
        Ok(self.0[account as usize].clone())
    }

    fn add_money(&mut self, account: u64, amount: i64) -> Result<()> {
        self.0[account as usize].money += amount;
        Ok(())
    }

    fn turn_address(&mut self, account: u64) -> Result<()> {
        let address = &mut self.0[account as usize].address;
        let first = address.remove(0);
        address.push(first);
        Ok(())
    }
}

/// All rows of a store that is opened again.
fn rows(store: &StoreArgs) -> Vec<Account> {
    let mut found = Vec::new();
    let mut read = |ledger: &mut dyn Store| {
        ledger
            .transaction(&mut |rows| {
                (0..WORKLOAD.rows).try_for_each(|account| {
                    found.push(rows.select(account)?);
                    Ok(())
                })
            })
            .unwrap();
    };
    match store.kind {
        Kind::BTree => {
            let connection = tree::open(store).unwrap();
            read(&mut tree::Ledger::prepare(&connection).unwrap());
        }
        Kind::Hash => read(&mut hash::Table::open(store, WORKLOAD.rows).unwrap()),
        Kind::CopyOnWrite => read(&mut copy_on_write::Ledger::open(store).unwrap()),
    }
    found
}

/// The rows after the workload, which is played on a copy beside `made`.
fn played(kind: Kind, made: &Path, cache: u64) -> Vec<Account> {
    let path = made.with_file_name("copy");
    copies::copy(made, &path).unwrap();
    let application_cache = ApplicationCache::Pages(cache);
    let store = StoreArgs { kind, path, page_bytes: PAGE_BYTES, application_cache };
    store.play(&WORKLOAD, &mut |_, _| ()).unwrap();
    rows(&store)
}

#[test]
fn every_store_holds_what_a_table_in_memory_holds() {
    let mut model = Model::new();
    WORKLOAD.play(&mut model, &mut |_, _| ()).unwrap();
    assert_ne!(model.0, Model::new().0);
    for kind in Kind::ALL {
        let folder = tempfile::tempdir().unwrap();
        let made = folder.path().join("made");
        kind.make(&made, PAGE_BYTES, WORKLOAD.rows, &mut |_, _| ()).unwrap();
        assert!(copies::bytes_on_device(&made).unwrap() > 100_000);
        for cache in [0, 7, 1000] {
            assert!(played(kind, &made, cache) == model.0, "{kind:?}, a cache of {cache} pages");
        }
    }
}
