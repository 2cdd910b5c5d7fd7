//! Where a byte lies on the disk, and how long the head takes over a range of bytes.
//!
//! Angles are whole numbers: a revolution has [`TURN`] steps, and in a nanosecond as many pass as
//! the disk makes revolutions a minute. So the angle at any time is exact, however long a
//! simulation runs.

use super::DiskParameters;
use crate::Nanos;

/// Steps of a revolution: nanoseconds of a minute.
const TURN: u64 = 60_000_000_000;

/// Tracks and angles of a disk. Bytes behind its capacity lie on more tracks of the last zone.
#[derive(Clone, Debug)]
pub(super) struct Platter {
    rpm: u64,
    heads: u64,
    track_skew: u64,
    /// By how much the first track of a cylinder begins behind that of the cylinder before.
    cylinder_turn: u64,
    /// Steps that pass between two tracks of a transfer.
    head_gap: u64,
    cylinder_gap: u64,
    zones: Vec<Zone>,
}

#[derive(Clone, Copy, Debug)]
struct Zone {
    from: u64,
    /// First byte of the next zone.
    end: u64,
    track_bytes: u64,
    first_track: u64,
}

/// Where a byte lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) track: u64,
    /// The angle at which it is under the head.
    angle: u64,
}

impl Platter {
    pub(super) fn new(parameters: &DiskParameters) -> Self {
        let (rpm, heads) = (u64::from(parameters.rpm), u64::from(parameters.heads));
        let steps = |nanos: Nanos| nanos.saturating_mul(rpm);
        let gap = |skew: Nanos, switch: Nanos| {
            let late = steps(switch).saturating_sub(steps(skew));
            steps(skew).saturating_add(late.div_ceil(TURN).saturating_mul(TURN))
        };
        let track_skew = steps(parameters.track_skew_ns) % TURN;
        let cylinder_skew = steps(parameters.cylinder_skew_ns) % TURN;
        Platter {
            rpm,
            heads,
            track_skew,
            cylinder_turn: (cylinder_skew + (heads - 1) * track_skew) % TURN,
            head_gap: gap(parameters.track_skew_ns, parameters.head_switch_ns),
            cylinder_gap: gap(parameters.cylinder_skew_ns, parameters.cylinder_switch_ns),
            zones: zones(parameters, heads),
        }
    }

    /// Nanoseconds of a revolution, rounded down.
    pub(super) fn revolution_ns(&self) -> Nanos {
        TURN / self.rpm
    }

    pub(super) fn cylinder(&self, track: u64) -> u64 {
        track / self.heads
    }

    fn zone(&self, byte: u64) -> &Zone {
        let after = self.zones.partition_point(|zone| zone.from <= byte);
        &self.zones[after - 1]
    }

    pub(super) fn track(&self, byte: u64) -> u64 {
        self.zone(byte).track(byte)
    }

    pub(super) fn place(&self, byte: u64) -> Place {
        let zone = self.zone(byte);
        let track = zone.track(byte);
        // Behind any real disk's end the product may wrap: some angle is as good as another there.
        let cylinder = self.cylinder(track).wrapping_mul(self.cylinder_turn) % TURN;
        let head = track % self.heads * self.track_skew % TURN;
        let within = (byte - zone.from) % zone.track_bytes * TURN / zone.track_bytes;
        Place { track, angle: (cylinder + head + within) % TURN }
    }

    /// When the place is under the head, from `now` on. A place that passed less than a nanosecond
    /// ago is still there, since times are rounded to nanoseconds.
    pub(super) fn under_head(&self, place: Place, now: Nanos) -> Nanos {
        let angle = now % TURN * self.rpm % TURN;
        let steps = (place.angle + TURN - angle) % TURN;
        let wait = if TURN - steps <= self.rpm { 0 } else { steps.div_ceil(self.rpm) };
        now.saturating_add(wait)
    }

    /// Time to read from byte `from` up to `to`, once the head is at `from`.
    pub(super) fn transfer_ns(&self, from: u64, to: u64) -> Nanos {
        let mut steps = 0u128;
        let mut from = from;
        while from < to {
            let zone = self.zone(from);
            let end = to.min(zone.end);
            steps += zone.steps(end - from);
            let (first, last) = (zone.track(from), zone.track(end - 1));
            if first != last {
                let cylinders = self.cylinder(last) - self.cylinder(first);
                steps += u128::from(cylinders) * u128::from(self.cylinder_gap);
                steps += u128::from(last - first - cylinders) * u128::from(self.head_gap);
            }
            if end < to {
                steps += u128::from(self.cylinder_gap);
            }
            from = end;
        }
        match u64::try_from(steps) {
            Ok(steps) => steps.div_ceil(self.rpm),
            Err(_) => Nanos::try_from(steps.div_ceil(u128::from(self.rpm))).unwrap_or(Nanos::MAX),
        }
    }

    /// Time that passes before `byte` can be read when the byte before it has just been read.
    pub(super) fn gap_ns(&self, byte: u64) -> Nanos {
        let zone = self.zone(byte);
        let steps = match (byte - zone.from) % zone.track_bytes {
            0 if zone.track(byte).is_multiple_of(self.heads) => self.cylinder_gap,
            0 => self.head_gap,
            _ => 0,
        };
        steps.div_ceil(self.rpm)
    }

    /// The byte that the head comes to in `elapsed` after it was at `from`, at most `limit`.
    pub(super) fn reach(&self, from: u64, elapsed: Nanos, limit: u64) -> u64 {
        let mut steps = elapsed.saturating_mul(self.rpm);
        let mut byte = from;
        while byte < limit {
            let zone = self.zone(byte);
            let left = zone.track_bytes - (byte - zone.from) % zone.track_bytes;
            let end = limit.min(zone.end).min(byte.saturating_add(left));
            let whole = (end - byte) * TURN / zone.track_bytes;
            if steps < whole {
                return byte + steps * zone.track_bytes / TURN;
            }
            steps -= whole;
            byte = end;
            let next = self.zone(byte).track(byte);
            let gap = if next == zone.track(end - 1) {
                0
            } else if next.is_multiple_of(self.heads) {
                self.cylinder_gap
            } else {
                self.head_gap
            };
            if steps < gap {
                return byte;
            }
            steps -= gap;
        }
        byte
    }
}

impl Zone {
    fn track(&self, byte: u64) -> u64 {
        self.first_track + (byte - self.from) / self.track_bytes
    }

    /// Steps of the rotation in which `bytes` pass the head.
    fn steps(&self, bytes: u64) -> u128 {
        match bytes.checked_mul(TURN) {
            Some(product) => u128::from(product / self.track_bytes),
            None => u128::from(bytes) * u128::from(TURN) / u128::from(self.track_bytes),
        }
    }
}

/// Each zone begins with a whole cylinder.
fn zones(parameters: &DiskParameters, heads: u64) -> Vec<Zone> {
    let ends = parameters.zones.iter().skip(1).map(|zone| zone.from_byte).chain([u64::MAX]);
    let mut first_track = 0u64;
    let zone = |(zone, end): (&super::DiskZone, u64)| {
        let (from, track_bytes) = (zone.from_byte, zone.track_bytes);
        let made = Zone { from, end, track_bytes, first_track };
        let tracks = (end - from).div_ceil(track_bytes);
        first_track = first_track.saturating_add(tracks.div_ceil(heads).saturating_mul(heads));
        made
    };
    parameters.zones.iter().zip(ends).map(zone).collect()
}
