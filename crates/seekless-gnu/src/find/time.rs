//! Tests of file times, with GNU find's rounding: ages count in whole days or minutes from one
//! starting moment.

use super::compare::Bound;
use rustix::fs::Stat;
use std::time::{SystemTime, UNIX_EPOCH};

const SECOND_NS: i128 = 1_000_000_000;
const DAY_SECONDS: i128 = 86_400;

/// One of a file's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    Access,
    Change,
    Modification,
}

impl Stamp {
    /// The time in nanoseconds since 1970.
    pub(super) fn of(self, stat: &Stat) -> i128 {
        let (seconds, nanoseconds) = match self {
            Stamp::Access => (stat.st_atime, stat.st_atime_nsec),
            Stamp::Change => (stat.st_ctime, stat.st_ctime_nsec),
            Stamp::Modification => (stat.st_mtime, stat.st_mtime_nsec),
        };
        i128::from(seconds) * SECOND_NS + i128::from(nanoseconds)
    }
}

/// The range of a time: after a moment, before it, or within one unit after it. Moments are
/// nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Window {
    After(i128),
    Before(i128),
    Within { start: i128, unit: i128 },
}

impl Window {
    pub(super) fn holds(&self, time: i128) -> bool {
        match *self {
            Window::After(moment) => time > moment,
            Window::Before(moment) => time < moment,
            Window::Within { start, unit } => time > start && time.saturating_sub(start) <= unit,
        }
    }
}

/// The moments from which ages count.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// One day before find started, or with `-daystart` the start of today; nanoseconds since 1970.
    day: i128,
    from_midnight: bool,
    start: i128,
}

impl Clock {
    pub(super) fn now() -> Self {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_nanos() as i128);
        Clock { day: now - DAY_SECONDS * SECOND_NS, from_midnight: false, start: now }
    }

    /// When find started.
    pub(super) fn start(self) -> i128 {
        self.start
    }

    /// Counts from the start of today, for tests after `-daystart`.
    pub(super) fn since_midnight(self) -> Self {
        if self.from_midnight {
            return self;
        }
        let now = ((self.day / SECOND_NS) + DAY_SECONDS) as i64;
        let day =
            (i128::from(now) - i128::from(crate::clib::locale::seconds_of_day(now))) * SECOND_NS;
        Clock { day, from_midnight: true, ..self }
    }

    /// `-mtime` and similar tests: whole days, rounded down.
    pub(super) fn days(self, bound: Bound<f64>) -> Window {
        // A day that has begun counts, so that -1 means less than one day old.
        let begun = if matches!(bound, Bound::Less(_)) { DAY_SECONDS - 1 } else { 0 };
        window(self.day + begun * SECOND_NS, bound, DAY_SECONDS)
    }

    /// `-mmin` and similar tests: whole minutes, rounded up.
    pub(super) fn minutes(self, bound: Bound<f64>) -> Window {
        window(self.day + DAY_SECONDS * SECOND_NS, bound, 60)
    }
}

/// `-used`: days from a file's last change to its last read, rounded up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Used(Bound<i128>);

impl Used {
    pub(super) fn days(bound: Bound<f64>) -> Self {
        Used(bound.map(|days| (days * (DAY_SECONDS * SECOND_NS) as f64) as i128))
    }

    pub(super) fn whole_days(&self) -> i128 {
        let (Bound::More(ns) | Bound::Exactly(ns) | Bound::Less(ns)) = self.0;
        ns / (DAY_SECONDS * SECOND_NS)
    }

    pub(super) fn holds(&self, stat: &Stat) -> bool {
        let after = Stamp::Access.of(stat) - Stamp::Change.of(stat);
        after >= 0
            && match self.0 {
                Bound::Exactly(days) => (days - DAY_SECONDS * SECOND_NS..days).contains(&after),
                other => other.holds(after),
            }
    }
}

/// A greater age is an earlier time.
fn window(origin: i128, bound: Bound<f64>, unit_seconds: i128) -> Window {
    let unit = unit_seconds * SECOND_NS;
    match bound.map(|count| origin.saturating_sub((count * unit as f64) as i128)) {
        Bound::More(moment) => Window::Before(moment),
        Bound::Less(moment) => Window::After(moment),
        Bound::Exactly(start) => Window::Within { start, unit },
    }
}
