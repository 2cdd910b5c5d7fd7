//! `seekless order`: computes the order of an archive's files that loads fastest, and scores it.

mod picture;
mod rivals;

use crate::next::{self, Found};
use crate::output::table;
use crate::output::{self, Picture, Words};
use clap::builder::PossibleValuesParser;
use seekless::device::DeviceSpec;
use seekless::device::units::{counted, format_bytes, format_count, parse_bytes};
use seekless::job::roots::{Root, Roots};
use seekless::policy::layout::ordering::METHODS;
use seekless::sys::output::Content;
use seekless::tools::device::named;
use seekless::tools::order::{
    Group, Naming, Options, Report, RunRow, Totals, order_telling, write,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

/// Compute the order of files in an archive from the runs that read them, and score it.
///
/// best lays together the files that the same runs load, small files apart from larger ones, and
/// files that no run has loaded beside similar ones, or with --contents behind those that name
/// them. It makes that order and the ones below without some of the runs, loads those runs on a
/// model of the device, and keeps the order that loads them fastest. greedy joins files that are
/// often loaded one after the other into chains. recent is the newest run's own order, followed by
/// the files that older runs add. name is by path. In these three, files that no run loads keep
/// their place: that of --files if it is a plain list, otherwise by path.
///
/// With two runs or more, each method makes an order without each run in turn, and that run is
/// loaded from it on the device: with the list of its loads known, and on demand. No order can beat
/// the floor: each run's own files alone, in its own order.
///
/// Scores count first loads only. A seek is a load of a file that does not lie directly after the
/// previous one. Block runs are maximal runs of touched 128 KiB blocks. Amplification is the bytes
/// of touched blocks for each byte loaded. Scores on the runs that made the order are too good:
/// --leave-one-out and --score show what a new run gets.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Examples:
  seekless order --trace run.parquet -o ORDER.txt
  seekless order --trace monday.parquet tuesday.parquet --files files.csv.gz --device s3
  seekless order --trace monday.parquet tuesday.parquet --method greedy --leave-one-out
  seekless order --trace monday.parquet tuesday.parquet --files files.csv --picture order.svg
  seekless order --trace runs/*.parquet --files files.csv --contents game -o ORDER.txt
  seekless order --trace runs/*.csv.gz --method recent --score today.parquet --json")]
pub struct Args {
    /// Traces to learn from, files or objects (s3://BUCKET/KEY); the last run of the last is the
    /// newest
    #[arg(long, required = true, num_args = 1.., value_name = "RUN")]
    trace: Vec<PathBuf>,
    /// The files of the archive: CSV path,size or one path a line [default: those that the traces
    /// load]
    #[arg(long, value_name = "LIST")]
    files: Option<PathBuf>,
    /// The folder that holds the files: they are searched for names of others, and files that no
    /// run loads lie behind those that name them. `seekless pack` always does so
    #[arg(long, value_name = "DIR")]
    contents: Option<PathBuf>,
    /// How to order
    #[arg(long, default_value = "best", value_name = "NAME", value_parser = PossibleValuesParser::new(METHODS))]
    method: String,
    /// The device from which the archive will be read: a name that `seekless devices` lists,
    /// iops=N,bandwidth=RATE, or a TOML file [default: iops=500,bandwidth=150MB/s]
    #[arg(long, value_name = "DEVICE", value_parser = named)]
    device: Option<DeviceSpec>,
    /// For greedy: a cache of this size, emptied at each run's start, absorbs repeated loads
    /// [default: unlimited]
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    cache: Option<u64>,
    /// Also score each run on an order made from the other runs
    #[arg(long)]
    leave_one_out: bool,
    /// Also score these runs, from which the order is not made
    #[arg(long, num_args = 1.., value_name = "RUN")]
    score: Vec<PathBuf>,
    /// Files that the traces name below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW")]
    root: Vec<Root>,
    /// Write the order here, one path a line; - is standard output
    #[arg(short, long, value_name = "ORDER.txt")]
    output: Option<PathBuf>,
    /// Draw where each run's loads lie in this order and by name, into this file: .svg or .png
    #[arg(long, value_name = "FILE", value_parser = output::picture_file)]
    picture: Option<PathBuf>,
    #[command(flatten)]
    force: output::Force,
    /// Print the scores as JSON
    #[arg(long)]
    json: bool,
}

/// Orders, writes the order if `--output` is given, and prints the scores.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let options = Options {
        files: args.files,
        method: args.method,
        cache: args.cache,
        leave_one_out: args.leave_one_out,
        score: args.score,
        roots: Roots::new(args.root),
        device: args.device.unwrap_or(seekless::tools::order::DEVICE),
        rivals: true,
        references: args.contents.as_deref().map(names_in).transpose()?,
        ..Options::default()
    };
    let out = args.output.as_deref().map(|word| args.force.destination(word));
    if let Some(out) = &out {
        out.check(Content::Text)?;
    }
    let picture = Picture::begin(args.picture.as_deref(), args.force)?;
    let progress = Mutex::new(output::progress("Comparing orders"));
    let tell = |done, all| (progress.lock().unwrap_or_else(PoisonError::into_inner))(done, all);
    let ordered = order_telling(&args.trace, &options, &tell);
    drop(progress);
    let ordered = ordered?;
    if let Some(picture) = picture {
        picture.draw(&picture::of(&ordered))?;
    }
    if let Some(out) = &out {
        write(out, &ordered.order)?;
    }
    let words = Words::beside(&out);
    if args.json {
        words.json(&ordered.report)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut text = report(&ordered.report);
    if let Some(out) = &out {
        text += &format!("\nwrote {}\n", output::shown(out.path()));
    }
    words.text(&text)?;
    next::say(words, &Found::Order(&args.trace))?;
    Ok(ExitCode::SUCCESS)
}

/// Looks through the files of `dir`, with a bar.
fn names_in(dir: &Path) -> anyhow::Result<Naming> {
    anyhow::ensure!(dir.is_dir(), "--contents: {} is no folder", output::shown(dir));
    let progress = Mutex::new(Some(output::progress("Looking for names")));
    let tell = move |done, all| {
        let mut bar = progress.lock().unwrap_or_else(PoisonError::into_inner);
        bar.iter_mut().for_each(|bar| bar(done, all));
        if done == all {
            *bar = None;
        }
    };
    // It writes nothing: an interrupt may end it as it ends all of this.
    Ok(Naming::in_folder(dir, &Arc::default(), tell))
}

fn report(report: &Report) -> String {
    let made_as = report.made_as.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let mut text = format!(
        "{} of {} in the order {}{made_as}, from {}\n",
        counted(report.files, "file"),
        format_bytes(report.bytes),
        report.method,
        counted(report.trained.runs.len() as u64, "run"),
    );
    text += &notes(report);
    if let Some(rivals) = &report.rivals {
        text += &rivals::words(rivals, report.made_as.as_deref());
    }
    text += &match &report.held_out {
        Some(held_out) => format!("\n{}", both_table(&report.trained, held_out)),
        None => format!("\nRuns that the order was made from:\n{}", group_table(&report.trained)),
    };
    text += &bound(report);
    if let Some(scored) = &report.scored {
        text += &format!("\nRuns given to be scored:\n{}", group_table(scored));
    }
    text
}

/// How far the order is from the best for its own runs.
fn bound(report: &Report) -> String {
    let (seeks, least) = (report.trained.totals.seeks, report.seeks_min);
    let fewer = 100.0 * seeks.saturating_sub(least) as f64 / seeks.max(1) as f64;
    let least_said = counted(least, "seek");
    match seeks > least {
        true => {
            format!("No order has fewer than {least_said} in these runs, {fewer:.0} % fewer.\n")
        }
        false => {
            format!("No order has fewer than {least_said} in these runs: this one has no more.\n")
        }
    }
}

fn notes(report: &Report) -> String {
    let mut text = report.moved.as_ref().map(output::moved).unwrap_or_default();
    if let Some(example) = &report.unlisted_example {
        let files = counted(report.unlisted_files, "file");
        text += &format!(
            "passed over {files} that the runs load and the list lacks, such as {}\n",
            output::line(example)
        );
    }
    if report.files_of_unknown_size > 0 {
        let files = counted(report.files_of_unknown_size, "file");
        text += &format!("{files} of unknown size taken as empty: give --files as CSV path,size\n");
    }
    text
}

/// A table with the scores of trained and held-out orders side by side.
fn both_table(trained: &Group, held_out: &Group) -> String {
    let header = [
        "run",
        "first loads",
        "seeks:\ntrained on all",
        "\nheld out",
        "block runs:\ntrained on all",
        "\nheld out",
        "amplification:\ntrained on all",
        "\nheld out",
    ];
    let join = |label: String, one: Cells, other: Cells| {
        vec![
            label,
            one.loads,
            one.seeks,
            other.seeks,
            one.block_runs,
            other.block_runs,
            one.amplification,
            other.amplification,
        ]
    };
    let pairs = trained.runs.iter().zip(&held_out.runs);
    let mut rows: Vec<_> = pairs
        .map(|(one, other)| join(one.run.clone(), Cells::run(one), Cells::run(other)))
        .collect();
    rows.push(join(
        total_label(trained),
        Cells::totals(&trained.totals),
        Cells::totals(&held_out.totals),
    ));
    table(&header, rows)
}

fn group_table(group: &Group) -> String {
    let line = |label: String, cells: Cells| {
        vec![label, cells.loads, cells.seeks, cells.block_runs, cells.amplification]
    };
    let mut rows: Vec<_> =
        group.runs.iter().map(|row| line(row.run.clone(), Cells::run(row))).collect();
    if rows.len() > 1 {
        rows.push(line(total_label(group), Cells::totals(&group.totals)));
    }
    table(&["run", "first loads", "seeks", "block runs", "amplification"], rows)
}

/// The label of the last row, in which loads and seeks are sums, block runs and amplification
/// means.
fn total_label(group: &Group) -> String {
    format!("all {}: sums, means", group.runs.len())
}

/// A row's figures as text.
struct Cells {
    loads: String,
    seeks: String,
    block_runs: String,
    amplification: String,
}

impl Cells {
    fn run(row: &RunRow) -> Self {
        Self {
            loads: format_count(row.score.loads),
            seeks: seeks(row.score.seeks, row.seek_share),
            block_runs: format_count(row.score.block_runs),
            amplification: format!("{:.3}", row.amplification),
        }
    }

    fn totals(totals: &Totals) -> Self {
        Self {
            loads: format_count(totals.loads),
            seeks: seeks(totals.seeks, totals.seek_share),
            block_runs: format!("{:.0}", totals.mean_block_runs),
            amplification: format!("{:.3}", totals.mean_amplification),
        }
    }
}

fn seeks(count: u64, share: f64) -> String {
    format!("{} ({:.1} %)", format_count(count), 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless::tools::order::order;

    #[test]
    fn the_report_puts_trained_and_held_out_side_by_side() {
        let folder = tempfile::tempdir().unwrap();
        let trace = |name: &str, files: [&str; 3]| {
            let path = folder.path().join(name);
            let lines: String = files
                .iter()
                .enumerate()
                .map(|(at, file)| format!("{at},{file},131072\n"))
                .collect();
            std::fs::write(&path, format!("time_s,path,size\n{lines}")).unwrap();
            path
        };
        let traces = [trace("monday.csv", ["a", "c", "b"]), trace("tuesday.csv", ["b", "c", "a"])];
        let options = Options {
            method: "greedy".into(),
            leave_one_out: true,
            score: vec![traces[0].clone()],
            ..Options::default()
        };
        let expected = "\
3 files of 393.2 KB in the order greedy, from 2 runs

run                   first loads          seeks:                  block runs:            amplification:
                                   trained on all     held out  trained on all  held out  trained on all  held out
──────────────────────────────────────────────────────────────────────────────────────────────────────────────────
monday                          3     2 (66.7 %)   2 (66.7 %)               1         1           1.000     1.000
tuesday                         3      0 (0.0 %)   2 (66.7 %)               1         1           1.000     1.000
all 2: sums, means              6     2 (33.3 %)   4 (66.7 %)               1         1           1.000     1.000
No order has fewer than 2 seeks in these runs: this one has no more.

Runs given to be scored:
run     first loads       seeks  block runs  amplification
──────────────────────────────────────────────────────────
monday            3  2 (66.7 %)           1          1.000
";
        assert_eq!(words(&report(&order(&traces, &options).unwrap().report)), words(expected));
    }

    /// The words of each line, without column widths and rules.
    fn words(text: &str) -> Vec<Vec<&str>> {
        text.lines()
            .map(|line| line.split_whitespace().filter(|word| !word.starts_with('─')).collect())
            .collect()
    }
}
