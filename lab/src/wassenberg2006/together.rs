//! Section 5.3, the paper's proposal: small files that share a read unit, and follow one another in
//! the archive, leave the cache together. Each start with all its loads, on demand, from orders
//! made without it.

use super::game::{Game, ORDERS};
use super::tables;
use crate::data::ZeroAd;
use seekless::report::table;
use seekless::sim::store::StoreFigures;
use seekless::tools::device::named;
use seekless_results::{Better, Figure, Table};
use serde::Serialize;

const DEVICE: &str = "iops=500,bandwidth=150MB/s";

/// The paper's cache, and that of a store that was told none.
const CACHES: [u64; 2] = [10_000_000, 64_000_000];

/// Files leave alone; units of the paper's blocks, and of a quarter of a read.
const UNITS: [Option<u64>; 3] = [None, Some(32 << 10), Some(256 << 10)];

/// One cache, unit and order: sums over the starts.
#[derive(Serialize)]
pub(crate) struct Row {
    order: &'static str,
    cache_bytes: u64,
    unit_bytes: Option<u64>,
    loads: u64,
    hits: u64,
    read_ahead_hits: u64,
    requests: u64,
    bytes: u64,
    time_ns: u64,
}

pub(crate) fn measure(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Row>> {
    let device = named(DEVICE)?;
    let game = Game::read(zero_ad, &device)?;
    let mut rows = Vec::new();
    for cache_bytes in CACHES {
        for unit_bytes in UNITS {
            for (number, order) in ORDERS.into_iter().enumerate().take(3) {
                let starts = game.all_loads(number, cache_bytes, unit_bytes, &device)?;
                let sum = |of: fn(&StoreFigures) -> u64| starts.iter().map(of).sum();
                rows.push(Row {
                    order,
                    cache_bytes,
                    unit_bytes,
                    loads: sum(|start| start.loads),
                    hits: sum(|start| start.hits),
                    read_ahead_hits: sum(|start| start.read_ahead_hits),
                    requests: sum(|start| start.requests),
                    bytes: sum(|start| start.bytes),
                    time_ns: sum(|start| start.time_ns),
                });
            }
        }
    }
    Ok(rows)
}

/// Requests by cache, unit and order.
pub(crate) fn requests(rows: &[Row]) -> Table {
    let title = "Files that leave the cache together: requests of five starts on demand";
    let mut table = Table::new("together", title, "cache, files leave", "", Better::Lower)
        .contenders(tables::orders())
        .under(&format!("{} {DEVICE}; all loads.", tables::HELD_OUT));
    for row in rows {
        let how = match row.unit_bytes {
            Some(bytes) => format!("in units of {} KiB", bytes >> 10),
            None => "alone".to_owned(),
        };
        let case = format!("{} MB, {how}", row.cache_bytes / 1_000_000);
        table.set(&case, row.order, Figure::exact(row.requests as f64));
    }
    table
}

pub(crate) fn words(rows: &[Row]) -> String {
    let header = [
        "cache",
        "leave together",
        "order",
        "loads",
        "hits",
        "from kept reads",
        "requests",
        "MB",
        "time",
    ];
    let cells = rows.iter().map(|row| {
        let unit = |bytes: u64| format!("in units of {} KiB", bytes >> 10);
        vec![
            format!("{} MB", row.cache_bytes / 1_000_000),
            row.unit_bytes.map_or_else(|| "no".to_owned(), unit),
            row.order.to_owned(),
            row.loads.to_string(),
            row.hits.to_string(),
            row.read_ahead_hits.to_string(),
            row.requests.to_string(),
            (row.bytes / 1_000_000).to_string(),
            format!("{:.2} s", row.time_ns as f64 / 1e9),
        ]
    });
    format!(
        "Files that leave the cache together (5.3): all loads of five starts, on demand, each from orders of the other\n\
         four, on the model of {DEVICE}. The paper proposes it and has no figure.\n\n{}",
        table(&header, cells.collect())
    )
}
