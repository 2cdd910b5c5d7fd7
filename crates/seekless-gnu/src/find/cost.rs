//! What one file costs to read: the part that devices need, and the part that memory needs. And the
//! tests of it.

use super::compare::Bound;
use seekless_sled::{Ceiling, Level, Sled};

/// The cost of one file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// The upper bound of the time that devices need.
    pub(super) device_ns_high: u64,
    /// The time to deliver the part in memory.
    memory_ns: u64,
    bytes: u64,
    resident_bytes: u64,
    unknown_bytes: u64,
    /// The costliest level that holds part of the file.
    pub(super) level: Level,
}

/// The cost of a file that has no bytes to fetch. It must be exactly 0, because a single nanosecond
/// rounds up to a whole unit.
pub(super) const NOTHING: Cost = Cost {
    device_ns_high: 0,
    memory_ns: 0,
    bytes: 0,
    resident_bytes: 0,
    unknown_bytes: 0,
    level: Level::Memory,
};

impl Cost {
    pub(super) fn of(sleds: &[Sled]) -> Cost {
        sleds.iter().fold(NOTHING, |cost, sled| cost.with(sled))
    }

    pub(super) fn with(mut self, sled: &Sled) -> Cost {
        self.bytes += sled.bytes;
        self.level = self.level.max(sled.level);
        let ns = u64::try_from(sled.cost().as_nanos()).unwrap_or(u64::MAX);
        match sled.level {
            Level::Hole | Level::Memory => {
                self.resident_bytes += sled.bytes;
                self.memory_ns = self.memory_ns.saturating_add(ns);
            }
            level => {
                if level == Level::Unknown {
                    self.unknown_bytes += sled.bytes;
                }
                self.device_ns_high = self.device_ns_high.saturating_add(ns);
            }
        }
        self
    }

    /// The least and the most that a file of `bytes` can cost, whatever state it is in.
    fn range(bytes: u64, ceiling: &Ceiling) -> (Cost, Cost) {
        let least = Cost { bytes, resident_bytes: bytes, level: Level::Hole, ..NOTHING };
        let most = Cost {
            device_ns_high: ceiling.device_ns,
            memory_ns: ceiling.delivery_ns.saturating_sub(ceiling.device_ns),
            bytes,
            level: if ceiling.is_told { Level::Device } else { Level::Unknown },
            ..NOTHING
        };
        (least, most)
    }

    /// The cost, unless part of the file is in an unknown state and such files are skipped.
    pub(super) fn kept(&self, unknown: Unknown) -> Option<&Cost> {
        (self.unknown_bytes == 0 || unknown == Unknown::Assume).then_some(self)
    }

    /// The upper bound of the time to deliver the whole file.
    pub(super) fn delivery_ns_high(&self) -> u64 {
        self.device_ns_high.saturating_add(self.memory_ns)
    }

    /// The percentage in memory, rounded down. It is 100 for an empty file, and `None` if part of
    /// the file is in an unknown state.
    pub(super) fn resident_percent(&self) -> Option<u64> {
        match (self.unknown_bytes, self.bytes) {
            (0, 0) => Some(100),
            (0, bytes) => Some((u128::from(self.resident_bytes) * 100 / u128::from(bytes)) as u64),
            _ => None,
        }
    }
}

/// A test of what a file costs to read.
#[derive(Debug)]
pub(super) enum CostTest {
    /// The time to deliver the file, in whole units of `unit_ns`, rounded up.
    Latency { unit_ns: u64, bound: Bound<u64> },
    /// The part of that time which devices need.
    Cost { unit_ns: u64, bound: Bound<u64> },
    /// The percentage of the file that is in memory.
    Cached(Bound<u64>),
    /// The costliest level that holds part of the file.
    Level(Level),
}

impl CostTest {
    /// Whether a file of this cost passes.
    pub(super) fn passes(&self, cost: &Cost, unknown: Unknown) -> bool {
        cost.kept(unknown).is_some_and(|cost| self.between(cost, cost) == Some(true))
    }

    /// The answer by a file's size alone. `None` if it depends on the file's state.
    pub(super) fn by_size(&self, bytes: u64, ceiling: &Ceiling) -> Option<bool> {
        let (least, most) = Cost::range(bytes, ceiling);
        // A file that cannot be opened, or whose state is unknown, fails.
        self.between(&least, &most).filter(|passes| !passes || ceiling.is_told)
    }

    /// The answer for every cost from `least` to `most`. `None` if some pass and others do not.
    fn between(&self, least: &Cost, most: &Cost) -> Option<bool> {
        let over = |time_ns: fn(&Cost) -> u64, unit_ns: u64, bound: &Bound<u64>| {
            bound.over(time_ns(least).div_ceil(unit_ns), time_ns(most).div_ceil(unit_ns))
        };
        match self {
            CostTest::Latency { unit_ns, bound } => over(Cost::delivery_ns_high, *unit_ns, bound),
            CostTest::Cost { unit_ns, bound } => over(|cost| cost.device_ns_high, *unit_ns, bound),
            CostTest::Cached(bound) => match (most.resident_percent(), least.resident_percent()) {
                (Some(low), Some(high)) => bound.over(low, high),
                _ => Some(false),
            },
            CostTest::Level(level) => match (least.level..=most.level).contains(level) {
                true if least.level == most.level => Some(true),
                true => None,
                false => Some(false),
            },
        }
    }
}

/// How to treat files whose state is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Unknown {
    /// They fail every test of latency.
    #[default]
    Skip,
    /// They are assumed to be wholly on their device.
    Assume,
}

impl Unknown {
    /// Reads `skip` or `assume`.
    ///
    /// # Errors
    /// For any other word.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text {
            "skip" => Ok(Unknown::Skip),
            "assume" => Ok(Unknown::Assume),
            other => Err(format!("--unknown is `skip' or `assume', not `{other}'")),
        }
    }
}
