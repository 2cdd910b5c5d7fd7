//! What a store makes of an order on a device: the simulated store (`seekless_sim::store`) loads a
//! run from an archive in that order.

use super::files::Files;
use super::schedule::Schedule;
use seekless_device::{
    AnyDevice, Costs, CostsSource, DeviceModel, DeviceSpec, Io, Nanos, ObjectStoreParameters,
    Parameters,
};
use seekless_job::{Error, ErrorKind, Result};
use seekless_policy::eviction::Id;
use seekless_policy::layout::extents::Extent;
use seekless_policy::planner::{Memory, READ_BYTES_MAX};
use seekless_sim::store::{Archive, Settings, StoreFigures, Work, listed, on_demand};
use serde::Serialize;
use std::ops::AddAssign;

/// The caches of the judged store: the defaults. 64 MiB more for kept reads would flatter every
/// order: five starts on an object store, on demand, then take 9 to 14 % less from each. Candidates
/// judged so were chosen alike but for one start.
const CACHE_BYTES: u64 = 64_000_000;

/// The unit of a store's reads.
const ALIGNMENT: u64 = 4096;

/// A device whose times depend on chance is judged in several states, and figures are the means. A
/// run of few loads depends on chance the most, and is judged in more of them: in enough that all
/// their loads together come to [`JUDGED_LOADS`].
const STATES_MIN: usize = 4;
const STATES_MAX: usize = 12;
const JUDGED_LOADS: usize = 12_000;

/// A volume lets pass at once what a slice of a tenth of a second allows, and serves the next
/// request in the next slice. So a run takes a tenth of a second more or less for a request more
/// or less. Judged runs begin at several places of a slice: then each request counts.
const SLICES_A_SECOND: u64 = 10;

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
    /// The device in each state: an object store with several seeds, a volume at several places
    /// of a slice.
    devices: Vec<Busy>,
    /// Requests end in the order in which they were made, in every state.
    ends_in_order: bool,
    settings: Settings,
}

/// A way of loading.
#[derive(Clone, Copy)]
struct Way {
    load:
        fn(&Archive, &[Id], &Settings, &mut dyn DeviceModel) -> seekless_sim::Result<StoreFigures>,
    /// The store makes the same requests in every state of the device.
    each_state_alike: bool,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(files: &'a Files, device: &DeviceSpec) -> Self {
        let memory =
            Memory { cache_bytes: CACHE_BYTES, read_ahead_bytes: None, window_bytes: None };
        let settings = Settings {
            policy: "landlord".to_owned(),
            memory,
            together_bytes: None,
            costs: device.costs(),
            source: CostsSource::Given,
            work: Work::default(),
            prediction: None,
        };
        let ends_in_order = matches!(device.parameters(), Parameters::Volume(_));
        Judge { files, devices: states(device), ends_in_order, settings }
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
        let devices = self.devices_for(loads.len());
        let demand = Way { load: on_demand, each_state_alike: true };
        let list = Way { load: listed, each_state_alike: self.ends_in_order };
        let mean = |way: Way| self.mean(way, &archive, &loads, devices);
        Ok(Loadings {
            listed: loading(mean(list).map_err(fault)?, needed),
            on_demand: loading(mean(demand).map_err(fault)?, needed),
        })
    }

    /// The mean over `devices`.
    fn mean(
        &self,
        way: Way,
        archive: &Archive,
        loads: &[Id],
        devices: &[Busy],
    ) -> seekless_sim::Result<StoreFigures> {
        let count = devices.len() as u64;
        if way.each_state_alike && count > 1 {
            let mut schedule = Schedule::new(self.settings.costs);
            let figures = (way.load)(archive, loads, &self.settings, &mut schedule)?;
            let times = devices.iter().map(|device| schedule.time_on(&mut device.clone()));
            return Ok(StoreFigures { time_ns: times.sum::<u64>() / count, ..figures });
        }
        let mut sum = StoreFigures::default();
        for device in devices {
            let one = (way.load)(archive, loads, &self.settings, &mut device.clone())?;
            sum.requests += one.requests;
            sum.bytes += one.bytes;
            sum.time_ns += one.time_ns;
        }
        let StoreFigures { requests, bytes, time_ns, .. } = sum;
        let [requests, bytes, time_ns] = [requests, bytes, time_ns].map(|sum| sum / count);
        Ok(StoreFigures { requests, bytes, time_ns, ..sum })
    }

    /// The states in which a run of this many loads is judged.
    fn devices_for(&self, loads: usize) -> &[Busy] {
        let states = (JUDGED_LOADS / loads.max(1)).clamp(STATES_MIN, STATES_MAX);
        &self.devices[..states.min(self.devices.len())]
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
            names: None,
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
    /// A device that was not busy.
    fn idle(device: &DeviceSpec) -> Self {
        Busy { model: device.model(), since: 0 }
    }

    /// A volume that was, at one of [`STATES_MAX`] places of a slice.
    fn volume(device: &DeviceSpec, place: usize) -> Self {
        let mut busy = Busy::idle(device);
        let Parameters::Volume(volume) = device.parameters() else { return busy };
        let bytes = (volume.bytes_per_second / volume.iops.max(1)).clamp(1, READ_BYTES_MAX);
        // As many as it serves in a second, which use up requests and bytes alike, and a part of
        // those of a slice.
        let second = volume.iops.min(BUSY_REQUESTS_MAX);
        let part = second * place as u64 / (SLICES_A_SECOND * STATES_MAX as u64);
        for tag in 0..second + part {
            busy.model.submit(0, Io { tag, write: false, offset: 0, bytes });
        }
        while let Some(next) = busy.model.next_event() {
            let since = &mut busy.since;
            busy.model.advance(next, &mut |end, _| *since = end.max(*since));
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

fn loading(figures: StoreFigures, needed_bytes: u64) -> Loading {
    let StoreFigures { requests, bytes, time_ns, .. } = figures;
    Loading { time_ns, requests, bytes, wasted_bytes: bytes.saturating_sub(needed_bytes) }
}

/// The device in all states, or in one if chance plays no part.
fn states(device: &DeviceSpec) -> Vec<Busy> {
    match device.parameters() {
        Parameters::ObjectStore(parameters) => (0..STATES_MAX as u32)
            .map(|seed| {
                let seed = parameters.seed.wrapping_add(seed);
                let seeded = ObjectStoreParameters { seed, ..parameters.clone() };
                let name = device.to_string();
                let seeded = DeviceSpec::new(&name, Parameters::ObjectStore(seeded));
                Busy::idle(seeded.as_ref().unwrap_or(device))
            })
            .collect(),
        // The first few lie far apart.
        Parameters::Volume(_) => (0..STATES_MAX)
            .map(|state| state % STATES_MIN * (STATES_MAX / STATES_MIN) + state / STATES_MIN)
            .map(|place| Busy::volume(device, place))
            .collect(),
        _ => vec![Busy::idle(device)],
    }
}

fn fault(error: seekless_sim::Error) -> Error {
    Error::new(ErrorKind::Invalid, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_request_counts_on_a_volume_that_lets_some_pass_at_once() {
        // Files that are too large to be read together.
        let names: Vec<String> = (0..40).map(|file| format!("{file:02}")).collect();
        let files = Files::new(names.iter().map(String::as_str), vec![1_500_000; 40]);
        let judge = Judge::new(&files, &"iops=120,bandwidth=1GB/s".parse().unwrap());
        let order: Vec<Id> = (0..40).collect();
        let time = |loads: usize| {
            let Loadings { listed, on_demand } = judge.judge(&order, &order[..loads]).unwrap();
            (listed.time_ns, on_demand.time_ns)
        };
        let times: Vec<(u64, u64)> = (1..40).step_by(2).map(time).collect();
        for pair in times.windows(2) {
            assert!(pair[0].0 < pair[1].0 && pair[0].1 < pair[1].1, "{pair:?} of {times:?}");
        }
    }
}
