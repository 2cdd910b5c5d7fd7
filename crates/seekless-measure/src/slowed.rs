//! A real device slowed for this process alone, by Linux's own throttle: a control group (version 1, blkio) that limits the
//! requests and bytes read a second, and counts exactly what was asked of the device. Needs root.
//!
//! The throttle charges requests before neighbours are joined, and ext4 reads 32 inode-table blocks ahead, each a request of
//! its own: so that a limit on requests says what it would on a volume, that readahead is set to 1 meanwhile. All is put back
//! when [`Slowed`] is dropped; after a `kill -9` write 32 to `/sys/fs/ext4/*/inode_readahead_blks`.

use crate::Error;
use rustix::fs::{FlockOperation, flock, major, minor};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Inode-table blocks that ext4 reads ahead while it is slowed.
pub const INODE_READAHEAD_BLOCKS: u64 = 1;

/// Limits that hold for this process during [`Slowed::during`].
#[derive(Debug)]
pub struct Slowed {
    /// `major:minor` of each limited device.
    devices: Vec<String>,
    group: Group,
    /// Put back after the group is gone.
    _readahead: Vec<Readahead>,
}

/// What the device was asked to read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Served {
    /// Requests, before neighbours are joined.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Slowed {
    /// Prepares the limits for the devices that `paths` lie on.
    ///
    /// # Errors
    /// Without root, where a path lies on no block device (tmpfs, overlay, a network), where the kernel has no such control
    /// group, or while another measurement holds the same file system.
    pub fn new(paths: &[&Path], iops: u64, bytes_per_second: u64) -> Result<Self, Error> {
        let mut devices: Vec<Device> = Vec::new();
        for path in paths {
            let device = Device::of(path)?;
            if devices.iter().all(|known| known.number != device.number) {
                devices.push(device);
            }
        }
        let readahead = devices.iter().filter_map(Readahead::narrow).collect::<Result<Vec<_>, _>>()?;
        let group = Group::new()?;
        for device in &devices {
            group.limit("blkio.throttle.read_iops_device", &device.number, iops)?;
            group.limit("blkio.throttle.read_bps_device", &device.number, bytes_per_second)?;
        }
        let devices = devices.into_iter().map(|device| device.number).collect();
        Ok(Slowed { devices, group, _readahead: readahead })
    }

    /// Does `work` under the limits, all threads of this process with it, and says what it asked of the devices.
    ///
    /// # Errors
    /// The group cannot be entered, left, or asked what it counted.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> Result<(T, Served), Error> {
        let before = self.served()?;
        let result = {
            let _stay = self.group.enter()?;
            work()
        };
        let after = self.served()?;
        let served = Served {
            requests: after.requests.saturating_sub(before.requests),
            bytes: after.bytes.saturating_sub(before.bytes),
        };
        Ok((result, served))
    }

    fn served(&self) -> Result<Served, Error> {
        let reads = |file: &str| -> Result<u64, Error> {
            let path = self.group.path.join(file);
            let text =
                fs::read_to_string(&path).map_err(|error| Error::io(&path, "cannot be read", error))?;
            Ok(self.devices.iter().map(|device| reads_of(&text, device)).sum())
        };
        Ok(Served {
            requests: reads("blkio.throttle.io_serviced")?,
            bytes: reads("blkio.throttle.io_service_bytes")?,
        })
    }
}

/// The number of a line such as `254:0 Read 4497`.
fn reads_of(text: &str, device: &str) -> u64 {
    let number = |line: &str| line.strip_prefix(device)?.strip_prefix(" Read ")?.trim().parse().ok();
    text.lines().find_map(number).unwrap_or(0)
}

/// A whole block device, which is what can be limited.
#[derive(Debug)]
struct Device {
    /// `major:minor`.
    number: String,
    /// Name of the partition, or of the device, that the file system lies on.
    name: String,
}

impl Device {
    fn of(path: &Path) -> Result<Self, Error> {
        let lies = fs::metadata(path).map_err(|error| Error::io(path, "cannot be examined", error))?.dev();
        let (major, minor) = (major(lies), minor(lies));
        let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
        let place = fs::canonicalize(&link).map_err(|error| {
            let doing = "lies on no block device that could be limited (tmpfs, overlay, network): choose a folder on a disk";
            Error::io(path, doing, error)
        })?;
        let name = place.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let whole = if place.join("partition").exists() { place.parent().unwrap_or(&place) } else { &place };
        let file = whole.join("dev");
        let number = fs::read_to_string(&file).map_err(|error| Error::io(&file, "cannot be read", error))?;
        Ok(Device { number: number.trim().to_owned(), name })
    }
}

/// ext4's readahead of inode tables, narrowed; put back when dropped. Locked, so that two measurements do not put back each
/// other's.
#[derive(Debug)]
struct Readahead {
    path: PathBuf,
    before: String,
    _lock: File,
}

impl Readahead {
    /// `None` on another file system.
    fn narrow(device: &Device) -> Option<Result<Self, Error>> {
        let path = Path::new("/sys/fs/ext4").join(&device.name).join("inode_readahead_blks");
        path.exists().then(|| Self::narrow_at(path))
    }

    fn narrow_at(path: PathBuf) -> Result<Self, Error> {
        let failed = |error| Error::io(&path, "cannot be set, which limiting requests needs (root)", error);
        let mut lock = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        flock(&lock, FlockOperation::NonBlockingLockExclusive).map_err(|error| {
            let doing = match error {
                Errno::WOULDBLOCK => "is held by another measurement of this file system: wait for it to end",
                _ => "cannot be locked",
            };
            Error::io(&path, doing, error.into())
        })?;
        let mut before = String::new();
        lock.read_to_string(&mut before).map_err(failed)?;
        fs::write(&path, INODE_READAHEAD_BLOCKS.to_string()).map_err(failed)?;
        Ok(Readahead { path, before, _lock: lock })
    }
}

impl Drop for Readahead {
    fn drop(&mut self) {
        if let Err(error) = fs::write(&self.path, self.before.trim()) {
            eprintln!("seekless: write {} to {} by hand: {error}", self.before.trim(), self.path.display());
        }
    }
}

/// A control group of our own; removed when dropped.
#[derive(Debug)]
struct Group {
    path: PathBuf,
    /// Where this process was before.
    home: PathBuf,
    /// Where we mounted the hierarchy ourselves.
    _mounted: Option<Mounted>,
}

impl Group {
    fn new() -> Result<Self, Error> {
        let (root, mounted) = match mounted_at(&read("/proc/self/mountinfo")?) {
            Some(root) => (root, None),
            None => {
                let mounted = Mounted::new()?;
                (mounted.path.clone(), Some(mounted))
            }
        };
        let home = group_of(&read("/proc/self/cgroup")?)
            .map_or_else(|| root.clone(), |group| root.join(group.trim_start_matches('/')));
        let path = home.join(format!("seekless-{}", std::process::id()));
        fs::create_dir(&path)
            .map_err(|error| Error::io(&path, "cannot be made, which limiting reads needs (root)", error))?;
        Ok(Group { path, home, _mounted: mounted })
    }

    fn limit(&self, file: &str, device: &str, per_second: u64) -> Result<(), Error> {
        let path = self.path.join(file);
        fs::write(&path, format!("{device} {per_second}"))
            .map_err(|error| Error::io(&path, "cannot be set: this kernel may lack blk-throttle", error))
    }

    fn enter(&self) -> Result<Stay<'_>, Error> {
        move_to(&self.path).map_err(|error| Error::io(&self.path, "cannot be entered", error))?;
        Ok(Stay { group: self })
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The kernel may still hold a request or a thread that has just ended.
        for _ in 0..50 {
            if fs::remove_dir(&self.path).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        eprintln!("seekless: could not remove {}: remove it by hand with rmdir", self.path.display());
    }
}

/// This process in the group, until it is dropped.
struct Stay<'a> {
    group: &'a Group,
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        if let Err(error) = move_to(&self.group.home) {
            eprintln!("seekless: could not leave {}: {error}", self.group.path.display());
        }
    }
}

fn move_to(group: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(group.join("cgroup.procs"))?;
    file.write_all(std::process::id().to_string().as_bytes())
}

/// The blkio hierarchy, mounted in a temporary folder until this is dropped.
#[derive(Debug)]
struct Mounted {
    path: PathBuf,
}

impl Mounted {
    fn new() -> Result<Self, Error> {
        let path = std::env::temp_dir().join(format!("seekless-blkio-{}", std::process::id()));
        fs::create_dir(&path).map_err(|error| Error::io(&path, "cannot be made", error))?;
        let mounted = Mounted { path };
        let said =
            Command::new("mount").args(["-t", "cgroup", "-o", "blkio", "none"]).arg(&mounted.path).output();
        match said {
            Ok(said) if said.status.success() => Ok(mounted),
            Ok(said) => {
                let why = String::from_utf8_lossy(&said.stderr).trim().to_owned();
                Err(Error::io(
                    &mounted.path,
                    "cannot mount the control groups of blkio (root, cgroup v1)",
                    io::Error::other(why),
                ))
            }
            Err(error) => Err(Error::io(&mounted.path, "cannot run `mount`", error)),
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.path).output();
        let _ = fs::remove_dir(&self.path);
    }
}

fn read(path: &str) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|error| Error::io(Path::new(path), "cannot be read", error))
}

/// Where proc_pid_mountinfo(5) says that the blkio hierarchy is mounted.
fn mounted_at(mountinfo: &str) -> Option<PathBuf> {
    mountinfo.lines().find_map(|line| {
        let (mount, source) = line.split_once(" - ")?;
        let mut source = source.split(' ');
        let is_blkio =
            source.next() == Some("cgroup") && source.nth(1)?.split(',').any(|option| option == "blkio");
        is_blkio.then(|| mount.split(' ').nth(4)).flatten().map(PathBuf::from)
    })
}

/// The group that proc_pid_cgroup(5) says this process is in.
fn group_of(cgroup: &str) -> Option<&str> {
    cgroup.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let is_blkio = fields.next()?.split(',').any(|controller| controller == "blkio");
        is_blkio.then(|| fields.next()).flatten()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use seekless_sys::residency::drop_cached;
    use std::os::fd::AsFd;

    #[test]
    fn the_kernels_words_are_understood() {
        let mountinfo = "36 31 0:32 / /sys/fs/cgroup/cpu rw,relatime shared:9 - cgroup cgroup rw,cpu\n\
                         37 31 0:33 / /sys/fs/cgroup/blkio rw,relatime shared:10 master:2 - cgroup cgroup rw,blkio\n";
        assert_eq!(mounted_at(mountinfo), Some("/sys/fs/cgroup/blkio".into()));
        assert_eq!(mounted_at("41 31 0:37 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"), None);
        assert_eq!(group_of("7:blkio:/user.slice/a:b\n0::/\n"), Some("/user.slice/a:b"));
        assert_eq!(group_of("4:cpu,cpuacct:/\n0::/\n"), None);
        let counts = "254:0 Read 4497\n254:0 Write 3\n254:16 Read 9\nTotal 4509\n";
        assert_eq!(
            (reads_of(counts, "254:0"), reads_of(counts, "254:16"), reads_of(counts, "8:0")),
            (4497, 9, 0)
        );
    }

    #[test]
    fn what_is_read_is_counted_and_all_is_put_back() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let slowed = match Slowed::new(&[here, here], 1_000_000, 1 << 40) {
            Ok(slowed) => slowed,
            Err(error) => return eprintln!("skipped: {error}"),
        };
        let mut file = tempfile::tempfile_in(here).unwrap();
        file.write_all(&[7; 100_000]).unwrap();
        file.sync_all().unwrap();
        drop_cached(file.as_fd()).unwrap();
        let (read, served) =
            slowed.during(|| std::os::unix::fs::FileExt::read_at(&file, &mut [0; 4096], 0).unwrap()).unwrap();
        assert_eq!(read, 4096);
        assert!(served.requests >= 1 && served.bytes >= 4096, "{served:?}");
        let (group, readahead) =
            (slowed.group.path.clone(), slowed._readahead.first().map(|ahead| ahead.path.clone()));
        let now = |path: &Path| fs::read_to_string(path).unwrap().trim().to_owned();
        let before = slowed._readahead.first().map(|ahead| ahead.before.trim().to_owned());
        if let Some(path) = &readahead {
            assert_eq!(now(path), "1");
            assert!(Slowed::new(&[here], 1, 1).unwrap_err().to_string().contains("another measurement"));
        }
        drop(slowed);
        assert!(!group.exists());
        assert_eq!(readahead.map(|path| now(&path)), before);
    }

    #[test]
    fn what_lies_on_no_disk_is_refused_by_name() {
        let error = Slowed::new(&[Path::new("/proc")], 1, 1).unwrap_err().to_string();
        assert!(error.contains("/proc") && error.contains("no block device"), "{error}");
    }
}
