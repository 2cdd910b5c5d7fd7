//! How full the page cache is: how many bytes it can still take in before it pushes something out, and how many it holds, at
//! the tightest of the places that bound it: the machine, and each memory cgroup that this process is in.

use std::fs;
use std::path::{Path, PathBuf};

/// Left free when a cache counts as having room for all that is missing: page tables, what else comes meanwhile.
const MARGIN_BYTES: u64 = 32 << 20;
/// Free in a cache that counts as full: a program's own memory, which comes back when it ends.
const SLACK_BYTES: u64 = 16 << 20;

/// A bound on the page cache, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Headroom {
    /// Not in use at all.
    pub(crate) free: u64,
    /// Pages of files now held.
    pub(crate) cached: u64,
}

impl Headroom {
    /// What may be cached in all.
    pub(crate) fn bytes(self) -> u64 {
        self.free.saturating_add(self.cached)
    }

    /// Whether so much comes in without pushing anything out.
    pub(crate) fn takes(self, bytes: u64) -> bool {
        self.free >= bytes.saturating_add(MARGIN_BYTES)
    }

    /// What comes in before the cache counts as full.
    pub(crate) fn before_full(self) -> u64 {
        self.free.saturating_sub(SLACK_BYTES)
    }

    /// Whether it is full, and nearly all of it ours (`our_bytes`): what we add then pushes out our own. A cache that is full of
    /// others' pages is another matter: whether they give way shows only by trying.
    pub(crate) fn is_full_of(self, our_bytes: u64) -> bool {
        self.free < SLACK_BYTES && our_bytes / 9 >= self.cached / 10
    }
}

/// `None` where nothing tells.
pub(crate) fn tightest() -> Option<Headroom> {
    let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| of_machine(&text));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    memory_groups(&groups)
        .iter()
        .filter_map(|group| of_group(group))
        .chain(machine)
        .min_by_key(|room| room.free)
}

fn of_machine(meminfo: &str) -> Option<Headroom> {
    let field = |name: &str| {
        let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib << 10)
    };
    let cached = field("Cached:")?.saturating_sub(field("Shmem:").unwrap_or(0));
    Some(Headroom { free: field("MemFree:")?, cached })
}

/// The folders of this process's memory cgroup and of all above it.
fn memory_groups(groups: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let root = match controllers {
            "" => Path::new("/sys/fs/cgroup"),
            _ if controllers.split(',').any(|name| name == "memory") => Path::new("/sys/fs/cgroup/memory"),
            _ => continue,
        };
        let group = root.join(path.trim_start_matches('/'));
        found.extend(group.ancestors().take_while(|folder| *folder != root).map(Path::to_owned));
    }
    found
}

/// `None` for a group without a limit.
fn of_group(group: &Path) -> Option<Headroom> {
    let number = |name| fs::read_to_string(group.join(name)).ok()?.trim().parse::<u64>().ok();
    let limit = number("memory.max").or_else(|| number("memory.limit_in_bytes"))?;
    let used = number("memory.current").or_else(|| number("memory.usage_in_bytes"))?;
    let cached = cached_of_group(&fs::read_to_string(group.join("memory.stat")).ok()?)?;
    Some(Headroom { free: limit.saturating_sub(used), cached })
}

/// From memory.stat: `file` and `shmem` in version 2, `total_cache` and `total_shmem` in version 1.
fn cached_of_group(stat: &str) -> Option<u64> {
    let field = |wanted: &str| {
        stat.lines().find_map(|line| line.strip_prefix(wanted)?.strip_prefix(' ')?.parse::<u64>().ok())
    };
    let cached = field("total_cache").or_else(|| field("file"))?;
    Some(cached.saturating_sub(field("total_shmem").or_else(|| field("shmem")).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_tells_what_is_free_and_what_is_cached() {
        let text = "MemTotal: 5 kB\nMemFree:        12 kB\nCached: 7 kB\nSwapCached: 1 kB\nShmem: 2 kB\n";
        assert_eq!(of_machine(text), Some(Headroom { free: 12 << 10, cached: 5 << 10 }));
        assert_eq!(of_machine(""), None);
    }

    #[test]
    fn groups_of_both_kinds_are_walked_upwards() {
        let groups = memory_groups("5:cpu,memory:/a/b\n3:pids:/x\n0::/u\n");
        let names: Vec<_> = groups.iter().filter_map(|path| path.to_str()).collect();
        assert_eq!(names, ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/u"]);
    }

    #[test]
    fn both_kinds_of_groups_say_what_they_hold() {
        assert_eq!(cached_of_group("cache 1\nshmem 1\ntotal_cache 90\ntotal_shmem 30\n"), Some(60));
        assert_eq!(cached_of_group("anon 5\nfile 90\nfile_mapped 3\nshmem 30\n"), Some(60));
        assert_eq!(cached_of_group("anon 5\n"), None);
    }
}
