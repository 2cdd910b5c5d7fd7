//! A loop device over a file that nbdfuse mounts over what nbdkit serves. Dropped, it is taken away
//! with its processes; they also go when this process is killed.

use crate::child;
use anyhow::{Context, bail, ensure};
use rustix::mount::{UnmountFlags, unmount};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The memory that nbdkit serves. What was not written takes no memory.
const SIZE: (&str, u64) = ("512M", 512 << 20);
/// Until the file is mounted, and until its processes have ended.
const PATIENCE: Duration = Duration::from_secs(20);
const PAUSE: Duration = Duration::from_millis(20);

/// A planted device.
#[derive(Debug)]
pub(super) struct Device {
    attached: Option<Attached>,
    server: Child,
    mounted: PathBuf,
    /// Holds the mount.
    _folder: TempDir,
}

/// The loop device. It was asked to detach and does so when nothing has it open, so it does not
/// outlive this process.
#[derive(Debug)]
struct Attached {
    path: PathBuf,
    _held: File,
}

impl Device {
    /// Serves memory through these filters of nbdkit.
    pub(super) fn plant(filters: &[&str], cancel: &AtomicBool) -> anyhow::Result<Self> {
        let folder = tempfile::tempdir().context("cannot make a folder for the mount")?;
        let mounted = folder.path().join("disk");
        File::create(&mounted).context("cannot make the file to mount over")?;
        let words = folder.path().join("words");
        let server = serve(&mounted, &words, filters)?;
        let mut device = Device { attached: None, server, mounted, _folder: folder };
        device.await_mount(&words, cancel)?;
        device.attached = Some(attach(&device.mounted)?);
        Ok(device)
    }

    /// The loop device.
    pub(super) fn path(&self) -> &Path {
        self.attached.as_ref().map_or(&self.mounted, |attached| &attached.path)
    }

    fn await_mount(&mut self, words: &Path, cancel: &AtomicBool) -> anyhow::Result<()> {
        let deadline = Instant::now() + PATIENCE;
        while fs::metadata(&self.mounted).map_or(0, |about| about.len()) != SIZE.1 {
            ensure!(!cancel.load(Ordering::Relaxed), "interrupted");
            let ended = self.server.try_wait().context("cannot wait for nbdfuse")?;
            if ended.is_some() || Instant::now() > deadline {
                let said = fs::read_to_string(words).unwrap_or_default();
                bail!("nbdfuse mounts nothing: {}", said.trim());
            }
            sleep(PAUSE);
        }
        Ok(())
    }
}

/// Starts nbdfuse, which starts nbdkit. Both are in a group of their own: Ctrl-C ends the lab, and
/// the lab ends them.
fn serve(mounted: &Path, words: &Path, filters: &[&str]) -> anyhow::Result<Child> {
    let words = File::create(words).context("cannot make a file for what nbdfuse says")?;
    let mut command = child::command("nbdfuse");
    command.arg("-r").arg(mounted);
    command.args(["[", "nbdkit", "--exit-with-parent", "memory", SIZE.0]).args(filters).arg("]");
    child::spawn(command.stdout(Stdio::null()).stderr(words))
}

fn attach(file: &Path) -> anyhow::Result<Attached> {
    let mut attach = Command::new("losetup");
    // Direct, so that the file is not cached below the device.
    attach.args(["--find", "--show", "--read-only", "--direct-io=on"]).arg(file);
    let output = attach.output().context("cannot start losetup")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "no loop device (are you root?): {}", said.trim());
    let path = PathBuf::from(String::from_utf8(output.stdout)?.trim());
    let held = File::open(&path);
    let detached = Command::new("losetup").arg("--detach").arg(&path).status();
    let held = held.with_context(|| format!("cannot open {}", path.display()))?;
    ensure!(detached.is_ok_and(|status| status.success()), "cannot detach {}", path.display());
    Ok(Attached { path, _held: held })
}

impl Drop for Device {
    fn drop(&mut self) {
        drop(self.attached.take()); // the last to have it open: it detaches
        let _ = unmount(&self.mounted, UnmountFlags::DETACH); // fails if nothing was mounted
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.server.try_wait(), Ok(None)) && Instant::now() < deadline {
            sleep(PAUSE);
        }
        let _ = self.server.kill(); // fails if it has ended, as it should
        let _ = self.server.wait();
    }
}
