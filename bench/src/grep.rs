//! `seekless grep` beside GNU's and ripgrep, on files that the page cache holds: rivals take turns,
//! answers are compared.

mod text;

use crate::command::{Commands, Field, Ratios};
use crate::folder::Folder;
use crate::rounds::{Rival, alternate, enter, load_average, medians, runs};
use crate::texts::warm;
pub(crate) use crate::wc::Args;
use anyhow::{Context, ensure};
use seekless::device::units::format_bytes;
use seekless::report;
use seekless_results::{Better, Contender, Table};
use serde::Serialize;
use std::path::Path;

/// From where a start is all to where memory is all.
const SIZES: [u64; 7] = [1 << 10, 64 << 10, 1 << 20, 16 << 20, 128 << 20, 512 << 20, 2 << 30];

/// What is asked; the needle stands once in a few mebibytes.
const QUESTIONS: [(&str, &[&str]); 5] = [
    ("literal, -c", &["-c", "needle"]),
    ("literal", &["needle"]),
    ("literal, -n", &["-n", "needle"]),
    ("literal, -ci", &["-ci", "needle"]),
    ("expression, -c", &["-c", "ne[def]dle [0-9]"]),
];

/// One question about one size.
#[derive(Serialize)]
struct Row {
    question: &'static str,
    bytes: u64,
    /// In the page cache when the first round began.
    resident_bytes: Option<u64>,
    /// Median seconds a run, of each rival in order.
    seconds: Vec<f64>,
    #[serde(flatten)]
    ratios: Ratios,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let sizes = if args.size.is_empty() { &SIZES[..] } else { &args.size };
    let folder = Folder::in_(&args.commands.folder)?;
    let field = field(&args.commands, &folder)?;
    let before = load_average();
    let mut rows = Vec::new();
    let mut table = Table::new("ms", "`grep` in cached text", "what, size", "ms", Better::Lower)
        .contenders([Contender::ours(&field.all[0].name)])
        .under("The start of the process included. Answers are the same.");
    for &bytes in sizes.iter().filter(|&&bytes| !args.quick || bytes <= 128 << 20) {
        let path = folder.text(bytes)?;
        text::hide_needles(&path, bytes)
            .with_context(|| format!("cannot write {}", path.display()))?;
        for (question, words) in QUESTIONS {
            let resident_bytes = warm(&path)?;
            let seconds = alternate(&field.all, words, "C.UTF-8", &path, args.rounds, runs(bytes))
                .with_context(|| format!("{question} in {}", format_bytes(bytes)))?;
            enter(
                &mut table,
                &format!("{question}, {}", format_bytes(bytes)),
                &field.all,
                &seconds,
            );
            let seconds = medians(&seconds);
            let ratios = field.ratios(&seconds);
            rows.push(Row { question, bytes, resident_bytes, seconds, ratios });
        }
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    let load = [before, load_average()];
    match args.commands.json {
        true => println!("{}", serde_json::to_string_pretty(&rows)?),
        false => println!("{}", words(&field, &rows, load, args.rounds)),
    }
    Ok(vec![table])
}

fn field(commands: &Commands, folder: &Folder) -> anyhow::Result<Field> {
    let (ours, older) = commands.rivals(folder, "grep")?;
    let gnu = Rival::new("GNU", Path::new("/usr/bin/grep"), &[]);
    let ripgrep = Rival::installed("ripgrep", "rg", "/usr/bin/rg");
    Ok(Field::new(ours, [gnu].into_iter().chain(ripgrep).collect(), older))
}

fn words(field: &Field, rows: &[Row], [before, after]: [f64; 2], rounds: usize) -> String {
    let mut header = vec!["question", "file", "cached"];
    header.extend(field.header());
    let cells = rows.iter().map(|row| {
        let share = |resident: u64| {
            format!("{:.0} %", resident as f64 * 100.0 / row.bytes.next_multiple_of(4096) as f64)
        };
        let cached = row.resident_bytes.map_or_else(|| "unknown".to_owned(), share);
        let mut cells = vec![row.question.to_owned(), format_bytes(row.bytes), cached];
        cells.extend(row.seconds.iter().map(|&seconds| crate::wc::duration(seconds)));
        cells.extend(row.ratios.cells());
        cells
    });
    format!(
        "{}\nMedians of {rounds} rounds that alternate, after one discarded, process start included; ratio: the best rival's \
         time over ours; load average {before} before and {after} after.",
        report::table(&header, cells.collect())
    )
}
