//! The rivals that are programs of their own.

use super::means::{Loaded, Means};
use super::storage::{BUCKET, KEY, SECRET, built};
use crate::remote::prepared::PACK;
use anyhow::{Context, bail, ensure};
use seekless::measure::Checksum;
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const PYTHON: &str = "../python/bin/python3";
const LOADER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/remote.py");
/// How long a mount may take to appear.
const PATIENCE: Duration = Duration::from_secs(30);

/// What `remote.py` prints.
#[derive(Deserialize)]
struct Printed {
    seconds: f64,
    files: usize,
}

/// Why a program cannot be run, if it cannot.
pub(super) fn missing(program: &str, word: &str) -> Option<String> {
    let said = Command::new(built(program)).arg(word).stdin(Stdio::null()).output();
    match said {
        Ok(output) if output.status.success() => None,
        Ok(_) => Some(format!("{program} {word} fails")),
        Err(error) => Some(format!("{program}: {error}")),
    }
}

/// The same of Python with s3fs.
pub(super) fn missing_python() -> Option<String> {
    let said = Command::new(built(PYTHON)).args(["-c", "import s3fs"]).output();
    match said {
        Ok(output) if output.status.success() => None,
        _ => Some("no Python with s3fs: ./run installs it".to_owned()),
    }
}

impl Means<'_> {
    /// Loads in Python: `way` is one that `remote.py` knows.
    pub(super) fn in_python(&self, way: &str) -> anyhow::Result<Loaded> {
        let mut command = Command::new(built(PYTHON));
        command.arg(LOADER).args([way, BUCKET, PACK]).arg(self.prepared.list()?);
        command.arg(self.limit().as_secs().to_string());
        command.env("ENDPOINT", self.storage.endpoint());
        command.env("AWS_ACCESS_KEY_ID", KEY).env("AWS_SECRET_ACCESS_KEY", SECRET);
        command.env("AWS_DEFAULT_REGION", "us-east-1").stdin(Stdio::null());
        let output = command.output().context("cannot run Python")?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{way} in Python: {said}");
        let printed: Printed = serde_json::from_slice(&output.stdout)?;
        let all = printed.files == self.prepared.wanted.len();
        // Each file was compared there.
        let delivered = if all { self.prepared.expected } else { Checksum::default() };
        Ok(Loaded { seconds: printed.seconds, files: printed.files, delivered })
    }

    /// Loads through a mount of rclone, with its cache on the local disk.
    pub(super) fn by_rclone(&self) -> anyhow::Result<Loaded> {
        let place = tempfile::tempdir_in(&self.prepared.root)?;
        let mut command = Command::new("rclone");
        command.arg("mount").arg(format!("store:{BUCKET}")).arg(place.path());
        let cache = tempfile::tempdir_in(&self.prepared.root)?;
        command.args(["--read-only", "--vfs-cache-mode", "full", "--cache-dir"]).arg(cache.path());
        // Without this each file costs a request more, for its time.
        command.args(["--use-server-modtime", "--config", "/dev/null"]);
        // With these it refuses to begin, and nothing is encrypted here.
        command.env_remove("AWS_CA_BUNDLE");
        command.env("RCLONE_CONFIG_STORE_TYPE", "s3").env("RCLONE_CONFIG_STORE_PROVIDER", "Other");
        command.env("RCLONE_CONFIG_STORE_ENDPOINT", self.storage.endpoint());
        command.env("RCLONE_CONFIG_STORE_ACCESS_KEY_ID", KEY);
        command.env("RCLONE_CONFIG_STORE_SECRET_ACCESS_KEY", SECRET);
        let mounted = Mounted::new(command, place.path())?;
        self.files_below(&mounted)
    }

    /// Loads through a mount of s3fs.
    pub(super) fn by_s3_fuse(&self) -> anyhow::Result<Loaded> {
        let place = tempfile::tempdir_in(&self.prepared.root)?;
        let password = self.prepared.root.join("password");
        fs::write(&password, format!("{KEY}:{SECRET}"))?;
        fs::set_permissions(&password, fs::Permissions::from_mode(0o600))?;
        let mut command = Command::new("s3fs");
        let url = format!("url={}", self.storage.endpoint());
        command.arg(BUCKET).arg(place.path()).args(["-f", "-o", "ro", "-o", &url, "-o"]);
        command.args(["use_path_request_style", "-o"]);
        command.arg(format!("passwd_file={}", password.display()));
        let mounted = Mounted::new(command, place.path())?;
        self.files_below(&mounted)
    }

    /// Loads one file after another.
    fn files_below(&self, mounted: &Mounted) -> anyhow::Result<Loaded> {
        let (began, mut files, mut delivered) = (Instant::now(), 0, Checksum::default());
        for (place, wanted) in (0..).zip(&self.prepared.wanted) {
            if began.elapsed() > self.limit() {
                break;
            }
            let path = mounted.at.join(wanted.key());
            let content = fs::read(&path).with_context(|| path.display().to_string())?;
            delivered.add(place, &content);
            files += 1;
        }
        self.some(began, files, delivered)
    }
}

/// A program that serves a file system, until this is dropped.
struct Mounted {
    program: Child,
    at: PathBuf,
}

impl Mounted {
    fn new(mut command: Command, at: &Path) -> anyhow::Result<Self> {
        let device = || anyhow::Ok(fs::metadata(at)?.dev());
        let before = device()?;
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = command.spawn().with_context(|| format!("cannot run {command:?}"))?;
        let mut mounted = Self { program, at: at.to_owned() };
        let began = Instant::now();
        while device().is_ok_and(|now| now == before) {
            if let Some(status) = mounted.program.try_wait()? {
                bail!("{command:?} ended: {status}");
            }
            ensure!(began.elapsed() < PATIENCE, "{command:?} mounts nothing");
            thread::sleep(Duration::from_millis(20));
        }
        Ok(mounted)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.at).stderr(Stdio::null()).status();
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
