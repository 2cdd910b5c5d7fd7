//! Where a store's knowledge of its program comes from, and that it learns.

use crate::support::Sample;
use seekless_device::Costs;
use seekless_engine::EngineKind;
use seekless_io::{ErrorKind, PredictionModel as Model, Store, StoreBuilder};
use seekless_pack::{Codec, PREDICTION};

const FILES: u32 = 400;

/// Requests are dear, and served one at a time.
const VOLUME: Costs = Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

fn files(name: &str) -> Vec<(String, Vec<u8>)> {
    let file = |number| (format!("{name}/{number:03}"), vec![number as u8; 30_000]);
    (0..FILES).map(file).collect()
}

/// Every third file, in one order and in another.
fn runs() -> Vec<Vec<u32>> {
    let run: Vec<u32> = (0..FILES).step_by(3).collect();
    vec![run.clone(), run.into_iter().rev().collect()]
}

fn sample(last: Option<(&str, Vec<u8>)>) -> Sample {
    Sample::with_entry(files("a"), Codec::Stored, last)
}

fn told() -> Sample {
    sample(Some((PREDICTION, Model::train(FILES, &runs()).to_bytes())))
}

fn builder() -> StoreBuilder {
    Store::builder().engine(EngineKind::Threads).costs(VOLUME)
}

fn load(store: &Store, sample: &Sample, run: &[u32]) {
    for &number in run {
        assert_eq!(
            &store.load(sample.name(number as usize)).unwrap()[..],
            sample.bytes(number as usize)
        );
    }
}

/// Bytes that were read ahead because they were expected, in a run of a store.
fn predicted(builder: StoreBuilder, sample: &Sample) -> (u64, Store) {
    let store = builder.open(&sample.path).unwrap();
    load(&store, sample, &runs()[0]);
    (store.statistics().predicted.used_bytes, store)
}

#[test]
fn a_pack_says_what_its_program_loads_unless_told_otherwise() {
    let sample = told();
    assert!(predicted(builder(), &sample).0 > 1_000_000);
    assert_eq!(predicted(builder().predict(false), &sample).0, 0);
    let other = Model::train(FILES + 1, &[vec![1, 4, 7]]);
    let store = builder().prediction(other.clone()).open(&sample.path).unwrap();
    assert!(store.learned() == Some(other), "in place of the pack's");
}

#[test]
fn what_a_pack_says_is_no_file_of_the_program() {
    let (sample, room) = (told(), tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap());
    let single = builder().open(&sample.path).unwrap();
    let several = builder().archive(&sample.path).folder(room.path()).open_all().unwrap();
    for store in [single, several] {
        assert_eq!((store.len(), store.sources()[0].files), (FILES as usize, u64::from(FILES)));
        assert_eq!(store.load(PREDICTION).unwrap_err().kind(), ErrorKind::NotFound);
        assert_eq!(store.prediction_note(), None);
    }
}

#[test]
fn a_damaged_one_is_not_used_and_said() {
    let bytes = Model::train(FILES, &runs()).to_bytes();
    let mut flipped = bytes.clone();
    flipped[20] ^= 1;
    let of_more = Model::train(FILES + 5, &[vec![FILES + 4]]).to_bytes();
    let large = vec![0; Model::BYTES_MAX as usize + 1];
    for (bytes, why) in [
        (flipped, "damaged"),
        (bytes[..30].to_vec(), "damaged"),
        (b"hello".to_vec(), "no model"),
        (Vec::new(), "no model"),
        (of_more, "of an archive of 405 entries"),
        (large, "too many"),
    ] {
        let sample = sample(Some((PREDICTION, bytes.clone())));
        let (used, store) = predicted(builder(), &sample);
        let note = store.prediction_note().unwrap().to_owned();
        assert!(note.contains("sample.zip") && note.contains(why), "{note}");
        assert_eq!((used, store.learned()), (0, None));
        // What the program names itself must be right.
        let file = sample.path.with_extension("model");
        std::fs::write(&file, &bytes).unwrap();
        let error = builder().prediction_file(&file).open(&sample.path).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Open);
        assert!(error.to_string().contains("sample.model"), "{error}");
    }
    let absent = builder().prediction_file("/no/such.model").open(&told().path).unwrap_err();
    assert!(absent.to_string().contains("/no/such.model"), "{absent}");
}

#[test]
fn what_a_run_teaches_helps_the_next() {
    let sample = sample(None);
    let (first, store) = predicted(builder().prediction(Model::default()), &sample);
    let file = sample.path.with_extension("model");
    std::fs::write(&file, store.learned().unwrap().to_bytes()).unwrap();
    let (second, taught) = predicted(builder().prediction_file(&file), &sample);
    assert!(second > first + 1_000_000, "{first} bytes, then {second}");
    let reads = |store: &Store| store.counters().requests;
    assert!(reads(&taught) < reads(&store), "{} reads after {}", reads(&taught), reads(&store));
}

#[test]
fn of_several_sources_the_first_pack_that_says_anything_is_heard() {
    let (other, sample) = (Sample::of_files(files("b"), Codec::Stored), told());
    let room = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let mods = room.path().join("a");
    std::fs::create_dir(&mods).unwrap();
    std::fs::write(mods.join("000"), "another").unwrap();
    let sources = builder().archive(&other.path).archive(&sample.path).folder(room.path());
    let store = sources.open_all().unwrap();
    let run: Vec<u32> = runs()[0][1..].to_vec();
    load(&store, &sample, &run);
    assert!(store.statistics().predicted.used_bytes > 1_000_000);
    // The first file of the run comes from the folder, which is the last source.
    let learned = store.learned().unwrap();
    let places = 2 * FILES + 1 + 1;
    assert_eq!(learned.entries(), places);
}
