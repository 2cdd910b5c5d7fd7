//! The numbers of a device of any kind.

use crate::{
    AnyDevice, BurstVolume, DiskParameters, Error, FlashParameters, LatencyTableParameters,
    ObjectStoreParameters, VolumeParameters,
};
use crate::{Disk, Flash, LatencyTable, ObjectStore};
use serde::{Deserialize, Serialize};

/// The numbers of a device of any kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant holds the numbers of the kind of its name")]
pub enum Parameters {
    Disk(DiskParameters),
    Flash(FlashParameters),
    Volume(VolumeParameters),
    ObjectStore(ObjectStoreParameters),
    LatencyTable(LatencyTableParameters),
}

impl Parameters {
    /// The kind of device in words.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Parameters::Disk(_) => "disk",
            Parameters::Flash(_) => "flash drive",
            Parameters::Volume(_) => "volume",
            Parameters::ObjectStore(_) => "object store",
            Parameters::LatencyTable(_) => "latency table",
        }
    }

    /// The bytes over which random places are spread, where the kind of device has a size.
    #[must_use]
    pub fn capacity_bytes(&self) -> Option<u64> {
        match self {
            Parameters::Disk(disk) => Some(disk.capacity_bytes),
            Parameters::Flash(flash) => Some(flash.capacity_bytes),
            _ => None,
        }
    }

    /// Whether a device can have these numbers.
    ///
    /// # Errors
    /// One that it cannot have, by its name in text.
    pub fn check(&self) -> Result<(), Error> {
        match self {
            Parameters::Disk(disk) => disk.check(),
            Parameters::Flash(flash) => flash.check(),
            Parameters::Volume(volume) => volume.check(),
            Parameters::ObjectStore(store) => store.check(),
            Parameters::LatencyTable(table) => table.check(),
        }
    }

    /// A fresh model, idle at time 0.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn model(&self) -> Result<AnyDevice, Error> {
        Ok(match self.clone() {
            Parameters::Disk(disk) => AnyDevice::Disk(Box::new(Disk::new(disk)?)),
            Parameters::Flash(flash) => AnyDevice::Flash(Box::new(Flash::new(flash)?)),
            Parameters::Volume(volume) => AnyDevice::BurstVolume(BurstVolume::new(volume)?),
            Parameters::ObjectStore(store) => AnyDevice::ObjectStore(ObjectStore::new(store)?),
            Parameters::LatencyTable(table) => AnyDevice::LatencyTable(LatencyTable::new(table)?),
        })
    }
}
