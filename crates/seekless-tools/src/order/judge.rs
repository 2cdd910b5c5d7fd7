//! What a store makes of an order on a device: the simulated store (`seekless_sim::store`) loads a
//! run from an archive in that order.

use super::files::Files;
use crate::error::{Error, ErrorKind, Result};
use seekless_device::{
    AnyDevice, Costs, CostsSource, DeviceModel, DeviceSpec, Io, Nanos, Parameters,
};
use seekless_policy::eviction::Id;
use seekless_policy::extents::Extent;
use seekless_policy::planner::{Memory, READ_BYTES_MAX};
use seekless_sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use serde::Serialize;
use std::ops::AddAssign;

/// The caches of the judged store: those of a store that was not told any.
const CACHE_BYTES: u64 = 64_000_000;

/// The unit of a store's reads.
const ALIGNMENT: u64 = 4096;

/// An object store draws its latencies, so it is asked with so many seeds. Figures are the means.
const SEEDS: u32 = 4;

/// Requests that keep a volume busy before.
const BUSY_REQUESTS_MAX: u64 = 10_000;

/// What loading from an order takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Loading {
    /// Time on the device, in nanoseconds. The archive is open already.
    pub time_ns: u64,
    /// Requests, of at most 1 MiB each.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Of these, bytes of files that the run does not load, and bytes that were read twice.
    pub wasted_bytes: u64,
}

/// The two ways in which a program loads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Loadings {
    /// The store knows the list of loads beforehand.
    pub listed: Loading,
    /// One file after the other is demanded.
    pub on_demand: Loading,
}

impl AddAssign for Loading {
    fn add_assign(&mut self, other: Self) {
        self.time_ns += other.time_ns;
        self.requests += other.requests;
        self.bytes += other.bytes;
        self.wasted_bytes += other.wasted_bytes;
    }
}

impl AddAssign for Loadings {
    fn add_assign(&mut self, other: Self) {
        self.listed += other.listed;
        self.on_demand += other.on_demand;
    }
}

/// A device to judge orders on.
pub(crate) struct Judge<'a> {
    files: &'a Files,
    /// The device, or an object store with several seeds.
    devices: Vec<Busy>,
    settings: Settings,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(files: &'a Files, device: &DeviceSpec) -> Self {
        let memory =
            Memory { cache_bytes: CACHE_BYTES, read_ahead_bytes: None, window_bytes: None };
        let settings = Settings {
            policy: "landlord".to_owned(),
            memory,
            costs: device.costs(),
            source: CostsSource::Told,
            work: Work::default(),
        };
        Judge { files, devices: drawn(device).iter().map(Busy::new).collect(), settings }
    }

    /// The first loads of `run` from an archive that holds `order`, files by number.
    ///
    /// # Errors
    /// None but a fault of this program.
    pub(crate) fn judge(&self, order: &[Id], run: &[Id]) -> Result<Loadings> {
        let (archive, places) = self.archive(order);
        let mut loaded = vec![false; order.len()];
        let loads: Vec<Id> = run
            .iter()
            .filter_map(|&id| places.get(id as usize).copied())
            .filter(|&place| place != Id::MAX)
            .filter(|&place| !std::mem::replace(&mut loaded[place as usize], true))
            .collect();
        let needed = loads.iter().map(|&place| archive.extents[place as usize].bytes).sum();
        let mut sum = Loadings::default();
        for device in &self.devices {
            let list = listed(&archive, &loads, &self.settings, &mut device.clone());
            let demand = on_demand(&archive, &loads, &self.settings, &mut device.clone());
            sum += Loadings {
                listed: loading(list.map_err(fault)?, needed),
                on_demand: loading(demand.map_err(fault)?, needed),
            };
        }
        Ok(sum.over(self.devices.len() as u64))
    }

    /// What no order can beat: the run's own files alone in an archive, in its own order, with the
    /// list known. There are no fewer bytes to read, and no fewer requests for them.
    pub(crate) fn floor(&self, run: &[Id]) -> Result<Loading> {
        let mut loaded = vec![false; self.files.bytes.len()];
        let first = |id: &Id| {
            loaded.get_mut(*id as usize).is_some_and(|loaded| !std::mem::replace(loaded, true))
        };
        let own: Vec<Id> = run.iter().copied().filter(first).collect();
        Ok(self.judge(&own, &own)?.listed)
    }

    /// The archive, and the place of each file in it.
    fn archive(&self, order: &[Id]) -> (Archive, Vec<Id>) {
        let mut places = vec![Id::MAX; self.files.bytes.len()];
        let mut extents = Vec::with_capacity(order.len());
        let mut offset = 0;
        for (place, &id) in (0..).zip(order) {
            places[id as usize] = place;
            let bytes = self.files.coded[id as usize];
            extents.push(Extent { offset, bytes });
            offset += bytes;
        }
        let archive = Archive {
            extents: extents.into(),
            bytes: order.iter().map(|&id| self.files.bytes[id as usize]).collect(),
            file_bytes: offset,
            alignment: ALIGNMENT,
            opening: Vec::new(),
        };
        (archive, places)
    }
}

/// A device that was busy until now. What a throttled volume lets pass at once is used up: a short
/// run would take no time otherwise, from any order.
#[derive(Clone)]
struct Busy {
    model: AnyDevice,
    /// Time 0 of the judged run.
    since: Nanos,
}

impl Busy {
    fn new(device: &DeviceSpec) -> Self {
        let mut busy = Busy { model: device.model(), since: 0 };
        if let Parameters::Volume(volume) = device.parameters() {
            let bytes = (volume.bytes_per_second / volume.iops.max(1)).clamp(1, READ_BYTES_MAX);
            // As many as it serves in a second, which use up requests and bytes alike.
            for tag in 0..volume.iops.min(BUSY_REQUESTS_MAX) {
                busy.model.submit(0, Io { tag, write: false, offset: 0, bytes });
            }
            while let Some(next) = busy.model.next_event() {
                let since = &mut busy.since;
                busy.model.advance(next, &mut |end, _| *since = end.max(*since));
            }
        }
        busy
    }
}

impl DeviceModel for Busy {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.model.submit(now + self.since, io);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.model.next_event().map(|next| next.saturating_sub(self.since))
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        let since = self.since;
        self.model.advance(now + since, &mut |end, io| done(end.saturating_sub(since), io));
    }

    fn costs(&self) -> Costs {
        self.model.costs()
    }
}

impl Loadings {
    /// The mean of `count` such sums.
    pub(crate) fn over(self, count: u64) -> Self {
        let mean = |sum: Loading| Loading {
            time_ns: sum.time_ns / count,
            requests: sum.requests / count,
            bytes: sum.bytes / count,
            wasted_bytes: sum.wasted_bytes / count,
        };
        Loadings { listed: mean(self.listed), on_demand: mean(self.on_demand) }
    }
}

fn loading(figures: StoreFigures, needed_bytes: u64) -> Loading {
    let StoreFigures { requests, bytes, time_ns, .. } = figures;
    Loading { time_ns, requests, bytes, wasted_bytes: bytes.saturating_sub(needed_bytes) }
}

fn drawn(device: &DeviceSpec) -> Vec<DeviceSpec> {
    let Parameters::ObjectStore(parameters) = device.parameters() else {
        return vec![device.clone()];
    };
    let seeded = |seed| {
        let parameters = Parameters::ObjectStore(seekless_device::ObjectStoreParameters {
            seed,
            ..parameters.clone()
        });
        DeviceSpec::new(&device.to_string(), parameters).unwrap_or_else(|_| device.clone())
    };
    (0..SEEDS).map(|seed| seeded(parameters.seed.wrapping_add(seed))).collect()
}

fn fault(error: seekless_sim::Error) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string())
}
