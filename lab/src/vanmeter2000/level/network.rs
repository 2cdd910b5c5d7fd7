//! A file system over a network: sshfs to an sshd of this machine, by a relay that delays.

use super::{Served, folder, succeed};
use anyhow::{Context, ensure};
use seekless_testing::Relay;
use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// There and back.
const DELAY: Duration = Duration::from_millis(20);
/// Until the server listens, and the mount is there.
const PATIENCE: Duration = Duration::from_secs(20);
const SSHD: &str = "/usr/sbin/sshd";

pub(in super::super) struct Network {
    server: Child,
    relay: Relay,
    served: PathBuf,
    mounted: PathBuf,
}

impl Network {
    pub(super) fn make(parent: &Path) -> anyhow::Result<Self> {
        let (served, mounted) = (folder(parent, "served")?, folder(parent, "mounted")?);
        let keys = folder(parent, "keys")?;
        for name in ["host", "user"] {
            let mut key = Command::new("ssh-keygen");
            key.args(["-q", "-t", "ed25519", "-N", "", "-f"]).arg(keys.join(name));
            succeed(&mut key)?;
        }
        fs::copy(keys.join("user.pub"), keys.join("authorized"))?;
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let server = serve(&keys, port)?;
        let relay = Relay::to(port, DELAY)?;
        let network = Network { server, relay, served, mounted };
        await_port(port)?;
        network.mount(&keys)?;
        Ok(network)
    }

    fn mount(&self, keys: &Path) -> anyhow::Result<()> {
        let mut sshfs = Command::new("sshfs");
        sshfs.arg(format!("127.0.0.1:{}", self.served.display())).arg(&self.mounted);
        let option = |word: String| ["-o".to_owned(), word];
        sshfs.args(option(format!("port={}", self.relay.port())));
        sshfs.args(option(format!("IdentityFile={}", keys.join("user").display())));
        // The pages of a file stay when it is opened again, as with NFS.
        for word in ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "kernel_cache"] {
            sshfs.args(option(word.to_owned()));
        }
        succeed(&mut sshfs)?;
        let deadline = Instant::now() + PATIENCE;
        let outside = self.served.parent().context("a folder has a parent")?.metadata()?.dev();
        while fs::metadata(&self.mounted)?.dev() == outside {
            ensure!(Instant::now() < deadline, "sshfs mounts nothing");
            sleep(Duration::from_millis(20));
        }
        Ok(())
    }

    pub(super) fn put(&self, made: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let place = super::moved(made, &self.served)?;
        // Another name each time: sshfs believes for a while what it knows of a name.
        let number = fs::metadata(&place)?.ino();
        let name = format!("{number}-{}", place.metadata()?.len());
        fs::rename(&place, self.served.join(&name))?;
        Ok(vec![self.mounted.join(name)])
    }

    pub(super) fn clear(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.served)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    }

    pub(super) fn served(&self) -> Served {
        Served { bytes: self.relay.answered_bytes(), recalls: 0 }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        // What cannot be unmounted is reported when the folder is removed.
        let _ = Command::new("fusermount3").args(["-u", "-z"]).arg(&self.mounted).status();
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
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
    Command::new(SSHD)
        .args(["-D", "-q", "-f"])
        .arg(&path)
        .stdin(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {SSHD} (Debian: openssh-server)"))
}

fn await_port(port: u16) -> anyhow::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
        ensure!(Instant::now() < deadline, "{SSHD} does not listen");
        sleep(Duration::from_millis(20));
    }
    Ok(())
}
