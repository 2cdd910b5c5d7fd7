//! The limits of this process's control group: how fast it may read a device, and how much more
//! memory it may use. Both versions of the hierarchy are read. Limits that are invisible from
//! inside a container are missed.

use super::sysfs::parse_numbers;
use seekless_device::units::format_rate;
use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";
/// Version 1 says "no limit" with a number near 2^63.
const NO_LIMIT: u64 = 1 << 60;

/// The folders of this process's control group, by hierarchy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cgroup {
    /// Version 1, `blkio`.
    blkio: Option<PathBuf>,
    /// Version 1, `memory`.
    memory: Option<PathBuf>,
    /// Version 2.
    unified: Option<PathBuf>,
}

/// This process's control group; `None` if /proc/self/cgroup cannot be read.
pub(crate) fn own() -> Option<Cgroup> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    Some(Cgroup::parse(&text, Path::new(ROOT)))
}

impl Cgroup {
    /// Lines `7:blkio:/path`, or `0::/path` for version 2.
    fn parse(text: &str, root: &Path) -> Cgroup {
        let mut found = Cgroup::default();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let path = path.trim_start_matches('/');
            let in_folder = |name: &str| Some(root.join(name).join(path));
            if controllers.is_empty() {
                let mixed = root.join("unified");
                found.unified = Some(if mixed.exists() { mixed } else { root.to_owned() }.join(path));
            }
            for controller in controllers.split(',') {
                match controller {
                    "blkio" => found.blkio = in_folder("blkio"),
                    "memory" => found.memory = in_folder("memory"),
                    _ => {}
                }
            }
        }
        found
    }

    /// The throttle on reads of a disk, as `200MB/s`, `500/s`, or both: the tightest of the group
    /// and its ancestors.
    pub(crate) fn read_throttle(&self, disk: (u32, u32)) -> Option<String> {
        let v1 = |file: &str| {
            self.blkio
                .iter()
                .flat_map(|folder| ancestors(folder))
                .filter_map(|folder| v1_limit(&folder.join(file), disk))
                .min()
        };
        let v2 = |name: &str| {
            self.unified
                .iter()
                .flat_map(|folder| ancestors(folder))
                .filter_map(|folder| v2_limit(&folder, disk, name))
                .min()
        };
        let narrower = |one: Option<u64>, other: Option<u64>| one.into_iter().chain(other).min();
        let bytes = narrower(v1("blkio.throttle.read_bps_device"), v2("rbps"));
        let requests = narrower(v1("blkio.throttle.read_iops_device"), v2("riops"));
        let words = [bytes.map(format_rate), requests.map(|requests| format!("{requests}/s"))];
        let words: Vec<String> = words.into_iter().flatten().collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// Bytes that may still be charged before something must be reclaimed; `None` without a limit.
    pub(crate) fn free_bytes(&self) -> Option<u64> {
        let v1 = ("memory.limit_in_bytes", "memory.usage_in_bytes");
        let v2 = ("memory.max", "memory.current");
        let of = |folder: &Option<PathBuf>, (limit, usage): (&str, &str)| {
            let folders = folder.iter().flat_map(|folder| ancestors(folder));
            folders
                .filter_map(|folder| {
                    let limit = number(&folder.join(limit)).filter(|&limit| limit < NO_LIMIT)?;
                    Some(limit.saturating_sub(number(&folder.join(usage))?))
                })
                .min()
        };
        of(&self.memory, v1).into_iter().chain(of(&self.unified, v2)).min()
    }
}

/// The group's folder and its ancestors within the mounted hierarchy.
fn ancestors(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let depth = folder.components().count();
    let within = depth.saturating_sub(Path::new(ROOT).components().count()).max(1);
    folder.ancestors().take(within).map(Path::to_owned)
}

fn number(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

/// Lines `8:16 200000000`.
fn v1_limit(file: &Path, disk: (u32, u32)) -> Option<u64> {
    let text = std::fs::read_to_string(file).ok()?;
    text.lines().find_map(|line| {
        let (device, limit) = line.split_once(' ')?;
        limit.trim().parse().ok().filter(|_| parse_numbers(device) == Some(disk))
    })
}

/// Lines `8:16 rbps=200000000 wbps=max riops=max wiops=max`.
fn v2_limit(folder: &Path, disk: (u32, u32), name: &str) -> Option<u64> {
    let text = std::fs::read_to_string(folder.join("io.max")).ok()?;
    let line = text.lines().find(|line| line.split(' ').next().and_then(parse_numbers) == Some(disk))?;
    line.split(' ').find_map(|word| word.strip_prefix(name)?.strip_prefix('=')?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_narrowest_limit_on_the_way_up_holds() {
        let root = tempfile::tempdir().expect("a folder");
        let inner = root.path().join("blkio/a/b");
        fs::create_dir_all(&inner).expect("made");
        let limits = |folder: &str, file: &str, text: &str| {
            fs::write(root.path().join(folder).join(file), text).expect("written");
        };
        limits("blkio/a", "blkio.throttle.read_bps_device", "8:0 5\n254:0 200000000\n");
        limits("blkio/a/b", "blkio.throttle.read_bps_device", "254:0 900000000\n");
        limits("blkio/a/b", "blkio.throttle.read_iops_device", "254:0 500\n");
        let cgroup = Cgroup::parse("7:blkio:/a/b\n", root.path());
        assert_eq!(cgroup.read_throttle((254, 0)).as_deref(), Some("200MB/s 500/s"));
        assert_eq!(cgroup.read_throttle((8, 16)), None);
    }

    #[test]
    fn version_two_says_the_same_in_other_words() {
        let root = tempfile::tempdir().expect("a folder");
        let group = root.path().join("a");
        fs::create_dir_all(&group).expect("made");
        let text = "254:0 rbps=1000000 wbps=max riops=max wiops=max\n";
        fs::write(group.join("io.max"), text).expect("written");
        fs::write(group.join("memory.max"), "1000\n").expect("written");
        fs::write(group.join("memory.current"), "400\n").expect("written");
        let cgroup = Cgroup::parse("0::/a\n", root.path());
        assert_eq!(cgroup.read_throttle((254, 0)).as_deref(), Some("1MB/s"));
        assert_eq!(cgroup.free_bytes(), Some(600));
        fs::write(group.join("memory.max"), "max\n").expect("written");
        assert_eq!(cgroup.free_bytes(), None);
    }
}
