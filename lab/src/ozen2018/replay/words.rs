//! The tables: time beside misses, his times, the models' errors.

use super::{Figures, Ranks, Row, TestFigures};
use seekless::device::units::format_count;
use seekless::report::table;
use std::fmt::Write;

pub(super) fn of(figures: &Figures) -> String {
    let mut text = format!(
        "Played on {} by {}, as his player (64 slots, batches of 32 to 64); the shortest of {} \
         rounds, in which the policies take turns.\nLoad average {}\n",
        figures.target,
        figures.engine,
        figures.rounds,
        figures.load_average.trim()
    );
    for test in &figures.tests {
        text += &one(test);
    }
    text +=
        "\nTime and pattern: least squares over all rows, relative to the mean of each test\n\n";
    for fit in &figures.regressions {
        let causes = fit.causes.iter().map(|(name, weight)| format!("{name} {weight:+.2}"));
        let causes: Vec<String> = causes.collect();
        let _ = writeln!(
            text,
            "  {}, {} rows: {} explain {:.0} % of the variance",
            fit.policies,
            fit.rows,
            causes.join(", "),
            100.0 * fit.r_squared
        );
    }
    text += "\nHis conclusion's experiments\n\n";
    for it in &figures.experiments {
        let _ = writeln!(
            text,
            "  {} {}: {} {:.3} s, {} {:.3} s: {:.2} ×",
            format_count(it.ios),
            it.question,
            it.first,
            it.first_seconds,
            it.second,
            it.second_seconds,
            it.second_seconds / it.first_seconds.max(1e-9)
        );
    }
    text.push_str(NOTE);
    text
}

const NOTE: &str = "
Reads, writes, what is dirty at the end and seconds are of the whole trace (with --ios scaled from what was played). His times are of a Samsung 850 EVO; from test 5 on they are
of his recordings, ours of our own, so that only ranks compare. Errors of models are against the time on this target.";

fn one(test: &TestFigures) -> String {
    let mut text =
        format!("\nTest {}: {}, {} pages\n", test.test, test.workload, format_count(test.pages));
    for (title, rows, ranks) in [
        ("as published", &test.published, &test.ranks),
        ("corrected", &test.corrected, &test.corrected_ranks),
    ] {
        let _ = write!(text, "\n  {title}\n\n{}", policies(rows));
        text += &correlations(ranks);
    }
    text
}

fn policies(rows: &[Row]) -> String {
    let mut header: Vec<String> = [
        "policy",
        "read",
        "written",
        "dirty at the end",
        "run",
        "sequential",
        "clustered",
        "seconds",
        "his",
    ]
    .map(str::to_owned)
    .to_vec();
    let models = rows.first().map_or(&[][..], |row| &row.models);
    header.extend(models.iter().map(|model| format!("{} off by", model.model)));
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    let cells = |row: &Row| {
        let mut cells = vec![row.policy.to_owned()];
        cells.extend([row.reads, row.writes, row.dirty_at_end].map(format_count));
        cells.push(format!("{:.2}", row.shape.mean_run));
        cells.push(percent(row.shape.sequential));
        cells.push(percent(row.shape.clustered));
        cells.push(format!("{:.3}", row.seconds));
        cells.push(row.his_seconds.map_or("-".to_owned(), |seconds| format!("{seconds:.3}")));
        cells.extend(row.models.iter().map(|model| format!("{:+.0} %", 100.0 * model.error)));
        cells
    };
    table(&header, rows.iter().map(cells).collect())
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

fn correlations(ranks: &Ranks) -> String {
    let pair = |[rho, tau]: [f64; 2]| format!("{rho:+.2} ({tau:+.2})");
    format!(
        "  Rank correlation (Kendall's): time with reads and writes {}, with what is dirty too {}, with his time {}; his \
         time with our reads {}\n",
        pair(ranks.time_with_ios),
        pair(ranks.time_with_all),
        pair(ranks.time_with_his),
        pair(ranks.his_with_our_reads)
    )
}
