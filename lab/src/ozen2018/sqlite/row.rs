//! A row as the stores keep it that know nothing of columns: 54 bytes beside the account's number.
//!
//! ```text
//! name, 18 bytes | address, 28 bytes | money i64, little-endian
//! ```

use super::workload::{Account, MONEY, address, name};
use anyhow::{Result, ensure};
use std::ops::Range;

pub(super) const ROW_BYTES: usize = 54;
const NAME: Range<usize> = 0..18;
const ADDRESS: Range<usize> = 18..46;
const BALANCE: Range<usize> = 46..54;

/// The first state of a row.
pub(super) fn new(account: u64) -> [u8; ROW_BYTES] {
    let mut row = [0; ROW_BYTES];
    row[NAME].copy_from_slice(name(account).as_bytes());
    row[ADDRESS].copy_from_slice(address(account % 100_000).as_bytes());
    row[BALANCE].copy_from_slice(&MONEY.to_le_bytes());
    row
}

/// Takes a row apart.
pub(super) fn read(row: &[u8]) -> Result<Account> {
    ensure!(row.len() == ROW_BYTES, "a row of {} bytes", row.len());
    let text = |part: Range<usize>| String::from_utf8(row[part].to_vec());
    Ok(Account { name: text(NAME)?, address: text(ADDRESS)?, money: money(row) })
}

pub(super) fn add_money(row: &mut [u8], amount: i64) {
    let balance = money(row) + amount;
    row[BALANCE].copy_from_slice(&balance.to_le_bytes());
}

pub(super) fn turn_address(row: &mut [u8]) {
    row[ADDRESS].rotate_left(1);
}

fn money(row: &[u8]) -> i64 {
    let mut bytes = [0; 8];
    bytes.copy_from_slice(&row[BALANCE]);
    i64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_as_it_was_made_and_changed() {
        let mut row = new(7);
        add_money(&mut row, 5);
        turn_address(&mut row);
        let account = read(&row).unwrap();
        assert_eq!(account.name, name(7));
        assert_eq!(account.address, "0007 Long Street, Longville0");
        assert_eq!(account.money, MONEY + 5);
        assert!(read(&row[1..]).is_err());
    }
}
