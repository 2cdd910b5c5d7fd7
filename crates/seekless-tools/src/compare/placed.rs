//! A modelled device that holds what really lies on another one.
//!
//! Distances matter on a disk. So what is read keeps its place, counted from the modelled device's
//! start again where the real one is larger. Loose files and packs are placed alike.

use seekless_device::{AnyDevice, Costs, DeviceModel, DeviceSpec, Io, Nanos};

/// The model, and where on it offsets count from.
#[derive(Debug)]
pub(crate) struct Placed {
    model: AnyDevice,
    base: u64,
    span: Option<u64>,
}

impl Placed {
    /// An idle device; offset 0 lies at byte `base` of the real one.
    pub(crate) fn new(device: &DeviceSpec, base: u64) -> Self {
        Placed { model: device.model(), base, span: device.parameters().capacity_bytes() }
    }

    fn place(&self, offset: u64) -> u64 {
        let place = self.base.wrapping_add(offset);
        self.span.map_or(place, |span| place % span)
    }
}

impl DeviceModel for Placed {
    fn submit(&mut self, now: Nanos, io: Io) {
        self.model.submit(now, Io { offset: self.place(io.offset), ..io });
    }

    fn next_event(&self) -> Option<Nanos> {
        self.model.next_event()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        self.model.advance(now, done);
    }

    fn requests(&self, bytes: u64) -> u64 {
        self.model.requests(bytes)
    }

    fn costs(&self) -> Costs {
        self.model.costs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_keep_their_distance_and_wrap_at_the_models_end() {
        let disk: DeviceSpec = "wu-2010".parse().unwrap();
        let size = disk.parameters().capacity_bytes().unwrap();
        let placed = Placed::new(&disk, 5 * size + 4096);
        assert_eq!([0, 100, size].map(|offset| placed.place(offset)), [4096, 4196, 4096]);
        let volume: DeviceSpec = "iops=1,bandwidth=1MB/s".parse().unwrap();
        assert_eq!(Placed::new(&volume, 7).place(1 << 40), (1 << 40) + 7);
    }
}
