//! The model of any kind of device, without a box.

use crate::{
    BurstVolume, Costs, DeviceModel, Disk, Flash, Io, LatencyTable, Nanos, ObjectStore, Volume,
};

/// One of the models, chosen at run time.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each variant is the model of its name")]
pub enum AnyDevice {
    Volume(Volume),
    BurstVolume(BurstVolume),
    Disk(Box<Disk>),
    Flash(Box<Flash>),
    ObjectStore(ObjectStore),
    LatencyTable(LatencyTable),
}

/// Does the same for whichever model it is.
macro_rules! each {
    ($device:expr, $model:ident => $does:expr) => {
        match $device {
            AnyDevice::Volume($model) => $does,
            AnyDevice::BurstVolume($model) => $does,
            AnyDevice::Disk($model) => $does,
            AnyDevice::Flash($model) => $does,
            AnyDevice::ObjectStore($model) => $does,
            AnyDevice::LatencyTable($model) => $does,
        }
    };
}

impl DeviceModel for AnyDevice {
    fn submit(&mut self, now: Nanos, io: Io) {
        each!(self, model => model.submit(now, io));
    }

    fn next_event(&self) -> Option<Nanos> {
        each!(self, model => model.next_event())
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        each!(self, model => model.advance(now, done));
    }

    fn requests(&self, bytes: u64) -> u64 {
        each!(self, model => model.requests(bytes))
    }

    fn costs(&self) -> Costs {
        each!(self, model => model.costs())
    }
}
