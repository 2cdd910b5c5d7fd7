//! Section 4.2 and figure 2 on the model of the paper's disk: what each technique brings, and what
//! the size of blocks does. The paper's archive was made for its trace, as the order "own" is here.
//! Its loose files lay on a disk in use. Its processor decodes 94.5 MB/s, more than its disk
//! brings.

use super::game::{CODED_PERCENT, Game, How, ORDERS};
use super::tables;
use crate::data::ZeroAd;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::report::{Drawing, table};
use seekless::tools::device::named;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;

const DISK: &str = "deskstar-7k250";
const MB: f64 = 1e6;

/// The paper's cache.
const CACHE_BYTES: u64 = 10_000_000;

/// Blocks in KiB, and the paper's MB/s (figure 2).
const BLOCKS: [(u64, Option<f64>); 9] = [
    (4, Some(23.7)),
    (8, None),
    (16, Some(27.2)),
    (32, Some(29.3)),
    (64, Some(29.1)),
    (128, Some(23.3)),
    (256, None),
    (512, None),
    (1024, None),
];

/// One technique: MB of content a second from each order, over all starts.
#[derive(Serialize)]
pub(crate) struct Row {
    technique: String,
    /// KiB of a block, where the technique has blocks and figure 2 shows it.
    block_kib: Option<u64>,
    /// In the order of name, recent, best, own; one figure alone where no order matters.
    megabytes_per_second: Vec<f64>,
    paper: Option<f64>,
}

pub(crate) fn measure(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Row>> {
    let device = named(DISK)?;
    let game = Game::read(zero_ad, &device)?;
    let megabytes = game.loaded_bytes() as f64 / MB;
    let row =
        |technique: &str, block_kib: Option<u64>, seconds: Vec<f64>, paper: Option<f64>| Row {
            technique: technique.to_owned(),
            block_kib,
            megabytes_per_second: seconds.into_iter().map(|seconds| megabytes / seconds).collect(),
            paper,
        };
    let mut rows = Vec::new();
    for (technique, at_once, paper) in
        [("loose files, one after another", 1, 2.96), ("loose files, several at once", 8, 2.62)]
    {
        rows.push(row(technique, None, vec![game.loose(at_once, &device)], Some(paper)));
    }
    for (technique, percent, paper) in [
        ("archive, stored, blocks of 16 KiB", 100, 22.2),
        ("archive, compressed, blocks of 16 KiB", CODED_PERCENT, 27.2),
    ] {
        rows.push(row(technique, None, game.blocks(16 << 10, percent, &device), Some(paper)));
    }
    for (kib, paper) in BLOCKS {
        let seconds = game.blocks(kib << 10, CODED_PERCENT, &device);
        rows.push(row(&format!("blocks of {kib} KiB"), Some(kib), seconds, paper));
    }
    for (technique, list_known) in
        [("our store, on demand", false), ("our store, list known", true)]
    {
        let how = How { list_known, cache_bytes: CACHE_BYTES, percent: CODED_PERCENT };
        rows.push(row(technique, None, game.store(how, &device)?, None));
    }
    Ok(rows)
}

pub(crate) fn words(rows: &[Row]) -> String {
    let header = ["MB of content a second", "name", "recent", "best", "own order", "paper"];
    let cells = rows.iter().map(|row| {
        let mut cells = vec![row.technique.clone()];
        let rate = |at: usize| {
            let rate = row.megabytes_per_second.get(at);
            rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.2}"))
        };
        cells.extend((0..ORDERS.len()).map(rate));
        cells.push(row.paper.map_or_else(|| "-".to_owned(), |paper| paper.to_string()));
        cells
    });
    format!(
        "Throughput by technique (4.2, figure 2): the model of the paper's disk, five starts, each from orders of all 36,266\n\
         files made without it; own: the start's own order first, as the paper's archive was made for its trace. Loose files\n\
         lie as a fresh copy by name. Compressed: to {CODED_PERCENT} % of each file; decoding is not charged.\n\n{}",
        table(&header, cells.collect())
    )
}

/// Techniques, and figure 2: content a second from each order, and in the paper.
pub(crate) fn tables(rows: &[Row]) -> Vec<Table> {
    let table = |id, title, cases| {
        Table::new(id, title, cases, "MB/s", Better::Neither)
            .contenders(tables::orders())
            .contenders([Contender::rival("the start's own order"), Contender::rival("the paper")])
            .under(&format!(
                "{} The model of the paper's disk; compressed to {CODED_PERCENT} % of each file.",
                tables::HELD_OUT
            ))
    };
    let title = "Content a second on the model of the paper's disk, by technique";
    let mut techniques = table("techniques", title, "technique");
    let title = "The same from archives in blocks, compressed";
    let mut blocks = table("blocks", title, "KiB of a block");
    for row in rows {
        let (table, case) = match row.block_kib {
            Some(kib) => (&mut blocks, kib.to_string()),
            None => (&mut techniques, row.technique.clone()),
        };
        for (order, &rate) in ORDERS.iter().zip(&row.megabytes_per_second) {
            let order = if *order == "own" { "the start's own order" } else { order };
            table.set(&case, order, Figure::exact(rate));
        }
        table.set(&case, "the paper", Figure::exact(row.paper.unwrap_or(f64::NAN)));
        if let Some(kib) = row.block_kib {
            table.place(&case, kib as f64);
        }
    }
    vec![techniques, blocks]
}

/// Figure 2, with the paper's points.
pub(crate) fn picture(rows: &[Row]) -> Drawing {
    let point = |kib: u64, rate: f64| LinePoint::exact((kib << 10) as f64, rate * MB);
    let blocks = || rows.iter().filter_map(|row| Some((row.block_kib?, row)));
    let mut series = vec![Series {
        name: "the paper".to_owned(),
        points: blocks().filter_map(|(kib, row)| Some(point(kib, row.paper?))).collect(),
    }];
    for (at, order) in ORDERS.iter().enumerate().rev() {
        let points = blocks().map(|(kib, row)| point(kib, row.megabytes_per_second[at]));
        series.push(Series { name: format!("{order} order"), points: points.collect() });
    }
    LineChart {
        title: "Effect of block size on throughput".to_owned(),
        x: Axis::log("block size", Unit::Bytes),
        y: Axis::linear("content a second", Unit::Bytes),
        series,
        caption: "Wassenberg 2006, figure 2, on the model of its disk: five starts of 0 A.D. A26 from an archive of all \
                  files, ordered without the start but for \"own\"."
            .to_owned(),
    }
    .draw()
}
