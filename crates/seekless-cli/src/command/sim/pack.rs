//! `sim --pack`: what loading a run from a pack asks of a device.

use super::{Args, page};
use crate::output;
use crate::output::table;
use crate::price;
use anyhow::Context;
use seekless::device::Charged;
use seekless::device::units::{counted, format_bytes, format_count, format_duration, parse_rate};
use seekless::job::roots::{Root, Roots};
use seekless::sim::Requests;
use seekless::sim::store::Work;
use seekless::tools::predict::{Options, Prediction, Row, predict};
use seekless::trace::Loads;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The options that only a pack has.
#[derive(clap::Args, Debug)]
pub(super) struct PackArgs {
    /// Predict the loads of a run from this pack: requests to the device, bytes and time
    #[arg(long, value_name = "ZIP", requires = "device", conflicts_with_all = ["unit", "unit_weights", "merge", "raw", "write_back", "fetch_on_write", "changed", "every", "post_cache", "curve", "picture", "memory"])]
    pub(super) pack: Option<PathBuf>,
    /// TRACEs too: an older name, which still works
    #[arg(long, hide = true, num_args = 1.., value_name = "RUN", requires = "pack")]
    pub(super) trace: Vec<PathBuf>,
    /// The run to load, from 0 [default: the newest]
    #[arg(long, value_name = "N", requires = "pack")]
    run: Option<u32>,
    /// Load each file only the first time that the run does
    #[arg(long, requires = "pack")]
    unique: bool,
    /// Do not give the store its device: it finds out from its reads
    #[arg(long, alias = "untold", requires = "pack")]
    device_unknown: bool,
    /// Do not read ahead by the pack's prediction of its program's loads
    #[arg(long, requires = "pack")]
    no_prediction: bool,
    /// How fast the program decodes, in bytes of files [default: in no time]
    #[arg(long, value_name = "RATE", requires = "pack", value_parser = parse_rate)]
    decode: Option<u64>,
    /// Files that the traces name below OLD are now below NEW; may be given several times
    #[arg(long, value_name = "OLD=NEW", requires = "pack")]
    root: Vec<Root>,
}

/// Predicts and prints.
pub(super) fn run(args: &Args, pack: &Path) -> anyhow::Result<ExitCode> {
    let options = options(args)?;
    let prices = args.price.of(args.device.as_ref(), None)?;
    let html = args.html.begin(args.force)?;
    let traces: Vec<PathBuf> = args.traces.iter().chain(&args.pack.trace).cloned().collect();
    let reading = args.selected.of(args.foreign.options()?);
    let loads = Loads::read_with(&traces, None, &reading)?;
    let cases = super::plan(args).cases(&Requests::from_loads(&loads).totals())?;
    let prediction = predict(pack, &loads, &cases, &options)?;
    let words = output::Words::beside(html.as_ref().map(output::Html::destination));
    if let Some(html) = html {
        page::packed(html, args, &prediction)?;
    }
    if args.json {
        let charged = prediction.rows.iter().map(|row| Some(charged(row)));
        price::json(words, &prediction, "/rows", prices.as_ref(), charged)?;
    } else {
        let mut text = report(&prediction);
        if let Some(prices) = prices {
            let case = |row: &Row| vec![row.policy.clone(), format_bytes(row.capacity)];
            let rows = prediction.rows.iter().map(|row| (case(row), charged(row)));
            text += &prices.report(&["policy", "capacity"], rows.collect());
        }
        words.text(&text)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a provider charges for.
fn charged(Row { figures, .. }: &Row) -> Charged {
    Charged { reads: figures.requests, bytes: figures.bytes, ..Charged::default() }
}

fn options(args: &Args) -> anyhow::Result<Options> {
    let Args { device, pack: args, .. } = args;
    let mebibyte_ns = args.decode.map_or(0, |rate| (1_000_000_000 << 20) / rate.max(1));
    Ok(Options {
        run: args.run,
        unique: args.unique,
        roots: Roots::new(args.root.clone()),
        device: device
            .clone()
            .context("--pack needs a device: --device iops=500,bandwidth=150MB/s")?,
        device_known: !args.device_unknown,
        work: Work { load_ns: 0, mebibyte_ns },
        no_prediction: args.no_prediction,
    })
}

fn report(prediction: &Prediction) -> String {
    let Prediction { run, loads, missing, device, device_known, rows } = prediction;
    let unknown = if *device_known { "" } else { ", which the store does not know" };
    let left_out = match missing {
        0 => String::new(),
        missing => {
            format!("; {} of files that the pack lacks are left out", counted(*missing, "load"))
        }
    };
    let heading = format!(
        "run {run}, {} one after another from the pack on {}{unknown}{left_out}\n\n",
        counted(*loads, "load"),
        output::line(&device.to_string())
    );
    let header =
        ["policy", "capacity", "hits", "read ahead", "requests", "bytes read", "time", "waited"];
    heading + &table(&header, rows.iter().map(cells).collect())
}

fn cells(row: &Row) -> Vec<String> {
    let Row { policy, capacity, figures } = row;
    vec![
        policy.clone(),
        format_bytes(*capacity),
        format_count(figures.hits),
        format_count(figures.read_ahead_hits),
        format_count(figures.requests),
        format_bytes(figures.bytes),
        format_duration(figures.time_ns),
        format_duration(figures.wait_ns),
    ]
}
