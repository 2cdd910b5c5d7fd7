//! The device table (Van Meter and Gao 2000, section 4.1). Each storage level or device has a row:
//! its latency to the first byte, and its bandwidth from then on. A disk may have a row of zones.
//! Pure: other crates read and write the files that hold tables.

mod preset;
mod refine;
mod row;

pub use row::{Origin, Row, Zone};

use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Rows by name: `memory`, a kind of device, or the name under which one device was measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Table {
    rows: BTreeMap<String, Row>,
}

impl Table {
    /// The name of the row for the page cache.
    pub const MEMORY: &'static str = "memory";
    /// The name of the row for a device without moving parts that was never measured.
    pub const FLASH: &'static str = "flash";
    /// The name of the row for a spinning disk that was never measured.
    pub const DISK: &'static str = "disk";
    /// The name of the row for a virtual or unknown disk that was never measured. Anything may lie
    /// behind it.
    pub const VIRTUAL: &'static str = "virtual";
    /// The name of the row for a mount over a network that was never measured: a guess that must
    /// not be relied on.
    pub const NETWORK: &'static str = "network";
    /// The name of the row for what is recalled from an archive, if the user does not say how long
    /// that takes.
    pub const ARCHIVE: &'static str = "archive";

    /// The row of that name.
    #[must_use]
    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows.get(name)
    }

    /// The row of that name, to refine it.
    pub fn row_mut(&mut self, name: &str) -> Option<&mut Row> {
        self.rows.get_mut(name)
    }

    /// Puts a row in, in place of the one of that name.
    pub fn insert(&mut self, name: impl Into<String>, row: Row) -> Option<Row> {
        self.rows.insert(name.into(), row)
    }

    /// Takes a row out.
    pub fn remove(&mut self, name: &str) -> Option<Row> {
        self.rows.remove(name)
    }

    /// All rows, by name.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &Row)> {
        self.rows.iter().map(|(name, row)| (name.as_str(), row))
    }

    /// Puts all rows of another table in: where both have one, the other's holds.
    pub fn overlay(&mut self, other: Table) {
        self.rows.extend(other.rows);
    }

    /// Whether every row makes sense; see [`Row::check`]. Tables read from text need this, those
    /// made here do not.
    ///
    /// # Errors
    /// The first row that does not, by its name.
    pub fn check(&self) -> Result<(), Error> {
        self.rows.iter().try_for_each(|(name, row)| row.check(name))
    }
}

#[cfg(test)]
mod tests;
