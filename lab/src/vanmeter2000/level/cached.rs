//! A network whose files lie partly on this machine: rclone, which keeps whole files in a folder of
//! limited size. It evicts the least recently used ones.

use super::server::{Server, await_mount, unmount};
use super::{Served, cut, folder};
use crate::child;
use anyhow::{Context, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Until rclone looks at the server's folder again.
const PATIENCE: Duration = Duration::from_secs(20);

pub(in super::super) struct Cached {
    server: Server,
    rclone: Child,
    mounted: PathBuf,
    configuration: PathBuf,
    /// Folders of files that were put there; each has another name.
    put: u32,
}

impl Cached {
    /// The folder of rclone holds `cache_bytes`.
    pub(super) fn make(parent: &Path, cache_bytes: u64) -> anyhow::Result<Self> {
        let server = Server::start(parent)?;
        let (mounted, cache) = (folder(parent, "mounted")?, folder(parent, "cache")?);
        let configuration = folder(parent, "configuration")?;
        let held = cache.join("vfs/remote").join(server.files.strip_prefix("/")?);
        let rule = format!(
            "[[mount]]\npath = \"{}\"\ncache = \"{}\"\n",
            mounted.display(),
            held.display()
        );
        fs::write(folder(&configuration, "seekless")?.join("sleds.toml"), rule)?;
        let rclone = start(&server, &configuration, &cache, cache_bytes, &mounted)?;
        let cached = Cached { server, rclone, mounted, configuration, put: 0 };
        await_mount(&cached.mounted)?;
        Ok(cached)
    }

    pub(super) fn put(&mut self, made: &Path) -> anyhow::Result<Vec<PathBuf>> {
        self.put += 1;
        let name = self.put.to_string();
        let names = cut(made, &folder(&self.server.files, &name)?)?;
        let shown = self.mounted.join(name);
        let deadline = Instant::now() + PATIENCE;
        let last = names.last().context("a file has bytes")?;
        while !shown.join(last).exists() {
            ensure!(Instant::now() < deadline, "rclone does not show {}", shown.display());
            sleep(Duration::from_millis(100));
        }
        Ok(names.iter().map(|name| shown.join(name)).collect())
    }

    pub(super) fn clear(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.server.files)? {
            fs::remove_dir_all(entry?.path())?;
        }
        Ok(())
    }

    pub(super) fn served(&self) -> Served {
        self.server.served()
    }

    pub(super) fn configuration(&self) -> &Path {
        &self.configuration
    }
}

impl Drop for Cached {
    fn drop(&mut self) {
        unmount(&self.mounted);
        let _ = self.rclone.kill();
        let _ = self.rclone.wait();
    }
}

/// Starts rclone, which ends, and unmounts, with this program.
fn start(
    server: &Server,
    configuration: &Path,
    cache: &Path,
    cache_bytes: u64,
    mounted: &Path,
) -> anyhow::Result<Child> {
    let user = std::env::var("USER").unwrap_or_else(|_| "root".to_owned());
    let settings = format!(
        "[remote]\ntype = sftp\nhost = 127.0.0.1\nport = {}\nuser = {user}\nkey_file = {}\n\
         shell_type = none\nmd5sum_command = none\nsha1sum_command = none\n",
        server.port(),
        server.key().display()
    );
    let path = configuration.join("rclone.conf");
    fs::write(&path, settings)?;
    let mut rclone = child::command("rclone");
    rclone
        .arg("mount")
        .arg(format!("remote:{}", server.files.display()))
        .arg(mounted)
        .arg("--config")
        .arg(path)
        .arg("--cache-dir")
        .arg(cache)
        .args(["--vfs-cache-mode", "full", "--vfs-cache-poll-interval", "500ms"])
        .args(["--vfs-cache-max-size", &format!("{cache_bytes}B"), "--dir-cache-time", "1s"])
        .stderr(Stdio::null());
    child::spawn(&mut rclone)
}
