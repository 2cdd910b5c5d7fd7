//! How long cached pages stay (Van Meter and Gao 2000, section 3.4: how the state will change over
//! time).
//!
//! The model is an LRU queue of `cached` bytes. A page that was just seen stands at an arbitrary
//! place in it, and the queue moves on as the kernel takes pages back. So after `age` the page is
//! still there with chance 1 − age / T, where T = cached / (taken per second). The kernel's two
//! queues and its reclaim of idle pages make this better or worse: it is a hint, not a promise.

use seekless_sys::cgroup::{Groups, MemoryLimit};
use seekless_sys::memory::page_bytes;
use std::io;
use std::time::Duration;

/// The kernel's counters of the page cache at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turnover {
    /// When this was, since the machine was started.
    pub uptime: Duration,
    /// File pages in the cache, in bytes.
    pub cached_bytes: u64,
    /// Bytes of file pages that the kernel has taken back since the machine was started.
    pub taken_bytes: u64,
    /// How often the whole cache was dropped since then.
    pub drops: u64,
    /// Bytes that this process may cache before others must leave: free memory, or less if its
    /// control group has a limit.
    pub room_bytes: u64,
}

impl Turnover {
    /// Reads the counters now, from two small files of /proc.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn look() -> io::Result<Turnover> {
        let (vmstat, memory) =
            (std::fs::read_to_string("/proc/vmstat")?, std::fs::read_to_string("/proc/meminfo")?);
        let uptime = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let uptime =
            Duration::new(uptime.tv_sec.unsigned_abs(), u32::try_from(uptime.tv_nsec).unwrap_or(0));
        let mut seen = Turnover::parse(&vmstat, &memory, uptime);
        let limits =
            Groups::of_this_process().map(|groups| groups.memory_limits()).unwrap_or_default();
        let allowed = limits.iter().map(MemoryLimit::free_bytes).min();
        seen.room_bytes = seen.room_bytes.min(allowed.unwrap_or(u64::MAX));
        Ok(seen)
    }

    fn parse(vmstat: &str, memory: &str, uptime: Duration) -> Turnover {
        let page = page_bytes();
        let value = |text: &str, name: &str| {
            let line = text.lines().find(|line| line.split([' ', ':']).next() == Some(name));
            line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok()).unwrap_or(0)
        };
        Turnover {
            uptime,
            cached_bytes: value(memory, "Cached") << 10,
            taken_bytes: value(vmstat, "pgsteal_file") * page,
            drops: value(vmstat, "drop_pagecache"),
            room_bytes: value(memory, "MemFree") << 10,
        }
    }

    /// How long a page stays at the pace since an earlier look, or since the machine was started.
    /// `None` if nothing was taken back.
    #[must_use]
    pub fn residence(&self, earlier: Option<&Turnover>) -> Option<Duration> {
        let (taken, since) =
            earlier.map_or((0, Duration::ZERO), |earlier| (earlier.taken_bytes, earlier.uptime));
        if earlier.is_some_and(|earlier| earlier.drops != self.drops) {
            return Some(Duration::ZERO);
        }
        let taken = self.taken_bytes.saturating_sub(taken);
        let elapsed = self.uptime.saturating_sub(since).as_secs_f64();
        let seconds = self.cached_bytes as f64 * elapsed / taken as f64;
        Duration::try_from_secs_f64(seconds).ok().filter(|_| taken > 0)
    }
}

/// The chance that a page seen in memory `age` ago is still there, if pages stay for `residence`
/// (see [`Turnover::residence`]).
#[must_use]
pub fn chance(age: Duration, residence: Option<Duration>) -> f64 {
    match residence {
        None => 1.0,
        Some(Duration::ZERO) => 0.0,
        Some(residence) => (1.0 - age.as_secs_f64() / residence.as_secs_f64()).max(0.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(uptime_s: u64, taken_pages: u64, drops: u64) -> Turnover {
        let vmstat =
            format!("nr_free_pages 5\npgsteal_file {taken_pages}\ndrop_pagecache {drops}\n");
        let memory = "MemTotal: 9 kB\nMemFree:     100 kB\nSwapCached: 7 kB\nCached:   4000 kB\n";
        Turnover::parse(&vmstat, memory, Duration::from_secs(uptime_s))
    }

    #[test]
    fn a_page_stays_as_long_as_the_queue_takes_to_pass() {
        let page_kib = page_bytes() >> 10;
        let (earlier, later) = (seen(100, 1000, 0), seen(110, 1000 + 1000 / page_kib, 0));
        assert_eq!(later.cached_bytes, 4000 << 10);
        assert_eq!(later.room_bytes, 100 << 10);
        // 1000 KiB in 10 s: 4000 KiB pass in 40 s.
        assert_eq!(later.residence(Some(&earlier)), Some(Duration::from_secs(40)));
        assert_eq!(earlier.residence(Some(&earlier)), None, "nothing was taken");
        assert_eq!(seen(111, 5000, 1).residence(Some(&later)), Some(Duration::ZERO), "emptied");
        assert!(later.residence(None).is_some_and(|whole| whole > Duration::from_secs(1)));
    }

    #[test]
    fn the_chance_falls_from_one_to_nothing() {
        let residence = Some(Duration::from_secs(40));
        let chances = [0, 10, 40, 99].map(|age| chance(Duration::from_secs(age), residence));
        assert_eq!(chances, [1.0, 0.75, 0.0, 0.0]);
        assert_eq!(chance(Duration::MAX, None), 1.0);
        assert_eq!(chance(Duration::ZERO, Some(Duration::ZERO)), 0.0);
    }

    #[test]
    fn this_machine_says_something() {
        let now = Turnover::look().expect("a Linux system");
        assert!(now.cached_bytes > 0 && now.uptime > Duration::ZERO);
    }
}
