//! What the rounds of one workload come to, beside the baseline.

use crate::{Coldness, Trial};
use seekless_device::median_of;
use serde::{Serialize, Serializer};

/// One workload's figures. The first workload is the baseline of all.
#[derive(Clone, Debug, Serialize)]
pub struct Figures {
    /// The workload's name.
    pub name: String,
    /// Median time of the counted rounds, in nanoseconds; of an even number, the mean of the middle
    /// two.
    pub median_ns: u64,
    /// Shortest round.
    pub min_ns: u64,
    /// Longest round.
    pub max_ns: u64,
    /// Every counted round, in order.
    pub rounds_ns: Vec<u64>,
    /// How many times as fast as the baseline: its median time over this one. 1 for the baseline.
    pub ratio: f64,
    /// The same for each round by itself: how steady the ratio is.
    pub round_ratios: Vec<f64>,
    /// Requests that the device served in a round (median); `None` when unknown.
    pub requests: Option<u64>,
    /// Bytes that the device served in a round (median); `None` when unknown.
    pub bytes: Option<u64>,
    /// Bytes delivered in a round; the same for all workloads.
    pub delivered_bytes: u64,
    /// Digest of those bytes; the same for all workloads. In JSON 16 hexadecimal digits.
    #[serde(serialize_with = "hexadecimal")]
    pub checksum: u64,
    /// What was cached before anything ran, and what could not be dropped then.
    pub at_start: Coldness,
    /// The least cold of the counted rounds.
    pub least_cold: Coldness,
}

impl Figures {
    /// How much slower than the baseline, as a share of its time: 0.05 is 5 % slower, below 0 is
    /// faster.
    #[must_use]
    pub fn slower_by(&self) -> f64 {
        1.0 / self.ratio - 1.0
    }
}

/// One workload's rounds as they come.
#[derive(Debug, Default)]
pub(crate) struct Rounds {
    pub(crate) trials: Vec<Trial>,
    pub(crate) at_start: Coldness,
    pub(crate) least_cold: Option<Coldness>,
}

impl Rounds {
    pub(crate) fn count(&mut self, trial: Trial, coldness: Coldness) {
        self.trials.push(trial);
        let warmth = |coldness: &Coldness| (coldness.resident_bytes_after_drop, coldness.unknown);
        if self.least_cold.as_ref().is_none_or(|least| warmth(&coldness) > warmth(least)) {
            self.least_cold = Some(coldness);
        }
    }

    fn times(&self) -> Vec<u64> {
        self.trials
            .iter()
            .map(|trial| u64::try_from(trial.elapsed.as_nanos()).unwrap_or(u64::MAX))
            .collect()
    }

    /// The figures of at least one round.
    pub(crate) fn figures(&self, name: &str, baseline: &Rounds) -> Figures {
        let (times, baseline_times) = (self.times(), baseline.times());
        let median_ns = median(times.clone());
        Figures {
            name: name.to_owned(),
            median_ns,
            min_ns: times.iter().copied().min().unwrap_or(0),
            max_ns: times.iter().copied().max().unwrap_or(0),
            ratio: ratio(median(baseline_times.clone()), median_ns),
            round_ratios: baseline_times
                .iter()
                .zip(&times)
                .map(|(&base, &own)| ratio(base, own))
                .collect(),
            rounds_ns: times,
            requests: self.known(|trial| trial.requests),
            bytes: self.known(|trial| trial.bytes),
            delivered_bytes: self.trials.first().map_or(0, |trial| trial.delivered_bytes),
            checksum: self.trials.first().map_or(0, |trial| trial.checksum),
            at_start: self.at_start.clone(),
            least_cold: self.least_cold.clone().unwrap_or_default(),
        }
    }

    /// The median; `None` if it is unknown for any round.
    fn known(&self, of: impl Fn(&Trial) -> Option<u64>) -> Option<u64> {
        self.trials.iter().map(of).collect::<Option<Vec<u64>>>().map(median)
    }
}

fn median(values: Vec<u64>) -> u64 {
    median_of(values).unwrap_or(0)
}

/// A time of nothing counts as a nanosecond, so that a ratio is always a number.
fn ratio(baseline: u64, own: u64) -> f64 {
    baseline.max(1) as f64 / own.max(1) as f64
}

fn hexadecimal<S: Serializer>(value: &u64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{value:016x}"))
}
