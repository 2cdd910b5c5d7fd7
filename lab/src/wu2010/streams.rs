//! Figs. 11 and 12: one to ten streams in one file, interleaved at random on one descriptor.

use super::method::{MIB, SEED, both, rate, rules, simulate};
use super::{Scale, disk, paper};
use seekless::device::DiskParameters;
use seekless::device::units::format_bytes;
use seekless::report::table;
use seekless::sim::timed::patterns;
use serde::Serialize;

/// So many streams.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) streams: u64,
    pub(super) old: f64,
    pub(super) new: f64,
}

impl Row {
    /// How many times as much the new algorithm reaches.
    pub(super) fn ratio(&self) -> f64 {
        self.new / self.old
    }
}

/// Fig. 11: MB/s.
pub(super) fn figure_11(scale: &Scale, disk: &DiskParameters) -> anyhow::Result<Vec<Row>> {
    scale.streams.iter().map(|&streams| throughput(scale, streams, disk)).collect()
}

fn throughput(scale: &Scale, streams: u64, disk: &DiskParameters) -> anyhow::Result<Row> {
    let workload = patterns::interleaved(streams, scale.file_bytes, u64::MAX, SEED + streams);
    let figures = simulate(&workload, &both(), &rules(), disk)?;
    Ok(Row { streams, old: rate(&figures[0]), new: rate(&figures[1]) })
}

/// Fig. 12: seconds that the program waits for the first 100 MB of its reads.
pub(super) fn figure_12(scale: &Scale) -> anyhow::Result<Vec<Row>> {
    let disk = disk::off()?;
    let row = |&streams: &u64| {
        let bytes = scale.file_bytes;
        let workload = patterns::interleaved(streams, bytes, bytes, SEED + streams);
        let figures = simulate(&workload, &both(), &rules(), &disk)?;
        Ok(Row { streams, old: figures[0].wait_seconds, new: figures[1].wait_seconds })
    };
    scale.streams.iter().map(row).collect()
}

/// The disk's own readahead with other segments.
#[derive(Serialize)]
pub(super) struct Segments {
    pub(super) segments: u32,
    pub(super) segment_bytes: u64,
    /// Times as fast at the largest number of streams.
    pub(super) row: Row,
}

pub(super) fn sweep(scale: &Scale) -> anyhow::Result<Vec<Segments>> {
    let streams = scale.streams.last().copied().unwrap_or(1);
    let of = |(segments, segment_bytes)| {
        let row = throughput(scale, streams, &disk::on(segments, segment_bytes)?)?;
        Ok(Segments { segments, segment_bytes, row })
    };
    let sizes = [
        (8, MIB),
        (8, 512 << 10),
        (8, 256 << 10),
        (16, 512 << 10),
        (16, 256 << 10),
        (32, 256 << 10),
    ];
    sizes.into_iter().map(of).collect()
}

/// What the paper has of the older and of the new algorithm, for this many streams.
type Printed = fn(u64) -> (Option<f64>, Option<f64>);

fn of_paper(rows: &[Row], printed: Printed) -> String {
    let header = ["streams", "old", "paper", "new", "paper", "times", "paper"];
    let number = |value: Option<f64>| value.map_or("-".to_owned(), |value| format!("{value:.2}"));
    let row = |row: &Row| {
        let (old, new) = printed(row.streams);
        let times = old.zip(new).map(|(old, new)| new / old);
        vec![
            row.streams.to_string(),
            format!("{:.2}", row.old),
            number(old),
            format!("{:.2}", row.new),
            number(new),
            format!("{:.2}", row.ratio()),
            number(times),
        ]
    };
    table(&header, rows.iter().map(row).collect())
}

pub(super) fn words_sheet(rows: &[Row]) -> String {
    format!(
        "Fig. 11 (b): interleaved streams, MB/s, on the paper's drive by its data sheet (t7k250). Nothing \
         of it is fitted.\n\n{}\nAll that follows is of disks that are fitted: wu-2010 to twelve numbers of the paper's Figs. 9, 11 and \
         12, and where its own readahead is on, wu-2010-cached to Fig. 11 (b).\n",
        of_paper(rows, paper::streams_disk_on)
    )
}

pub(super) fn words_11(off: &[Row], on: &[Row], sweep: &[Segments]) -> String {
    let header = ["segments", "of", "old MB/s", "new MB/s", "times"];
    let row = |one: &Segments| {
        vec![
            one.segments.to_string(),
            format_bytes(one.segment_bytes),
            format!("{:.2}", one.row.old),
            format!("{:.2}", one.row.new),
            format!("{:.2}", one.row.ratio()),
        ]
    };
    let streams = sweep.first().map_or(0, |one| one.row.streams);
    format!(
        "Fig. 11 (a): interleaved streams, MB/s; the disk's own readahead off\n\n{}\nFig. 11 (b): on, in 16 segments of 256 KiB\n\n{}\nThe disk's \
         segments decide that ratio; with {streams} streams:\n\n{}",
        of_paper(off, paper::streams),
        of_paper(on, paper::streams_disk_on),
        table(&header, sweep.iter().map(row).collect())
    )
}

pub(super) fn words_12(rows: &[Row]) -> String {
    let printed: Printed = |streams| match paper::waited(streams) {
        Some(both) => (Some(both.old), Some(both.new)),
        None => (None, None),
    };
    format!(
        "Fig. 12: seconds that the program waits for the first 100 MB; \"times\" is new of old\n\n{}",
        of_paper(rows, printed)
    )
}
