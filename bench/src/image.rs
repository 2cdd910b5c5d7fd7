//! A folder in an ext4 of its own, on a loop device past the machine's page cache.

use crate::command::succeed;
use anyhow::{Context, bail, ensure};
use seekless::measure::ReadsServed;
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// Attempts to unmount, a tenth of a second apart: a helper may still have files open.
/// What is free beyond the room that is asked for, in KiB. It takes no room on the disk below.
const FREE_KIB: u64 = 1 << 20;
const ATTEMPTS: usize = 100;

/// A mounted image; removed at the end.
pub(crate) struct Image {
    device: String,
    mounted: PathBuf,
}

impl Image {
    /// Makes an image of a folder's content in `place`, with room for this many times as much, and
    /// mounts it read-only.
    pub(crate) fn of(
        folder: &Path,
        place: &Path,
        readahead_kib: u64,
        room: u64,
    ) -> anyhow::Result<Self> {
        let place = place.canonicalize()?; // profiles have absolute names
        let (file, mounted) = (place.join("image"), place.join("mounted"));
        std::fs::create_dir(&mounted)?;
        let used = Command::new("du").args(["-sk", "--apparent-size"]).arg(folder).output()?;
        let used = String::from_utf8_lossy(&used.stdout).into_owned();
        let kib: u64 = used.split_whitespace().next().context("no size")?.parse()?;
        let blocks = format!("{}k", kib * (1 + room) + kib / 4 + FREE_KIB);
        let mut make = Command::new("mkfs.ext4");
        succeed(make.args(["-q", "-F", "-b", "4096", "-d"]).arg(folder).arg(&file).arg(blocks))?;
        let mut attach = Command::new("losetup");
        attach.args(["--find", "--show", "--direct-io=on"]).arg(&file);
        let attached = attach.output()?;
        ensure!(
            attached.status.success(),
            "losetup: {}",
            String::from_utf8_lossy(&attached.stderr)
        );
        let device = String::from_utf8(attached.stdout)?.trim().to_owned();
        let image = Self { device, mounted };
        image.mount()?;
        let name = image.device.trim_start_matches("/dev/");
        let limit = format!("/sys/block/{name}/queue/read_ahead_kb");
        std::fs::write(limit, readahead_kib.to_string())?;
        Ok(image)
    }

    /// Where the folder's content is.
    pub(crate) fn mounted(&self) -> &Path {
        &self.mounted
    }

    /// Adds a file under this name; returns its path.
    pub(crate) fn add(&self, file: &Path, name: &str) -> anyhow::Result<PathBuf> {
        let added = self.mounted.join(name);
        let copied = self.writable(|| Ok(std::fs::copy(file, &added)?));
        copied.with_context(|| format!("cannot copy {}", file.display()))?;
        Ok(added)
    }

    /// Does something while it may be written to.
    pub(crate) fn writable<T>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let remount =
            |how: &str| succeed(Command::new("mount").args(["-o", how]).arg(&self.mounted));
        remount("remount,rw")?;
        let done = work();
        remount("remount,ro")?;
        done
    }

    /// What the device has served until now, counted once neighbours are merged.
    pub(crate) fn served(&self) -> anyhow::Result<ReadsServed> {
        let name = self.device.trim_start_matches("/dev/");
        let place = format!("/sys/block/{name}/stat");
        let text = std::fs::read_to_string(&place).context(place)?;
        let number = |at: usize| -> anyhow::Result<u64> {
            Ok(text.split_whitespace().nth(at).context("a figure is missing")?.parse()?)
        };
        // Reads, and 512-byte sectors read.
        Ok(ReadsServed { requests: number(0)?, bytes: 512 * number(2)? })
    }

    fn mount(&self) -> anyhow::Result<()> {
        succeed(Command::new("mount").args(["-o", "ro"]).arg(&self.device).arg(&self.mounted))
    }

    /// Mounts it anew, so that nothing of it is cached.
    pub(crate) fn cool(&self) -> anyhow::Result<()> {
        self.unmount()?;
        self.await_free()?;
        // Else the device's own cache would keep the inodes and folders.
        succeed(Command::new("blockdev").arg("--flushbufs").arg(&self.device))?;
        self.mount()
    }

    /// Waits until no mount of it is left in any namespace: a helper, or another's program, has
    /// copies of all mounts in its own, and with them all that is cached.
    fn await_free(&self) -> anyhow::Result<()> {
        for _ in 0..ATTEMPTS {
            // Of a block device O_EXCL alone asks for the only use.
            let alone = rustix::fs::OFlags::EXCL.bits() as i32;
            if OpenOptions::new().read(true).custom_flags(alone).open(&self.device).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        bail!("{} stays mounted in another namespace, so that it is not cold", self.device)
    }

    fn unmount(&self) -> anyhow::Result<()> {
        let mut last = Ok(());
        for _ in 0..ATTEMPTS {
            last = succeed(Command::new("umount").arg(&self.mounted));
            if last.is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        last
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        let _ = self.unmount();
        let _ = Command::new("losetup").args(["--detach", &self.device]).status();
    }
}
