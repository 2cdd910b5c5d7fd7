//! What to simulate in time: which policy, size and readahead, and how the readers read.

use crate::write_back::{Period, WriteBack};
use crate::{Error, ErrorKind, Result};
use seekless_device::{Nanos, PART_BYTES, QueueOptions};
use seekless_policy::eviction::needs_of;
use seekless_policy::readahead::{self, Options};

/// A cache of pages and a readahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimedCase {
    /// Name of the policy, one of [`NAMES`](seekless_policy::eviction::NAMES).
    pub policy: String,
    /// The capacity in bytes; whole pages of it are used. `None`: everything fits.
    pub capacity: Option<u64>,
    /// Name of the readahead, one of [`READAHEADS`](seekless_policy::readahead::READAHEADS).
    pub readahead: String,
    /// How far it may go.
    pub options: Options,
}

impl TimedCase {
    /// A cache in which everything fits, and a readahead with its default options.
    #[must_use]
    pub fn unbounded(readahead: &str) -> Self {
        Self {
            policy: "lru".to_owned(),
            capacity: None,
            readahead: readahead.to_owned(),
            options: Options::default(),
        }
    }
}

/// When a reader goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pacing {
    /// Its next access comes when the last one has ended.
    #[default]
    Closed,
    /// The same, and not before the time that the access has.
    Arrivals,
}

/// Rules for every case of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// When a reader goes on.
    pub pacing: Pacing,
    /// The time that a reader works on each page.
    pub think_ns: Nanos,
    /// A fetch of more bytes is cut into several I/Os; each fills its pages when it ends.
    pub io_bytes_max: u64,
    /// With this many I/Os in flight, or more, the device counts as congested: 113 in Linux 2.6.
    /// Later kernels do not count.
    pub congested_ios: u32,
    /// The simulation stops at this time, if it has not ended before.
    pub until_ns: Nanos,
    /// When dirty pages are written before they are evicted. Periods are of the simulated time.
    pub write_back: WriteBack,
}

impl Rules {
    /// Checks that the rules can be followed in time. A caller with much to read checks before.
    ///
    /// # Errors
    /// The write-back counts requests, or shrinks the cache.
    pub fn check(&self) -> Result<()> {
        let refused = |why: &str| {
            Err(Error::new(ErrorKind::Usage, format!("--write-back with --device: {why}")))
        };
        if self.write_back.shrink.is_some() {
            return refused("the cache does not shrink in time; leave out shrink=");
        }
        match self.write_back.periods().find(|period| matches!(period, Period::Requests(_))) {
            Some(_) => refused("give periods in time, such as expire=30s"),
            None => Ok(()),
        }
    }
}

impl Default for Rules {
    /// A reader works no time on a page. No device is congested, no fetch is cut, and dirty pages
    /// are written when they are evicted.
    fn default() -> Self {
        Self {
            pacing: Pacing::Closed,
            think_ns: 0,
            io_bytes_max: u64::MAX,
            congested_ios: u32::MAX,
            until_ns: Nanos::MAX,
            write_back: WriteBack::default(),
        }
    }
}

/// The queue that a host has before its device: 128 requests, as in Linux, joined up to 1 MiB, in
/// the order in which they come.
pub const HOST_QUEUE: QueueOptions =
    QueueOptions { command_bytes: PART_BYTES, depth: 128, elevator: false };

/// Checks that every case can be simulated. A caller with many checks all before the first.
///
/// # Errors
/// A name is unknown, or a policy needs to know the future.
pub fn check(cases: &[TimedCase]) -> Result<()> {
    for case in cases {
        readahead::check_name(&case.readahead)?;
        if needs_of(&case.policy)?.next_use {
            let message = format!(
                "{}: this policy needs the future, which depends on how long I/Os take; use another \
                 policy with --device",
                case.policy
            );
            return Err(Error::new(ErrorKind::Policy, message));
        }
    }
    Ok(())
}
