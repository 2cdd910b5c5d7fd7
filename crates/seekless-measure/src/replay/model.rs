//! A device model on a virtual clock: time passes only when the player waits.

use super::{Ended, Io, Stage};
use crate::Error;
use seekless_device::{DeviceModel, Nanos};

/// A device model as a stage.
#[derive(Debug)]
pub struct Modelled<D> {
    device: D,
    /// Where on the device each file begins.
    places: Vec<u64>,
    depth: u32,
    now: Nanos,
}

impl<D: DeviceModel> Modelled<D> {
    /// Files of these sizes, which lie end to end on the device from its start on.
    pub fn new(device: D, file_bytes: &[u64], depth: u32) -> Self {
        let mut end = 0_u64;
        let place = |bytes: &u64| {
            let start = end;
            end = end.saturating_add(bytes.next_multiple_of(4096));
            start
        };
        Self { device, places: file_bytes.iter().map(place).collect(), depth, now: 0 }
    }
}

impl<D: DeviceModel> Stage for Modelled<D> {
    fn depth(&self) -> u32 {
        self.depth
    }

    fn now(&self) -> Nanos {
        self.now
    }

    fn push(&mut self, slot: u32, io: &Io) {
        let start = self.places.get(io.file as usize).copied().unwrap_or(0);
        let offset = start.saturating_add(io.offset);
        let io = seekless_device::Io { tag: slot.into(), write: io.write, offset, bytes: io.bytes };
        self.device.submit(self.now, io);
    }

    /// A push has done it.
    fn start(&mut self) {}

    fn turn(&mut self, until: Option<Nanos>, ended: &mut Vec<Ended>) -> Result<(), Error> {
        let before = ended.len();
        while ended.len() == before {
            let event = self.device.next_event();
            let next = match (event, until) {
                (Some(event), Some(until)) => event.min(until.max(self.now)),
                (Some(event), None) => event,
                (None, Some(until)) => until,
                (None, None) => return Ok(()),
            };
            self.now = self.now.max(next);
            self.device.advance(self.now, &mut |at, io| {
                ended.push(Ended { slot: io.tag as u32, at });
            });
            if until.is_some_and(|until| self.now >= until) {
                return Ok(());
            }
        }
        Ok(())
    }
}
