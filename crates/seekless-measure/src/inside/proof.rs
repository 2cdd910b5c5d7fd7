//! A probe beside what was planted: each parameter is exact, unidentifiable or wrong.

use super::planted;
use super::planted::Permuted;
use super::{DiskInside, Finding, FlashInside, Modelled, disk_inside, flash_inside};
use crate::Error;
use seekless_device::{Disk, DiskParameters, Flash, FlashParameters, Mapping, Nanos};
use serde::Serialize;
use std::collections::BTreeMap;

/// A time counts as right if it is off by at most this share.
pub const TIME_OFF_MAX: f64 = 0.1;

/// More than any probe takes: the proof shall show what is identifiable, not what is quick.
const LIMIT_NS: Nanos = 4 * 3_600_000_000_000;

/// How often a parameter was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    /// Identified: an integer exactly, a time within a tenth.
    pub right: u32,
    /// No figure was given.
    pub unidentifiable: u32,
    /// A figure was given, and it is another.
    pub wrong: u32,
}

/// The tallies of all parameters, integers and times apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Proof {
    /// Integers by name.
    pub integers: BTreeMap<&'static str, Tally>,
    /// Times by name.
    pub times: BTreeMap<&'static str, Tally>,
    /// Each wrong figure in words, with the seed of its device.
    pub mistakes: Vec<String>,
    /// Devices.
    pub devices: u32,
}

impl Proof {
    fn integer(&mut self, name: &'static str, seed: u64, planted: u64, found: &Finding<u64>) {
        let right = found.value.map(|value| value == planted);
        note(self.integers.entry(name).or_default(), right);
        if right == Some(false) {
            let sigmas = found.sigmas;
            self.mistakes.push(format!(
                "device {seed}: {name} is {planted}, found {:?} at {sigmas:.1} sigma ({})",
                found.value, found.reason
            ));
        }
    }

    fn time(&mut self, name: &'static str, seed: u64, planted: f64, found: &Finding<f64>) {
        let right = found.value.map(|value| (value / planted - 1.0).abs() <= TIME_OFF_MAX);
        note(self.times.entry(name).or_default(), right);
        if right == Some(false) {
            self.mistakes.push(format!(
                "device {seed}: {name} is {planted:.0} ns, found {:?} ± {:?} ({})",
                found.value, found.relative_error, found.reason
            ));
        }
    }
}

/// Of all integers that were looked for, how many were identified and exact.
#[must_use]
pub fn exact_share<'a>(proofs: impl IntoIterator<Item = &'a Proof>) -> f64 {
    let (mut right, mut all) = (0, 0);
    for tally in proofs.into_iter().flat_map(|proof| proof.integers.values()) {
        right += tally.right;
        all += tally.right + tally.unidentifiable + tally.wrong;
    }
    f64::from(right) / f64::from(all.max(1))
}

fn note(tally: &mut Tally, right: Option<bool>) {
    match right {
        Some(true) => tally.right += 1,
        Some(false) => tally.wrong += 1,
        None => tally.unidentifiable += 1,
    }
}

fn wide<T: Copy + Into<u64>>(finding: &Finding<T>) -> Finding<u64> {
    Finding {
        value: finding.value.map(Into::into),
        sigmas: finding.sigmas,
        relative_error: finding.relative_error,
        reason: finding.reason.clone(),
    }
}

/// Probes the planted disks of some seeds, with times read that wrongly.
///
/// # Errors
/// None that a model gives.
pub fn disks(
    seeds: impl Iterator<Item = u64>,
    noise: f64,
    after_each: &mut dyn FnMut(u64),
) -> Result<Proof, Error> {
    each(seeds, after_each, |proof, seed| {
        let planted = planted::disk(seed);
        let inside = probe_disk(&planted, noise, seed)?;
        compare_disk(proof, seed, &planted, &inside);
        Ok(())
    })
}

/// The proof of some devices, one by one.
fn each(
    seeds: impl Iterator<Item = u64>,
    after_each: &mut dyn FnMut(u64),
    mut compare: impl FnMut(&mut Proof, u64) -> Result<(), Error>,
) -> Result<Proof, Error> {
    let mut proof = Proof::default();
    for seed in seeds {
        compare(&mut proof, seed)?;
        proof.devices += 1;
        after_each(seed);
    }
    Ok(proof)
}

/// Probes a model of a disk.
///
/// # Errors
/// No disk has such numbers.
pub fn probe_disk(planted: &DiskParameters, noise: f64, seed: u64) -> Result<DiskInside, Error> {
    let model = Disk::new(planted.clone()).map_err(|error| {
        Error::new(crate::ErrorKind::Nothing, format!("no disk to plant: {error}"))
    })?;
    let mut device = Modelled::new(model, planted.capacity_bytes).with_noise(noise, seed);
    Ok(disk_inside(&mut device, LIMIT_NS, seed, &mut |_, _| {})?.0)
}

/// Probes the planted flash drives of some seeds, with permuted channels and with times read
/// wrongly. The drives' data is destroyed.
///
/// # Errors
/// None that a model gives.
pub fn flashes(
    seeds: impl Iterator<Item = u64>,
    noise: f64,
    after_each: &mut dyn FnMut(u64),
) -> Result<Proof, Error> {
    each(seeds, after_each, |proof, seed| {
        let planted = planted::flash(seed);
        let inside = probe_flash(&planted, noise, seed)?;
        compare_flash(proof, seed, &planted, &inside);
        Ok(())
    })
}

/// Probes a model of a flash drive with permuted channels.
///
/// # Errors
/// No drive has such numbers.
pub fn probe_flash(planted: &FlashParameters, noise: f64, seed: u64) -> Result<FlashInside, Error> {
    let model = Flash::new(planted.clone()).map_err(|error| {
        Error::new(crate::ErrorKind::Nothing, format!("no flash drive to plant: {error}"))
    })?;
    let permuted = Permuted::new(model, planted, seed);
    let mut device = Modelled::new(permuted, planted.capacity_bytes).with_noise(noise, seed);
    Ok(flash_inside(&mut device, true, LIMIT_NS, seed, &mut |_, _| {})?.0)
}

fn compare_flash(proof: &mut Proof, seed: u64, planted: &FlashParameters, found: &FlashInside) {
    let degree = planted.channels * planted.dies * planted.planes;
    proof.integer("page bytes", seed, planted.page_bytes, &found.page_bytes);
    proof.integer("chunk bytes", seed, planted.chunk_bytes, &found.chunk_bytes);
    proof.integer("interleave degree", seed, degree.into(), &wide(&found.degree));
    proof.integer("channels", seed, planted.channels.into(), &wide(&found.channels));
    let number = |mapping: Mapping| u64::from(mapping == Mapping::WriteOrder);
    let mapping = Finding {
        value: found.mapping.value.map(number),
        sigmas: found.mapping.sigmas,
        relative_error: None,
        reason: found.mapping.reason.clone(),
    };
    proof.integer("mapping", seed, number(planted.mapping), &mapping);
    proof.time("page read", seed, planted.read_ns as f64, &found.read_ns);
    proof.time("command", seed, planted.overhead_ns as f64, &found.overhead_ns);
    let page_ns = |rate: u64| planted.page_bytes as f64 * 1e9 / rate as f64;
    proof.time("page on bus", seed, page_ns(planted.bus_bytes_per_second), &found.bus_page_ns);
    proof.time("page on link", seed, page_ns(planted.link_bytes_per_second), &found.link_page_ns);
}

fn compare_disk(proof: &mut Proof, seed: u64, planted: &DiskParameters, found: &DiskInside) {
    let cache = planted.cache;
    proof.integer("turns a minute", seed, planted.rpm.into(), &wide(&found.rpm));
    proof.integer("track bytes", seed, planted.zones[0].track_bytes, &found.track_bytes);
    proof.integer("heads", seed, planted.heads.into(), &wide(&found.heads));
    proof.integer("zones", seed, planted.zones.len() as u64, &wide(&found.zones));
    proof.integer("cache segments", seed, cache.segments.into(), &wide(&found.segments));
    if cache.segments > 0 {
        proof.integer("segment bytes", seed, cache.segment_bytes, &found.segment_bytes);
        proof.integer("reads on", seed, cache.read_on.into(), &wide(&found.read_on));
    }
    let time = |nanos: Nanos| nanos as f64;
    proof.time("rotation", seed, 60e9 / f64::from(planted.rpm), &found.rotation_ns);
    proof.time("overhead", seed, time(planted.overhead_ns), &found.overhead_ns);
    if planted.heads > 1 {
        proof.time("track skew", seed, time(planted.track_skew_ns), &found.track_skew_ns);
        proof.time("head switch", seed, time(planted.head_switch_ns), &found.head_switch_ns);
    }
    proof.time("cylinder skew", seed, time(planted.cylinder_skew_ns), &found.cylinder_skew_ns);
    let seek = planted.seek.ns(cylinders(planted) / 3);
    proof.time("average seek", seed, time(seek), &found.average_seek_ns);
}

fn cylinders(disk: &DiskParameters) -> u64 {
    let ends = disk.zones.iter().skip(1).map(|zone| zone.from_byte).chain([disk.capacity_bytes]);
    let of = |(zone, end): (&seekless_device::DiskZone, u64)| {
        ((end - zone.from_byte) / zone.track_bytes).div_ceil(u64::from(disk.heads))
    };
    disk.zones.iter().zip(ends).map(of).sum()
}
