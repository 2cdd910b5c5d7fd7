//! Limits on memory: the controller `memory`.

use super::{Group, Groups, Version};
use std::fs;
use std::path::Path;

/// Version 1 writes "no limit" as a number near 2^63.
const NO_LIMIT: u64 = 1 << 60;

/// A limit on what the processes of a group may hold in memory, cached files included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes that may be held.
    pub limit_bytes: u64,
    /// Bytes that are held now.
    pub used_bytes: u64,
    /// Bytes of files among them; `None` where the kernel does not say.
    pub cached_bytes: Option<u64>,
}

impl MemoryLimit {
    /// Bytes that may come before something must leave.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.limit_bytes.saturating_sub(self.used_bytes)
    }
}

impl Groups {
    /// The limits that hold for this process: of its groups, and of those around them. Empty where
    /// nothing limits it.
    #[must_use]
    pub fn memory_limits(&self) -> Vec<MemoryLimit> {
        let groups = self.version_1("memory").into_iter().chain(self.version_2());
        groups
            .flat_map(|group| group.upwards().filter_map(|folder| group.memory_of(folder)))
            .collect()
    }
}

impl Group {
    fn memory_of(&self, folder: &Path) -> Option<MemoryLimit> {
        let (limit, usage) = match self.version {
            Version::One(_) => ("memory.limit_in_bytes", "memory.usage_in_bytes"),
            Version::Two => ("memory.max", "memory.current"),
        };
        let number = |file| fs::read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        let limit_bytes = number(limit).filter(|&limit| limit < NO_LIMIT)?;
        let used_bytes = number(usage)?;
        let cached_bytes =
            fs::read_to_string(folder.join("memory.stat")).ok().and_then(|stat| cached(&stat));
        Some(MemoryLimit { limit_bytes, used_bytes, cached_bytes })
    }
}

/// Files without shared memory, which cannot be dropped: `file` and `shmem` in version 2,
/// `total_cache` and `total_shmem` in version 1.
fn cached(stat: &str) -> Option<u64> {
    let field = |name: &str| {
        stat.lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse::<u64>().ok())
    };
    let cached = field("total_cache").or_else(|| field("file"))?;
    Some(cached.saturating_sub(field("total_shmem").or_else(|| field("shmem")).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_say_how_much_is_cached() {
        assert_eq!(cached("cache 1\nshmem 1\ntotal_cache 90\ntotal_shmem 30\n"), Some(60));
        assert_eq!(cached("anon 5\nfile 90\nfile_mapped 3\nshmem 30\n"), Some(60));
        assert_eq!(cached("anon 5\n"), None);
    }
}
