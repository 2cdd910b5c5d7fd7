//! The costs and the kernel readahead of each device that holds a file of the profile. Found from
//! paths only: a stat of a cold file costs a request.

use super::at_once;
use crate::warm::bring::readahead_bytes;
use seekless_device::Costs;
use seekless_policy::foresight::start::Device;
use seekless_sled::{Kind, Surveyor};
use seekless_sys::block::OnDisk;
use seekless_sys::cgroup::Groups;
use seekless_sys::mounts::{Mount, Mounts};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What a request to another machine is assumed to cost, in nanoseconds.
const REMOTE_NS: u64 = 1_000_000;
/// File systems that ask no device.
const IN_MEMORY: [&str; 10] = [
    "tmpfs",
    "ramfs",
    "proc",
    "sysfs",
    "devtmpfs",
    "devpts",
    "cgroup",
    "cgroup2",
    "mqueue",
    "securityfs",
];

/// A device, and what is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) device: Device,
    /// Whether its costs are assumed.
    pub(crate) assumed: bool,
    /// Its name, if how many requests it serves at once is not known, but can be tried.
    pub(crate) untried: Option<String>,
    /// Where it is mounted; `None` if its files are in memory or made by the kernel.
    pub(crate) mounted: Option<PathBuf>,
    /// Whether requests that lie side by side count as one there. A limit of this process's control
    /// groups counts them before they are joined.
    pub(crate) joins: bool,
}

impl Known {
    /// The device, if it serves as many requests at once as is hoped before that is tried.
    pub(crate) fn hoped(&self) -> Option<Device> {
        self.untried.as_ref()?;
        let costs = Costs { depth: at_once::HOPED, ..self.device.costs };
        Some(Device { costs, ..self.device })
    }
}

/// The devices of the mounts.
pub(crate) struct Devices {
    told: Option<Costs>,
    mounts: Option<Mounts>,
    surveyor: Option<Surveyor>,
    groups: Option<Groups>,
    found: BTreeMap<String, at_once::Found>,
    numbers: HashMap<PathBuf, usize>,
    known: Vec<Known>,
}

impl Devices {
    /// All of them charge what was given, if something was.
    pub(crate) fn new(told: Option<Costs>) -> Self {
        let surveyor = if told.is_none() { Surveyor::new().ok() } else { None };
        let found = if told.is_none() { at_once::known() } else { BTreeMap::new() };
        let mounts = Mounts::read().ok();
        let groups = mounts.as_ref().and_then(|mounts| Groups::among(mounts).ok());
        Self { told, mounts, surveyor, groups, found, numbers: HashMap::new(), known: Vec::new() }
    }

    /// The number of the device of the file at a path.
    pub(crate) fn of(&mut self, path: &Path) -> usize {
        let mounts = self.mounts.as_ref().into_iter().flat_map(Mounts::iter);
        let below = mounts.filter(|mount| path.starts_with(&mount.point));
        // Of two mounts at one place, the later hides the earlier.
        let mount = below.max_by_key(|mount| mount.point.as_os_str().len()).cloned();
        let point = mount.as_ref().map_or(Path::new("/"), |mount| &mount.point);
        if let Some(number) = self.numbers.get(point) {
            return *number;
        }
        let known = self.look(point, mount.as_ref());
        self.known.push(known);
        self.numbers.insert(point.to_owned(), self.known.len() - 1);
        self.known.len() - 1
    }

    /// As [`Devices::of`], of a path that was asked for before.
    pub(crate) fn number_of(&self, path: &Path) -> usize {
        let ways = path.ancestors();
        ways.filter_map(|way| self.numbers.get(way)).next().copied().unwrap_or(0)
    }

    /// What is known of a device.
    pub(crate) fn known(&self, number: usize) -> &Known {
        &self.known[number]
    }

    fn look(&mut self, point: &Path, mount: Option<&Mount>) -> Known {
        let number = mount.map_or(0, |mount| rustix::fs::makedev(mount.device.0, mount.device.1));
        let readahead_bytes = readahead_bytes(number);
        let is_real = mount.is_none_or(|mount| !IN_MEMORY.contains(&mount.kind.as_str()));
        let mounted = is_real.then(|| point.to_owned());
        let joins = !is_real || mount.is_none_or(|mount| self.joins(mount.device));
        if let Some(costs) = self.told {
            let device = Device { costs, readahead_bytes };
            return Known { device, assumed: false, untried: None, mounted, joins };
        }
        let surveyor = self.surveyor.as_mut();
        let probed = surveyor.and_then(|surveyor| surveyor.costs(point).ok()?);
        let home = self.surveyor.as_mut().and_then(|surveyor| surveyor.home(point).ok());
        let home = home.map(|(home, _)| home).filter(|home| home.kind != Kind::Memory);
        let found = home.as_ref().and_then(|home| self.found.get(&home.key));
        // How many requests it serves at once is found out, or not known: then one is careful.
        let depth = found.map_or(1, |found| found.at_once);
        let remote = home.as_ref().is_some_and(|home| home.kind == Kind::Network);
        let assumed_ns = if remote { REMOTE_NS } else { Costs::ASSUMED.request_ns };
        let request_ns = found.map_or(assumed_ns, |found| found.request_ns);
        let assumed = Costs { request_ns, ..Costs::ASSUMED };
        let costs = Costs { depth, ..probed.unwrap_or(assumed) };
        let untried = home.map(|home| home.key).filter(|_| found.is_none());
        let device = Device { costs, readahead_bytes };
        let assumed = probed.is_none() && found.is_none();
        Known { device, assumed, untried, mounted, joins }
    }

    /// Whether the device is not among those whose requests are limited for this process.
    fn joins(&self, device: (u32, u32)) -> bool {
        let Some(groups) = &self.groups else { return true };
        let Some(on_disk) = OnDisk::find(device) else { return true };
        groups.read_limits(on_disk.number).requests_per_second.is_none()
    }
}
