//! The game's files and starts, for figures on modelled devices: each start is loaded from orders
//! of all files that were made without it, and from its own.
//!
//! Loose files lie as a fresh copy by name does, which flatters them. Coded sizes are a share of
//! the content.

use super::reader::Reader;
use crate::data::ZeroAd;
use anyhow::Context;
use seekless::device::{ColdFiles, CostsSource, DeviceSpec, Geometry, Layout, Nanos};
use seekless::policy::eviction::Id;
use seekless::policy::layout::extents::Extent;
use seekless::policy::planner::Memory;
use seekless::sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use seekless::tools::order::{Options, order};
use seekless::trace::{FileList, Loads};
use std::collections::HashMap;
use std::sync::Arc;

/// The last is the start's own order, all other files behind it.
pub(super) const ORDERS: [&str; 4] = ["name", "recent", "best", "own"];

/// Coded bytes of content, in percent: what deflate made of the files of one start
/// (77.9 of 141.2 MB).
pub(super) const CODED_PERCENT: u64 = 55;

/// A local header and a name.
const HEADER_BYTES: u64 = 90;

/// The files, and what each start loads of them.
pub(super) struct Game {
    names: Vec<String>,
    bytes: Vec<u64>,
    pub(super) starts: Vec<Start>,
}

/// One start.
pub(super) struct Start {
    /// First loads, as the paper's cache leaves them.
    pub(super) loads: Vec<Id>,
    /// All loads, those of a file that was loaded before among them.
    all: Vec<Id>,
    /// One for each of [`ORDERS`].
    orders: Vec<Vec<Id>>,
}

/// How our store loads.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub(super) list_known: bool,
    /// Of the cache of files. With 0 nothing is read ahead.
    pub(super) cache_bytes: u64,
    pub(super) coded: Coded,
}

/// How files are coded.
#[derive(Clone, Copy, Debug)]
pub(super) struct Coded {
    /// Coded bytes of content.
    pub(super) percent: u64,
    /// Nanoseconds to decode a mebibyte of content.
    pub(super) mebibyte_ns: Nanos,
}

impl Coded {
    /// As they are.
    pub(super) const STORED: Self = Self { percent: 100, mebibyte_ns: 0 };
    /// By deflate, and decoded in no time.
    pub(super) const AT_ONCE: Self = Self { percent: CODED_PERCENT, mebibyte_ns: 0 };
    /// By deflate, and decoded by the paper's processor: 94.5 MB/s (4.2).
    pub(super) const PAPER: Self = Self { percent: CODED_PERCENT, mebibyte_ns: 11_096_042 };
}

impl Game {
    /// Orders are made for `device`.
    pub(super) fn read(zero_ad: &ZeroAd, device: &DeviceSpec) -> anyhow::Result<Self> {
        let list = FileList::read(&zero_ad.files)?;
        let bytes = list.bytes.iter().map(|bytes| bytes.unwrap_or(0)).collect();
        let ids: HashMap<&str, Id> = list.paths.iter().map(String::as_str).zip(0..).collect();
        let number = |names: &[String]| -> Vec<Id> {
            names.iter().filter_map(|name| ids.get(name.as_str()).copied()).collect()
        };
        let mut starts = Vec::new();
        for held_out in &zero_ad.runs {
            let loads = Loads::read(std::slice::from_ref(held_out))?;
            let run = loads.runs.first().context("a start has a run")?;
            let names: Vec<String> =
                run.iter().map(|load| loads.names[load.file as usize].clone()).collect();
            let mut seen = vec![false; list.paths.len()];
            let all = number(&names);
            let mut own = all.clone();
            own.retain(|&id| !std::mem::replace(&mut seen[id as usize], true));
            let others = zero_ad.without(held_out);
            let mut orders = Vec::new();
            for method in &ORDERS[..3] {
                let options = Options {
                    files: Some(zero_ad.files.clone()),
                    method: (*method).to_owned(),
                    device: device.clone(),
                    ..Options::default()
                };
                orders.push(number(&order(&others, &options)?.order));
            }
            let rest = (0..list.paths.len() as Id).filter(|&id| !seen[id as usize]);
            orders.push(own.iter().copied().chain(rest).collect());
            starts.push(Start { loads: own, all, orders });
        }
        Ok(Game { bytes, starts, names: list.paths })
    }

    /// Content that all starts load.
    pub(super) fn loaded_bytes(&self) -> u64 {
        let loads = self.starts.iter().flat_map(|start| &start.loads);
        loads.map(|&id| self.bytes[id as usize]).sum()
    }

    /// Seconds of all starts from the loose files. Opens each, which waits for its metadata, and
    /// reads it; this many reads are in flight at once, those of files opened before among them.
    pub(super) fn loose(&self, at_once: usize, device: &DeviceSpec) -> f64 {
        let files: Vec<(&str, u64)> =
            self.names.iter().map(String::as_str).zip(self.bytes.iter().copied()).collect();
        let layout = Layout::fresh(&files, &Geometry::default());
        let start = |start: &Start| {
            let mut cold = ColdFiles::new(&layout, Geometry::default());
            let mut reader = Reader::new(device);
            for &id in &start.loads {
                cold.open(id as usize, &mut |fetch| {
                    reader.read_now(fetch.place, fetch.bytes, at_once);
                });
                cold.read(id as usize, &mut |fetch| {
                    reader.read(fetch.place, fetch.bytes, at_once);
                });
                reader.wait_for(at_once - 1);
            }
            reader.wait_for(0);
            reader.seconds()
        };
        self.starts.iter().map(start).sum()
    }

    /// Seconds of all starts the paper's way, from the archive of each order: one file after
    /// another, its blocks decoded while the next ones are read ([`Reader::load`]).
    pub(super) fn blocks(&self, block: u64, coded: Coded, device: &DeviceSpec) -> Vec<f64> {
        let from = |number: usize| {
            let start = |start: &Start| {
                let extents = self.extents(&start.orders[number], coded.percent);
                let mut reader = Reader::new(device);
                for &id in &start.loads {
                    let decode_ns = (self.bytes[id as usize] * coded.mebibyte_ns) >> 20;
                    reader.load(extents[id as usize], block, decode_ns);
                }
                reader.seconds()
            };
            self.starts.iter().map(start).sum()
        };
        (0..ORDERS.len()).map(from).collect()
    }

    /// Where each file lies in an archive of this order.
    fn extents(&self, order: &[Id], percent: u64) -> Vec<Extent> {
        let mut extents = vec![Extent { offset: 0, bytes: 0 }; self.bytes.len()];
        let mut offset = 0;
        for &id in order {
            let bytes = HEADER_BYTES + self.bytes[id as usize] * percent / 100;
            extents[id as usize] = Extent { offset, bytes };
            offset += bytes;
        }
        extents
    }

    /// Seconds of all starts by our store, which was told its device, from the archive of each
    /// order.
    pub(super) fn store(&self, how: How, device: &DeviceSpec) -> anyhow::Result<Vec<f64>> {
        let How { list_known, cache_bytes, coded } = how;
        let work = Work { load_ns: 0, mebibyte_ns: coded.mebibyte_ns };
        let settings = Settings { work, ..settings(cache_bytes, device) };
        let load = if list_known { listed } else { on_demand };
        let from = |number: usize| {
            let mut seconds = 0.0;
            for start in &self.starts {
                let (archive, loads) = self.archive(start, number, coded.percent);
                let figures = load(&archive, &loads, &settings, &mut device.model())?;
                seconds += figures.time_ns as f64 / 1e9;
            }
            Ok(seconds)
        };
        (0..ORDERS.len()).map(from).collect()
    }

    /// What all loads of all starts ask of a store that loads on demand, from the order of this
    /// number, if the files of each unit of `together_bytes` leave its cache together.
    pub(super) fn all_loads(
        &self,
        number: usize,
        cache_bytes: u64,
        together_bytes: Option<u64>,
        device: &DeviceSpec,
    ) -> anyhow::Result<Vec<StoreFigures>> {
        let settings = Settings { together_bytes, ..settings(cache_bytes, device) };
        let figures = |start: &Start| {
            let (archive, _) = self.archive(start, number, CODED_PERCENT);
            let mut places = vec![0; self.bytes.len()];
            (0..).zip(&start.orders[number]).for_each(|(place, &id)| places[id as usize] = place);
            let loads: Vec<Id> = start.all.iter().map(|&id| places[id as usize]).collect();
            Ok(on_demand(&archive, &loads, &settings, &mut device.model())?)
        };
        self.starts.iter().map(figures).collect()
    }

    fn archive(&self, start: &Start, number: usize, percent: u64) -> (Archive, Vec<Id>) {
        let order = &start.orders[number];
        let extents = self.extents(order, percent);
        let mut places = vec![0; order.len()];
        (0..).zip(order).for_each(|(place, &id)| places[id as usize] = place);
        let in_order: Arc<[Extent]> = order.iter().map(|&id| extents[id as usize]).collect();
        let archive = Archive {
            file_bytes: in_order.last().map_or(0, Extent::end),
            bytes: order.iter().map(|&id| self.bytes[id as usize]).collect(),
            extents: in_order,
            alignment: 4096,
            opening: Vec::new(),
            names: None,
        };
        (archive, start.loads.iter().map(|&id| places[id as usize]).collect())
    }
}

/// A store that was told its device.
fn settings(cache_bytes: u64, device: &DeviceSpec) -> Settings {
    Settings {
        policy: "landlord".to_owned(),
        memory: Memory { cache_bytes, read_ahead_bytes: None, window_bytes: None },
        together_bytes: None,
        costs: device.costs(),
        source: CostsSource::Given,
        work: Work::default(),
        prediction: None,
    }
}
