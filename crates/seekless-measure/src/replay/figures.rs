//! Several plays: how long they took, how much that varies, and their latencies together.

use super::counters::Counting;
use super::{DeviceServed, Io, Live, Pass, Plan, Point, Target, play};
use crate::Error;
use hdrhistogram::Histogram;
use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// Plays that are stable have their three shortest this close together.
const STABLE_WITHIN: f64 = 0.02;
const STABLE_MIN: u32 = 5;
const STABLE_MAX: u32 = 30;

/// How the times of several rounds are spread. Each is the time of one pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Times {
    /// The shortest.
    pub min_ns: u64,
    /// The middle one; of an even number, the mean of the middle two.
    pub median_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// The longest less the shortest, as a share of the median.
    pub spread: f64,
}

impl Times {
    /// Of times in any order.
    #[must_use]
    pub fn of(times: &[u64]) -> Self {
        let mut sorted = times.to_vec();
        sorted.sort_unstable();
        let (&[min_ns, ..], &[.., max_ns]) = (&sorted[..], &sorted[..]) else {
            return Times::default();
        };
        let middle = sorted.len() / 2;
        let median_ns = match sorted.len() % 2 {
            1 => sorted[middle],
            _ => u64::midpoint(sorted[middle - 1], sorted[middle]),
        };
        let spread = (max_ns - min_ns) as f64 / median_ns.max(1) as f64;
        Times { min_ns, median_ns, max_ns, spread }
    }
}

/// Percentiles of times, in nanoseconds, to three digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Percentiles {
    /// The mean.
    pub mean_ns: f64,
    /// Half take at most this.
    pub p50_ns: u64,
    /// Nine of ten.
    pub p90_ns: u64,
    /// 99 of 100.
    pub p99_ns: u64,
    /// 999 of 1,000.
    pub p999_ns: u64,
    /// All.
    pub max_ns: u64,
}

impl Percentiles {
    /// `None` of no times.
    #[must_use]
    pub fn of(times: &Histogram<u64>) -> Option<Self> {
        (!times.is_empty()).then(|| Percentiles {
            mean_ns: times.mean(),
            p50_ns: times.value_at_quantile(0.5),
            p90_ns: times.value_at_quantile(0.9),
            p99_ns: times.value_at_quantile(0.99),
            p999_ns: times.value_at_quantile(0.999),
            max_ns: times.max(),
        })
    }
}

/// What several rounds come to.
#[derive(Clone, Debug, Serialize)]
pub struct Rounds {
    /// What a pass takes.
    pub time: Times,
    /// Every round, in order: what a pass of it took.
    pub rounds_ns: Vec<u64>,
    /// Passes in a round, without a pause between them.
    pub passes: u32,
    /// Reads of a pass.
    pub reads: u64,
    /// Writes of a pass.
    pub writes: u64,
    /// Bytes read in a pass.
    pub read_bytes: u64,
    /// Bytes written in a pass.
    pub write_bytes: u64,
    /// I/Os a second, at the median time.
    pub iops: f64,
    /// Bytes a second, at the median time.
    pub bytes_per_second: f64,
    /// Latencies of the reads of all rounds.
    pub read_latency: Option<Percentiles>,
    /// Latencies of the writes of all rounds.
    pub write_latency: Option<Percentiles>,
    /// How late the I/Os of all rounds started; `None` if the pace knows no times.
    pub lag: Option<Percentiles>,
    /// I/Os in flight: the mean over time of the median round.
    pub depth_mean: f64,
    /// I/Os in flight: the most of any round.
    pub depth_max: u32,
    /// Processor time of this process for an I/O, in nanoseconds; `None` of a model.
    pub cpu_ns_per_io: Option<f64>,
    /// What the device served in a pass; the mean over all rounds. `None` for a model, and where
    /// the kernel does not say.
    pub device: Option<DeviceServed>,
    /// Whether the last rounds agreed; `None` if their number was given.
    pub stable: Option<bool>,
    /// I/Os of the last round, for a picture.
    #[serde(skip)]
    pub points: Vec<Point>,
}

/// How often to play.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeat {
    /// This many rounds, at least 1.
    Times(u32),
    /// Until the three shortest of at least five rounds lie within 2 %; 30 at most.
    UntilStable,
}

impl Repeat {
    fn most(self) -> u32 {
        match self {
            Repeat::Times(times) => times.max(1),
            Repeat::UntilStable => STABLE_MAX,
        }
    }

    fn is_over(self, times: &[u64]) -> bool {
        match self {
            Repeat::Times(_) => times.len() as u32 >= self.most(),
            Repeat::UntilStable => {
                times.len() as u32 >= STABLE_MAX
                    || times.len() as u32 >= STABLE_MIN && is_stable(times)
            }
        }
    }
}

fn is_stable(times: &[u64]) -> bool {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.len() >= 3 && (sorted[2] - sorted[0]) as f64 <= STABLE_WITHIN * sorted[0] as f64
}

impl Rounds {
    /// Plays `ios` on a real target again and again. Before each round the target is made cold
    /// where its I/Os go through the page cache.
    ///
    /// # Errors
    /// As [`play`].
    pub fn live(
        ios: &[Io],
        plan: &Plan,
        repeat: Repeat,
        target: &Target,
        stage: &mut Live,
        progress: &mut dyn FnMut(u64, u64) -> bool,
    ) -> Result<Self, Error> {
        let mut sum = Sum::default();
        let a_round = ios.len() as u64 * u64::from(plan.passes.max(1));
        let total = a_round * u64::from(repeat.most());
        while !repeat.is_over(&sum.times) {
            target.make_cold();
            let before = sum.times.len() as u64 * a_round;
            let counting = Counting::begin(target.device());
            let cpu = cpu_ns();
            let pass = play(ios, plan, stage, &mut |done, _| progress(before + done, total))?;
            sum.cpu_ns += cpu_ns().saturating_sub(cpu);
            sum.served.push(counting.and_then(|counting| counting.end()));
            sum.add(pass, plan.passes);
        }
        progress(total, total);
        let ios = sum.ios.max(1) as f64;
        let (cpu, served) = (sum.cpu_ns as f64 / ios, sum.mean_served(plan.passes));
        let stable = matches!(repeat, Repeat::UntilStable).then(|| is_stable(&sum.times));
        Ok(Rounds { cpu_ns_per_io: Some(cpu), device: served, stable, ..sum.rounds(plan.passes) })
    }

    /// What one play on a model comes to.
    #[must_use]
    pub fn modelled(pass: Pass, plan: &Plan) -> Self {
        let mut sum = Sum::default();
        sum.add(pass, plan.passes);
        sum.rounds(plan.passes)
    }
}

/// Rounds as they come.
#[derive(Default)]
struct Sum {
    times: Vec<u64>,
    all: Option<Pass>,
    depths: Vec<(u64, f64)>,
    cpu_ns: u64,
    ios: u64,
    served: Vec<Option<DeviceServed>>,
}

impl Sum {
    fn add(&mut self, pass: Pass, passes: u32) {
        let time = pass.elapsed_ns / u64::from(passes.max(1));
        self.times.push(time);
        self.depths.push((time, pass.depth_mean));
        self.ios += pass.reads.0 + pass.writes.0;
        let Some(all) = &mut self.all else {
            self.all = Some(pass);
            return;
        };
        // All histograms have the same bounds, so nothing can be out of range.
        let _ = all.read_latency.add(&pass.read_latency);
        let _ = all.write_latency.add(&pass.write_latency);
        if let (Some(all), Some(lag)) = (&mut all.lag, &pass.lag) {
            let _ = all.add(lag);
        }
        all.depth_max = all.depth_max.max(pass.depth_max);
        all.points = pass.points;
    }

    fn mean_served(&self, passes: u32) -> Option<DeviceServed> {
        let served: Option<Vec<DeviceServed>> = self.served.iter().copied().collect();
        let served = served.filter(|served| !served.is_empty())?;
        let plays = served.len() as u64 * u64::from(passes.max(1));
        let mean = |of: fn(&DeviceServed) -> u64| served.iter().map(of).sum::<u64>() / plays;
        Some(DeviceServed {
            reads: mean(|it| it.reads),
            reads_merged: mean(|it| it.reads_merged),
            read_bytes: mean(|it| it.read_bytes),
            writes: mean(|it| it.writes),
            writes_merged: mean(|it| it.writes_merged),
            write_bytes: mean(|it| it.write_bytes),
            busy_ns: mean(|it| it.busy_ns),
        })
    }

    fn rounds(mut self, passes: u32) -> Rounds {
        let passes = passes.max(1);
        let time = Times::of(&self.times);
        self.depths.sort_by_key(|&(time, _)| time);
        let depth_mean = self.depths.get(self.depths.len() / 2).map_or(0.0, |&(_, depth)| depth);
        let all = self.all.expect("at least one round");
        let each = u64::from(passes);
        let ((reads, read_bytes), (writes, write_bytes)) = (all.reads, all.writes);
        let seconds = time.median_ns.max(1) as f64 / 1e9;
        Rounds {
            time,
            rounds_ns: self.times,
            passes,
            reads: reads / each,
            writes: writes / each,
            read_bytes: read_bytes / each,
            write_bytes: write_bytes / each,
            iops: ((reads + writes) / each) as f64 / seconds,
            bytes_per_second: ((read_bytes + write_bytes) / each) as f64 / seconds,
            read_latency: Percentiles::of(&all.read_latency),
            write_latency: Percentiles::of(&all.write_latency),
            lag: all.lag.as_ref().and_then(Percentiles::of),
            depth_mean,
            depth_max: all.depth_max,
            cpu_ns_per_io: None,
            device: None,
            stable: None,
            points: all.points,
        }
    }
}

/// Processor time of this process so far, with that of the kernel's threads that work for it.
fn cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_summed_up() {
        let times = Times::of(&[30, 10, 20]);
        assert_eq!((times.min_ns, times.median_ns, times.max_ns, times.spread), (10, 20, 30, 1.0));
        assert_eq!(Times::of(&[10, 20]).median_ns, 15);
        assert_eq!(Times::of(&[]), Times::default());
    }

    #[test]
    fn rounds_are_stable_when_the_three_shortest_agree() {
        let until = Repeat::UntilStable;
        assert!(!until.is_over(&[100, 100, 100, 100]), "five at least");
        assert!(until.is_over(&[100, 500, 101, 900, 102]));
        assert!(!until.is_over(&[100, 500, 101, 900, 103]));
        assert!(until.is_over(&[100; 30]) && Repeat::Times(2).is_over(&[1, 2]));
    }
}
