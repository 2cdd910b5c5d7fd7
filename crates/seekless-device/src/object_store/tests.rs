use super::*;

const MS: Nanos = 1_000_000;

fn quantile(permille: u32, latency_ns: Nanos) -> Quantile {
    Quantile { permille, latency_ns }
}

fn steady(streams: u32) -> ObjectStoreParameters {
    ObjectStoreParameters {
        bytes_per_second: 1_000_000,
        streams,
        seed: 0,
        first_byte: vec![quantile(0, 10 * MS), quantile(1000, 10 * MS)],
    }
}

fn io(tag: u64, bytes: u64) -> Io {
    Io { tag, write: false, offset: 0, bytes }
}

fn ends(store: &mut ObjectStore) -> Vec<(u64, Nanos)> {
    let mut ends = Vec::new();
    store.advance(Nanos::MAX, &mut |end, io| ends.push((io.tag, end)));
    ends
}

#[test]
fn a_request_takes_its_first_byte_and_its_transfer() {
    let mut store = ObjectStore::new(steady(2)).unwrap();
    store.submit(5 * MS, io(0, 2000));
    assert_eq!(ends(&mut store), [(0, 17 * MS)]);
}

#[test]
fn streams_run_at_once_and_the_others_wait_for_one() {
    let mut store = ObjectStore::new(steady(2)).unwrap();
    for (tag, bytes) in [(0, 5000), (1, 0), (2, 1000), (3, 0)] {
        store.submit(0, io(tag, bytes));
    }
    // The third takes the second's stream at 10 ms, the fourth the first's at 15 ms.
    assert_eq!(ends(&mut store), [(1, 10 * MS), (0, 15 * MS), (2, 21 * MS), (3, 25 * MS)]);
}

#[test]
fn latencies_spread_as_the_points_say() {
    let first_byte = vec![quantile(0, MS), quantile(500, 10 * MS), quantile(1000, 110 * MS)];
    let parameters = ObjectStoreParameters { first_byte, streams: 100_000, ..steady(1) };
    let mut store = ObjectStore::new(parameters).unwrap();
    (0..20_000).for_each(|tag| store.submit(0, io(tag, 0)));
    let ends = ends(&mut store);
    let below = |limit| ends.iter().filter(|&&(_, end)| end < limit).count();
    assert_eq!(below(MS), 0);
    assert!((9_700..10_300).contains(&below(10 * MS)), "{}", below(10 * MS));
    assert!((14_700..15_300).contains(&below(60 * MS)), "{}", below(60 * MS));
    assert_eq!(below(110 * MS), 20_000);
    // Half of them 5.5 ms, half of them 60 ms on average.
    assert_eq!(store.costs().request_ns, 32_750_000);
}

#[test]
fn distributions_that_make_no_sense_are_refused() {
    let bad = [
        vec![],
        vec![quantile(0, 1)],
        vec![quantile(1, 1), quantile(1000, 1)],
        vec![quantile(0, 5), quantile(1000, 4)],
        vec![quantile(0, 5), quantile(0, 5), quantile(1000, 6)],
    ];
    for first_byte in bad {
        let parameters = ObjectStoreParameters { first_byte, ..steady(1) };
        assert!(ObjectStore::new(parameters.clone()).is_err(), "{parameters:?}");
    }
    assert!(ObjectStore::new(steady(0)).is_err());
}
