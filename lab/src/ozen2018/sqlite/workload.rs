//! The statements of his script: batches of selects and updates of accounts that are drawn
//! uniformly from a seed, for every store. His 90, 66 or 10 is the bound of a draw from 0 to 100
//! inclusive. Seven tenths of the rest change money, the others an address.
//!
//! Every update changes its row, since SQLite does not write unchanged rows. Every value keeps its
//! width, so the row stays in its place. The next recording finds the store as good as new.

use anyhow::{Result, ensure};
use seekless::device::SplitMix64;

/// Statements of a transaction.
const BATCH: u64 = 10_000;
/// The first balance of an account. SQLite stores it, and every balance after updates, in three
/// bytes.
pub(super) const MONEY: i64 = 1_000_000;

/// A sequence of statements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::Args)]
pub(crate) struct Workload {
    #[arg(long)]
    pub(super) rows: u64,
    #[arg(long)]
    pub(super) statements: u64,
    #[arg(long)]
    pub(super) reads_percent: u64,
    #[arg(long)]
    pub(super) seed: u64,
}

/// A row of the table, without its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) name: String,
    pub(super) address: String,
    pub(super) money: i64,
}

/// Runs the statements of a transaction.
pub(super) type Statements<'a> = &'a mut dyn FnMut(&mut dyn Rows) -> Result<()>;

/// A store of accounts.
pub(super) trait Store {
    /// Begins a transaction, runs its statements and commits.
    fn transaction(&mut self, statements: Statements<'_>) -> Result<()>;
}

/// The accounts within a transaction.
pub(super) trait Rows {
    fn select(&mut self, account: u64) -> Result<Account>;
    fn add_money(&mut self, account: u64, amount: i64) -> Result<()>;
    /// Moves the address's first letter to its end.
    fn turn_address(&mut self, account: u64) -> Result<()>;
}

impl Workload {
    /// Runs all statements. Calls `progress` with the number of finished statements and of all.
    pub(super) fn play(
        &self,
        store: &mut dyn Store,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<()> {
        let mut random = SplitMix64::new(self.seed);
        let mut done = 0;
        while done < self.statements {
            let end = self.statements.min(done + BATCH);
            store.transaction(&mut |rows| {
                (done..end).try_for_each(|_| self.statement(&mut random, rows))
            })?;
            done = end;
            progress(done, self.statements);
        }
        Ok(())
    }

    /// Runs one statement. A selected row must be the account's.
    fn statement(&self, random: &mut SplitMix64, rows: &mut dyn Rows) -> Result<()> {
        let money_below = self.reads_percent + (100 - self.reads_percent) * 7 / 10;
        let kind = random.below(101);
        let account = between(random, 1, self.rows);
        if kind < self.reads_percent {
            let found = rows.select(account)?.name;
            ensure!(found == name(account), "account {account} has the name {found:?}");
            Ok(())
        } else if kind < money_below {
            rows.add_money(account, between(random, 1, 10) as i64)
        } else {
            rows.turn_address(account)
        }
    }
}

/// The holder of an account, 18 bytes.
pub(super) fn name(account: u64) -> String {
    format!("account {account:010}")
}

/// 28 bytes.
pub(super) fn address(house: u64) -> String {
    format!("{house:05} Long Street, Longville")
}

/// A number from `start` up to and without `end`.
fn between(random: &mut SplitMix64, start: u64, end: u64) -> u64 {
    start + random.below(end - start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, PartialEq, Eq, Debug)]
    struct Counts {
        selects: u64,
        money: u64,
        addresses: u64,
        batches: u64,
        sum: u64,
    }

    impl Store for Counts {
        fn transaction(&mut self, statements: Statements<'_>) -> Result<()> {
            self.batches += 1;
            statements(self)
        }
    }

    impl Rows for Counts {
        fn select(&mut self, account: u64) -> Result<Account> {
            self.selects += 1;
            self.sum += account;
            Ok(Account { name: name(account), address: address(0), money: MONEY })
        }
        fn add_money(&mut self, account: u64, amount: i64) -> Result<()> {
            assert!((1..10).contains(&amount) && (1..500).contains(&account));
            self.money += 1;
            Ok(())
        }
        fn turn_address(&mut self, _: u64) -> Result<()> {
            self.addresses += 1;
            Ok(())
        }
    }

    fn played(seed: u64, reads_percent: u64) -> Counts {
        let mut counts = Counts::default();
        let workload = Workload { rows: 500, statements: 25_000, reads_percent, seed };
        workload.play(&mut counts, &mut |_, _| ()).unwrap();
        counts
    }

    #[test]
    fn the_mix_is_his() {
        let counts = played(1, 66);
        let share = |part: u64| part as f64 / 25_000.0;
        assert!((share(counts.selects) - 66.0 / 101.0).abs() < 0.01);
        assert!((share(counts.money) - 23.0 / 101.0).abs() < 0.01);
        assert!((share(counts.addresses) - 12.0 / 101.0).abs() < 0.01);
        assert_eq!(counts.batches, 3, "the last is shorter");
    }

    #[test]
    fn the_seed_decides() {
        assert_eq!(played(7, 90), played(7, 90));
        assert_ne!(played(7, 90), played(8, 90));
    }
}
