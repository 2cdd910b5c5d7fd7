//! Section 4.2 and figure 2 on the model of the paper's disk: what each technique brings, and what
//! the size of blocks does. The paper's archive was made for its trace, as the order "own" is here.
//! Its loose files lay on a disk in use. Its processor decodes 94.5 MB/s, more than its disk
//! brings.

use super::game::{CODED_PERCENT, Coded, Game, How, ORDERS};
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
    for (technique, coded, paper) in [
        ("archive, stored, blocks of 16 KiB", Coded::STORED, 22.2),
        ("archive, compressed, blocks of 16 KiB", Coded::PAPER, 27.2),
    ] {
        rows.push(row(technique, None, game.blocks(16 << 10, coded, &device), Some(paper)));
    }
    for (kib, paper) in BLOCKS {
        let seconds = game.blocks(kib << 10, Coded::PAPER, &device);
        rows.push(row(&format!("blocks of {kib} KiB"), Some(kib), seconds, paper));
    }
    for (technique, list_known) in
        [("our store, on demand", false), ("our store, list known", true)]
    {
        let how = How { list_known, cache_bytes: CACHE_BYTES, coded: Coded::PAPER };
        rows.push(row(technique, None, game.store(how, &device)?, None));
    }
    Ok(rows)
}

impl Row {
    /// From the start's own order. Loose files lie in one way alone.
    fn own(&self) -> f64 {
        self.megabytes_per_second.last().copied().unwrap_or(f64::NAN)
    }

    /// From each order that was made without the start, by its name.
    fn held_out(&self) -> impl Iterator<Item = (&'static str, f64)> {
        ORDERS[..3].iter().copied().zip(self.megabytes_per_second.iter().copied())
    }
}

/// From the start's own order by this technique, which is one of [`measure`]'s.
pub(super) fn own(rows: &[Row], technique: &str) -> f64 {
    rows.iter().find(|row| row.technique == technique).map_or(f64::NAN, Row::own)
}

pub(crate) fn words(rows: &[Row]) -> String {
    let rate = |rate: f64| format!("{rate:.2}");
    let beside = rows.iter().map(|row| {
        let paper = row.paper.map_or_else(|| "-".to_owned(), |paper| paper.to_string());
        vec![row.technique.clone(), rate(row.own()), paper]
    });
    let archives = rows.iter().filter(|row| row.megabytes_per_second.len() == ORDERS.len());
    let held_out = archives.map(|row| {
        let rates = row.held_out().map(|(_, megabytes)| rate(megabytes));
        std::iter::once(row.technique.clone()).chain(rates).collect()
    });
    format!(
        "Throughput by technique (4.2, figure 2): the paper's disk by its data sheet (deskstar-7k250), nothing of it fitted;\n\
         five starts, each from an archive in its own order, as the paper's was made for its trace. Loose files lie as a fresh copy by name. Compressed: to {CODED_PERCENT} % of each\n\
         file, decoded at the paper's 94.5 MB/s while the next blocks are read.\n\n{}\n\
         The model serves one request at a time, in order, so several loose files at once gain nothing; the paper lost by it.\n\
         It takes less for each block than the paper's disk and system did, and nothing in it splits transfers above 64 KiB,\n\
         which is the paper's guess at what makes its large blocks slower.\n\n\
         The same from orders of all 36,266 files that were made without the start\n\n{}",
        table(&["MB of content a second", "own order", "paper"], beside.collect()),
        table(&["MB of content a second", "name", "recent", "best"], held_out.collect())
    )
}

/// Techniques, and figure 2: content a second as in the paper, and from orders made without the
/// start.
pub(crate) fn tables(rows: &[Row]) -> Vec<Table> {
    let table = |id, title: &str, cases, under: &str| {
        Table::new(id, title, cases, "MB/s", Better::Neither).under(&format!(
            "{under} The model of the paper's disk; compressed to {CODED_PERCENT} % of each file, decoded at 94.5 MB/s."
        ))
    };
    let as_paper = |id, title: &str, cases| {
        let under = "Simulated; five starts of 0 A.D., each from an archive in its own order.";
        table(id, title, cases, under)
            .contenders([Contender::ours("the start's own order"), Contender::rival("the paper")])
    };
    let apart = |id, title: &str, cases| {
        let title = format!("{title}, held out");
        table(id, &title, cases, tables::HELD_OUT).contenders(tables::orders())
    };
    let (technique, block) = ("technique", "KiB of a block");
    let title = "Content a second on the paper's disk, by technique";
    let (mut techniques, mut apart_techniques) =
        (as_paper("techniques", title, technique), apart("techniques-apart", title, technique));
    let title = "Content a second from archives in blocks, compressed";
    let (mut blocks, mut apart_blocks) =
        (as_paper("blocks", title, block), apart("blocks-apart", title, block));
    for row in rows {
        let (beside, apart, case) = match row.block_kib {
            Some(kib) => (&mut blocks, &mut apart_blocks, kib.to_string()),
            None => (&mut techniques, &mut apart_techniques, row.technique.clone()),
        };
        beside.set(&case, "the start's own order", Figure::exact(row.own()));
        beside.set(&case, "the paper", Figure::exact(row.paper.unwrap_or(f64::NAN)));
        if row.megabytes_per_second.len() == ORDERS.len() {
            row.held_out().for_each(|(order, rate)| apart.set(&case, order, Figure::exact(rate)));
        }
        if let Some(kib) = row.block_kib {
            beside.place(&case, kib as f64);
            apart.place(&case, kib as f64);
        }
    }
    vec![techniques, blocks, apart_techniques, apart_blocks]
}

/// Figure 2, with the paper's points.
pub(crate) fn picture(rows: &[Row]) -> Drawing {
    let point = |kib: u64, rate: f64| LinePoint::exact((kib << 10) as f64, rate * MB);
    let blocks = || rows.iter().filter_map(|row| Some((row.block_kib?, row)));
    let mut series = vec![Series {
        name: "the paper".to_owned(),
        points: blocks().filter_map(|(kib, row)| Some(point(kib, row.paper?))).collect(),
    }];
    let own = blocks().map(|(kib, row)| point(kib, row.own()));
    series.push(Series { name: "ours".to_owned(), points: own.collect() });
    LineChart {
        title: "Effect of block size on throughput".to_owned(),
        x: Axis::log("block size", Unit::Bytes),
        y: Axis::linear("content a second", Unit::Bytes),
        series,
        caption: "Wassenberg 2006, figure 2, on the model of its disk: five starts of 0 A.D. A26, each from an archive \
                  of all files in its own order."
            .to_owned(),
    }
    .draw()
}
