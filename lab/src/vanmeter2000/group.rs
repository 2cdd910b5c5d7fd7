//! A control group for the lab, version 1 or 2, with little memory and a device as slow as the
//! experiment needs.

use super::speed::Speed;
use anyhow::{Context, anyhow, bail, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use seekless::sys::cgroup::{self, Groups, ReadLimits};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often emptying a group is tried, every 10 ms.
const PATIENCE: u32 = 200;

/// The group. It is removed when dropped, with the processes that still run in it.
pub(super) struct Group {
    /// The folders that a process enters: memory and blkio in version 1, one folder in version 2.
    folders: Vec<PathBuf>,
    /// This process's group in the hierarchy that limits reads. Ours lies in the same hierarchy.
    home: cgroup::Group,
    is_unified: bool,
    /// The numbers of the whole disk.
    disk: (u32, u32),
}

/// The folders of a group, for removal by another thread.
#[derive(Clone)]
pub(super) struct Removal(Vec<PathBuf>);

impl Group {
    /// Makes a group with a limit of memory, for files in `folder`.
    ///
    /// # Errors
    /// Says why no group can be made.
    pub(super) fn make(limit_bytes: u64, folder: &Path) -> anyhow::Result<Self> {
        let disk = disk_of(folder)?;
        let groups = Groups::of_this_process().context("cannot read the control groups")?;
        let first = Self::first_version(&groups, disk);
        let group = first.or_else(|first| {
            Self::second_version(&groups, disk)
                .map_err(|second| anyhow!("version 1: {first:#}; version 2: {second:#}"))
        })?;
        let file = if group.is_unified { "memory.max" } else { "memory.limit_in_bytes" };
        write(&group.folders[0].join(file), &limit_bytes.to_string())?;
        Ok(group)
    }

    fn first_version(groups: &Groups, disk: (u32, u32)) -> anyhow::Result<Self> {
        let (Some(memory), Some(reads)) = (groups.version_1("memory"), groups.version_1("blkio"))
        else {
            bail!("there is no memory controller, or no blkio controller");
        };
        let mut group = Group { folders: Vec::new(), home: reads.clone(), is_unified: false, disk };
        for parent in [memory, reads] {
            let folder = parent.folder().join(name());
            fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            group.folders.push(folder);
        }
        Ok(group)
    }

    /// Makes the group beside this process's group or above it, since a group with processes cannot
    /// have limited groups in it.
    fn second_version(groups: &Groups, disk: (u32, u32)) -> anyhow::Result<Self> {
        let home = groups.version_2().context("not mounted")?;
        let able = |folder: &&Path| {
            let controls = folder.join("cgroup.subtree_control");
            let _ = fs::write(&controls, "+memory +io");
            let enabled = fs::read_to_string(&controls).unwrap_or_default();
            ["memory", "io"]
                .iter()
                .all(|name| enabled.split_whitespace().any(|enabled| enabled == *name))
        };
        let visible = |folder: &&Path| folder.starts_with(home.top());
        let parent = home.folder().ancestors().take_while(visible).find(able);
        let folder =
            parent.context("memory and io cannot be limited here (root is needed)")?.join(name());
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Group { folders: vec![folder], home: home.clone(), is_unified: true, disk })
    }

    pub(super) fn words(&self) -> &'static str {
        if self.is_unified { "version 2" } else { "version 1" }
    }

    /// The folder whose files limit and count reads.
    fn reads(&self) -> &Path {
        self.folders.last().map_or(self.home.folder(), PathBuf::as_path)
    }

    /// Limits the device to this speed; `None` removes the limit.
    pub(super) fn throttle(&self, speed: Option<&Speed>) -> anyhow::Result<()> {
        let limits = ReadLimits {
            bytes_per_second: speed.and_then(|speed| speed.bytes_per_second),
            requests_per_second: speed.and_then(|speed| speed.requests_per_second),
        };
        let files = self.home.limiting(self.disk, limits);
        files.iter().try_for_each(|(file, text)| write(&self.reads().join(file), text))
    }

    /// Moves a process into the group before it begins its work.
    pub(super) fn take_in(&self, process: u32) -> anyhow::Result<()> {
        self.folders
            .iter()
            .try_for_each(|folder| write(&folder.join("cgroup.procs"), &process.to_string()))
    }

    /// The bytes that the group's processes have read from the disk; `None` where they are not
    /// counted.
    pub(super) fn device_bytes(&self) -> Option<u64> {
        self.home.served(self.reads(), self.disk).ok().map(|served| served.bytes)
    }

    pub(super) fn removal(&self) -> Removal {
        Removal(self.folders.clone())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.removal().remove();
    }
}

impl Removal {
    /// Ends the processes in the group and removes it.
    pub(super) fn remove(&self) {
        for folder in &self.0 {
            if !(0..PATIENCE).any(|_| emptied(folder)) {
                eprintln!("lab: could not remove {}: remove it by hand (rmdir)", folder.display());
            }
        }
    }
}

fn emptied(folder: &Path) -> bool {
    let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    for process in processes.lines().filter_map(|line| line.parse().ok()) {
        let _ = kill(Pid::from_raw(process), Signal::SIGKILL);
    }
    if fs::remove_dir(folder).is_ok() || !folder.exists() {
        return true;
    }
    std::thread::sleep(Duration::from_millis(10));
    false
}

fn name() -> String {
    format!("seekless-lab.{}", std::process::id())
}

fn write(file: &Path, text: &str) -> anyhow::Result<()> {
    fs::write(file, text).with_context(|| format!("cannot write {text:?} to {}", file.display()))
}

/// The disk of a folder. Throttles apply to whole disks.
fn disk_of(folder: &Path) -> anyhow::Result<(u32, u32)> {
    let device = rustix::fs::stat(folder)
        .with_context(|| format!("cannot look at {}", folder.display()))?
        .st_dev;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let block = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    ensure!(block.exists(), "{} is not on a local disk that can be throttled", folder.display());
    if !block.join("partition").exists() {
        return Ok((major, minor));
    }
    let whole = block.canonicalize()?.parent().context("a partition without a disk")?.join("dev");
    let text = fs::read_to_string(&whole)?;
    let numbers = text.trim().split_once(':').with_context(|| whole.display().to_string())?;
    Ok((numbers.0.parse()?, numbers.1.parse()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_found_or_refused_in_words() {
        match disk_of(Path::new(env!("CARGO_MANIFEST_DIR"))) {
            Ok((major, minor)) => {
                let disk = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
                assert!(disk.exists() && !disk.join("partition").exists(), "{major}:{minor}");
            }
            Err(error) => assert!(error.to_string().contains("throttled"), "{error}"),
        }
        assert!(
            disk_of(Path::new("/proc")).unwrap_err().to_string().contains("not on a local disk")
        );
    }
}
