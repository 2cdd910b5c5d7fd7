//! What each part of Seekless adds to the one before, on the volumes of the README: the archive,
//! reading around a demand, compression, the list of loads. Beside each the orders, since the order
//! is a part too.

use super::game::{Coded, Game, How, ORDERS};
use super::tables;
use crate::data::ZeroAd;
use seekless::report::table;
use seekless::tools::device::named;
use seekless_results::{Better, Figure, Table};
use serde::Serialize;

const DEVICES: [&str; 2] = ["iops=500,bandwidth=150MB/s", "iops=120,bandwidth=150MB/s"];

/// The cache of a store that was told none.
const CACHE_BYTES: u64 = 64_000_000;

/// Each part with those before it.
const PARTS: [(&str, How); 4] = [
    (
        "archive, each file by itself",
        How { list_known: false, cache_bytes: 0, coded: Coded::STORED },
    ),
    (
        "and read around a demand",
        How { list_known: false, cache_bytes: CACHE_BYTES, coded: Coded::STORED },
    ),
    ("and compressed", How { list_known: false, cache_bytes: CACHE_BYTES, coded: Coded::AT_ONCE }),
    (
        "and the list known",
        How { list_known: true, cache_bytes: CACHE_BYTES, coded: Coded::AT_ONCE },
    ),
];

/// One part on one device.
#[derive(Serialize)]
pub(crate) struct Row {
    device: &'static str,
    part: &'static str,
    /// Mean of the starts, from the order of names, the newest run's, and the best; one figure
    /// for the loose files.
    seconds: Vec<f64>,
    /// How many times as fast as the loose files.
    faster: Vec<f64>,
}

pub(crate) fn measure(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for name in DEVICES {
        let device = named(name)?;
        let game = Game::read(zero_ad, &device)?;
        let starts = game.starts.len().max(1) as f64;
        let loose = game.loose(1, &device) / starts;
        let row = |part, seconds: Vec<f64>| {
            let faster = seconds.iter().map(|seconds| loose / seconds).collect();
            Row { device: name, part, seconds, faster }
        };
        rows.push(row("loose files", vec![loose]));
        for (part, how) in PARTS {
            let seconds = game.store(how, &device)?;
            rows.push(row(part, seconds[..3].iter().map(|all| all / starts).collect()));
        }
    }
    Ok(rows)
}

/// How many times as fast as loose files each part makes a start.
pub(crate) fn times(rows: &[Row]) -> Table {
    let title = "What each part adds to those before it: times as fast as loose files";
    let mut table = Table::new("parts", title, "volume, part", "×", Better::Higher)
        .contenders(tables::orders())
        .under(tables::HELD_OUT);
    // Loose files have one figure, whatever the order.
    for row in rows.iter().filter(|row| row.faster.len() > 1) {
        let case = format!(
            "{}: {}",
            row.device.replace("iops=", "").replace(",bandwidth=", " requests/s, "),
            row.part
        );
        for (order, &times) in ORDERS.iter().zip(&row.faster) {
            table.set(&case, order, Figure::exact(times));
        }
    }
    table
}

pub(crate) fn words(rows: &[Row]) -> String {
    let mut header = vec!["device", "part"];
    header.extend(&ORDERS[..3]);
    let cells = rows.iter().map(|row| {
        let figure = |at: usize| match (row.seconds.get(at), row.faster.get(at)) {
            (Some(seconds), Some(faster)) => format!("{seconds:.2} s, {faster:.1}×"),
            _ => "-".to_owned(),
        };
        let mut cells = vec![row.device.to_owned(), row.part.to_owned()];
        cells.extend((0..3).map(figure));
        cells
    });
    format!(
        "What each part adds to those before it: five starts, each from orders of all files made without it, mean; the\n\
         volume's model; decoding is not charged. Times: as fast as the loose files, which lie as a fresh copy by name does.\n\n{}",
        table(&header, cells.collect())
    )
}
