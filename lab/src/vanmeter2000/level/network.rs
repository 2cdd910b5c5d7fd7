//! A file system over a network: sshfs to an sshd of this machine, by a relay that delays.

use super::server::{Server, await_mount, unmount};
use super::{Served, folder, succeed};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

pub(in super::super) struct Network {
    server: Server,
    mounted: PathBuf,
}

impl Network {
    pub(super) fn make(parent: &Path) -> anyhow::Result<Self> {
        let network =
            Network { server: Server::start(parent)?, mounted: folder(parent, "mounted")? };
        network.mount()?;
        Ok(network)
    }

    fn mount(&self) -> anyhow::Result<()> {
        let mut sshfs = Command::new("sshfs");
        sshfs.arg(format!("127.0.0.1:{}", self.server.files.display())).arg(&self.mounted);
        let option = |word: String| ["-o".to_owned(), word];
        sshfs.args(option(format!("port={}", self.server.port())));
        sshfs.args(option(format!("IdentityFile={}", self.server.key().display())));
        // The pages of a file stay when it is opened again, as with NFS.
        for word in ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "kernel_cache"] {
            sshfs.args(option(word.to_owned()));
        }
        succeed(&mut sshfs)?;
        await_mount(&self.mounted)
    }

    pub(super) fn put(&self, made: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let place = super::moved(made, &self.server.files)?;
        // Another name each time: sshfs believes for a while what it knows of a name.
        let number = fs::metadata(&place)?.ino();
        let name = format!("{number}-{}", place.metadata()?.len());
        fs::rename(&place, self.server.files.join(&name))?;
        Ok(vec![self.mounted.join(name)])
    }

    pub(super) fn clear(&self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.server.files)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(())
    }

    pub(super) fn served(&self) -> Served {
        self.server.served()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        unmount(&self.mounted);
    }
}
