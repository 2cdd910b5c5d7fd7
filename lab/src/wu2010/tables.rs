//! The figures as tables of results.

use super::live::Live;
use super::streams::Row;
use super::{Figures, beyond, ended, paper, thrashing};
use seekless_results::{Better, Contender, Figure, Table};

const SIMULATED: &str = "Simulated on a disk that is fitted to the paper's figures.";

/// All of them.
pub(super) fn all(figures: &Figures) -> Vec<Table> {
    let mut tables = vec![
        sheet(&figures.figure_11_sheet),
        beside_paper(figures),
        past(&figures.beyond),
        beside_linux(&figures.ended),
        wasted(&figures.thrashing),
        thrashing_rate(&figures.thrashing),
    ];
    if let Some(live) = &figures.live {
        let (kernel, ours) = live.curves();
        let title = "Streams of 4 KiB on the real disk";
        let mut table = Table::new("live-rate", title, "streams", "MB/s", Better::Higher)
            .contenders([Contender::ours("streams")])
            .under("Read cold, in turn; windows of at most 1 MiB on both sides.");
        for (name, points) in [("streams", ours), ("the kernel", kernel)] {
            for (streams, rate) in points {
                table.set(&streams.to_string(), name, Figure::exact(rate / 1e6));
                table.place(&streams.to_string(), streams);
            }
        }
        tables.push(table);
        tables.push(algorithms(live));
    }
    tables
}

/// Fig. 11 (b) on the drive that the paper names.
fn sheet(rows: &[Row]) -> Table {
    let title = "Interleaved streams on the paper's drive by its data sheet, nothing fitted";
    let names = ["Linux 2.6.24", "Linux 2.6.22", "the paper, 2.6.24", "the paper, 2.6.22"];
    let mut table = Table::new("data-sheet", title, "streams", "MB/s", Better::Higher)
        .contenders([Contender::ours(names[0]), Contender::ours(names[1])])
        .under("Simulated on t7k250, the drive's own readahead on; beside Fig. 11 (b).");
    for row in rows {
        let (old, new) = paper::streams_disk_on(row.streams);
        let case = row.streams.to_string();
        for (name, value) in names.into_iter().zip([Some(row.new), Some(row.old), new, old]) {
            value.iter().for_each(|&value| table.set(&case, name, Figure::exact(value)));
        }
        table.place(&case, row.streams as f64);
    }
    table
}

/// How many times as good the paper's algorithm is as the older one, simulated and printed.
fn beside_paper(figures: &Figures) -> Table {
    let title = "The readahead of Linux 2.6.24 against that of 2.6.22";
    let mut table = Table::new("paper", title, "what", "×", Better::Neither)
        .contenders([Contender::ours("simulated"), Contender::rival("the paper")])
        .under(SIMULATED);
    let ten = |rows: &[Row]| rows.iter().find(|row| row.streams == 10).map(Row::ratio);
    let printed = |(old, new): (Option<f64>, Option<f64>)| Some(new? / old?);
    let disturbed = figures.figure_9.iter().find(|row| row.random_mb == 10);
    let waited = ten(&figures.figure_12).map(|ratio| 1.0 / ratio);
    let rows = [
        (
            "one stream with 10 % at random: MB/s",
            disturbed.map(|row| row.new_mb_per_second / row.old_mb_per_second),
            paper::disturbed(10).map(|both| both.new / both.old),
        ),
        ("ten streams: MB/s", ten(&figures.figure_11_off), printed(paper::streams(10))),
        (
            "ten streams, the disk reads ahead too: MB/s",
            ten(&figures.figure_11_on),
            printed(paper::streams_disk_on(10)),
        ),
        (
            "ten streams: seconds waited, inverse",
            waited,
            paper::waited(10).map(|both| both.old / both.new),
        ),
    ];
    for (what, simulated, paper) in rows {
        for (name, value) in [("simulated", simulated), ("the paper", paper)] {
            table.set(what, name, Figure::exact(value.unwrap_or(f64::NAN)));
        }
    }
    table
}

/// The two algorithms in our engine, on the real disk.
fn algorithms(live: &Live) -> Table {
    let title = "The paper's algorithm and the one before it in our engine, on the real disk";
    let [new, old] = ["ondemand (Linux 2.6.24)", "legacy (Linux 2.6.22)"];
    let mut table = Table::new("live-algorithms", title, "streams", "MB/s", Better::Higher)
        .contenders([Contender::ours(new)])
        .under("Streams of 4 KiB, read cold, in turn; windows of at most 1 MiB.");
    for row in &live.algorithms {
        let case = row.streams.to_string();
        table.set(&case, new, Figure::exact(row.new / 1e6));
        table.set(&case, old, Figure::exact(row.old / 1e6));
        table.place(&case, row.streams as f64);
    }
    table
}

/// Up to 1,000 streams.
fn past(curves: &[beyond::Curve]) -> Table {
    let ours = |curve: &&beyond::Curve| curve.readahead == "streams";
    let title = "Up to 1,000 interleaved streams";
    let mut table = Table::new("streams", title, "streams", "MB/s", Better::Higher)
        .contenders(curves.iter().rev().filter(ours).map(|curve| Contender::ours(&curve.name())))
        .under(
            "Simulated on the disk that is fitted to the paper's figures; its own readahead off.",
        );
    for curve in curves {
        for &(streams, rate) in &curve.points {
            table.set(&streams.to_string(), &curve.name(), Figure::exact(rate));
            table.place(&streams.to_string(), streams as f64);
        }
    }
    table
}

/// Ours beside Linux 6.x, streams read to their ends.
fn beside_linux(ratios: &[ended::Ratios]) -> Table {
    let title = "Ours against Linux 6.x, streams read to their ends: times its MB/s";
    let mut table = Table::new("linux", title, "streams", "×", Better::Neither)
        .contenders(ended::WINDOWS.map(|bytes| Contender::ours(&window(bytes))))
        .under("Simulated; means of five layouts, and their standard errors.");
    for of in ratios {
        let (mean, error) = (of.mean(), of.error());
        let figure = Figure::within(mean, [mean - error, mean + error], of.layouts());
        table.set(&of.streams.to_string(), &window(of.max_bytes), figure);
        table.place(&of.streams.to_string(), of.streams as f64);
    }
    table.decimals = Some(3);
    table
}

/// Pages that are evicted before their use, in little memory.
fn wasted(rows: &[thrashing::Row]) -> Table {
    let title = "Ten streams in little memory: pages read ahead and evicted before their use";
    in_memory(rows, ("thrashing", title, "", Better::Neither), |row| row.wasted_pages as f64)
}

fn thrashing_rate(rows: &[thrashing::Row]) -> Table {
    let title = "Ten streams in little memory";
    let id = "thrashing-rate";
    in_memory(rows, (id, title, "MB/s", Better::Higher), |row| row.mb_per_second)
}

fn in_memory(
    rows: &[thrashing::Row],
    (id, title, unit, better): (&str, &str, &str, Better),
    figure: impl Fn(&thrashing::Row) -> f64,
) -> Table {
    let mut table = Table::new(id, title, "MiB of memory", unit, better)
        .contenders([Contender::ours("streams")])
        .under("Simulated; an LRU cache, windows of at most 1 MiB.");
    for row in rows {
        let case = row.memory_mib.to_string();
        table.set(&case, row.readahead, Figure::exact(figure(row)));
        table.place(&case, row.memory_mib as f64);
    }
    table
}

fn window(bytes: u64) -> String {
    format!("windows of {} KiB", bytes >> 10)
}
