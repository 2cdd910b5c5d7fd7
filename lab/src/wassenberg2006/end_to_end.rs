//! Section 4.2 on a modelled volume, or on the real disk limited by the kernel. The whole game is
//! packed in an order made without one run, which is then loaded cold.

use super::Args;
use crate::data::ZeroAd;
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::job::roots;
use seekless::measure::Figures;
use seekless::report::table;
use seekless::sys::output::Destination;
use seekless::tools::{compare, order, pack, synth};
use seekless::trace::Loads;
use serde::Serialize;
use std::path::Path;

/// One held-out run.
#[derive(Serialize)]
pub(crate) struct Row {
    run: String,
    comparison: compare::Comparison,
}

pub(crate) fn measure(zero_ad: &ZeroAd, args: &Args) -> anyhow::Result<Vec<Row>> {
    let tree = zero_ad.scratch.join("0ad");
    let files = synth::files_of(&zero_ad.files, &roots::Roots::default())?;
    eprintln!("making {} files in {}", files.len(), tree.display());
    synth::synth(&tree, &files, &synth::Options::default(), &mut |_, _| ())?;
    let universe: Vec<(String, u64)> =
        files.into_iter().map(|file| (file.path, file.bytes)).collect();
    args.run.iter().map(|run| held_out(zero_ad, &tree, &universe, run, args)).collect()
}

fn held_out(
    zero_ad: &ZeroAd,
    tree: &Path,
    universe: &[(String, u64)],
    run: &str,
    args: &Args,
) -> anyhow::Result<Row> {
    let held_out = zero_ad.run(run)?;
    let others = zero_ad.without(held_out);
    let order = order::order_names(&others, universe, "best", None)?;
    let archive = tree.with_file_name(format!("without-{run}.zip"));
    eprintln!("packing {} in the order of the other four", archive.display());
    let out = Destination::new(&archive).replacing(true);
    pack::pack(tree, out, &order, &pack::Options::default(), &mut |_, _| ())?;
    eprintln!("loading {run} cold, {}", counted(args.rounds.into(), "round"));
    let loads = Loads::read(std::slice::from_ref(held_out))?;
    let options = compare::Options {
        device: match args.throttle {
            true => compare::Device::Throttled(args.device.clone()),
            false => compare::Device::modelled(args.device.clone()),
        },
        rounds: args.rounds,
        unique: true,
        rivals: Some(others),
        ..compare::Options::default()
    };
    let comparison = compare::compare(tree, &archive, &loads, &options, &mut |_, _, _| ())?;
    Ok(Row { run: run.to_owned(), comparison })
}

pub(crate) fn words(rows: &[Row], args: &Args) -> String {
    let header =
        ["held-out run", "loaded from", "median", "requests", "bytes read", "times as fast"];
    let cells = rows
        .iter()
        .flat_map(|row| row.comparison.rivals.iter().map(|rival| cells(&row.run, rival)));
    let on = if args.throttle { "the disk limited to" } else { "a modelled" };
    let models = rows.iter().map(|row| model(row, args.throttle)).collect::<String>();
    format!(
        "Cold loads (4.2): first loads of a run that the order was not made from, on {on} {}\n\n{}\n{models}\
         The paper, on its disk: 9.9 times.\n",
        args.device,
        table(&header, cells.collect())
    )
}

/// The figures of the model of ext4, and those that the kernel counted.
fn model(row: &Row, throttled: bool) -> String {
    let (expected, counted) = (row.comparison.expected.requests, row.comparison.loose().requests);
    match counted.filter(|_| throttled) {
        Some(counted) => {
            let off = 100.0 * (expected as f64 / counted.max(1) as f64 - 1.0);
            let (expected, counted) = (format_count(expected), format_count(counted));
            format!(
                "{}: the model of ext4 expects {expected} requests, {counted} were counted ({off:+.1} %)\n",
                row.run
            )
        }
        None => String::new(),
    }
}

fn cells(run: &str, rival: &Figures) -> Vec<String> {
    vec![
        run.to_owned(),
        rival.name.clone(),
        format_duration(rival.median_ns),
        rival.requests.map_or_else(|| "unknown".to_owned(), format_count),
        rival.bytes.map_or_else(|| "unknown".to_owned(), format_bytes),
        format!("{:.1}", rival.ratio),
    ]
}
