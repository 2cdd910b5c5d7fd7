//! A CD: a squashfs image, mounted from a loop device over a file on a drive with an arm.

use super::{Served, folder, succeed};
use anyhow::{Context, ensure};
use seekless_testing::{Delayed, Delays};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The paper's seek (Table 2), and ten times its drive's bandwidth.
const DRIVE: Delays = Delays {
    read: Duration::from_millis(130),
    bytes_per_second: Some(28_000_000),
    arm: true,
    at_once: 1,
    recall: None,
};

pub(in super::super) struct Cd {
    /// What goes into the image.
    source: PathBuf,
    /// Holds the image.
    backing: PathBuf,
    mounted: PathBuf,
    drive: Delayed,
    device: Option<PathBuf>,
    /// Images that were made. Each has a name of its own, since the drive believes for ever what it
    /// knows of a name.
    burnt: usize,
}

impl Cd {
    pub(super) fn new(parent: &Path) -> anyhow::Result<Self> {
        let (source, backing) = (folder(parent, "source")?, folder(parent, "backing")?);
        let (drive, mounted) = (folder(parent, "drive")?, folder(parent, "mounted")?);
        let drive = Delayed::of(&backing, &drive, DRIVE)?;
        Ok(Cd { source, backing, mounted, drive, device: None, burnt: 0 })
    }

    pub(super) fn put(&mut self, made: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let file = super::moved(made, &self.source)?;
        self.burnt += 1;
        let image = self.image(&self.backing);
        let mut burn = Command::new("mksquashfs");
        // Nothing compressed: what a drive delivers is what a program reads.
        burn.arg(&self.source).arg(&image).args([
            "-noI",
            "-noD",
            "-noF",
            "-noX",
            "-no-progress",
            "-noappend",
        ]);
        succeed(&mut burn)?;
        fs::remove_file(&file)?;
        let seen = self.image(self.drive.place());
        let mut attach = Command::new("losetup");
        // Direct, so that the image is not cached below the file system.
        attach.args(["--find", "--show", "--read-only", "--direct-io=on"]).arg(&seen);
        let output = attach.output().context("cannot start losetup")?;
        ensure!(
            output.status.success(),
            "losetup: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        let device = PathBuf::from(String::from_utf8(output.stdout)?.trim());
        self.device = Some(device.clone());
        let mut mount = Command::new("mount");
        mount.args(["-t", "squashfs", "-o", "ro"]).arg(&device).arg(&self.mounted);
        succeed(&mut mount)?;
        Ok(vec![self.mounted.join(file.file_name().context("a file has a name")?)])
    }

    fn image(&self, folder: &Path) -> PathBuf {
        folder.join(self.burnt.to_string())
    }

    pub(super) fn clear(&mut self) -> anyhow::Result<()> {
        let Some(device) = self.device.take() else { return Ok(()) };
        let unmounted = succeed(Command::new("umount").arg(&self.mounted));
        succeed(Command::new("losetup").arg("--detach").arg(device))?;
        unmounted?;
        fs::remove_file(self.image(&self.backing))?;
        Ok(())
    }

    pub(super) fn served(&self) -> Served {
        Served { bytes: self.drive.asked().bytes, recalls: 0 }
    }
}

impl Drop for Cd {
    fn drop(&mut self) {
        let _ = self.clear(); // what cannot be unmounted is reported when the folder is removed
    }
}
