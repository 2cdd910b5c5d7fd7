//! Devices with random parameters, on which a probe is proved: what was planted is what it must
//! find. The ranges are those of devices that were sold.

use seekless_device::{
    Costs, DeviceModel, Discipline, DiskParameters, DiskZone, FlashParameters, Garbage, Io,
    Mapping, Nanos, Seek, SegmentCache, SplitMix64,
};

/// A random number of a range, both ends included.
fn between(dice: &mut SplitMix64, low: u64, high: u64) -> u64 {
    low + dice.below(high - low + 1)
}

/// One of some numbers.
fn one_of(dice: &mut SplitMix64, numbers: &[u64]) -> u64 {
    numbers[dice.below(numbers.len() as u64) as usize]
}

/// The disk that belongs to a seed.
#[must_use]
pub fn disk(seed: u64) -> DiskParameters {
    let dice = &mut SplitMix64::new(SplitMix64::mix(seed ^ 0xD15C));
    let rpm = one_of(dice, &[4200, 5400, 5900, 7200, 10_000, 15_000]);
    let turn = 60_000_000_000 / rpm;
    let capacity_bytes = between(dice, 20, 400) * 1_000_000_000;
    let track_skew_ns = turn / 100 * between(dice, 5, 20);
    let cylinder_skew_ns = track_skew_ns + turn / 100 * between(dice, 2, 12);
    DiskParameters {
        capacity_bytes,
        rpm: rpm as u32,
        heads: between(dice, 1, 8) as u32,
        track_skew_ns,
        cylinder_skew_ns,
        head_switch_ns: track_skew_ns * between(dice, 60, 95) / 100,
        cylinder_switch_ns: cylinder_skew_ns * between(dice, 60, 95) / 100,
        overhead_ns: between(dice, 100, 500) * 1000,
        command_bytes: 512 << 10,
        bus_bytes_per_second: Some(between(dice, 80, 600) * 1_000_000),
        queue: Discipline::Fifo,
        depth: 1,
        seek: Seek {
            settle_ns: between(dice, 500, 1500) * 1000,
            base_ns: 0,
            root_ns: between(dice, 20, 60) * 1000,
            long: None,
        },
        cache: SegmentCache {
            segments: one_of(dice, &[0, 1, 2, 4, 8, 12, 16, 24, 32]) as u32,
            segment_bytes: between(dice, 64, 4096) * 512,
            read_on: dice.below(4) > 0,
        },
        zones: zones(dice, capacity_bytes),
    }
}

/// Up to twelve zones, each with tracks some percent shorter than the one before.
fn zones(dice: &mut SplitMix64, capacity_bytes: u64) -> Vec<DiskZone> {
    let count = between(dice, 1, 12);
    let mut track_bytes = between(dice, 300, 3000) * 512;
    (0..count)
        .map(|number| {
            let from_byte = capacity_bytes / count * number / 512 * 512;
            let zone = DiskZone { from_byte, track_bytes };
            track_bytes = track_bytes * between(dice, 900, 970) / 1000 / 512 * 512;
            zone
        })
        .collect()
}

/// The flash drive that belongs to a seed.
#[must_use]
pub fn flash(seed: u64) -> FlashParameters {
    let dice = &mut SplitMix64::new(SplitMix64::mix(seed ^ 0xF1A5));
    let page_bytes = one_of(dice, &[4 << 10, 8 << 10, 16 << 10]);
    let bus = between(dice, 100, 800) * 1_000_000;
    FlashParameters {
        capacity_bytes: between(dice, 8, 64) << 30,
        channels: one_of(dice, &[1, 2, 4, 8, 16]) as u32,
        dies: one_of(dice, &[1, 2, 4, 8]) as u32,
        planes: one_of(dice, &[1, 2]) as u32,
        page_bytes,
        pages_per_block: 256,
        chunk_bytes: page_bytes * one_of(dice, &[1, 1, 2, 4, 8]),
        mapping: if dice.below(2) == 0 { Mapping::Static } else { Mapping::WriteOrder },
        read_ns: between(dice, 25, 100) * 1000,
        program_ns: between(dice, 200, 900) * 1000,
        erase_ns: between(dice, 2000, 4000) * 1000,
        bus_bytes_per_second: bus,
        link_bytes_per_second: between(dice, 500, 7000) * 1_000_000,
        overhead_ns: between(dice, 1, 8) * 1000,
        write_buffer_bytes: one_of(dice, &[0, 1 << 20, 32 << 20]),
        over_provisioning_percent: 40,
        filled_percent: one_of(dice, &[10, 30, 50, 70, 90, 100]) as u32,
        garbage: Garbage { start_blocks: 2, stop_blocks: 3 },
    }
}

/// A drive whose channels are numbered in another order: within each round of chunks, those of one
/// die lie on the channels as `order` says.
#[derive(Debug)]
pub struct Permuted<D> {
    model: D,
    chunk_bytes: u64,
    order: Vec<u64>,
    /// The offsets that were asked for, by the tags that the model sees.
    asked: Vec<Io>,
}

impl<D: DeviceModel> Permuted<D> {
    /// The drive with the channels in the order that belongs to a seed.
    pub fn new(model: D, parameters: &FlashParameters, seed: u64) -> Self {
        let mut order: Vec<u64> = (0..u64::from(parameters.channels)).collect();
        let mut dice = SplitMix64::new(seed);
        for last in (1..order.len()).rev() {
            order.swap(last, dice.below(last as u64 + 1) as usize);
        }
        Permuted { model, chunk_bytes: parameters.chunk_bytes, order, asked: Vec::new() }
    }

    fn place(&self, offset: u64) -> u64 {
        let (chunk, within) = (offset / self.chunk_bytes, offset % self.chunk_bytes);
        let channels = self.order.len() as u64;
        let channel = self.order[(chunk % channels) as usize];
        (chunk / channels * channels + channel) * self.chunk_bytes + within
    }
}

impl<D: DeviceModel> DeviceModel for Permuted<D> {
    fn submit(&mut self, now: Nanos, io: Io) {
        // Only requests within a chunk move as a whole; a longer one keeps its place.
        let whole = io.offset % self.chunk_bytes + io.bytes <= self.chunk_bytes;
        let offset = if whole { self.place(io.offset) } else { io.offset };
        let tag = self.asked.len() as u64;
        self.asked.push(io);
        self.model.submit(now, Io { tag, offset, ..io });
    }

    fn next_event(&self) -> Option<Nanos> {
        self.model.next_event()
    }

    fn advance(&mut self, now: Nanos, done: &mut dyn FnMut(Nanos, Io)) {
        let asked = &self.asked;
        self.model.advance(now, &mut |end, io| done(end, asked[io.tag as usize]));
    }

    fn costs(&self) -> Costs {
        self.model.costs()
    }
}
