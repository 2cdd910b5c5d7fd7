//! How fast a trace of 24-byte records (oracleGeneral) is read from the page cache, on one thread:
//! the records alone, and with their objects numbered, which is all that comes before a policy.

use crate::clock::timed;
use crate::folder::Folder;
use crate::rounds::{load_average, median};
use crate::workload;
use anyhow::{Context, ensure};
use seekless::report::table;
use seekless::trace::{Objects, Piece, Records};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// A trace of oracleGeneral or lcs [default: Zipf requests, written for this]
    trace: Option<PathBuf>,
    /// Zipf requests
    #[arg(long, default_value_t = 5_000_000, value_name = "COUNT")]
    requests: usize,
    /// Timed rounds, after one that is discarded
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Folder for the Zipf requests
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
    /// Prints figures as JSON
    #[arg(long)]
    json: bool,
}

/// Million records in a second of the processor's time; medians.
#[derive(Serialize)]
struct Figures {
    load_average: [f64; 2],
    records: u64,
    objects: u32,
    read: f64,
    numbered: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let folder = Folder::in_(&args.folder)?;
    let trace = workload::given_or_zipf(args.trace.as_deref(), args.requests, folder.path())?;
    let (mut read_rates, mut numbered_rates) = (Vec::new(), Vec::new());
    let (mut records, mut objects) = (0, 0);
    for round in 0..=args.rounds {
        let (counted, read_seconds) = timed(|| read(&trace));
        let (numbered, numbered_seconds) = timed(|| number(&trace));
        (records, objects) = (counted?, numbered?);
        if round > 0 {
            read_rates.push(records as f64 / read_seconds / 1e6);
            numbered_rates.push(records as f64 / numbered_seconds / 1e6);
        }
    }
    let title = "Records of a trace, read on one thread";
    let saved = Table::new("rate", title, "what", "million/s", Better::Higher)
        .contenders([Contender::ours("seekless")])
        .under(&format!(
            "{records} records of {objects} objects, in the page cache; processor time."
        ))
        .row("records read", [Figure::of_rounds(&read_rates)])
        .row("and objects numbered", [Figure::of_rounds(&numbered_rates)]);
    let figures = Figures {
        load_average: [before, load_average()],
        records,
        objects,
        read: median(&mut read_rates),
        numbered: median(&mut numbered_rates),
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&figures)?);
        return Ok(vec![saved]);
    }
    let row = |what: &str, rate: f64| vec![what.to_owned(), format!("{rate:.1}")];
    println!(
        "{}\n{records} records of {objects} objects, in the page cache; one thread, its processor \
         time; medians of {} rounds, after one discarded; load average {before} before and {} \
         after.",
        table(
            &["of a trace of records", "million/s"],
            vec![row("records read", figures.read), row("and objects numbered", figures.numbered)]
        ),
        args.rounds,
        figures.load_average[1]
    );
    Ok(vec![saved])
}

/// Looks at every field of every record. Returns how many there are.
fn read(trace: &Path) -> anyhow::Result<u64> {
    let (mut count, mut sum) = (0, 0u64);
    each_piece(trace, |piece| {
        count += piece.len() as u64;
        for record in piece.records() {
            sum = sum.wrapping_add(record.object ^ record.bytes ^ u64::from(record.seconds));
        }
    })?;
    std::hint::black_box(sum);
    Ok(count)
}

/// Numbers the objects. Returns how many there are.
fn number(trace: &Path) -> anyhow::Result<u32> {
    let (mut objects, mut sum) = (Objects::default(), 0u64);
    each_piece(trace, |piece| {
        objects.number(piece.records(), |record, number, _| {
            sum = sum.wrapping_add(record.bytes ^ u64::from(number));
        });
    })?;
    std::hint::black_box(sum);
    Ok(objects.len())
}

fn each_piece(trace: &Path, mut each: impl FnMut(Piece<'_>)) -> anyhow::Result<()> {
    let opened = Records::open(trace, &Default::default())?;
    let mut records = opened.with_context(|| format!("{}: no records", trace.display()))?;
    while let Some(piece) = records.next_piece()? {
        each(piece);
    }
    Ok(())
}
