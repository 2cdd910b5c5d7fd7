//! Tables that need no measurement: what is assumed of devices that were not measured, and the
//! tables of the paper.

use super::{Origin, Row, Table};

const MS: u64 = 1_000_000;

fn table(origin: Origin, rows: &[(&str, u64, u64)]) -> Table {
    let mut table = Table::default();
    for &(name, latency_ns, bytes_per_second) in rows {
        table.insert(name, Row::new(origin, latency_ns, bytes_per_second));
    }
    table
}

impl Table {
    /// What is assumed until `seekless probe` has measured. The rows are a page of memory through
    /// `pread`, a flash drive behind SATA, a disk of 7200 revolutions, a cloud volume, a share in
    /// the same building, and a tape robot.
    #[must_use]
    pub fn assumed() -> Table {
        let rows = [
            (Table::MEMORY, 1_000, 4_000_000_000),
            (Table::FLASH, 100_000, 500_000_000),
            (Table::DISK, 12 * MS, 150_000_000),
            (Table::VIRTUAL, 2 * MS, 200_000_000),
            (Table::NETWORK, 20 * MS, 20_000_000),
            (Table::ARCHIVE, 60_000 * MS, 100_000_000),
        ];
        table(Origin::Assumed, &rows)
    }

    /// Table 2 of Van Meter and Gao 2000: the levels on which the Unix utilities were measured.
    #[must_use]
    pub fn paper() -> Table {
        let rows = [
            (Table::MEMORY, 175, 48_000_000),
            (Table::DISK, 18 * MS, 9_000_000),
            ("cd-rom", 130 * MS, 2_800_000),
            ("nfs", 270 * MS, 1_000_000),
        ];
        table(Origin::Given, &rows)
    }

    /// Table 3 of the same: the levels on which the astronomers' programs were measured.
    #[must_use]
    pub fn paper_lheasoft() -> Table {
        let rows = [(Table::MEMORY, 210, 87_000_000), (Table::DISK, 16_500_000, 7_000_000)];
        table(Origin::Given, &rows)
    }
}
