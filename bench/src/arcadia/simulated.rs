//! All five starts on the model of a volume, each from an order and a prediction that were made of
//! the other four. Coded sizes are those of the game's own files, or a share of the content.
//!
//! *Named known* is told which files the run loads of those that the other runs name: what a better
//! prediction could come to with the planner as it is. Requests, bytes and waste stand in the order
//! of the shares: on demand, predicted, named known, list known. A device that is no volume has no
//! ceiling: there seconds stand in place of the shares. What was read in vain for a guess is told
//! apart from what only lay around a file or between two, or was read twice. *Unnamed* are the
//! bytes of the run's files that no other run has, and those of them that the references foretell.

use super::ceiling::{Limits, Ways};
use super::coded::Coded;
use super::named::Named;
use super::{Args, Data, RUNS, bounds, breakdown};
use anyhow::Context;
use seekless::device::units::{format_bytes, format_count};
use seekless::device::{CostsSource, DeviceSpec};
use seekless::policy::eviction::Id;
use seekless::policy::foresight::prediction::Model;
use seekless::policy::layout::extents::Extent;
use seekless::policy::planner::Memory;
use seekless::report::table;
use seekless::sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use seekless::tools::order::{Options, order};
use seekless::trace::{FileList, Loads};
use seekless_results::{Better, Contender, Figure, Table};
use std::collections::HashMap;
use std::sync::Arc;

/// A local header and a name.
const HEADER_BYTES: u64 = 90;

pub(super) fn run(args: &Args, data: &Data) -> anyhow::Result<Vec<Table>> {
    let list = FileList::read(&data.files)?;
    let coded = Coded::of_all(&data.contents, &list)?;
    let named = Named::of_game(&data.contents, &list)?;
    let game = Game { list, coded, named };
    let (mut rows, mut most, mut details) = (Vec::new(), Vec::new(), Vec::new());
    let mut saved = Saved::default();
    for spec in &args.throttle {
        for (number, name) in RUNS.iter().enumerate() {
            let start = Start::new(args, data, &game, number, spec)?;
            let loaded = start.load(args, spec)?;
            rows.push(start.row(&loaded, name, spec));
            saved.add(spec, &loaded, start.needed_bytes());
            most.extend(bounds::rows(&start, name, spec));
            if args.breakdown {
                details.extend(breakdown::rows(&start, args, name, spec)?);
            }
        }
    }
    let header = [
        "device",
        "start",
        "ceiling",
        "on demand",
        "predicted",
        "named known",
        "list known",
        "requests",
        "bytes",
        "needed",
        "wasted",
        "guessed, of these in vain",
        "other in vain",
        "unnamed, of these foretold",
    ];
    println!("{}", table(&header, rows));
    if !most.is_empty() {
        println!("{}", table(&bounds::HEADER, most));
    }
    if args.breakdown {
        println!("{}", table(&breakdown::HEADER, details));
    }
    Ok(saved.tables(args))
}

/// A start, loaded in each way: on demand, predicted, named known, list known.
struct Loaded {
    /// Seconds that no way can beat, on a volume.
    ceiling: Option<f64>,
    ways: [StoreFigures; 4],
}

const WAYS: [&str; 4] = ["predicted", "on demand", "named known", "list known"];
/// The places of these in [`Loaded`].
const PLACES: [usize; 4] = [1, 0, 2, 3];

/// The figures of all starts on one device, by way.
#[derive(Default)]
struct OnDevice {
    device: String,
    /// Requests a second, of a volume.
    iops: Option<u64>,
    shares: [Vec<f64>; 4],
    seconds: [Vec<f64>; 4],
    requests: [Vec<f64>; 4],
    vain: [Vec<f64>; 4],
}

/// What is saved: figures by device.
#[derive(Default)]
struct Saved(Vec<OnDevice>);

impl Saved {
    fn add(&mut self, spec: &DeviceSpec, loaded: &Loaded, needed: u64) {
        let device = spec.to_string();
        if self.0.last().is_none_or(|last| last.device != device) {
            let iops = Limits::of(spec).map(|limits| limits.iops);
            self.0.push(OnDevice { device, iops, ..OnDevice::default() });
        }
        let Some(of) = self.0.last_mut() else { return };
        for (way, figures) in loaded.ways.iter().enumerate() {
            let seconds = figures.time_ns as f64 / 1e9;
            of.seconds[way].push(seconds);
            of.shares[way].extend(loaded.ceiling.map(|ceiling| ceiling / seconds));
            of.requests[way].push(figures.requests as f64);
            of.vain[way].push(waste(figures, needed));
        }
    }

    fn tables(&self, args: &Args) -> Vec<Table> {
        let own = args.game.is_some();
        let under = format!(
            "Simulated; five starts of 0 A.D., each from an order and a prediction of the other \
             four; the median, the least and the most of the five. Coded sizes are {}. Named \
             known: the store knows which files the run loads of those that the other runs load.",
            if own { "those of the game's own files" } else { "55 % of each file" }
        );
        let table = |id: &str, title, unit, better| {
            let id = if own { format!("simulated-game-{id}") } else { format!("simulated-{id}") };
            Table::new(&id, title, "device", unit, better)
                .contenders(WAYS.map(Contender::ours))
                .under(&under)
        };
        let title = "Five starts, each from the other four: share of the ceiling";
        let mut shares = table("share", title, "", Better::Higher);
        let mut seconds = table("seconds", "The same: time of a start", "s", Better::Lower);
        let mut requests = table("requests", "The same: requests", "", Better::Lower);
        let mut vain =
            table("vain", "The same: bytes read in vain", "% of bytes read", Better::Lower);
        for of in &self.0 {
            for (name, way) in WAYS.into_iter().zip(PLACES) {
                shares.set(&of.device, name, Figure::of_rounds(&of.shares[way]));
                seconds.set(&of.device, name, Figure::of_rounds(&of.seconds[way]));
                requests.set(&of.device, name, Figure::of_rounds(&of.requests[way]));
                vain.set(&of.device, name, Figure::of_rounds(&of.vain[way]));
            }
            if let Some(iops) = of.iops {
                for table in [&mut shares, &mut seconds, &mut requests, &mut vain] {
                    table.place(&of.device, iops as f64);
                }
            }
        }
        vec![shares, seconds, requests, vain]
    }
}

/// The files that all starts load of.
struct Game {
    list: FileList,
    coded: Coded,
    named: Option<Arc<Named>>,
}

pub(super) struct Start {
    pub(super) archive: Archive,
    pub(super) loads: Vec<Id>,
    /// How many of the other runs name each file.
    pub(super) naming: Vec<u32>,
    pub(super) model: Model,
    /// As if it were known which of the files that the other runs name this run loads, and when.
    /// What no other run names stays unknown, as it does to any prediction made of these runs.
    pub(super) told: Model,
}

impl Start {
    fn new(
        args: &Args,
        data: &Data,
        Game { list, coded, named }: &Game,
        number: usize,
        spec: &DeviceSpec,
    ) -> anyhow::Result<Self> {
        let others = data.without(number);
        let options = Options {
            files: Some(data.files.clone()),
            method: args.method.clone(),
            device: spec.clone(),
            references: named
                .as_ref()
                .filter(|_| args.references.are_for_order())
                .map(Named::naming),
            ..Options::default()
        };
        let order = order(&others, &options)?.order;
        let sizes: HashMap<&str, u64> = list
            .paths
            .iter()
            .map(String::as_str)
            .zip(list.bytes.iter().map(|bytes| bytes.unwrap_or(0)))
            .collect();
        let bytes: Vec<u64> =
            order.iter().map(|name| sizes.get(name.as_str()).copied().unwrap_or(0)).collect();
        let mut file_bytes = 0;
        let place = |(name, bytes): (&String, &u64)| {
            let bytes = HEADER_BYTES + coded.bytes(name, *bytes);
            let extent = Extent { offset: file_bytes, bytes };
            file_bytes = extent.end();
            extent
        };
        let extents = order.iter().zip(&bytes).map(place).collect();
        let ids: HashMap<&str, Id> = order.iter().map(String::as_str).zip(0..).collect();
        let ids_of = |path: &std::path::PathBuf| -> anyhow::Result<Vec<Id>> {
            let loads = Loads::read(std::slice::from_ref(path))?;
            let run = loads.runs.first().context("a start has a run")?;
            Ok(run
                .iter()
                .filter_map(|load| ids.get(loads.names[load.file as usize].as_str()).copied())
                .collect())
        };
        let known = others.iter().map(ids_of).collect::<anyhow::Result<Vec<_>>>()?;
        let mut loads = ids_of(&data.runs[number])?;
        let mut seen = vec![false; order.len()];
        loads.retain(|&id| !std::mem::replace(&mut seen[id as usize], true));
        let mut model = Model::train(order.len() as u32, &known);
        if let Some(named) = named.as_ref().filter(|_| args.references.are_for_prediction()) {
            let known: Vec<&[Id]> = known.iter().map(Vec::as_slice).collect();
            model = model.with_references(named.learn(&order)(&known));
        }
        let naming = naming(order.len(), &known);
        let known: Vec<Id> = loads.iter().copied().filter(|&id| naming[id as usize] > 0).collect();
        let told = Model::train(order.len() as u32, &[known]);
        let archive = Archive { extents, bytes, file_bytes, alignment: 4096, opening: Vec::new() };
        Ok(Self { archive, loads, naming, model, told })
    }

    /// The run's files, by offset.
    pub(super) fn own_ids(&self) -> Vec<Id> {
        let mut ids = self.loads.clone();
        ids.sort_unstable();
        ids
    }

    /// Where they lie.
    pub(super) fn own(&self) -> Vec<Extent> {
        self.own_ids().iter().map(|&id| self.archive.extents[id as usize]).collect()
    }

    pub(super) fn needed_bytes(&self) -> u64 {
        self.own().iter().map(|extent| extent.bytes).sum()
    }

    /// Loads it in each way.
    fn load(&self, args: &Args, spec: &DeviceSpec) -> anyhow::Result<Loaded> {
        let settings = |prediction| settings(args, spec, prediction);
        let seconds = |limits| Ways::new(&self.own(), |_| true, limits).seconds();
        let ceiling = Limits::of(spec).map(seconds);
        let model = || spec.model();
        let without = on_demand(&self.archive, &self.loads, &settings(None), &mut model())?;
        let with = on_demand(
            &self.archive,
            &self.loads,
            &settings(Some(self.model.clone())),
            &mut model(),
        )?;
        let told = on_demand(
            &self.archive,
            &self.loads,
            &settings(Some(self.told.clone())),
            &mut model(),
        )?;
        let known = listed(&self.archive, &self.loads, &settings(None), &mut model())?;
        Ok(Loaded { ceiling, ways: [without, with, told, known] })
    }

    fn row(&self, loaded: &Loaded, name: &str, spec: &DeviceSpec) -> Vec<String> {
        let Loaded { ceiling, ways: [without, with, told, known] } = loaded;
        let needed = self.needed_bytes();
        let guessed_in_vain = with.predicted_bytes - with.predicted_used_bytes;
        let share = |figures: &StoreFigures| {
            let seconds = figures.time_ns as f64 / 1e9;
            match ceiling {
                Some(ceiling) => format!("{:.3}", ceiling / seconds),
                None => format!("{seconds:.3} s"),
            }
        };
        vec![
            spec.to_string(),
            name.to_owned(),
            ceiling.map_or_else(|| "-".to_owned(), |ceiling| format!("{ceiling:.3} s")),
            share(without),
            share(with),
            share(told),
            share(known),
            format!(
                "{} ({}, {}, {})",
                format_count(without.requests),
                format_count(with.requests),
                format_count(told.requests),
                format_count(known.requests)
            ),
            format!(
                "{} ({}, {}, {})",
                format_bytes(without.bytes),
                format_bytes(with.bytes),
                format_bytes(told.bytes),
                format_bytes(known.bytes)
            ),
            format_bytes(needed),
            [without, with, told, known]
                .map(|figures| format!("{:.0}", waste(figures, needed)))
                .join(", ")
                + " %",
            format!("{}, {}", format_bytes(with.predicted_bytes), format_bytes(guessed_in_vain)),
            format_bytes(with.bytes.saturating_sub(needed + guessed_in_vain)),
            format!(
                "{}, {}",
                format_bytes(self.unnamed_bytes()),
                format_bytes(self.foretold_bytes())
            ),
        ]
    }

    /// Bytes of the files that no other run has.
    fn unnamed_bytes(&self) -> u64 {
        let unnamed = self.loads.iter().filter(|&&id| self.naming[id as usize] == 0);
        unnamed.map(|&id| self.archive.extents[id as usize].bytes).sum()
    }

    /// Of these, bytes of files that one loaded before names, or one that this names.
    fn foretold_bytes(&self) -> u64 {
        let mut foretold = vec![false; self.naming.len()];
        let mut bytes = 0;
        for &id in self.loads.iter().filter(|&&id| self.naming[id as usize] == 0) {
            if foretold[id as usize] {
                bytes += self.archive.extents[id as usize].bytes;
            }
            let mut open = vec![id];
            while let Some(from) = open.pop() {
                for (to, _) in self.model.references().of(from) {
                    if !std::mem::replace(&mut foretold[to as usize], true) {
                        open.push(to);
                    }
                }
            }
        }
        bytes
    }
}

/// The store with this prediction.
pub(super) fn settings(args: &Args, spec: &DeviceSpec, prediction: Option<Model>) -> Settings {
    Settings {
        policy: "landlord".to_owned(),
        together_bytes: None,
        memory: Memory {
            cache_bytes: args.cache << 20,
            read_ahead_bytes: None,
            window_bytes: None,
        },
        costs: spec.costs(),
        source: CostsSource::Told,
        work: Work::default(),
        prediction,
    }
}

/// How many of `runs` name each of so many files.
fn naming(files: usize, runs: &[Vec<Id>]) -> Vec<u32> {
    let mut naming = vec![0; files];
    for run in runs {
        let mut run = run.clone();
        run.sort_unstable();
        run.dedup();
        run.iter().for_each(|&id| naming[id as usize] += 1);
    }
    naming
}

/// Bytes read that the run did not need, in percent of those read.
fn waste(figures: &StoreFigures, needed: u64) -> f64 {
    100.0 * (1.0 - needed as f64 / figures.bytes as f64)
}
