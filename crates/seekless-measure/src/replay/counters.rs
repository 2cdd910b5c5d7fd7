//! What the device below a target has served during a play, as the kernel counts it for all
//! programs together.

use seekless_sys::block::{BlockDevice, Served};
use serde::Serialize;

/// What a device has served. Other programs' I/Os count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceServed {
    /// Reads that reached it.
    pub reads: u64,
    /// Reads that were merged into these.
    pub reads_merged: u64,
    /// Bytes read.
    pub read_bytes: u64,
    /// Writes that reached it.
    pub writes: u64,
    /// Writes that were merged into these.
    pub writes_merged: u64,
    /// Bytes written.
    pub write_bytes: u64,
    /// Time in which it had anything to do.
    pub busy_ns: u64,
}

/// A device's counters at the start of a play.
#[derive(Debug)]
pub(super) struct Counting {
    device: BlockDevice,
    before: Served,
}

impl Counting {
    /// `None` if the kernel does not count this device.
    pub(super) fn begin(device: Option<&BlockDevice>) -> Option<Self> {
        let device = device?.clone();
        let before = device.served().ok()?;
        Some(Counting { device, before })
    }

    pub(super) fn end(&self) -> Option<DeviceServed> {
        let served = self.device.served().ok()?.since(&self.before);
        Some(DeviceServed {
            reads: served.reads,
            reads_merged: served.reads_merged,
            read_bytes: served.read_bytes,
            writes: served.writes,
            writes_merged: served.writes_merged,
            write_bytes: served.write_bytes,
            busy_ns: served.busy_ns,
        })
    }
}
