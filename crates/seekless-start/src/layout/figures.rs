//! What a cold start asks the device for: the reads of the needed files, as `seekless run` makes
//! them, with those joined that lie side by side.

use super::find::Found;
use crate::warm::wave::Fill;
use seekless_device::Costs;
use seekless_policy::foresight::start::{Wait, joined};
use seekless_policy::layout::extents::Extent;

/// A request to the device is at most so long, where the kernel finds memory in large pieces: a
/// layout is judged by what it makes possible.
pub(super) const REQUEST_BYTES_MAX: u64 = 1 << 20;

/// Requests, bytes and seconds for all that is needed of these files, in their order.
pub(super) fn wait<'a>(files: impl IntoIterator<Item = &'a Found>, costs: &Costs) -> Wait {
    let mut waves = Waves::default();
    for file in files {
        file.reads.iter().for_each(|read| waves.read(file, *read));
    }
    waves.end();
    Wait::of(waves.requests, waves.bytes, costs.depth, costs)
}

#[derive(Default)]
struct Waves {
    requests: u64,
    bytes: u64,
    fill: Fill,
    /// Where the reads of this wave lie on the device.
    placed: Vec<Extent>,
}

impl Waves {
    fn read(&mut self, file: &Found, read: Extent) {
        if !self.fill.add(read.bytes) {
            self.end();
            self.fill.add(read.bytes);
        }
        self.bytes += read.bytes;
        if file.extents.is_empty() {
            self.requests += read.bytes.div_ceil(REQUEST_BYTES_MAX);
        }
        for extent in &file.extents {
            let first = read.offset.max(extent.offset);
            let end = read.end().min(extent.offset + extent.bytes);
            let Some(place) = extent.place.filter(|_| first < end && !extent.unwritten) else {
                continue;
            };
            self.piece(Extent { offset: place + (first - extent.offset), bytes: end - first });
        }
    }

    fn piece(&mut self, mut piece: Extent) {
        while piece.bytes > 0 {
            let bytes = piece.bytes.min(REQUEST_BYTES_MAX);
            self.placed.push(Extent { bytes, ..piece });
            piece = Extent { offset: piece.offset + bytes, bytes: piece.bytes - bytes };
        }
    }

    fn end(&mut self) {
        self.requests += self.placed.len() as u64 - joined(&mut self.placed, REQUEST_BYTES_MAX);
        self.placed.clear();
        self.fill = Fill::default();
    }
}
