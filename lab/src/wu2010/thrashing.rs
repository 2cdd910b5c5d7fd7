//! Readahead thrashing: memory falls below what the windows of all streams need, so that pages are
//! evicted before their use and read again. The paper (section 2.4) names it and has no figures of
//! it. Ten streams with windows of 1 MiB want some 20 MiB.

use super::method::{MIB, NEW, OLD, SEED, case, rate, simulate};
use super::{Scale, beyond, disk};
use crate::claims::Claim;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::report::{Drawing, table};
use seekless::sim::timed::{TimedCase, TimedFigures, patterns};
use serde::Serialize;

/// Streams that are read at the same time.
const STREAMS: u64 = 10;
/// The memory, in MiB, from more than enough to a window for one stream.
const MEMORY_MIB: [u64; 8] = [64, 32, 24, 16, 12, 8, 4, 1];
/// The readaheads that are compared.
const READAHEADS: [&str; 4] = ["streams", OLD, NEW, "linux"];

/// One readahead in one size of memory.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) memory_mib: u64,
    pub(super) readahead: &'static str,
    /// Pages that were read ahead and evicted before their use.
    pub(super) wasted_pages: u64,
    /// Pages that the program reads, each once.
    pages: u64,
    pub(super) mb_per_second: f64,
}

/// Every readahead in every size of memory, largest first.
pub(super) fn measure(scale: &Scale) -> anyhow::Result<Vec<Row>> {
    let disk = disk::off()?;
    let workload = patterns::interleaved(STREAMS, scale.file_bytes / 5, u64::MAX, SEED);
    let cases: Vec<TimedCase> = MEMORY_MIB
        .iter()
        .flat_map(|memory| READAHEADS.map(|readahead| (memory * MIB, readahead)))
        .map(|(bytes, readahead)| TimedCase { capacity: Some(bytes), ..case(readahead, MIB) })
        .collect();
    let figures = simulate(&workload, &cases, &beyond::rules_beyond(), &disk)?;
    let names = MEMORY_MIB.iter().flat_map(|memory| READAHEADS.map(|name| (*memory, name)));
    let row = |((memory_mib, readahead), figures): (_, &TimedFigures)| Row {
        memory_mib,
        readahead,
        wasted_pages: figures.pages_evicted_unused,
        pages: figures.pages_demanded,
        mb_per_second: rate(figures),
    };
    Ok(names.zip(&figures).map(row).collect())
}

/// Ours wastes less than the paper's and Linux's wherever these waste anything.
pub(super) fn claims(rows: &[Row]) -> Vec<Claim> {
    let wasted = |readahead: &str, memory: u64| {
        let of = |row: &&Row| row.readahead == readahead && row.memory_mib == memory;
        rows.iter().find(of).map(|row| row.wasted_pages)
    };
    let judged = |rival: &str| {
        let at = |&memory: &u64| Some((wasted("streams", memory)?, wasted(rival, memory)?));
        let pairs: Vec<(u64, u64)> = MEMORY_MIB.iter().filter_map(at).collect();
        let ours = pairs.iter().map(|pair| pair.0).max()?;
        let theirs = pairs.iter().map(|pair| pair.1).max()?;
        let claim = format!("memory too small: pages that streams wastes, beside {rival}");
        let found = format!("{ours} and {theirs} at most");
        let holds = pairs.iter().all(|(ours, theirs)| ours <= theirs);
        Some(Claim::new(&claim, found, "no more at any size", holds))
    };
    [NEW, "linux"].into_iter().filter_map(judged).collect()
}

pub(super) fn words(rows: &[Row]) -> String {
    let header = ["memory, MiB", "readahead", "pages wasted", "of those read", "MB/s"];
    let row = |row: &Row| {
        vec![
            row.memory_mib.to_string(),
            row.readahead.to_owned(),
            row.wasted_pages.to_string(),
            format!("{:.1} %", 100.0 * row.wasted_pages as f64 / row.pages.max(1) as f64),
            format!("{:.2}", row.mb_per_second),
        ]
    };
    format!(
        "Thrashing: {STREAMS} interleaved streams in little memory, windows of at most 1 MiB; the disk's \
         own readahead off\n\n{}",
        table(&header, rows.iter().map(row).collect())
    )
}

pub(super) fn picture(rows: &[Row]) -> Drawing {
    let line = |name: &str| Series {
        name: name.to_owned(),
        points: rows
            .iter()
            .filter(|row| row.readahead == name)
            .map(|row| LinePoint::exact(row.memory_mib as f64, 1e6 * row.mb_per_second))
            .collect(),
    };
    LineChart {
        title: format!("Past Wu 2010: {STREAMS} interleaved streams in little memory"),
        x: Axis::log("MiB of memory", Unit::Count),
        y: Axis::log("bytes a second", Unit::Bytes),
        series: READAHEADS.map(line).into(),
        caption: "Simulated on the fitted disk; windows of at most 1 MiB.".to_owned(),
    }
    .draw()
}
