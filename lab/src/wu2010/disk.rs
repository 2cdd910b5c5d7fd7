//! The disks: the paper's by its data sheet, one fitted to twelve of the paper's figures, and what
//! they were asked for.

use anyhow::{Context, bail};
use seekless::device::{Costs, DeviceModel, Disk, DiskParameters, Io, Nanos, Parameters, Preset};

/// The paper's drive by its data sheet. Nothing of it is fitted, and its own readahead is on.
pub(super) fn data_sheet() -> anyhow::Result<DiskParameters> {
    preset("t7k250")
}

/// The fitted disk with its own readahead off.
pub(super) fn off() -> anyhow::Result<DiskParameters> {
    preset("wu-2010")
}

/// The same with its own readahead on, in this many segments of this many bytes.
pub(super) fn on(segments: u32, segment_bytes: u64) -> anyhow::Result<DiskParameters> {
    let mut disk = preset("wu-2010-cached")?;
    (disk.cache.segments, disk.cache.segment_bytes) = (segments, segment_bytes);
    Ok(disk)
}

fn preset(name: &str) -> anyhow::Result<DiskParameters> {
    match Preset::named(name)?.parameters() {
        Parameters::Disk(disk) => Ok(disk),
        _ => bail!("{name} is no disk"),
    }
}

pub(super) fn model(parameters: &DiskParameters) -> anyhow::Result<Disk> {
    Disk::new(parameters.clone()).context("the disk")
}

/// A device that notes what it is asked for.
pub(super) struct Noting<D> {
    device: D,
    /// When each came, in that order.
    pub(super) ios: Vec<(Nanos, Io)>,
}

impl<D: DeviceModel> Noting<D> {
    pub(super) fn new(device: D) -> Self {
        Self { device, ios: Vec::new() }
    }
}

impl<D: DeviceModel> DeviceModel for Noting<D> {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.ios.push((now, io));
        self.device.submit(now, io);
    }

    fn next_event(&self) -> Option<Nanos> {
        self.device.next_event()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.device.advance(now, done);
    }

    fn costs(&self) -> Costs {
        self.device.costs()
    }
}
