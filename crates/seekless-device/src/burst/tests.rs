use super::*;

const MS: Nanos = 1_000_000;
const SECOND: Nanos = 1_000 * MS;

fn volume(latency_ns: Nanos, burst: Option<Burst>) -> BurstVolume {
    let parameters = VolumeParameters { iops: 100, bytes_per_second: 1 << 40, latency_ns, burst };
    BurstVolume::new(parameters).unwrap()
}

fn io(tag: u64) -> Io {
    Io { tag, write: false, offset: 0, bytes: 4096 }
}

/// When the last of this many requests ends, if all are made at once.
fn last(volume: &mut BurstVolume, now: Nanos, requests: u64) -> Nanos {
    (0..requests).for_each(|tag| volume.submit(now, io(tag)));
    let mut last = 0;
    volume.advance(Nanos::MAX, &mut |end, _| last = end);
    last - now
}

#[test]
fn without_credit_and_latency_it_is_a_volume() {
    let mut plain = Volume::new(100, 1 << 40);
    let mut other = volume(0, None);
    for tag in 0..500 {
        plain.submit(tag * MS, io(tag));
        other.submit(tag * MS, io(tag));
    }
    let (mut ends, mut others) = (Vec::new(), Vec::new());
    plain.advance(Nanos::MAX, &mut |end, io| ends.push((end, io)));
    other.advance(Nanos::MAX, &mut |end, io| others.push((end, io)));
    assert_eq!(ends, others);
    assert_eq!(plain.costs(), other.costs());
}

#[test]
fn every_request_takes_the_latency_beside_the_limits() {
    let mut volume = volume(3 * MS, None);
    volume.submit(7 * MS, io(0));
    assert_eq!(volume.next_event(), Some(10 * MS));
    volume.advance(10 * MS - 1, &mut |_, _| panic!("not yet"));
    assert_eq!(last(&mut volume, 20 * MS, 11), 90 * MS, "the twelfth in the slice from 107 ms");
}

#[test]
fn credit_is_used_up_and_earned_again() {
    let burst = Burst { iops: 1000, credit: 2000 };
    let mut volume = volume(0, Some(burst));
    let fast = last(&mut volume, 0, 1000);
    assert!((900 * MS..=SECOND).contains(&fast), "{fast}");
    // A second later 100 more have been earned. 1100 of the credit are left, 400 wait for theirs.
    let slow = last(&mut volume, SECOND, 1500);
    assert_eq!(slow, 4 * SECOND);
    // Long idle, it has all of it.
    let fast = last(&mut volume, 1000 * SECOND, 2000);
    assert!((1900 * MS..=2 * SECOND).contains(&fast), "{fast}");
}

#[test]
fn costs_tell_the_latency_and_the_depth_that_hides_it() {
    let costs = volume(50 * MS, Some(Burst { iops: 1000, credit: 1 })).costs();
    assert_eq!((costs.request_ns, costs.depth), (50 * MS, 5));
    let costs = volume(5 * MS, None).costs();
    assert_eq!((costs.request_ns, costs.depth), (10 * MS, 1));
}

#[test]
fn numbers_that_no_volume_has_are_refused() {
    let parameters =
        |iops, burst| VolumeParameters { iops, bytes_per_second: 1, latency_ns: 0, burst };
    assert!(parameters(0, None).check().is_err());
    assert!(parameters(10, Some(Burst { iops: 10, credit: 5 })).check().is_err());
    assert!(parameters(10, Some(Burst { iops: 11, credit: 0 })).check().is_err());
}
