//! Pictures like the paper's, one a figure.

use super::disturbed::Sequence;
use super::streams::Row;
use super::{Figures, examples, thrashing};
use crate::picture;
use seekless::report::Drawing;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use std::path::{Path, PathBuf};

const CAPTION: &str = "Simulated on the fitted disk, in I/Os of at most 512 KiB; windows of at most 1 MiB unless said.";

fn series(name: &str, points: impl IntoIterator<Item = (f64, f64)>) -> Series {
    let points = points.into_iter().map(|(x, y)| LinePoint::exact(x, y)).collect();
    Series { name: name.to_owned(), points }
}

fn chart(title: &str, x: Axis, y: Axis, series: Vec<Series>) -> Drawing {
    LineChart { title: title.to_owned(), x, y, series, caption: CAPTION.to_owned() }.draw()
}

fn bytes_a_second(mb: f64) -> f64 {
    1e6 * mb
}

fn figure_9(figures: &Figures) -> Drawing {
    let line = |name, rate: fn(&super::disturbed::Row) -> f64| {
        let rows = figures.figure_9.iter();
        series(name, rows.map(|row| (row.random_mb as f64, bytes_a_second(rate(row)))))
    };
    chart(
        "Wu 2010, Fig. 9: sequential reads with random reads among them",
        Axis::linear("MB of random pages for 100 MB of the sequence", Unit::Count),
        Axis::linear("bytes a second", Unit::Bytes),
        vec![
            line("2.6.22", |row| row.old_mb_per_second),
            line("2.6.24 (on demand)", |row| row.new_mb_per_second),
        ],
    )
}

fn figure_10(figures: &Figures) -> Drawing {
    let line = |sequence: &Sequence| {
        let reads = sequence.reads.iter().enumerate();
        series(sequence.algorithm, reads.map(|(at, &(first, _))| (at as f64 + 1.0, first as f64)))
    };
    chart(
        "Wu 2010, Fig. 10: reads of the first 1,600 pages",
        Axis::linear("read of the device", Unit::Count),
        Axis::linear("first page", Unit::Count),
        figures.figure_10.iter().map(line).collect(),
    )
}

fn old_and_new(title: &str, y: Axis, rows: &[Row], value: fn(f64) -> f64) -> Drawing {
    let old = rows.iter().map(|row| (row.streams as f64, value(row.old)));
    let new = rows.iter().map(|row| (row.streams as f64, value(row.new)));
    let lines = vec![series("2.6.22", old), series("2.6.24 (on demand)", new)];
    chart(title, Axis::linear("interleaved streams", Unit::Count), y, lines)
}

fn beyond(figures: &Figures) -> Drawing {
    let line = |curve: &super::beyond::Curve| {
        let points = curve.points.iter();
        series(&curve.name(), points.map(|&(streams, rate)| (streams as f64, bytes_a_second(rate))))
    };
    chart(
        "Past Wu 2010: up to 1,000 interleaved streams",
        Axis::log("streams", Unit::Count),
        Axis::log("bytes a second", Unit::Bytes),
        figures.beyond.iter().map(line).collect(),
    )
}

fn live(live: &super::live::Live) -> Drawing {
    let (kernel, ours) = live.curves();
    LineChart {
        title: "Wu 2010, Fig. 11, live: interleaved streams on a real device".to_owned(),
        x: Axis::log("streams", Unit::Count),
        y: Axis::log("bytes a second", Unit::Bytes),
        series: vec![series("kernel", kernel), series("seekless", ours)],
        caption: "Medians; read cold, in turn; windows of at most 1 MiB on both sides.".to_owned(),
    }
    .draw()
}

/// Writes a picture for each figure: FILE with -5 to -10, -11a, -11b, -12, -beyond, -thrashing and
/// -live before its ending.
pub(super) fn save(path: &Path, figures: &Figures) -> anyhow::Result<()> {
    let rate = || Axis::linear("bytes a second", Unit::Bytes);
    let title_11 =
        |part, disk| format!("Wu 2010, Fig. 11 ({part}): the disk's own readahead {disk}");
    let seconds = Axis::linear("seconds that the program waits", Unit::Count);
    let drawings = [
        ("9", figure_9(figures)),
        ("10", figure_10(figures)),
        ("11a", old_and_new(&title_11("a", "off"), rate(), &figures.figure_11_off, bytes_a_second)),
        ("11b", old_and_new(&title_11("b", "on"), rate(), &figures.figure_11_on, bytes_a_second)),
        (
            "12",
            old_and_new("Wu 2010, Fig. 12: waiting for 100 MB", seconds, &figures.figure_12, |s| s),
        ),
        ("beyond", beyond(figures)),
        ("thrashing", thrashing::picture(&figures.thrashing)),
    ];
    let live = figures.live.as_ref().map(|figures| ("live", live(figures)));
    examples::pictures(&figures.figures_5_to_8)
        .into_iter()
        .chain(drawings)
        .chain(live)
        .try_for_each(|(name, drawing)| picture::save(&named(path, name), &drawing))
}

fn named(path: &Path, figure: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{figure}.{ending}"))
}
