//! Figs. 9 and 10: a sequence of 100 MB with random pages among it.

use super::method::{MIB, NEW, OLD, SEED, both, case, rate, rules, simulate};
use super::{Scale, disk, paper};
use seekless::device::Io;
use seekless::report::table;
use seekless::sim::timed::{self, patterns};
use serde::Serialize;

/// One of the ten sequences.
#[derive(Serialize)]
pub(super) struct Row {
    /// MB of random pages for 100 MB of the sequence.
    pub(super) random_mb: u64,
    pub(super) old_mb_per_second: f64,
    pub(super) new_mb_per_second: f64,
}

impl Row {
    /// How much faster the new algorithm is, in percent.
    pub(super) fn gain(&self) -> f64 {
        100.0 * (self.new_mb_per_second / self.old_mb_per_second - 1.0)
    }
}

/// Each row is the mean of this many interleavings: one alone may be off by a few percent.
const INTERLEAVINGS: u64 = 5;

pub(super) fn figure_9(scale: &Scale) -> anyhow::Result<Vec<Row>> {
    let disk = disk::off()?;
    let row = |random_mb: u64| {
        let bytes = random_mb * (scale.file_bytes / 100);
        let mut row = Row { random_mb, old_mb_per_second: 0.0, new_mb_per_second: 0.0 };
        for seed in 0..INTERLEAVINGS {
            let workload = patterns::disturbed(scale.file_bytes, bytes, SEED + seed);
            let figures = simulate(&workload, &both(), &rules(), &disk)?;
            row.old_mb_per_second += rate(&figures[0]) / INTERLEAVINGS as f64;
            row.new_mb_per_second += rate(&figures[1]) / INTERLEAVINGS as f64;
        }
        Ok(row)
    };
    (1..=10).map(row).collect()
}

/// The first 1,600 pages of the first sequence, as an algorithm asks for them.
#[derive(Serialize)]
pub(super) struct Sequence {
    pub(super) algorithm: &'static str,
    /// First page and pages of each read of the device.
    pub(super) reads: Vec<(u64, u64)>,
}

const PAGE_BYTES: u64 = timed::PAGE_BYTES;
/// The pages that Fig. 10 shows.
const SHOWN_PAGES: u64 = 1600;

pub(super) fn figure_10(scale: &Scale) -> anyhow::Result<[Sequence; 2]> {
    let workload = patterns::disturbed(scale.file_bytes, scale.file_bytes / 100, SEED);
    let sequence = |algorithm: &'static str| {
        let mut noting = disk::Noting::new(disk::model(&disk::off()?)?);
        timed::simulate(&workload, &case(algorithm, MIB), &rules(), &mut noting)?;
        let pages = |(_, io): &(_, Io)| (io.offset / PAGE_BYTES, io.bytes / PAGE_BYTES);
        let reads = noting.ios.iter().map(pages).filter(|&(first, _)| first < SHOWN_PAGES);
        anyhow::Ok(Sequence { algorithm, reads: reads.collect() })
    };
    Ok([sequence(OLD)?, sequence(NEW)?])
}

pub(super) fn words(rows: &[Row], sequences: &[Sequence]) -> String {
    let header = ["random MB", "old MB/s", "paper", "new MB/s", "paper", "gain", "paper"];
    let row = |row: &Row| {
        let paper = paper::disturbed(row.random_mb);
        let number = |figure: fn(paper::Both) -> f64| {
            paper.map_or("-".to_owned(), |both| format!("{:.2}", figure(both)))
        };
        let gain = |both: paper::Both| format!("{:+.1} %", 100.0 * (both.new / both.old - 1.0));
        vec![
            row.random_mb.to_string(),
            format!("{:.2}", row.old_mb_per_second),
            number(|both| both.old),
            format!("{:.2}", row.new_mb_per_second),
            number(|both| both.new),
            format!("{:+.1} %", row.gain()),
            paper.map_or("-".to_owned(), gain),
        ]
    };
    let shown = |sequence: &Sequence| {
        let pages: u64 = sequence.reads.iter().map(|&(_, pages)| pages).sum();
        format!(
            "  {}: {} reads of {:.1} pages\n",
            sequence.algorithm,
            sequence.reads.len(),
            pages as f64 / sequence.reads.len().max(1) as f64
        )
    };
    format!(
        "Fig. 9: 100 MB in sequence, and random pages among them; the disk's own readahead off; \
         means of {INTERLEAVINGS} interleavings\n\n{}\nFig. 10: the reads of the \
         first 1,600 pages, 1 MB of random pages\n\n{}",
        table(&header, rows.iter().map(row).collect()),
        sequences.iter().map(shown).collect::<String>()
    )
}
