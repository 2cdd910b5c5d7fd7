//! Made traces are what their words say, everywhere the same.

use super::*;
use std::collections::HashSet;

fn objects(text: &str) -> Vec<u64> {
    text.parse::<Made>().unwrap().objects().collect()
}

fn read_as(text: &str, reading: &Reading) -> Requests {
    read(&[text.into()], reading).unwrap().unwrap()
}

/// These numbers must never change: published figures name the words that make a trace.
#[test]
fn a_seed_gives_the_same_requests_in_every_version() {
    let mixed = "zipf:objects=1K,alpha=0.9,requests=6,seed=3+loop:objects=3,requests=6";
    let shifted = "shift:objects=100,requests=12,every=4,by=50";
    assert_eq!(objects(mixed), MIXED);
    assert_eq!(objects(shifted), SHIFTED);
    assert_eq!(objects(mixed), objects(mixed));
}

const MIXED: [u64; 12] = [1000, 1001, 2, 435, 1002, 37, 825, 616, 4, 1000, 1001, 1002];
const SHIFTED: [u64; 12] = [1, 37, 5, 0, 70, 52, 55, 68, 31, 0, 3, 3];

#[test]
fn each_kind_asks_as_it_says() {
    assert_eq!(objects("loop:objects=3,requests=7"), [0, 1, 2, 0, 1, 2, 0]);
    let scanned = objects("scan:objects=10,requests=100,every=20,length=5");
    let fresh: Vec<u64> = scanned.iter().copied().filter(|&object| object >= 10).collect();
    assert_eq!(fresh, (10..30).collect::<Vec<_>>(), "ever new");
    assert!(scanned[20..25].iter().eq(&fresh[..5]));
    let popular = objects("zipf:objects=1K,alpha=1,requests=100K");
    let share = popular.iter().filter(|&&object| object == 0).count() as f64 / 1e5;
    assert!((share - 0.1336).abs() < 0.01, "1 of H(1000): {share}");
    let shifted = objects("shift:objects=1K,alpha=2,requests=100K,every=50K,by=500");
    let first = |part: &[u64], object| part.iter().filter(|&&one| one == object).count();
    assert!(first(&shifted[..50_000], 0) > 25_000 && first(&shifted[50_000..], 500) > 25_000);
}

#[test]
fn parts_of_a_mix_have_objects_of_their_own_and_come_in_turns() {
    let mixed = objects("loop:objects=10,requests=3000+loop:objects=5,requests=1000");
    let of_second: Vec<bool> = mixed.iter().map(|&object| object >= 10).collect();
    assert_eq!((mixed.len(), of_second.iter().filter(|&&is| is).count()), (4000, 1000));
    for quarter in of_second.chunks(1000) {
        let count = quarter.iter().filter(|&&is| is).count();
        assert!((180..320).contains(&count), "{count}");
    }
    assert_eq!(mixed.iter().collect::<HashSet<_>>().len(), 15);
}

#[test]
fn requests_are_numbered_by_first_appearance_and_have_sizes() {
    let reading = Reading { times: true, ..Reading::default() };
    let requests = read_as("zipf:objects=1K,requests=5K,bytes=1KiB..64KiB", &reading);
    let mut seen = 0;
    for &id in requests.ids() {
        assert!(id <= seen);
        seen += u32::from(id == seen);
    }
    assert_eq!((requests.len(), requests.unit(), requests.time(4999)), (5000, Unit::Object, 4999));
    assert!(requests.ids().iter().all(|&id| (1 << 10..=1 << 16).contains(&requests.weight(id))));
    let pages = Reading { unit: Some(Unit::Page), ..Reading::default() };
    assert_eq!(read_as("loop:objects=3,requests=4", &pages).ids(), [0, 1, 2, 0]);
}

#[test]
fn limits_and_samples_apply() {
    let mut reading = Reading::default();
    reading.import.select.limit = Some(7);
    assert_eq!(read_as("loop:objects=3,requests=100", &reading).len(), 7);
    let mut reading = Reading::default();
    reading.import.select.sample = Some("10%".parse().unwrap());
    let requests = read_as("loop:objects=10K,requests=20K", &reading);
    assert!((900..1100).contains(&requests.distinct()), "{}", requests.distinct());
    assert_eq!(reading.import.left_out.so_far()["row by --sample"], 20_000 - requests.len() as u64);
}

#[test]
fn what_is_no_description_is_said() {
    let said = |text: &str| text.parse::<Made>().unwrap_err().to_string();
    for (text, word) in [
        ("zipf:objects=1M", "needs `requests`"),
        ("zipf:objects=0,requests=5", "from 1 to 2^32"),
        ("zipf:objects=5,requests=5,beta=1", "has no `beta`; there are objects, alpha, requests"),
        ("zipf:objects=5,objects=6,requests=5", "twice"),
        ("loop:objects=5,alpha=1,requests=5", "has no `alpha`"),
        ("zipf:objects=5,alpha=x,requests=5", "alpha is a number"),
        ("loop:objects=5x,requests=5", "5x"),
        ("loop:objects=5,requests=5+wave:x=1", "expected zipf:"),
        ("loop:objects=5,requests=5+loop:objects=5,requests=5,seed=4", "in the first part"),
        ("loop:objects=4G,requests=5+loop:objects=4G,requests=5", "2^32 objects"),
        ("loop:objects=5,requests=5,bytes=9KiB..1KiB", "range"),
    ] {
        assert!(said(text).contains(word), "{text}: {}", said(text));
    }
    assert_eq!(Made::of(Path::new("c:trace.csv")).unwrap(), None);
    let traces = ["loop:objects=5,requests=5".into(), PathBuf::from("a.csv")];
    for traces in [traces.clone(), [traces[1].clone(), traces[0].clone()]] {
        let error = read(&traces, &Reading::default()).unwrap_err().to_string();
        assert!(error.contains("one after another"), "{error}");
    }
    let files = ["a.csv", "b.csv", "c:d.csv"].map(PathBuf::from);
    assert!(read(&files, &Reading::default()).unwrap().is_none(), "files are read as such");
    let small = Reading { memory_bytes_max: Some(1 << 20), ..Reading::default() };
    let error = read(&["zipf:objects=1M,requests=1M".into()], &small).unwrap_err().to_string();
    assert!(error.contains("--memory"), "{error}");
}
