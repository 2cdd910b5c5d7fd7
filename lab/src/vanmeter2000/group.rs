//! A control group for the lab, version 1 or 2, with little memory and a device as slow as the
//! experiment needs.

use super::speed::Speed;
use anyhow::{Context, anyhow, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup";
/// How often emptying a group is tried, every 10 ms.
const PATIENCE: u32 = 200;

/// The group. It is removed when dropped, with the processes that still run in it.
pub(super) struct Group {
    /// The folders that a process enters: memory and blkio in version 1, one folder in version 2.
    folders: Vec<PathBuf>,
    is_unified: bool,
    /// The number of the whole disk, such as `254:0`.
    disk: String,
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
        let first = Self::first_version(&disk);
        let group = first.or_else(|first| {
            Self::second_version(&disk)
                .map_err(|second| anyhow!("version 1: {first:#}; version 2: {second:#}"))
        })?;
        let file = if group.is_unified { "memory.max" } else { "memory.limit_in_bytes" };
        write(&group.folders[0].join(file), &limit_bytes.to_string())?;
        Ok(group)
    }

    fn first_version(disk: &str) -> anyhow::Result<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        let mut group = Group { folders: Vec::new(), is_unified: false, disk: disk.to_owned() };
        for controller in ["memory", "blkio"] {
            let parent = own_folder(&groups, controller)
                .with_context(|| format!("there is no {controller} controller"))?;
            let folder = parent.join(name());
            fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
            group.folders.push(folder);
        }
        Ok(group)
    }

    /// Makes the group beside this process's group or above it, since a group with processes cannot
    /// have limited groups in it.
    fn second_version(disk: &str) -> anyhow::Result<Self> {
        let groups = fs::read_to_string("/proc/self/cgroup")?;
        let own =
            groups.lines().find_map(|line| line.strip_prefix("0::")).context("not mounted")?;
        let own = Path::new(ROOT).join(own.trim_start_matches('/'));
        let able = |folder: &&Path| {
            let controls = folder.join("cgroup.subtree_control");
            let _ = fs::write(&controls, "+memory +io");
            let enabled = fs::read_to_string(&controls).unwrap_or_default();
            ["memory", "io"]
                .iter()
                .all(|name| enabled.split_whitespace().any(|enabled| enabled == *name))
        };
        let parent = own.ancestors().take_while(|folder| folder.starts_with(ROOT)).find(able);
        let folder =
            parent.context("memory and io cannot be limited here (root is needed)")?.join(name());
        fs::create_dir(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        Ok(Group { folders: vec![folder], is_unified: true, disk: disk.to_owned() })
    }

    pub(super) fn words(&self) -> &'static str {
        if self.is_unified { "version 2" } else { "version 1" }
    }

    /// Limits the device to this speed; `None` removes the limit.
    pub(super) fn throttle(&self, speed: Option<&Speed>) -> anyhow::Result<()> {
        let bytes = speed.map(|speed| speed.bytes_per_second);
        let requests = speed.and_then(|speed| speed.requests_per_second);
        let disk = &self.disk;
        if self.is_unified {
            let word =
                |limit: Option<u64>| limit.map_or("max".to_owned(), |limit| limit.to_string());
            let limits = format!("{disk} rbps={} riops={}", word(bytes), word(requests));
            return write(&self.folders[0].join("io.max"), &limits);
        }
        for (file, limit) in [("read_bps_device", bytes), ("read_iops_device", requests)] {
            let file = self.folders[1].join(format!("blkio.throttle.{file}"));
            // 0 removes the limit.
            write(&file, &format!("{disk} {}", limit.unwrap_or(0)))?;
        }
        Ok(())
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
        let (file, key) = match self.is_unified {
            true => (self.folders[0].join("io.stat"), "rbytes="),
            false => (self.folders[1].join("blkio.throttle.io_service_bytes"), "Read "),
        };
        let text = fs::read_to_string(file).ok()?;
        // A group that has read nothing yet has no line.
        let line = text.lines().find(|line| {
            line.strip_prefix(self.disk.as_str())
                .is_some_and(|rest| rest.starts_with(' ') && rest.contains(key))
        });
        line.map_or(Some(0), |line| line.split_once(key)?.1.split(' ').next()?.parse().ok())
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

/// The folder of this process in the hierarchy of a controller of version 1.
fn own_folder(groups: &str, controller: &str) -> Option<PathBuf> {
    let line = groups.lines().find_map(|line| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        controllers.split(',').any(|name| name == controller).then_some(path)
    });
    let folder = Path::new(ROOT).join(controller).join(line?.trim_start_matches('/'));
    folder.is_dir().then_some(folder)
}

/// The disk of a folder. Throttles apply to whole disks.
fn disk_of(folder: &Path) -> anyhow::Result<String> {
    let device = rustix::fs::stat(folder)
        .with_context(|| format!("cannot look at {}", folder.display()))?
        .st_dev;
    let numbers = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let block = PathBuf::from(format!("/sys/dev/block/{numbers}"));
    ensure!(block.exists(), "{} is not on a local disk that can be throttled", folder.display());
    if !block.join("partition").exists() {
        return Ok(numbers);
    }
    let whole = block.canonicalize()?.parent().context("a partition without a disk")?.join("dev");
    Ok(fs::read_to_string(whole)?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_named_by_its_numbers_or_refused_in_words() {
        match disk_of(Path::new(env!("CARGO_MANIFEST_DIR"))) {
            Ok(disk) => {
                assert!(disk.split(':').all(|number| number.parse::<u32>().is_ok()), "{disk}")
            }
            Err(error) => assert!(error.to_string().contains("throttled"), "{error}"),
        }
        assert!(
            disk_of(Path::new("/proc")).unwrap_err().to_string().contains("not on a local disk")
        );
    }

    #[test]
    fn a_controller_that_is_not_there_has_no_folder() {
        assert_eq!(own_folder("4:memory:/a/b\n7:blkio:/\n0::/\n", "weather"), None);
    }
}
