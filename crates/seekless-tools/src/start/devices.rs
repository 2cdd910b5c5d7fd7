//! What the devices charge that a profile's files lie on, and how far the kernel reads ahead there.
//! No file is looked at: its path tells its mount, and a look at a cold file costs a request.

use crate::warm::bring::readahead_bytes;
use seekless_device::Costs;
use seekless_policy::start::Device;
use seekless_sled::Surveyor;
use seekless_sys::mounts::{Mount, Mounts};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// A device, and whether its costs are assumed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) device: Device,
    pub(super) assumed: bool,
}

/// The devices of the mounts.
pub(super) struct Devices {
    told: Option<Costs>,
    mounts: Option<Mounts>,
    known: HashMap<PathBuf, Known>,
}

impl Devices {
    /// All of them charge what was told, if something was.
    pub(super) fn new(told: Option<Costs>) -> Self {
        Self { told, mounts: Mounts::read().ok(), known: HashMap::new() }
    }

    /// The device of the file at a path.
    pub(super) fn of(&mut self, path: &Path) -> Known {
        let mounts = self.mounts.as_ref().into_iter().flat_map(Mounts::iter);
        let below = mounts.filter(|mount| path.starts_with(&mount.point));
        // Of two mounts at one place, the later hides the earlier.
        let mount = below.max_by_key(|mount| mount.point.as_os_str().len());
        let point = mount.map_or(Path::new("/"), |mount| &mount.point);
        if let Some(known) = self.known.get(point) {
            return *known;
        }
        let known = look(self.told, point, mount);
        self.known.insert(point.to_owned(), known);
        known
    }
}

fn look(told: Option<Costs>, point: &Path, mount: Option<&Mount>) -> Known {
    // How many requests a device serves at once is told, or not known: then one is careful.
    let careful = |costs: Costs| Costs { depth: 1, ..costs };
    let probed = || Surveyor::new().ok()?.costs(point).ok()?;
    let known = told.or_else(|| probed().map(careful));
    let number = mount.map_or(0, |mount| rustix::fs::makedev(mount.device.0, mount.device.1));
    let costs = known.unwrap_or(careful(Costs::ASSUMED));
    let device = Device { costs, readahead_bytes: readahead_bytes(number) };
    Known { device, assumed: known.is_none() }
}
