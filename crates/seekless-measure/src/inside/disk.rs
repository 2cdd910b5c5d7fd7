//! What the timing of reads shows of a disk: rotation, tracks and skews, zones, the arm, the cache.
//!
//! After Talagala, Arpaci-Dusseau and Patterson, "Microbenchmark-based Extraction of Local and
//! Global Disk Characteristics" (1999), whose Skippy writes. This probe only reads, so the disk's
//! cache stands in its way: it walks backwards, since a disk keeps what lies behind a read.

mod arm;
mod cache;
mod spindle;
mod tracks;
mod zones;

use super::finding::{Curve, Finding, OUT_OF_TIME, Open, explain_all};
use super::probing::Probing;
use crate::{Error, ErrorKind};
use arm::Map;
use seekless_device::{Discipline, DiskParameters, DiskZone, Seek, SegmentCache};
use serde::Serialize;
use spindle::Spindle;
use tracks::Slope;

/// A disk's inside as far as its timing shows it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct DiskInside {
    /// Time of a turn in nanoseconds.
    pub rotation_ns: Finding<f64>,
    /// Turns a minute.
    pub rpm: Finding<u32>,
    /// Bytes of a track in the first zone.
    pub track_bytes: Finding<u64>,
    /// How far a track's first byte lies behind the last byte of the track before, in nanoseconds.
    pub track_skew_ns: Finding<f64>,
    /// The same where the next track is on the next cylinder.
    pub cylinder_skew_ns: Finding<f64>,
    /// Tracks of a cylinder.
    pub heads: Finding<u32>,
    /// Number of zones.
    pub zones: Finding<u32>,
    /// Where each zone begins, and the bytes of its tracks, as far as known.
    pub zone_list: Vec<DiskZone>,
    /// Time of a command beside positioning and transfer, in nanoseconds.
    pub overhead_ns: Finding<f64>,
    /// Time until another head of the cylinder reads, in nanoseconds.
    pub head_switch_ns: Finding<f64>,
    /// Time of a seek over a third of the disk, in nanoseconds.
    pub average_seek_ns: Finding<f64>,
    /// Places that the cache remembers.
    pub segments: Finding<u32>,
    /// Bytes of each.
    pub segment_bytes: Finding<u64>,
    /// Whether the disk reads on behind a read.
    pub read_on: Finding<bool>,
    /// Curves for pictures.
    #[serde(skip)]
    pub curves: Vec<Curve>,
    /// The numbers as a device model takes them, once the rotation is known.
    #[serde(skip)]
    pub parameters: Option<DiskParameters>,
}

impl DiskInside {
    /// Gives each figure that has neither a value nor a reason this one.
    fn explain_rest(&mut self, why: &str) {
        let figures: &mut [&mut dyn Open] = &mut [
            &mut self.rotation_ns,
            &mut self.rpm,
            &mut self.track_bytes,
            &mut self.track_skew_ns,
            &mut self.cylinder_skew_ns,
            &mut self.heads,
            &mut self.zones,
            &mut self.overhead_ns,
            &mut self.head_switch_ns,
            &mut self.average_seek_ns,
            &mut self.segments,
            &mut self.segment_bytes,
            &mut self.read_on,
        ];
        explain_all(figures, why);
    }
}

/// Looks for a disk's inside. Stops where the time is up, with what has been found so far.
pub(super) fn find(probing: &mut Probing<'_>) -> Result<DiskInside, Error> {
    let mut inside = DiskInside::default();
    match steps(probing, &mut inside) {
        Err(error) if error.kind() == ErrorKind::OutOfTime => inside.explain_rest(OUT_OF_TIME),
        other => other?,
    }
    inside.explain_rest("it follows from figures that were not found");
    Ok(inside)
}

fn steps(probing: &mut Probing<'_>, inside: &mut DiskInside) -> Result<(), Error> {
    let mut spindle = match spindle::find(probing)? {
        Ok(spindle) => spindle,
        Err(why) => {
            inside.rotation_ns = Finding::unidentifiable(why);
            inside.explain_rest("there is no rotation to measure it by");
            return Ok(());
        }
    };
    inside.rotation_ns =
        Finding::time(spindle.turn_ns, spindle.turn_error_ns, "reads end at one angle");
    inside.rpm = rpm(&spindle);
    let guess = Slope { turns: spindle.slope, error: spindle.slope_error };
    let top = probing.capacity() / 2 / probing.grain() * probing.grain();
    let near = tracks::slope(probing, &spindle, top, guess)?;
    spindle.learn_reach(probing, near.turns)?;
    let (overhead_ns, error) = spindle::overhead(probing, &spindle)?;
    spindle.overhead_ns = overhead_ns;
    inside.overhead_ns = Finding::time(overhead_ns, error, "reads that need no wait");
    let zones = zones::find(probing, &spindle, near)?;
    describe_zones(inside, &zones);
    let first = zones.zones.first().copied();
    let track_bytes = first.map_or(1.0 / near.turns, |zone| zone.track_bytes as f64);
    let mut map = Map { zones: zones.zones.clone(), heads: 1 };
    if map.zones.is_empty() {
        map.zones.push(DiskZone { from_byte: 0, track_bytes: track_bytes.round() as u64 });
    }
    if inside.track_bytes.is_identified() {
        skews(probing, &spindle, inside, &mut map)?;
    } else {
        let jumps: &mut [&mut dyn Open] =
            &mut [&mut inside.heads, &mut inside.track_skew_ns, &mut inside.cylinder_skew_ns];
        explain_all(jumps, "the bytes of a track are not known");
    }
    if let Some(arm) = arm::find(probing, &spindle, &map)? {
        describe_arm(probing, inside, &arm, &map);
    }
    head_switch(probing, &spindle, inside, &map)?;
    let shortest = map.zones.iter().map(|zone| zone.track_bytes).min().unwrap_or(1);
    let cache = cache::find(probing, &spindle, shortest as f64)?;
    if !cache.hits.is_empty() {
        inside.curves.push(Curve {
            name: "cache",
            title: "Places that the disk's cache remembers".to_owned(),
            x: "places read in turn",
            y: "share still cached",
            points: cache.hits.clone(),
        });
    }
    inside.segments = cache.segments;
    inside.segment_bytes = cache.segment_bytes;
    inside.read_on = cache.read_on;
    if inside.segments.value == Some(0) {
        explain_all(&mut [&mut inside.segment_bytes, &mut inside.read_on], "there is no cache");
    }
    if let Some(parameters) = &mut inside.parameters {
        parameters.cache = SegmentCache {
            segments: inside.segments.value.unwrap_or(0),
            segment_bytes: inside.segment_bytes.value.unwrap_or(256 << 10),
            read_on: inside.read_on.value.unwrap_or(false),
        };
        parameters.bus_bytes_per_second = cache.bus_bytes_per_second;
    }
    Ok(())
}

fn rpm(spindle: &Spindle) -> Finding<u32> {
    let rpm = 60e9 / spindle.turn_ns;
    let error = rpm * spindle.turn_error_ns / spindle.turn_ns;
    let off = (rpm - rpm.round()).abs();
    // The next whole number is this many errors away.
    let sigmas = ((1.0 - off) / error).min(spindle.sigmas.max(3.0) * 100.0);
    if off > 4.0 * error + 0.02 || error > 0.15 {
        return Finding::unidentifiable(format!("{rpm:.2} ± {error:.2} turns a minute"));
    }
    Finding::of(rpm.round() as u32, sigmas, format!("{rpm:.3} ± {error:.3} turns a minute"))
}

fn describe_zones(inside: &mut DiskInside, zones: &zones::Zones) {
    inside.curves.push(Curve {
        name: "tracks",
        title: "Bytes of a track over the disk".to_owned(),
        x: "offset",
        y: "bytes of a track",
        points: zones.places.iter().map(|place| (place.offset as f64, place.bytes())).collect(),
    });
    // Not of a place further in: it may lie in another zone.
    let first = zones.places.first().and_then(|place| place.tracks.as_ref());
    inside.track_bytes = match first {
        Some(tracks) => {
            let bytes = (tracks.bytes / 512.0).round() * 512.0;
            let off = (tracks.bytes - bytes).abs();
            if tracks.error > 200.0 || off > 4.0 * tracks.error + 1.0 {
                let why = format!("{:.0} ± {:.0} bytes", tracks.bytes, tracks.error);
                Finding::unidentifiable(why)
            } else {
                let why = format!("{} borders stand where it puts them", tracks.confirmed + 1);
                Finding::of(bytes as u64, tracks.sigmas, why)
            }
        }
        None => Finding::unidentifiable("no jump of the angle between tracks"),
    };
    inside.zones = if zones.certain {
        let why = "tracks get shorter inwards, and are exact at both ends of each zone";
        Finding::of(zones.zones.len() as u32, zones.sigmas.min(100.0), why)
    } else {
        Finding::unidentifiable("the tracks' sizes are not known everywhere")
    };
    inside.zone_list = zones.zones.clone();
}

fn skews(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    inside: &mut DiskInside,
    map: &mut Map,
) -> Result<(), Error> {
    let zone = map.zones[0];
    let end = map.zones.get(1).map_or(probing.capacity(), |next| next.from_byte);
    let length = 70 * zone.track_bytes;
    let room = end.saturating_sub(length).max(1);
    let top = (length + probing.dice.below(room)).min(end - 4 * zone.track_bytes);
    let top = top / probing.grain() * probing.grain();
    let Some(skews) = tracks::skews(probing, spindle, top, zone.track_bytes as f64)? else {
        return Ok(());
    };
    let turn = spindle.turn_ns;
    let time = |skew: Option<(f64, f64)>, why: &str| match skew {
        Some((turns, error)) => Finding::time(turns * turn, error * turn, why),
        None => Finding::unidentifiable("the jumps between tracks do not show it"),
    };
    inside.heads = match skews.heads {
        Some((heads, sigmas)) => {
            Finding::of(heads, sigmas, format!("one of {heads} jumps between tracks differs"))
        }
        None => Finding::unidentifiable("no jump between tracks differs from the others in turn"),
    };
    map.heads = u64::from(inside.heads.value.unwrap_or(1));
    inside.track_skew_ns = time(skews.track, "the jump between tracks");
    inside.cylinder_skew_ns = time(skews.cylinder, "the jump between cylinders");
    inside.curves.push(Curve {
        name: "skew",
        title: "Jump of the angle from track to track".to_owned(),
        x: "track, counted inwards to outwards",
        y: "time",
        points: (0..).map(f64::from).zip(skews.jumps.iter().map(|jump| jump * turn)).collect(),
    });
    Ok(())
}

fn describe_arm(probing: &Probing<'_>, inside: &mut DiskInside, arm: &arm::Arm, map: &Map) {
    let cylinders = map.cylinder(probing.capacity() - 1);
    let third = arm.seek.ns(cylinders / 3) as f64;
    inside.average_seek_ns = if inside.zones.is_identified() {
        Finding::time(third, arm.error_ns, "the curve through all moves")
    } else {
        Finding::unidentifiable("how many cylinders lie between is not known")
    };
    inside.curves.push(Curve {
        name: "seek",
        title: "The arm's moves".to_owned(),
        x: "cylinders",
        y: "time",
        points: arm.points.iter().map(|&(distance, time)| (distance, time)).collect(),
    });
    inside.parameters = Some(parameters(probing.capacity(), inside, arm.seek, map));
}

/// The least time to another track of the same cylinder.
fn head_switch(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    inside: &mut DiskInside,
    map: &Map,
) -> Result<(), Error> {
    if !inside.heads.is_identified() || map.heads < 2 {
        inside.head_switch_ns = Finding::unidentifiable("the number of heads is not known");
        return Ok(());
    }
    let zone = map.zones[0];
    let cylinder = zone.track_bytes * map.heads;
    let end = map.zones.get(1).map_or(probing.capacity(), |next| next.from_byte);
    let cylinders = (end / cylinder).saturating_sub(2).max(1);
    let grain = probing.grain();
    let mut times = Vec::new();
    for _ in 0..15 {
        // From the start of a track to the middle of the one before it in the same cylinder.
        let first = cylinder * (1 + probing.dice.below(cylinders));
        let from = (first + zone.track_bytes + 40 * grain) / grain * grain;
        let to = (first + zone.track_bytes / 2) / grain * grain;
        let least = arm::reach(probing, spindle, map, from, to)?;
        times.push(least - spindle.overhead_ns);
    }
    let middle = super::statistics::median(&times);
    let error =
        (1.25 * super::statistics::spread(&times) / 15f64.sqrt()).max(7e-4 * spindle.turn_ns);
    inside.head_switch_ns = Finding::time(middle, error, "the last moment to catch a sector");
    if let (Some(parameters), Some(nanos)) = (&mut inside.parameters, inside.head_switch_ns.value) {
        parameters.head_switch_ns = nanos.max(0.0).round() as u64;
    }
    Ok(())
}

fn parameters(capacity_bytes: u64, inside: &DiskInside, seek: Seek, map: &Map) -> DiskParameters {
    let nanos = |finding: &Finding<f64>| finding.value.unwrap_or(0.0).max(0.0).round() as u64;
    let rotation = inside.rotation_ns.value.unwrap_or(8.3e6);
    let (track_skew_ns, cylinder_skew_ns) =
        (nanos(&inside.track_skew_ns), nanos(&inside.cylinder_skew_ns));
    DiskParameters {
        capacity_bytes,
        rpm: (60e9 / rotation).round() as u32,
        heads: map.heads as u32,
        track_skew_ns,
        cylinder_skew_ns,
        head_switch_ns: track_skew_ns,
        cylinder_switch_ns: cylinder_skew_ns,
        overhead_ns: nanos(&inside.overhead_ns),
        command_bytes: 512 << 10,
        bus_bytes_per_second: None,
        queue: Discipline::Fifo,
        depth: 1,
        seek,
        cache: SegmentCache { segments: 0, segment_bytes: 256 << 10, read_on: false },
        zones: map.zones.clone(),
    }
}
