//! `seekless compare --pattern`: reads a file in patterns through the kernel and through Seekless.

mod page;

use super::{Args, put_back_leftovers, times};
use crate::interrupt;
use crate::output::table;
use crate::output::{self, Html, Words};
use seekless::device::units::{counted, format_bytes, format_duration, parse_bytes};
use seekless::tools::compare::pattern::{
    Pattern, PatternComparison, PatternOptions, SideFigures, compare_pattern,
};
use std::fmt::Write;
use std::process::ExitCode;

/// What only patterns have.
#[derive(clap::Args, Debug)]
pub(super) struct PatternArgs {
    /// Read the file in this pattern, through the kernel's page cache and through Seekless's:
    /// forward, backward, random, files (of a folder), streams:N, stride:STEP, strides:N/STEP,
    /// sparse:P%, disturbed:P%, columnar:N/M; /READ at the end is the size of a read
    #[arg(
        long,
        num_args = 1..,
        value_name = "PATTERN",
        conflicts_with_all = [
            "pack", "trace", "run", "device", "rivals", "root", "unique", "fail_if_slower", "picture",
            "no_prediction",
        ]
    )]
    pub(super) pattern: Vec<Pattern>,
    /// Bytes that a pattern reads in a round, unless it ends before
    #[arg(
        long, default_value = "256MiB", value_name = "BYTES", value_parser = parse_bytes,
        requires = "pattern"
    )]
    amount: u64,
    /// What Seekless reads ahead with
    #[arg(long, default_value = "streams", value_name = "NAME", requires = "pattern")]
    readahead: String,
    /// The largest window, also of the kernel where it may be set (root)
    #[arg(
        long, default_value = "8MiB", value_name = "BYTES", value_parser = parse_bytes,
        requires = "pattern"
    )]
    readahead_max: u64,
}

/// Compares each pattern in turn and prints a table.
pub(super) fn run(args: Args) -> anyhow::Result<ExitCode> {
    put_back_leftovers();
    let cancel = interrupt::cancel_when_interrupted()?;
    let html = args.html.begin(args.force)?;
    let words = Words::beside(html.as_ref().map(Html::destination));
    let usual = PatternOptions::default();
    let options = PatternOptions {
        amount_bytes: args.pattern.amount,
        window_bytes: args.pattern.readahead_max,
        readahead: args.pattern.readahead,
        cache_bytes: args.cache.unwrap_or(usual.cache_bytes),
        rounds: args.rounds,
        throttle: args.throttle,
        drop_all_caches: args.drop_all_caches,
        cancel,
        ..usual
    };
    let mut found = Vec::new();
    for pattern in args.pattern.pattern {
        let mut stages = output::stages();
        let label: &'static str = "Comparing";
        let mut progress = |done, total| stages(label, done, total);
        let compared = compare_pattern(&args.directory, pattern, &options, &mut progress);
        drop(stages);
        let Some(comparison) = interrupt::finished(compared)? else {
            return Ok(interrupt::exit_code());
        };
        found.push(comparison);
    }
    if let Some(html) = html {
        page::write(html, &args.directory, &found)?;
    }
    match args.json {
        true => words.json(&found)?,
        false => words.text(&report(&found))?,
    }
    Ok(ExitCode::SUCCESS)
}

fn report(found: &[PatternComparison]) -> String {
    let mut text = String::new();
    if let Some(first) = found.first() {
        let _ = writeln!(text, "{}\n", conditions(first));
    }
    let header =
        ["pattern", "through", "median", "rate", "faster", "waste", "p50", "p99", "requests"];
    let rows = found.iter().flat_map(|one| {
        [row(one.pattern.to_string(), &one.kernel), row(String::new(), &one.seekless)]
    });
    text + &table(&header, rows.collect())
}

fn row(pattern: String, side: &SideFigures) -> Vec<String> {
    let figures = &side.figures;
    vec![
        pattern,
        figures.name.clone(),
        format_duration(figures.median_ns),
        format!("{}/s", format_bytes(side.bytes_per_second)),
        times(figures.ratio),
        side.waste.map_or_else(|| "unknown".to_owned(), |waste| format!("{waste:.2}")),
        format_duration(side.p50_ns),
        format_duration(side.p99_ns),
        figures.requests.map_or_else(|| "unknown".to_owned(), |requests| requests.to_string()),
    ]
}

/// On what, and how far either side may read ahead.
fn conditions(one: &PatternComparison) -> String {
    let device = match &one.device {
        Some(device) => {
            format!("on this disk, limited by the kernel to {}", output::line(device))
        }
        None => "on this disk".to_owned(),
    };
    let kernel = match one.kernel_window_bytes {
        Some(bytes) if bytes == one.window_bytes => "as the kernel's".to_owned(),
        Some(bytes) => format!("the kernel's {}", format_bytes(bytes)),
        None => "the kernel's is unknown".to_owned(),
    };
    format!(
        "{device}; median of {} in turn, each from cold; {} reads ahead at most {}, {kernel}; waste is bytes read \
         for each byte delivered",
        counted(one.rounds.into(), "round"),
        one.readahead,
        format_bytes(one.window_bytes),
    )
}
