//! The proof on planted disks, and what a disk fed by a probe of itself predicts.

use super::answers::tests::Planted;
use super::*;
use seekless_device::{Disk, DiskParameters, Parameters, Preset, SplitMix64};

/// Planted devices to probe; all two hundred when asked.
fn devices() -> u64 {
    let asked = std::env::var("SEEKLESS_PLANTED_DEVICES").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(40)
}

#[test]
fn planted_devices_are_found_or_called_unidentifiable() {
    let disks = proof::disks(0..devices(), 0.03, &mut |_| {}).expect("models do not fail");
    let drives = proof::flashes(0..devices(), 0.03, &mut |_| {}).expect("models do not fail");
    println!("{disks:#?}\n{drives:#?}");
    for proof in [&disks, &drives] {
        assert!(proof.mistakes.is_empty(), "{:#?}", proof.mistakes);
    }
    let share = proof::exact_share([&disks, &drives]);
    assert!(share >= 0.9, "{share}");
}

/// Random reads, runs of reads and some far away, as a program makes them.
fn replay(parameters: &DiskParameters, seed: u64) -> Nanos {
    let mut dice = SplitMix64::new(seed);
    let disk = Disk::new(parameters.clone()).expect("a disk");
    let mut device = Modelled::new(disk, parameters.capacity_bytes);
    for _ in 0..400 {
        let bytes = 4096 << dice.below(6);
        let mut offset = dice.below(parameters.capacity_bytes - (64 << 20)) / 4096 * 4096;
        for _ in 0..1 + dice.below(8) {
            device.run(&[Request::read(offset, bytes)]).expect("a model reads");
            offset += bytes;
        }
    }
    device.now()
}

#[test]
fn a_disk_fed_by_a_probe_of_itself_predicts_a_replay() {
    for seed in 0..20 {
        let planted = planted::disk(seed);
        let found = proof::probe_disk(&planted, 0.03, seed).expect("a model reads");
        let found = found.parameters.expect("a disk");
        let (real, predicted) = (replay(&planted, 1000 + seed), replay(&found, 1000 + seed));
        let ratio = predicted as f64 / real as f64;
        assert!((0.9..1.1).contains(&ratio), "{seed}: {ratio}\n{planted:#?}\n{found:#?}");
    }
}

#[test]
fn a_device_without_rotation_has_no_inside_of_a_disk() {
    for name in ["850evo", "gp3", "nvme"] {
        let parameters = Preset::named(name).expect("a preset").parameters();
        let model = parameters.model().expect("a model");
        let capacity = parameters.capacity_bytes().unwrap_or(100 << 30);
        let mut device = Modelled::new(model, capacity).with_noise(0.03, 1);
        let (inside, _) =
            disk_inside(&mut device, 600_000_000_000, 1, &mut |_, _| {}).expect("it reads");
        assert!(!inside.rotation_ns.is_identified(), "{name}: {inside:#?}");
        assert!(inside.parameters.is_none() && !matches!(parameters, Parameters::Disk(_)));
    }
}

/// The findings in a report, by name.
fn findings(report: &impl serde::Serialize) -> Vec<(String, serde_json::Value)> {
    let serde_json::Value::Object(fields) = serde_json::to_value(report).expect("JSON") else {
        panic!("a report is an object");
    };
    fields.into_iter().filter(|(_, field)| field.get("reason").is_some()).collect()
}

#[test]
fn a_device_that_only_delays_has_no_inside_and_says_why_of_each_figure() {
    let limit = 600_000_000_000;
    let (disk, _) =
        disk_inside(&mut Planted::delayed(), limit, 1, &mut |_, _| {}).expect("it reads");
    let (flash, _) =
        flash_inside(&mut Planted::delayed(), false, limit, 1, &mut |_, _| {}).expect("it reads");
    let figures = [findings(&disk), findings(&flash)].concat();
    assert_eq!(figures.len(), 13 + 9, "{figures:?}");
    for (name, finding) in figures {
        assert!(finding["value"].is_null(), "{name}: {finding}");
        let reason = finding["reason"].as_str().expect("words");
        assert!(!reason.is_empty() && reason != "not looked for", "{name}: {finding}");
    }
    assert!(disk.rotation_ns.reason.contains("nothing turns"), "{disk:?}");
}

#[test]
fn a_device_whose_reads_do_not_wait_has_no_planes_for_that_reason() {
    let parameters = Preset::named("gp3").expect("a preset").parameters();
    let mut device = Modelled::new(parameters.model().expect("a model"), 100 << 30);
    let limit = 600_000_000_000;
    let (flash, _) = flash_inside(&mut device, false, limit, 1, &mut |_, _| {}).expect("it reads");
    assert!(flash.degree.reason.contains("none waits"), "{flash:?}");
}

#[test]
fn a_cache_that_hides_the_planes_is_the_reason() {
    let mut planted = Planted::cached(4096);
    let (flash, _) =
        flash_inside(&mut planted, false, 600_000_000_000, 1, &mut |_, _| {}).expect("it reads");
    assert!(flash.degree.reason.contains("a cache answers"), "{flash:?}");
}

#[test]
fn what_the_time_did_not_suffice_for_says_so() {
    let mut planted = Planted::delayed();
    let (disk, _) = disk_inside(&mut planted, 20_000_000, 1, &mut |_, _| {}).expect("it reads");
    assert!(disk.rotation_ns.reason.contains("--seconds"), "{disk:?}");
}
