//! A store finds what `seekless probe` has measured of its device.

#![cfg(feature = "probed")]

use seekless::device::{Costs, CostsSource, Origin, Row, Zone};
use seekless::io::{Store, StoreBuilder};
use seekless::pack::{About, Codec, PackWriter, prepare};
use seekless::sled::{Config, Devices, Entry, Surveyor};
use std::fs::File;

#[test]
fn a_store_finds_what_was_measured_of_its_device_unless_it_is_told_not_to_look() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("sample.zip");
    let mut pack = PackWriter::new(File::create(&path).unwrap());
    pack.add(prepare(About::named("a"), b"brick".to_vec(), Codec::Stored).unwrap()).unwrap();
    pack.finish().unwrap();

    let zone = Zone {
        from_byte: 0,
        latency_ns: 7_000_000,
        latency_p90_ns: None,
        bytes_per_second: 90_000_000,
    };
    let row = Row { origin: Origin::Calibrated, zones: vec![zone] };
    let mut surveyor = Surveyor::with(Config::default(), Devices::default());
    let key = surveyor.home(&path).unwrap().0.key;
    let table = folder.path().join("devices.toml");
    let entry = Entry { measured_unix_s: 1, conditions: String::new(), row };
    Devices::update(&table, |devices| devices.insert(key, entry)).unwrap();

    let known = |builder: StoreBuilder| {
        let statistics = builder.open(&path).unwrap().statistics();
        (statistics.costs, statistics.costs_source)
    };
    let builder = || Store::builder().device_table(&table);
    let measured = Costs { request_ns: 7_000_000, bytes_per_second: 90_000_000, ..Costs::ASSUMED };
    assert_eq!(known(builder()), (measured, CostsSource::Probed));
    assert_eq!(known(builder().look_up_costs(false)).1, CostsSource::Assumed);
    assert_eq!(known(builder().costs(Costs::ASSUMED)), (Costs::ASSUMED, CostsSource::Given));
    let elsewhere = Store::builder().device_table(folder.path().join("none.toml"));
    assert_eq!(known(elsewhere).1, CostsSource::Assumed);
}
