//! When dirty pages that stay in the cache are written: periodically, when there are too many, when
//! they are old, or when the program syncs; and how the cache shrinks meanwhile.

mod alarm;
mod parse;

use crate::{Error, ErrorKind, Result};
pub(crate) use alarm::Alarm;
use seekless_policy::cache::write_back::{Cluster, FlushRule};
use std::fmt;

/// When dirty pages are written back. An eviction always writes. By default nothing else does, as
/// in Ozen's program. [`WriteBack::LINUX`] is what a system does.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WriteBack {
    /// Writes all dirty pages once in a period.
    pub every: Option<Period>,
    /// Writes all dirty pages when they exceed this share of the capacity (0 to 1).
    pub dirty_max: Option<f64>,
    /// Writes the dirty pages of a file when the trace has a sync of it.
    pub on_sync: bool,
    /// Writes a page that has been dirty for so long, at the next wake of the flusher.
    pub expire: Option<Period>,
    /// How often the flusher wakes. By default every 5 s, or every sixth of `expire` if that counts
    /// requests; without `expire` it is awake all the time.
    pub wake: Option<Period>,
    /// At a wake, writes the oldest pages until no more than this share of the capacity is dirty.
    pub background: Option<f64>,
    /// Holds up a write that makes more than this share dirty, until the oldest pages are written
    /// down to the middle between `background` and this.
    pub limit: Option<f64>,
    /// What is written together with a page that is due.
    pub cluster: Cluster,
    /// Makes the cache smaller for a while.
    pub shrink: Option<Shrink>,
}

/// Memory that others need: the cache has less for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shrink {
    /// The share of its capacity that the cache keeps, 0 to 1.
    pub share: f64,
    /// From when on.
    pub from: Period,
    /// Until when.
    pub until: Period,
}

/// A period, or an instant, of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Period {
    /// Nanoseconds of the trace's time.
    Time(u64),
    /// A number of requests.
    Requests(u64),
}

impl Period {
    /// In nanoseconds or requests.
    pub(crate) fn count(self) -> u64 {
        match self {
            Period::Time(count) | Period::Requests(count) => count,
        }
    }
}

const SECOND_NS: u64 = 1_000_000_000;
/// `dirty_writeback_centisecs` of Linux.
const WAKE: Period = Period::Time(5 * SECOND_NS);

impl WriteBack {
    /// The defaults of Linux (`/proc/sys/vm`): pages expire after 30 s, the flusher wakes every
    /// 5 s, a tenth of memory may be dirty before it writes, a fifth before writers are held up,
    /// and a file's pages are written together.
    pub const LINUX: Self = Self {
        every: None,
        dirty_max: None,
        on_sync: true,
        expire: Some(Period::Time(30 * SECOND_NS)),
        wake: Some(WAKE),
        background: Some(0.1),
        limit: Some(0.2),
        cluster: Cluster::File,
        shrink: None,
    };

    /// Whether pages are written other than by eviction, or the cache shrinks.
    #[must_use]
    pub fn is_active(&self) -> bool {
        *self != Self::default()
    }

    /// Whether the requests must have times.
    #[must_use]
    pub fn needs_times(&self) -> bool {
        self.periods().any(|period| matches!(period, Period::Time(_)))
    }

    /// Whether pages are chosen one by one, the oldest first, and not all at once.
    pub(crate) fn chooses(&self) -> bool {
        self.expire.is_some() || self.background.is_some() || self.limit.is_some()
    }

    /// The part that chooses pages one by one.
    pub(crate) fn flush_rule(&self) -> FlushRule {
        FlushRule {
            expire: self.expire.map(Period::count),
            background: self.background,
            limit: self.limit,
            cluster: self.cluster,
        }
    }

    /// How often the flusher wakes; `None` if it is awake all the time.
    pub(crate) fn wakes(&self) -> Option<Period> {
        self.wake.or_else(|| match self.expire? {
            Period::Time(_) => Some(WAKE),
            Period::Requests(requests) => Some(Period::Requests((requests / 6).max(1))),
        })
    }

    pub(crate) fn periods(&self) -> impl Iterator<Item = Period> {
        let shrink = self.shrink.map(|shrink| [shrink.from, shrink.until]);
        let own = [self.every, self.expire, self.wake].into_iter().flatten();
        own.chain(shrink.into_iter().flatten())
    }

    /// Refuses rules that contradict each other.
    fn check(self) -> Result<Self> {
        let wrong = |why: &str| Err(Error::new(ErrorKind::Usage, format!("`{self}`: {why}")));
        let mut kinds = self.periods().map(|period| matches!(period, Period::Time(_)));
        let first = kinds.next();
        if first.is_some_and(|first| kinds.any(|other| other != first)) {
            return wrong("give all of every, expire, wake and shrink in time, or all in requests");
        }
        if self.background.zip(self.limit).is_some_and(|(background, limit)| background > limit) {
            return wrong("the background share must not be above the limit");
        }
        if self.wake.is_some() && self.expire.is_none() && self.background.is_none() {
            return wrong("a flusher that wakes needs expire= or background=");
        }
        if self.shrink.is_some_and(|shrink| shrink.from.count() >= shrink.until.count()) {
            return wrong("the cache must shrink for some time: shrink=SHARE%@FROM..UNTIL");
        }
        Ok(self)
    }
}

impl fmt::Display for WriteBack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("evict")?;
        for (name, period) in [("every", self.every), ("expire", self.expire), ("wake", self.wake)]
        {
            if let Some(period) = period {
                write!(out, ",{name}={period}")?;
            }
        }
        let shares =
            [("dirty", self.dirty_max), ("background", self.background), ("limit", self.limit)];
        for (name, share) in shares {
            if let Some(share) = share {
                write!(out, ",{name}={}%", 100.0 * share)?;
            }
        }
        match self.cluster {
            Cluster::None => {}
            Cluster::File => out.write_str(",cluster=file")?,
            Cluster::Pages(pages) => write!(out, ",cluster={pages}pages")?,
        }
        if let Some(Shrink { share, from, until }) = self.shrink {
            write!(out, ",shrink={}%@{from}..{until}", 100.0 * share)?;
        }
        if self.on_sync { out.write_str(",sync") } else { Ok(()) }
    }
}

impl fmt::Display for Period {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Period::Time(nanoseconds) => write!(out, "{nanoseconds}ns"),
            Period::Requests(requests) => write!(out, "{requests}"),
        }
    }
}
