//! How full the page cache is: how many bytes it holds, and how many it can take before it evicts
//! something. The tightest bound counts: that of the machine, or of a memory cgroup of this
//! process.

use seekless_sys::cgroup::{Groups, MemoryLimit};
use std::fs;

/// Must stay free if a cache counts as having room for all missing bytes: page tables and other
/// needs take it meanwhile.
const MARGIN_BYTES: u64 = 32 << 20;
/// May be free in a cache that counts as full: a program's own memory, which comes back when it
/// ends.
const SLACK_BYTES: u64 = 16 << 20;

/// A bound on the page cache, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headroom {
    /// Not in use at all.
    pub(crate) free: u64,
    /// Bytes of cached file pages.
    pub(crate) cached: u64,
}

impl Headroom {
    /// How many bytes may be cached in all.
    pub(crate) fn bytes(self) -> u64 {
        self.free.saturating_add(self.cached)
    }

    /// Whether this many bytes fit without evicting anything.
    pub(crate) fn takes(self, bytes: u64) -> bool {
        self.free >= bytes.saturating_add(MARGIN_BYTES)
    }

    /// How many bytes fit before the cache counts as full.
    pub(crate) fn before_full(self) -> u64 {
        self.free.saturating_sub(SLACK_BYTES)
    }

    /// Whether the cache is full and nearly all of it is ours (`our_bytes`): then what we add
    /// evicts our own pages. If it is full of others' pages, only trying shows whether those give
    /// way.
    pub(crate) fn is_full_of(self, our_bytes: u64) -> bool {
        self.free < SLACK_BYTES && our_bytes / 9 >= self.cached / 10
    }
}

/// The bound with the fewest free bytes; `None` if the system names no bound.
pub(crate) fn tightest() -> Option<Headroom> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let limits = Groups::of_this_process().map(|groups| groups.memory_limits()).unwrap_or_default();
    limits.iter().filter_map(of_group).chain(machine).min_by_key(|room| room.free)
}

/// `None` where the kernel does not say how much the group has cached.
fn of_group(limit: &MemoryLimit) -> Option<Headroom> {
    Some(Headroom { free: limit.free_bytes(), cached: limit.cached_bytes? })
}

fn of_machine(meminfo: &str) -> Option<Headroom> {
    let field = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
    };
    let cached = field("Cached:")?.saturating_sub(field("Shmem:").unwrap_or(0));
    Some(Headroom { free: field("MemFree:")?, cached })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_what_is_free_and_what_is_cached() {
        let text =
            "MemTotal: 5 kB\nMemFree:        12 kB\nCached: 7 kB\nSwapCached: 1 kB\nShmem: 2 kB\n";
        assert_eq!(of_machine(text), Some(Headroom { free: 12 << 10, cached: 5 << 10 }));
        assert_eq!(of_machine(""), None);
    }
}
