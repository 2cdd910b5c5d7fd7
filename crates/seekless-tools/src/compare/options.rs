//! How to compare, and what to load from.

use seekless_device::DeviceSpec;
use seekless_engine::Clock;
use seekless_io::DiskCacheSettings;
use seekless_job::roots::Roots;
use seekless_measure::Dropping;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What the files are loaded from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Device {
    /// The device that they lie on.
    #[default]
    Real,
    /// A model of another. Its waits are skipped unless `in_real_time`.
    Modelled {
        /// The device.
        spec: DeviceSpec,
        /// Whether modelled waits are waited for.
        in_real_time: bool,
    },
    /// The device that they lie on, slowed to these limits by the kernel. Needs root.
    Throttled(DeviceSpec),
}

impl Device {
    /// A model whose waits are skipped.
    #[must_use]
    pub fn modelled(spec: DeviceSpec) -> Self {
        Device::Modelled { spec, in_real_time: false }
    }

    pub(super) fn clock(&self) -> Clock {
        match self {
            Device::Modelled { in_real_time: false, .. } => Clock::skipping(),
            _ => Clock::wall(),
        }
    }
}

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// The run to load; without it the newest.
    pub run: Option<u32>,
    /// What to load from.
    pub device: Device,
    /// Timed rounds, after one that is discarded.
    pub rounds: u32,
    /// The cache of the pack's store in bytes; empty at the start of each round.
    pub cache_bytes: u64,
    /// First loads only.
    pub unique: bool,
    /// Before each trial also empty the whole machine's caches, names and inodes included. Needs
    /// root.
    pub drop_all_caches: bool,
    /// Where traced files are now.
    pub roots: Roots,
    /// Also pack the folder in the order of names and, of these runs, in the newest's order, and
    /// load from those packs.
    pub rivals: Option<Vec<PathBuf>>,
    /// Whether the pack's store does not use what the pack says of its program's loads.
    pub no_prediction: bool,
    /// The disk cache of a pack in object storage. The round that is discarded fills it, so the
    /// others are later starts on this machine.
    pub disk_cache: DiskCacheSettings,
    /// Set it from elsewhere to give up: what was made or changed is put back.
    pub cancel: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            run: None,
            device: Device::Real,
            rounds: 5,
            cache_bytes: 64_000_000,
            unique: false,
            drop_all_caches: false,
            roots: Roots::default(),
            rivals: None,
            no_prediction: false,
            disk_cache: DiskCacheSettings::none(),
            cancel: Arc::default(),
        }
    }
}

impl Options {
    pub(super) fn dropping(&self) -> Dropping {
        // A throttled file system is to read its metadata, too.
        let machine = self.drop_all_caches || matches!(self.device, Device::Throttled(_));
        if machine { Dropping::Machine } else { Dropping::Files }
    }
}
