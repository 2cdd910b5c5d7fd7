//! The estimate against devices whose costs are known: a drive with noise, alone or behind the
//! model of a throttle.

use super::*;
use crate::{DeviceModel, Io, SplitMix64, Volume};

const ASSUMED: Costs = Costs::ASSUMED;
const MB: u64 = 1_000_000;

/// A drive behind a throttle, and a program that reads from it one after another, as much at a time
/// as a request is worth.
struct Trial {
    latency_ns: u64,
    bytes_per_second: u64,
    /// A seek of up to this, beside the latency.
    seek_ns: u64,
    throttle: Option<Volume>,
    /// The program computes up to this long between two reads.
    think_ns: u64,
    random: SplitMix64,
    now: Nanos,
    estimate: Estimate,
    reads: u64,
}

impl Trial {
    fn flash(throttle: Option<(u64, u64)>, seed: u64) -> Self {
        Trial {
            latency_ns: 150_000,
            bytes_per_second: 1500 * MB,
            seek_ns: 0,
            throttle: throttle.map(|(iops, rate)| Volume::new(iops, rate)),
            think_ns: 0,
            random: SplitMix64::new(seed),
            now: 0,
            estimate: Estimate::new(ASSUMED),
            reads: 0,
        }
    }

    /// One read takes at least this long on the drive: a tenth more or less, and one of a thousand
    /// is 20 ms late.
    fn drive_ns(&mut self, bytes: u64) -> u64 {
        let plain = self.latency_ns + bytes * 1_000_000_000 / self.bytes_per_second;
        let noisy = plain as f64 * (0.9 + 0.2 * self.random.share());
        let late = if self.random.below(1000) == 0 { 20_000_000 } else { 0 };
        noisy as u64 + self.random.below(self.seek_ns) + late
    }

    fn read(&mut self, bytes: u64) {
        let served = self.served(bytes);
        self.estimate.add(served);
    }

    /// A read in pieces whose last ones wait for a decoder: 400 MB/s, after the device.
    fn read_in_pieces(&mut self, bytes: u64) {
        let mut served = self.served(bytes);
        self.now += bytes * 1000 / 400;
        served.ended = self.now;
        self.estimate.passed(served);
    }

    fn served(&mut self, bytes: u64) -> Served {
        self.now += self.random.below(self.think_ns);
        let submitted = self.now;
        let mut ended = submitted + self.drive_ns(bytes);
        if let Some(volume) = &mut self.throttle {
            volume.submit(submitted, Io { tag: 0, write: false, offset: 0, bytes });
            volume.advance(Nanos::MAX, &mut |end, _| ended = ended.max(end));
        }
        self.now = ended;
        self.reads += 1;
        Served { bytes, submitted, ended, in_flight: 1 }
    }

    /// Reads for so long, of sizes that a store would choose.
    fn run(&mut self, seconds: f64) {
        let until = self.now + (seconds * 1e9) as u64;
        while self.now < until {
            let costs = self.estimate.costs().unwrap_or(ASSUMED);
            let around = costs.gap_bytes().clamp(64 << 10, 1 << 20);
            let bytes = 4096 + self.random.below(around);
            self.read(bytes);
        }
    }

    fn costs(&self) -> Costs {
        self.estimate.costs().expect("enough reads")
    }
}

/// How far a figure is off, as a share of what it should be.
fn off(found: u64, right: u64) -> f64 {
    (found as f64 / right as f64 - 1.0).abs()
}

#[test]
fn a_fast_drive_is_known_after_its_first_reads() {
    for seed in 0..20 {
        let mut trial = Trial::flash(None, seed);
        (0..32).for_each(|_| {
            let bytes = 4096 + trial.random.below(1 << 20);
            trial.read(bytes);
        });
        let costs = trial.costs();
        assert!(off(costs.request_ns, 150_000) < 0.4, "{seed}: {costs:?}");
        assert!(off(costs.bytes_per_second, 1500 * MB) < 0.15, "{seed}: {costs:?}");
        trial.run(5.0);
        let costs = trial.costs();
        assert!(off(costs.request_ns, 150_000) < 0.4, "{seed}: {costs:?}");
        assert_eq!(costs.depth, ASSUMED.depth, "reads one by one do not show it");
    }
}

#[test]
fn a_disk_costs_its_mean_seek() {
    for seed in 0..20 {
        let drive = Trial::flash(None, seed);
        let mut trial = Trial {
            latency_ns: 4_000_000,
            bytes_per_second: 150 * MB,
            seek_ns: 9_000_000,
            ..drive
        };
        trial.run(2.0);
        let costs = trial.costs();
        assert!(off(costs.request_ns, 8_500_000) < 0.35, "{seed}: {costs:?}");
        assert!(off(costs.bytes_per_second, 150 * MB) < 0.6, "{seed}: {costs:?}");
    }
}

#[test]
fn a_limit_on_requests_is_known_within_nine_slices() {
    for iops in [120, 500] {
        for (seed, think_ns) in (0..20).flat_map(|seed| [(seed, 0), (seed, 1_000_000)]) {
            let mut trial = Trial { think_ns, ..Trial::flash(Some((iops, 150 * MB)), seed) };
            trial.run(0.85);
            let costs = trial.costs();
            assert!(off(costs.request_ns, 1_000_000_000 / iops) < 0.1, "{iops} {seed}: {costs:?}");
            assert_eq!(costs.depth, 1);
            assert!(trial.reads <= iops * 9 / 10 + 1, "{iops} {seed}: {} reads", trial.reads);
        }
    }
}

#[test]
fn a_limit_that_is_hardly_felt_is_mostly_known_too() {
    let knows = |seed: &u64| {
        // Without the limit it would be some 540 reads a second.
        let mut trial = Trial { think_ns: 3_200_000, ..Trial::flash(Some((500, 150 * MB)), *seed) };
        while trial.now < 4_000_000_000 {
            let bytes = 4096 + trial.random.below(125_000);
            trial.read(bytes);
        }
        off(trial.costs().request_ns, 2_000_000) < 0.1
    };
    let known = (0..20).filter(knows).count();
    assert!(known >= 10, "{known} of 20");
}

#[test]
fn reads_grow_until_the_bandwidth_shows() {
    for seed in 0..20 {
        let mut trial = Trial::flash(Some((500, 150 * MB)), seed);
        trial.run(4.0);
        let costs = trial.costs();
        assert!(off(costs.request_ns, 2_000_000) < 0.1, "{seed}: {costs:?}");
        // Reads of this size do not reach the limit, so it is not known better.
        assert!(off(costs.bytes_per_second, 200 * MB) < 0.3, "{seed}: {costs:?}");
    }
}

#[test]
fn a_limit_on_bytes_is_not_taken_for_one_on_requests() {
    for seed in 0..20 {
        let mut trial = Trial::flash(Some((3000, 150 * MB)), seed);
        trial.run(1.0);
        let costs = trial.costs();
        assert!(off(costs.bytes_per_second, 150 * MB) < 0.1, "{seed}: {costs:?}");
        // A request costs 333 µs at most: less than reading the least window of 64 KiB.
        assert!(costs.gap_bytes() < 64 << 10, "{seed}: {costs:?}");
    }
}

/// A tenth of the reads are large. If they were left out, less would seem to pass.
#[test]
fn what_passes_in_pieces_counts() {
    for (seed, iops) in (0..20).flat_map(|seed| [(seed, 120), (seed, 500)]) {
        let mut trial = Trial::flash(Some((iops, 150 * MB)), seed);
        while trial.now < 4_000_000_000 {
            let bytes = 4096 + trial.random.below(200_000);
            match trial.random.below(10) {
                0 => trial.read_in_pieces(20 * bytes),
                _ => trial.read(bytes),
            }
        }
        let costs = trial.costs();
        assert!(off(costs.request_ns, 1_000_000_000 / iops) < 0.1, "{iops} {seed}: {costs:?}");
    }
}

/// What is not felt is taken to be ten times what was seen: some 150 reads a second.
#[test]
fn under_a_limit_on_bytes_a_request_is_not_taken_to_be_free() {
    for seed in 0..20 {
        let mut trial = Trial::flash(Some((1000, 50 * MB)), seed);
        while trial.now < 3_000_000_000 {
            let bytes = (128 << 10) + trial.random.below(400_000);
            trial.read(bytes);
        }
        let costs = trial.costs();
        assert!(off(costs.bytes_per_second, 50 * MB) < 0.1, "{seed}: {costs:?}");
        assert!((500_000..900_000).contains(&costs.request_ns), "{seed}: {costs:?}");
    }
}

#[test]
fn small_reads_show_a_high_limit_on_requests() {
    for seed in 0..20 {
        let mut trial = Trial::flash(Some((3000, 150 * MB)), seed);
        while trial.now < 1_500_000_000 {
            let bytes = 4096 + 4096 * trial.random.below(4);
            trial.read(bytes);
        }
        let costs = trial.costs();
        assert!(off(costs.request_ns, 333_333) < 0.1, "{seed}: {costs:?}");
    }
}

#[test]
fn reads_of_one_size_do_not_hide_which_limit_it_is() {
    for (iops, right) in [(120, None), (3000, Some(150 * MB))] {
        let mut trial = Trial::flash(Some((iops, 150 * MB)), 7);
        let until = 3_000_000_000;
        while trial.now < until {
            let gap = trial.estimate.costs().map_or(125_000, |costs| costs.gap_bytes());
            trial.read(gap.clamp(64 << 10, 1 << 20));
        }
        let costs = trial.costs();
        match right {
            None => assert!(off(costs.request_ns, 1_000_000_000 / iops) < 0.1, "{costs:?}"),
            Some(rate) => assert!(off(costs.bytes_per_second, rate) < 0.1, "{costs:?}"),
        }
    }
}

#[test]
fn a_limit_that_begins_changes_or_ends_is_noticed() {
    for seed in 0..10 {
        let mut trial = Trial::flash(None, seed);
        trial.run(1.0);
        assert!(trial.costs().request_ns < 300_000);
        trial.throttle = Some(Volume::new(120, 150 * MB));
        trial.run(1.0);
        assert!(off(trial.costs().request_ns, 8_333_333) < 0.1, "{seed}: {:?}", trial.costs());
        trial.throttle = Some(Volume::new(500, 150 * MB));
        trial.run(1.5);
        assert!(off(trial.costs().request_ns, 2_000_000) < 0.15, "{seed}: {:?}", trial.costs());
        trial.throttle = None;
        trial.run(8.0);
        assert!(trial.costs().request_ns < 300_000, "{seed}: {:?}", trial.costs());
    }
}

#[test]
fn a_device_that_becomes_slow_as_a_whole_is_noticed() {
    for seed in 0..10 {
        let mut trial = Trial::flash(None, seed);
        trial.run(1.0);
        trial.latency_ns = 30_000_000;
        trial.run(4.0);
        assert!(off(trial.costs().request_ns, 30_000_000) < 0.2, "{seed}: {:?}", trial.costs());
    }
}

#[test]
fn chance_alone_is_no_limit() {
    for seed in 0..20 {
        let mut trial = Trial::flash(None, seed);
        trial.think_ns = 2_000_000;
        for _ in 0..4000 {
            let bytes = 4096 + trial.random.below(125_000);
            trial.read(bytes);
            let found = trial.estimate.costs().map_or(0, |costs| costs.request_ns);
            assert!(found < 600_000, "{seed}: {:?}", trial.costs());
        }
    }
}

#[test]
fn reads_in_flight_together_show_how_many_a_device_serves_at_once() {
    // 16 at a time, each 200 µs: one ends each 12.5 µs.
    let mut estimate = Estimate::new(ASSUMED);
    for read in 0..64u64 {
        let submitted = read * 400_000;
        let bytes = 4096 * (1 + read % 16);
        estimate.add(Served { bytes, submitted, ended: submitted + 200_000, in_flight: 1 });
    }
    for read in 0..200u64 {
        let ended = 100_000_000 + read * 12_500;
        let served = Served {
            bytes: 4096 * (1 + read % 16),
            submitted: ended - 200_000,
            ended,
            in_flight: 16,
        };
        estimate.add(served);
    }
    let costs = estimate.costs().expect("enough reads");
    assert!((12..=20).contains(&costs.depth), "{costs:?}");
    assert!(off(costs.request_ns, 200_000) < 0.1, "{costs:?}");
}

#[test]
fn absurd_reads_do_no_harm() {
    let mut estimate = Estimate::new(ASSUMED);
    let mut random = SplitMix64::new(3);
    for _ in 0..2000 {
        let times = [0, 1, u64::MAX, random.bits(), random.bits() >> 30];
        let pick = |random: &mut SplitMix64| times[random.below(5) as usize];
        let served = Served {
            bytes: pick(&mut random),
            submitted: pick(&mut random),
            ended: pick(&mut random),
            in_flight: random.bits() as u32,
        };
        estimate.add(served);
        if let Some(costs) = estimate.costs() {
            assert!(costs.bytes_per_second > 0 && costs.depth > 0);
        }
    }
}
