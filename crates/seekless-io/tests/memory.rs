//! The memory of a store: every byte that any thread allocates is counted. This is a binary of its
//! own, since other tests would be counted too.

#[path = "../../../tests/allocations.rs"]
mod allocations;
#[path = "io/faulty.rs"]
#[expect(dead_code, reason = "not every fault is needed here")]
mod faulty;
#[path = "../../seekless-pack/tests/pack/forge.rs"]
mod forge;
#[path = "../../seekless-pack/tests/pack/samples.rs"]
mod samples;
#[path = "../../seekless-pack/tests/pack/support.rs"]
#[expect(dead_code, reason = "the hostile samples need a part")]
mod support;

use allocations::{in_use_by_process, peak_of_process, turn};
use faulty::{Fault, Faulty};
use samples::{Hostile, hostile};
use seekless_io::{Buffer, Result, Store, StoreBuilder};
use seekless_pack::Codec;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// Bytes for each byte of the archive, and bytes whatever its size, that a store may take.
const SHARE: usize = 16;
const BASE: usize = 64 << 20;

/// Stands in for the packs' own count, which sees one thread.
mod memory {
    pub(crate) fn bounded<T>(_archive_bytes: usize, act: impl FnOnce() -> T) -> T {
        act()
    }
}

/// Loads all entries of an archive in every way, if it can be opened at all.
fn load_all(path: &Path, builder: &StoreBuilder) {
    let Ok(store) = builder.clone().open(path) else { return };
    let names: Vec<String> =
        (0..store.len()).map(|id| store.index().name(id as u32).to_owned()).collect();
    for name in &names {
        check(store.load(name));
    }
    store.load_many(names).for_each(|(_, result)| check(result));
}

fn check(result: Result<Buffer>) {
    if let Err(error) = result {
        assert!(!error.to_string().contains("panicked"), "{error}");
    }
}

#[test]
fn few_bytes_cannot_ask_for_much_memory() {
    let _turn = turn();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("hostile.zip");
    let limited = Store::builder().max_entry_bytes(64 << 20);
    let unlimited = Store::builder().max_entry_bytes(u64::MAX).cache(u64::MAX).window(u64::MAX);
    for Hostile { what, archive, right_bytes } in hostile() {
        fs::write(&path, &archive).unwrap();
        for (builder, right_bytes) in [(&limited, 0), (&unlimited, right_bytes)] {
            let ((), taken) = peak_of_process(|| load_all(&path, builder));
            let allowed = SHARE * archive.len() + BASE + 2 * right_bytes;
            assert!(taken <= allowed, "{what}: {taken} bytes for an archive of {}", archive.len());
        }
    }
}

#[test]
fn failures_without_number_take_no_memory() {
    let _turn = turn();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("sample.zip");
    let names: Vec<String> = (0..200).map(|number| format!("{number:03}")).collect();
    let content = vec![7; 3_000];
    let files: Vec<(&str, &[u8])> =
        names.iter().map(|name| (name.as_str(), &content[..])).collect();
    fs::write(&path, support::pack(&files, Codec::Stored)).unwrap();
    let engine = Arc::new(Faulty::new(Fault::None));
    let builder = Store::builder().shared_engine(engine.clone()).cache(0).read_ahead_cache(0);
    let store = builder.open(&path).unwrap();
    let fail = || {
        engine.set(Fault::Bad(0..u64::MAX));
        assert_eq!(
            store.load_many(names.clone()).filter(|(_, result)| result.is_err()).count(),
            200
        );
        assert!(names.iter().all(|name| store.load(name).is_err()));
        engine.forget();
    };
    (0..3).for_each(|_| fail());
    let before = in_use_by_process();
    (0..30).for_each(|_| fail());
    // The workers may still be freeing the last reads. A kilobyte for each of 12,000 failures would
    // be 12 MB.
    let leaked = || in_use_by_process().saturating_sub(before);
    (0..500)
        .take_while(|_| leaked() > 64 << 10)
        .for_each(|_| thread::sleep(Duration::from_millis(10)));
    assert!(leaked() <= 64 << 10, "{} bytes", leaked());
}
