//! A server of files for the levels of a network: an sshd of this machine, by a relay that delays.

use super::{Served, folder, succeed};
use crate::child;
use anyhow::{Context, ensure};
use seekless_testing::Relay;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// There and back.
const DELAY: Duration = Duration::from_millis(20);
/// Until the server listens, and the mount is there.
const PATIENCE: Duration = Duration::from_secs(20);
const SSHD: &str = "/usr/sbin/sshd";

pub(super) struct Server {
    process: Child,
    relay: Relay,
    keys: PathBuf,
    /// The folder of its files.
    pub(super) files: PathBuf,
}

impl Server {
    pub(super) fn start(parent: &Path) -> anyhow::Result<Self> {
        let (files, keys) = (folder(parent, "served")?, folder(parent, "keys")?);
        for name in ["host", "user"] {
            let mut key = Command::new("ssh-keygen");
            key.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(keys.join(name));
            succeed(&mut key)?;
        }
        fs::copy(keys.join("user.pub"), keys.join("authorized"))?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let process = serve(&keys, port)?;
        let relay = Relay::to(port, DELAY)?;
        let server = Server { process, relay, keys, files };
        await_port(port)?;
        Ok(server)
    }

    /// The port of the relay.
    pub(super) fn port(&self) -> u16 {
        self.relay.port()
    }

    /// The private key that it accepts.
    pub(super) fn key(&self) -> PathBuf {
        self.keys.join("user")
    }

    pub(super) fn served(&self) -> Served {
        Served { bytes: self.relay.answered_bytes(), recalls: 0 }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Waits until another file system is mounted on `place`.
pub(super) fn await_mount(place: &Path) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    let outside = place.parent().context("a folder has a parent")?.metadata()?.dev();
    while fs::metadata(place)?.dev() == outside {
        ensure!(Instant::now() < deadline, "nothing is mounted on {}", place.display());
        sleep(Duration::from_millis(20));
    }
    Ok(())
}

/// Unmounts what `place` has. What cannot be unmounted is reported when the folder is removed.
pub(super) fn unmount(place: &Path) {
    let _ = Command::new("fusermount3").args(["-u", "-z"]).arg(place).status();
}

/// Starts a server that knows the keys of a folder alone.
fn serve(keys: &Path, port: u16) -> anyhow::Result<Child> {
    let settings = format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {keys}/host\n\
         AuthorizedKeysFile {keys}/authorized\nStrictModes no\nUsePAM no\nPidFile none\n\
         PasswordAuthentication no\nPermitRootLogin prohibit-password\n\
         Subsystem sftp internal-sftp\n",
        keys = keys.display()
    );
    let path = keys.join("sshd_config");
    fs::write(&path, settings)?;
    // As root, sshd separates its privileges in this folder.
    if rustix::process::geteuid().is_root() {
        fs::create_dir_all("/run/sshd")?;
    }
    ensure!(Path::new(SSHD).exists(), "there is no {SSHD} (Debian: openssh-server)");
    child::spawn(child::command(SSHD).args(["-D", "-q", "-f"]).arg(&path))
}

fn await_port(port: u16) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        ensure!(Instant::now() < deadline, "{SSHD} does not listen");
        sleep(Duration::from_millis(20));
    }
    Ok(())
}
