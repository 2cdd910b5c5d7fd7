//! One start on the model of a device: its files in an order, and a prediction, both made of the
//! other starts.

use super::ceiling::{Limits, Ways};
use super::coded::Coded;
use super::named::Named;
use super::{Args, Data};
use anyhow::Context;
use seekless::device::units::{format_bytes, format_count};
use seekless::device::{CostsSource, DeviceSpec};
use seekless::policy::eviction::Id;
use seekless::policy::foresight::prediction::Model;
use seekless::policy::layout::extents::Extent;
use seekless::policy::planner::Memory;
use seekless::sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use seekless::tools::order::{Options, order};
use seekless::trace::{FileList, Loads};
use std::collections::HashMap;
use std::sync::Arc;

/// A local header and a name.
const HEADER_BYTES: u64 = 90;

/// A start, loaded in each way: on demand, predicted, named known, list known.
pub(super) struct Loaded {
    /// Seconds that no way can beat, on a volume.
    pub(super) ceiling: Option<f64>,
    pub(super) ways: [StoreFigures; 4],
}

/// The files that all starts load of.
pub(super) struct Game {
    pub(super) list: FileList,
    pub(super) coded: Coded,
    pub(super) named: Option<Arc<Named>>,
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
    pub(super) fn new(
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
        let archive = Archive {
            extents,
            bytes,
            file_bytes,
            alignment: 4096,
            opening: Vec::new(),
            names: None,
        };
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
    pub(super) fn load(&self, args: &Args, spec: &DeviceSpec) -> anyhow::Result<Loaded> {
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

    pub(super) fn row(&self, loaded: &Loaded, name: &str, spec: &DeviceSpec) -> Vec<String> {
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
        source: CostsSource::Given,
        work: Work::default(),
        prediction,
    }
}

/// How many of `runs` name each of this many files.
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
pub(super) fn waste(figures: &StoreFigures, needed: u64) -> f64 {
    100.0 * (1.0 - needed as f64 / figures.bytes as f64)
}
