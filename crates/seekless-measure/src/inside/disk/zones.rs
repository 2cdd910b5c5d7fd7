//! Zones: tracks get shorter inwards. Where two places have tracks of different sizes, a border of
//! zones lies between them, and is found by halving.

use super::super::probing::Probing;
use super::spindle::Spindle;
use super::tracks::{Slope, Tracks, exact, slope};
use crate::Error;
use seekless_device::DiskZone;

/// Places at which the tracks are measured first.
const PLACES: u64 = 33;
/// A border of zones is found to this share of the disk.
const RESOLUTION: u64 = 1024;
/// Slopes that differ by less than this share are compared by the exact sizes of the tracks.
const ALIKE: f64 = 0.02;

/// The tracks' size at a place.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) offset: u64,
    pub(super) slope: Slope,
    pub(super) tracks: Option<Tracks>,
}

impl Place {
    fn measure(
        probing: &mut Probing<'_>,
        spindle: &Spindle,
        offset: u64,
        near: Slope,
    ) -> Result<Place, Error> {
        let guess = Slope { turns: near.turns, error: near.turns * 0.5 };
        let slope = slope(probing, spindle, offset, guess)?;
        Ok(Place { offset, slope, tracks: None })
    }

    /// Measures the size of the tracks, below what was read at the place already.
    fn exact(&mut self, probing: &mut Probing<'_>, spindle: &Spindle) -> Result<(), Error> {
        if self.tracks.is_none() {
            let below = (6.0 / self.slope.turns) as u64;
            let top = self.offset.saturating_sub(below) / probing.grain() * probing.grain();
            self.tracks = exact(probing, spindle, top, self.slope)?;
        }
        Ok(())
    }

    pub(super) fn bytes(&self) -> f64 {
        self.tracks.as_ref().map_or(1.0 / self.slope.turns, |tracks| tracks.bytes)
    }

    /// Whether both may lie in one zone, by what is known of them.
    fn alike(&self, other: &Place) -> bool {
        match (&self.tracks, &other.tracks) {
            (Some(one), Some(next)) => {
                (one.bytes - next.bytes).abs() <= 2.0 * (one.error + next.error) + 1.0
            }
            _ => {
                let difference = (self.slope.turns - other.slope.turns).abs();
                difference < ALIKE * self.slope.turns
            }
        }
    }
}

/// The zones, and how well they are known.
#[derive(Clone, Debug)]
pub(super) struct Zones {
    pub(super) zones: Vec<DiskZone>,
    /// Places that were measured, outwards first.
    pub(super) places: Vec<Place>,
    /// Whether every size is exact and none is larger than one further out.
    pub(super) certain: bool,
    /// The smallest difference between two zones in standard errors of the tracks' sizes.
    pub(super) sigmas: f64,
}

/// Finds the zones of the whole disk.
pub(super) fn find(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    near: Slope,
) -> Result<Zones, Error> {
    let capacity = probing.capacity();
    let margin = ((200.0 / near.turns) as u64).min(capacity / 8);
    let mut places: Vec<Place> = Vec::new();
    for number in 0..PLACES {
        let room = capacity.saturating_sub(margin + probing.grain());
        let offset = (margin + room / PLACES * number) / probing.grain() * probing.grain();
        let near = places.last().map_or(near, |place| place.slope);
        places.push(Place::measure(probing, spindle, offset, near)?);
    }
    // Both ends of what looks like one zone are measured exactly.
    for number in 0..places.len() {
        let alike = |other: Option<&Place>| other.is_some_and(|other| places[number].alike(other));
        let before = number.checked_sub(1).and_then(|before| places.get(before));
        let inside = alike(before) && alike(places.get(number + 1));
        if !inside {
            places[number].exact(probing, spindle)?;
        }
    }
    // Slopes hide small differences: between ends that differ, every place is measured exactly.
    let mut number = 0;
    while let Some(next) = next_exact(&places, number + 1) {
        let differ = places[number].tracks.is_some() && !places[number].alike(&places[next]);
        for place in places[number + 1..next].iter_mut().filter(|_| differ) {
            place.exact(probing, spindle)?;
        }
        number = next;
    }
    let mut number = 0;
    while number + 1 < places.len() {
        match split(probing, spindle, &places, number)? {
            Some(middle) => places.insert(number + 1, middle),
            None => number += 1,
        }
    }
    Ok(zones_of(places, capacity))
}

/// The next exactly measured place from `number` on.
fn next_exact(places: &[Place], number: usize) -> Option<usize> {
    (number..places.len()).find(|&number| places[number].tracks.is_some())
}

/// A place between this one and the next, if a border of zones between them is to be found.
fn split(
    probing: &mut Probing<'_>,
    spindle: &Spindle,
    places: &[Place],
    number: usize,
) -> Result<Option<Place>, Error> {
    let (one, next) = (&places[number], &places[number + 1]);
    let last_exact = (0..=number).rev().find(|&number| places[number].tracks.is_some());
    let differs = match (last_exact, next_exact(places, number + 1)) {
        (Some(before), Some(after)) => {
            !places[before].alike(&places[after]) && !one.alike(next)
                || one.tracks.is_some() && next.tracks.is_some() && !one.alike(next)
        }
        _ => !one.alike(next),
    };
    let apart = next.offset - one.offset;
    if !differs || apart <= probing.capacity() / RESOLUTION {
        return Ok(None);
    }
    let offset = (one.offset + apart / 2) / probing.grain() * probing.grain();
    let mut middle = Place::measure(probing, spindle, offset, one.slope)?;
    // How many standard errors of the slopes lie between, the neighbours' sizes being exact.
    let away = |place: &Place| {
        (1.0 / (place.bytes() * middle.slope.turns) - 1.0).abs() * middle.slope.turns
            / middle.slope.error
    };
    let (near, far) = if away(one) < away(next) { (one, next) } else { (next, one) };
    if near.tracks.is_some() && far.tracks.is_some() && away(near) < 3.0 && away(far) > 6.0 {
        // As one of its neighbours: no need to measure the same tracks again.
        middle.tracks.clone_from(&near.tracks);
    } else {
        middle.exact(probing, spindle)?;
    }
    Ok(Some(middle))
}

fn zones_of(places: Vec<Place>, capacity: u64) -> Zones {
    let known: Vec<&Place> = places.iter().filter(|place| place.tracks.is_some()).collect();
    let mut zones: Vec<DiskZone> = Vec::new();
    let mut sigmas = f64::INFINITY;
    let mut before: Option<&Place> = None;
    for &place in &known {
        let same = before.is_some_and(|before| before.alike(place));
        if let Some(before) = before.filter(|_| !same) {
            let error = before.slope.error + place.slope.error;
            let exact = place.tracks.as_ref().map_or(0.0, |tracks| tracks.sigmas);
            let slopes = (before.slope.turns - place.slope.turns).abs() / error;
            sigmas = sigmas.min(slopes.max(exact));
        }
        if !same {
            let from_byte =
                before.map_or(0, |before| before.offset + (place.offset - before.offset) / 2);
            zones.push(DiskZone { from_byte, track_bytes: place.bytes().round() as u64 });
        }
        before = Some(place);
    }
    let falling = zones.is_sorted_by(|one, next| one.track_bytes > next.track_bytes);
    let ends = places.first().is_some_and(|place| place.tracks.is_some())
        && places.last().is_some_and(|place| place.tracks.is_some());
    let close = known.windows(2).all(|pair| {
        let near = (capacity / 256).max(400 * pair[0].bytes() as u64);
        pair[0].alike(pair[1]) || pair[1].offset - pair[0].offset <= near
    });
    Zones { zones, certain: falling && ends && close, sigmas, places }
}
