//! The real engine behind the kernel's throttle, from cold, all ways in turn.

use super::bounds::{VAIN_MAX, bytes_within};
use super::ceiling::{Limits, Ways};
use super::prepared::Prepared;
use super::{Args, Data};
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use seekless::device::DeviceSpec;
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::io::{Statistics, Store};
use seekless::measure::{Checksum, Dropping, Slowed, make_cold};
use seekless::policy::layout::extents::Extent;
use seekless::report::table;
use seekless::trace::Loads;
use seekless_results::{Better, Contender, Figure, Table};
use std::collections::HashSet;
use std::path::Path;
use std::time::{Duration, Instant};

/// The ways to load, in the order of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Loose,
    Squashfs,
    OnDemand { predict: bool },
    Listed,
}

const WAYS: [(Way, &str); 5] = [
    (Way::Loose, "loose files"),
    (Way::Squashfs, "squashfs, zstd, in the pack's order"),
    (Way::OnDemand { predict: false }, "on demand"),
    (Way::OnDemand { predict: true }, "on demand, predicted"),
    (Way::Listed, "list known"),
];

/// One trial.
struct Trial {
    took: Duration,
    delivered: Checksum,
    requests: u64,
    bytes: u64,
    store: Option<Statistics>,
}

pub(super) fn run(args: &Args, data: &Data, number: usize) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0, "--rounds: at least 1");
    let before = load_average();
    let folder = tempfile::Builder::new().prefix(".arcadia-").tempdir_in(&args.folder)?;
    let prepared = Prepared::new(args, data, number, folder.path())?;
    if let Err(why) = &prepared.squashfs {
        eprintln!("bench: squashfs is skipped: {why}");
    }
    let names = names(data, number)?;
    let own = own(&prepared.pack, &names)?;
    let needed: u64 = own.iter().map(|extent| extent.bytes).sum();
    let mut saved = tables(args);
    for spec in &args.throttle {
        let &DeviceSpec::Volume { iops, bytes_per_second } = spec else {
            anyhow::bail!("{spec} is no limit: give iops=N,bandwidth=RATE");
        };
        let ways = Ways::new(&own, |_| true, Limits { iops, bytes_per_second });
        let slowed = Slowed::new(&[&prepared.pack], iops, bytes_per_second)?;
        let mut trials: [Vec<Trial>; WAYS.len()] = Default::default();
        for round in 0..args.rounds {
            for ((way, _), trials) in WAYS.iter().zip(&mut trials) {
                // The loose files take minutes, and differ little.
                let is_skipped = (*way == Way::Loose && round > 0)
                    || (*way == Way::Squashfs && prepared.squashfs.is_err());
                if !is_skipped {
                    trials.push(trial(*way, &prepared, &names, spec, &slowed, args)?);
                }
            }
        }
        let delivered: HashSet<u64> =
            trials.iter().flatten().map(|trial| trial.delivered.value()).collect();
        ensure!(delivered.len() == 1, "the ways delivered different bytes");
        println!("{}", words(spec, &ways, needed, &trials));
        enter(&mut saved, spec, needed, &trials);
    }
    println!("Load average {before:.1} before, {:.1} after.", load_average());
    Ok(saved.into())
}

/// Seconds, times as fast as loose files, requests, and what was read in vain. Those of the game's
/// own files have names of their own.
fn tables(args: &Args) -> [Table; 4] {
    let own = args.game.is_some();
    let under = format!(
        "A start ({}) from a pack of all files, which neither order nor prediction knew; control \
         groups. Contents are {}.",
        args.start,
        if own { "the game's own" } else { "made up" }
    );
    let ours = [WAYS[3].1, WAYS[2].1, WAYS[4].1].map(Contender::ours);
    let table = |id: &str, title, unit, better| {
        let id = if own { format!("game-{id}") } else { id.to_owned() };
        Table::new(&id, title, "limits", unit, better).contenders(ours.clone()).under(&under)
    };
    [
        table("seconds", "A start of 0 A.D. from cold", "s", Better::Lower),
        table("times", "The same: times as fast as from loose files", "×", Better::Higher),
        table("requests", "The same: requests of the device", "", Better::Lower),
        table("vain", "The same: bytes that were read in vain", "% of bytes read", Better::Lower),
    ]
}

fn enter(
    [seconds, times, requests, vain]: &mut [Table; 4],
    spec: &DeviceSpec,
    needed: u64,
    trials: &[Vec<Trial>; WAYS.len()],
) {
    let case = spec.to_string();
    let took = |trials: &[Trial]| -> Vec<f64> {
        trials.iter().map(|trial| trial.took.as_secs_f64()).collect()
    };
    let loose = median(&mut took(&trials[0]));
    for ((way, name), trials) in WAYS.iter().zip(trials) {
        let Some(last) = trials.last() else { continue };
        let rounds = took(trials);
        seconds.set(&case, name, Figure::of_rounds(&rounds));
        requests.set(&case, name, Figure::exact(last.requests as f64));
        if *way != Way::Loose {
            let faster: Vec<f64> = rounds.iter().map(|seconds| loose / seconds).collect();
            times.set(&case, name, Figure::of_rounds(&faster));
            vain.set(&case, name, Figure::exact(waste(last.bytes, needed)));
        }
    }
    if let DeviceSpec::Volume { iops, .. } = spec {
        for table in [seconds, times, requests, vain] {
            table.place(&case, *iops as f64);
        }
    }
}

/// First loads of the run.
fn names(data: &Data, number: usize) -> anyhow::Result<Vec<String>> {
    let loads = Loads::read(std::slice::from_ref(&data.runs[number]))?;
    let run = loads.runs.first().context("a start has a run")?;
    let mut seen = HashSet::new();
    let first = run.iter().filter(|load| seen.insert(load.file));
    Ok(first.map(|load| loads.names[load.file as usize].clone()).collect())
}

/// Where the run's files lie in the pack, by offset.
fn own(pack: &Path, names: &[String]) -> anyhow::Result<Vec<Extent>> {
    let store = Store::builder().predict(false).open(pack)?;
    let extent = |name: &String| {
        let number = store.index().find(name).with_context(|| format!("no {name} in the pack"))?;
        let entry = store.index().entry(number);
        Ok(Extent { offset: entry.header_offset, bytes: entry.extent_bytes })
    };
    let mut own = names.iter().map(extent).collect::<anyhow::Result<Vec<_>>>()?;
    own.sort_unstable_by_key(|extent| extent.offset);
    Ok(own)
}

fn trial(
    way: Way,
    prepared: &Prepared,
    names: &[String],
    spec: &DeviceSpec,
    slowed: &Slowed,
    args: &Args,
) -> anyhow::Result<Trial> {
    if let (Way::Squashfs, Ok(mounted)) = (way, &prepared.squashfs) {
        mounted.again()?;
    }
    make_cold([&prepared.pack], Dropping::Machine)?;
    let load = || -> anyhow::Result<(Duration, Checksum, Option<Statistics>)> {
        let started = Instant::now();
        let (delivered, store) = match (way, &prepared.squashfs) {
            (Way::Loose, _) => (files(&prepared.loose, names)?, None),
            (Way::Squashfs, Ok(mounted)) => (files(&mounted.at, names)?, None),
            (Way::Squashfs, Err(why)) => anyhow::bail!("no squashfs: {why}"),
            (Way::OnDemand { predict }, _) => on_demand(prepared, names, spec, predict, args)?,
            (Way::Listed, _) => listed(prepared, names, spec, args)?,
        };
        Ok((started.elapsed(), delivered, store))
    };
    let (loaded, served) = slowed.during(load)?;
    let (took, delivered, store) = loaded?;
    Ok(Trial { took, delivered, requests: served.requests, bytes: served.bytes, store })
}

fn files(folder: &Path, names: &[String]) -> anyhow::Result<Checksum> {
    let mut delivered = Checksum::default();
    for (place, name) in (0..).zip(names) {
        let path = folder.join(name);
        let content = std::fs::read(&path).with_context(|| path.display().to_string())?;
        delivered.add(place, &content);
    }
    Ok(delivered)
}

fn open(
    prepared: &Prepared,
    spec: &DeviceSpec,
    predict: bool,
    args: &Args,
) -> anyhow::Result<Store> {
    let builder = Store::builder().cache(args.cache << 20).costs(spec.costs()).predict(predict);
    Ok(builder.open(&prepared.pack)?)
}

fn on_demand(
    prepared: &Prepared,
    names: &[String],
    spec: &DeviceSpec,
    predict: bool,
    args: &Args,
) -> anyhow::Result<(Checksum, Option<Statistics>)> {
    let store = open(prepared, spec, predict, args)?;
    let mut delivered = Checksum::default();
    for (place, name) in (0..).zip(names) {
        delivered.add(place, &store.load(name)?);
    }
    Ok((delivered, Some(store.statistics())))
}

fn listed(
    prepared: &Prepared,
    names: &[String],
    spec: &DeviceSpec,
    args: &Args,
) -> anyhow::Result<(Checksum, Option<Statistics>)> {
    let store = open(prepared, spec, false, args)?;
    let mut delivered = Checksum::default();
    for (place, content) in store.load_many(names.iter().map(String::as_str)) {
        delivered.add(place as u64, &content?);
    }
    // A list waits for nothing that it says.
    Ok((delivered, None))
}

fn words(spec: &DeviceSpec, ways: &Ways, needed: u64, trials: &[Vec<Trial>; WAYS.len()]) -> String {
    let ceiling = ways.seconds();
    let seconds = |trials: &[Trial]| {
        median(&mut trials.iter().map(|trial| trial.took.as_secs_f64()).collect::<Vec<_>>())
    };
    let loose = seconds(&trials[0]);
    let row = |((_, name), trials): (&(Way, &str), &Vec<Trial>)| {
        let Some(last) = trials.last() else {
            return std::iter::once((*name).to_owned()).chain(vec![String::new(); 8]).collect();
        };
        let took = seconds(trials);
        let all = || trials.iter().map(|trial| trial.took.as_secs_f64());
        let (least, most) = (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
        let waits = last.store.map_or_else(
            || [String::new(), String::new()],
            |store| [store.wait_p50_ns, store.wait_p99_ns].map(format_duration),
        );
        let [p50, p99] = waits;
        vec![
            (*name).to_owned(),
            format!("{took:.3} s"),
            format!("{least:.3} to {most:.3}"),
            format!("{:.1}", loose / took),
            format!("{:.2}", ceiling / took),
            format_count(last.requests),
            format!("{} ({:.0} %)", format_bytes(last.bytes), waste(last.bytes, needed)),
            p50,
            p99,
        ]
    };
    let header = [
        "way",
        "time",
        "least to most",
        "times loose",
        "of ceiling",
        "requests",
        "bytes (wasted)",
        "median wait",
        "99 %",
    ];
    let within = ways.seconds_within(bytes_within(needed));
    format!(
        "{spec}: nothing loads faster than in {ceiling:.3} s ({:.1} times loose), and with at most \
         {:.0} % of the bytes in vain than in {within:.3} s ({:.2} of that)\n\n{}",
        loose / ceiling,
        100.0 * VAIN_MAX,
        ceiling / within,
        table(&header, WAYS.iter().zip(trials).map(row).collect())
    )
}

/// Bytes that were read and not needed, in percent of those read.
fn waste(bytes: u64, needed: u64) -> f64 {
    100.0 * (1.0 - needed as f64 / bytes.max(1) as f64)
}
