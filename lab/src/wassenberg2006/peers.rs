//! Section 4.2 beside other ways to keep many files in one: a held-out start is loaded cold from
//! our packs (by name, in the newest run's order, in the best one), squashfs, erofs, tar, and by
//! Python's zipfile. All have the same files, take turns, and must deliver the same bytes.

mod image;
mod made;
mod python;
mod tar;
mod ways;

use super::Args;
use crate::data::ZeroAd;
use anyhow::Context;
use image::Image;
use made::Made;
use seekless::device::DeviceSpec;
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::measure::{
    BoxError, Coldness, Dropping, Figures, Slowed, Trial, Workload, alternate_with_progress,
    make_cold,
};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use seekless_terminal::{interrupt, progress};
use serde::Serialize;
use std::path::Path;
use ways::Way;

/// A way that could not take part.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) peer: &'static str,
    pub(super) why: String,
}

/// One held-out start.
#[derive(Serialize)]
pub(crate) struct Peers {
    run: String,
    /// Files in each archive.
    files: usize,
    /// Files that the start loads.
    loads: usize,
    /// The limits; `None` is the disk as it is.
    device: Option<String>,
    rivals: Vec<Figures>,
    left_out: Vec<LeftOut>,
}

pub(crate) fn measure(zero_ad: &ZeroAd, folder: &Path, args: &Args) -> anyhow::Result<Vec<Peers>> {
    let folder = &folder.join(match (args.quick, args.of_starts) {
        (true, _) => "peers-quick",
        (_, true) => "peers-of-starts",
        _ => "peers",
    });
    let mounts = Image::places(folder);
    let cleaning =
        interrupt::clean_when_interrupted(move || mounts.iter().for_each(|at| image::unmount(at)))?;
    let measured = args.run.iter().map(|run| one(zero_ad, folder, run, args)).collect();
    cleaning.unless_begun(measured)
}

fn one(zero_ad: &ZeroAd, folder: &Path, run: &str, args: &Args) -> anyhow::Result<Peers> {
    let made = Made::new(zero_ad, folder, zero_ad.run(run)?, args)?;
    let slowed = args.throttle.then(|| slow(&args.device, folder)).transpose()?;
    let costs = args.throttle.then(|| args.device.costs());
    let mut rivals: Vec<Rival<'_>> = made
        .ways(slowed.as_ref(), costs)
        .into_iter()
        .map(|(name, way)| Rival { name, way, names: &made.names, slowed: slowed.as_ref() })
        .collect();
    let mut workloads: Vec<&mut dyn Workload> =
        rivals.iter_mut().map(|rival| rival as &mut dyn Workload).collect();
    let mut bar = progress("loading cold");
    let figures = alternate_with_progress(&mut workloads, args.rounds.max(1) as usize, &mut bar)?;
    drop(rivals);
    Ok(Peers {
        run: run.to_owned(),
        files: made.files,
        loads: made.names.len(),
        device: args.throttle.then(|| args.device.to_string()),
        rivals: figures,
        left_out: made.left_out,
    })
}

fn slow(spec: &DeviceSpec, folder: &Path) -> anyhow::Result<Slowed> {
    let &DeviceSpec::Volume { iops, bytes_per_second } = spec else {
        anyhow::bail!("{spec} cannot be made of a real disk: give --device iops=N,bandwidth=RATE");
    };
    Slowed::new(&[folder], iops, bytes_per_second).context("cannot limit the disk")
}

/// A way that takes part.
struct Rival<'a> {
    name: String,
    way: Box<dyn Way + 'a>,
    names: &'a [String],
    slowed: Option<&'a Slowed>,
}

impl Workload for Rival<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn make_cold(&mut self) -> Result<Coldness, BoxError> {
        self.way.begin()?;
        Ok(make_cold(self.way.read_from(), Dropping::Machine)?)
    }

    fn run(&mut self, _progress: &mut dyn FnMut(f64)) -> Result<Trial, BoxError> {
        let Some(slowed) = self.slowed else {
            let trial = self.way.load(self.names)?;
            self.way.end()?;
            return Ok(trial);
        };
        let (trial, served) = slowed.during(|| self.way.load(self.names))?;
        self.way.end()?;
        Ok(trial?.served(served.requests, served.bytes))
    }
}

/// Times, requests and bytes of each run and rival.
pub(crate) fn tables(peers: &[Peers]) -> Vec<Table> {
    let mut tables = Vec::new();
    for Peers { run, files, loads, device, rivals, .. } in peers {
        let under = format!(
            "First loads of {loads} files of {files}, cold; {}. Orders are made of the other four starts.",
            device
                .as_deref()
                .map_or("the disk as it is".to_owned(), |limits| format!("control group {limits}"))
        );
        let table = |id: &str, title: &str, unit, better| {
            Table::new(
                &format!("{run}-{id}"),
                &format!("A start ({run}) {title}"),
                "loaded from",
                unit,
                better,
            )
            .contenders([Contender::ours("a start")])
            .under(&under)
        };
        let mut seconds = table("seconds", "from archives of each kind", "s", Better::Lower);
        let mut requests = table("requests", "the same: requests of the device", "", Better::Lower);
        let mut megabytes = table("megabytes", "the same: bytes read", "MB", Better::Lower);
        for rival in rivals {
            let spread = [rival.min_ns, rival.max_ns].map(|ns| ns as f64 / 1e9);
            let median = rival.median_ns as f64 / 1e9;
            seconds.set(
                &rival.name,
                "a start",
                Figure::within(median, spread, rival.rounds_ns.len()),
            );
            let of = |value: Option<u64>| value.map_or(f64::NAN, |value| value as f64);
            requests.set(&rival.name, "a start", Figure::exact(of(rival.requests)));
            megabytes.set(&rival.name, "a start", Figure::exact(of(rival.bytes) / 1e6));
        }
        tables.extend([seconds, requests, megabytes]);
    }
    tables
}

pub(crate) fn words(peers: &[Peers]) -> String {
    peers.iter().map(one_in_words).collect::<Vec<_>>().join("\n")
}

fn one_in_words(peers: &Peers) -> String {
    let header = ["loaded from", "median", "min to max", "times as fast", "requests", "bytes read"];
    let unknown = || "unknown".to_owned();
    let cells = peers.rivals.iter().map(|rival| {
        vec![
            rival.name.clone(),
            format_duration(rival.median_ns),
            format!("{} to {}", format_duration(rival.min_ns), format_duration(rival.max_ns)),
            format!("{:.1}", rival.ratio),
            rival.requests.map_or_else(unknown, format_count),
            rival.bytes.map_or_else(unknown, format_bytes),
        ]
    });
    let Peers { run, loads, files, .. } = peers;
    let disk = match &peers.device {
        Some(limits) => format!("limited to {limits}"),
        None => "as it is; --throttle limits it and counts requests".to_owned(),
    };
    let mut words = format!(
        "Beside others (4.2): {run}, first loads of {loads} files of {files}, cold, the disk {disk}. Orders are made of the other\n\
         four starts; \"best\" is also squashfs's sort list and the order of a tar. Opening our packs, a tar's index apart, is\n\
         measured; images are mounted before, and Python has started. Same bytes from all.\n\n{}\n",
        table(&header, cells.collect())
    );
    for LeftOut { peer, why } in &peers.left_out {
        words += &format!("Left out: {peer}: {why}\n");
    }
    words + &coldness(&peers.rivals)
}

/// What was cached before anything ran, and what was not cold later.
fn coldness(rivals: &[Figures]) -> String {
    let cached = |rival: &&Figures| rival.at_start.resident_bytes_before > 0;
    let part = |rival: &Figures| {
        let Coldness { resident_bytes_before: cached, bytes, .. } = rival.at_start;
        format!("{} of {} ({})", format_bytes(cached), format_bytes(bytes), rival.name)
    };
    let parts: Vec<String> = rivals.iter().filter(cached).map(part).collect();
    let mut words = match parts.is_empty() {
        true => "Before the first load nothing was cached.\n".to_owned(),
        false => format!("Cached before the first load, and dropped: {}.\n", parts.join(", ")),
    };
    let whole = rivals.iter().all(|rival| rival.least_cold.metadata_dropped);
    words += match whole {
        true => "Before each load everything was dropped, folders and inodes too.\n",
        false => "Before each load files were dropped, folders and inodes were not (root).\n",
    };
    for warm in rivals.iter().filter(|rival| !rival.least_cold.is_cold()) {
        words += &format!("Not cold in every round: {}: {}.\n", warm.name, warm.least_cold);
    }
    words
}
