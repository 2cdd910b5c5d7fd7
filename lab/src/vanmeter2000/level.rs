//! The storage level on which the files lie: a disk, or one with latency that a program sees as it
//! would in the field, a file system over a network, a CD, or an archive that recalls files.

mod archive;
mod cached;
mod cd;
mod network;
mod server;

use super::files::forget;
use super::speed::Speed;
use anyhow::{Context, bail};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The size of a file where one is cut: whole blocks of the lab's text, so that no line is cut.
const FILE_BYTES: u64 = 4 << 20;

/// The levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum On {
    /// A disk of this machine, throttled to --speed.
    Disk,
    /// sshfs to this machine by a network that takes 20 ms there and back.
    Network,
    /// rclone by the same network, which keeps files of 4 MiB in a folder of this machine that
    /// holds what the page cache holds.
    NetworkCached,
    /// A squashfs image on a drive that takes 130 ms to move its arm, at 28 MB/s: ten times the
    /// paper's drive.
    Cd,
    /// An archive: files of 4 MiB are recalled when they are opened, which takes 500 ms at 100
    /// MB/s, to a staging area that holds what the page cache holds.
    Archive,
}

impl On {
    /// In the names of tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Network => "network",
            Self::NetworkCached => "network-cached",
            Self::Cd => "cd",
            Self::Archive => "archive",
        }
    }
}

/// What a level has delivered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Served {
    pub(super) bytes: u64,
    /// Files recalled.
    pub(super) recalls: u64,
}

/// A level with files on it.
pub(super) enum Level {
    Disk,
    Network(network::Network),
    Cached(cached::Cached),
    Cd(cd::Cd),
    Archive(archive::Archive),
}

impl Level {
    /// Makes the level, with its files in `folder`.
    pub(super) fn make(on: On, folder: &Path, cache_bytes: u64) -> anyhow::Result<Self> {
        Ok(match on {
            On::Disk => Self::Disk,
            On::Network => Self::Network(network::Network::make(folder)?),
            On::NetworkCached => Self::Cached(cached::Cached::make(folder, cache_bytes)?),
            On::Cd => Self::Cd(cd::Cd::new(folder)?),
            On::Archive => Self::Archive(archive::Archive::make(folder, cache_bytes)?),
        })
    }

    /// What it is; `None` for a disk, whose speed is chosen.
    pub(super) fn speed(&self) -> Option<Speed> {
        let words = match self {
            Self::Disk => return None,
            Self::Network(_) => "network, 20 ms",
            Self::Cached(_) => "rclone, 20 ms",
            Self::Cd(_) => "CD, 130 ms, 28 MB/s",
            Self::Archive(_) => "archive, 500 ms a recall",
        };
        Some(Speed::unlimited(words))
    }

    /// Puts a file that was made on the disk on this level. Returns the files to read: an archive
    /// has parts of it.
    pub(super) fn put(&mut self, made: &Path) -> anyhow::Result<Vec<PathBuf>> {
        match self {
            Self::Disk => Ok(vec![made.to_owned()]),
            Self::Network(network) => network.put(made),
            Self::Cached(cached) => cached.put(made),
            Self::Cd(cd) => cd.put(made),
            Self::Archive(archive) => archive.put(made),
        }
    }

    /// Removes the files of the last [`Self::put`]; of a disk nothing.
    pub(super) fn clear(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Disk => Ok(()),
            Self::Network(network) => network.clear(),
            Self::Cached(cached) => cached.clear(),
            Self::Cd(cd) => cd.clear(),
            Self::Archive(archive) => archive.clear(),
        }
    }

    /// Evicts the files from the page cache, and releases them in an archive.
    pub(super) fn forget(&self, files: &[PathBuf]) -> anyhow::Result<()> {
        if let Self::Archive(archive) = self {
            archive.release_all();
        }
        files.iter().try_for_each(|file| forget(file))
    }

    /// What it has delivered; `None` where the kernel's counts say it.
    pub(super) fn served(&self) -> Option<Served> {
        match self {
            Self::Disk => None,
            Self::Network(network) => Some(network.served()),
            Self::Cached(cached) => Some(cached.served()),
            Self::Cd(cd) => Some(cd.served()),
            Self::Archive(archive) => Some(archive.served()),
        }
    }

    /// The folder of configurations that the programs are given; `None` for the user's own.
    pub(super) fn configuration(&self) -> Option<&Path> {
        match self {
            Self::Archive(archive) => Some(archive.configuration()),
            Self::Cached(cached) => Some(cached.configuration()),
            _ => None,
        }
    }
}

/// A new folder in `parent`.
fn folder(parent: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let path = parent.join(name);
    fs::create_dir(&path).with_context(|| format!("cannot make {}", path.display()))?;
    Ok(path)
}

/// Moves a file into a folder.
fn moved(file: &Path, folder: &Path) -> anyhow::Result<PathBuf> {
    let place = folder.join(file.file_name().context("a file has a name")?);
    fs::rename(file, &place).with_context(|| format!("cannot move {}", file.display()))?;
    Ok(place)
}

/// Cuts a file into files in `folder`, and removes it. Returns their names, in their order.
fn cut(made: &Path, folder: &Path) -> anyhow::Result<Vec<String>> {
    let mut whole = File::open(made).with_context(|| made.display().to_string())?;
    let mut names = Vec::new();
    loop {
        let mut part = Vec::new();
        (&mut whole).take(FILE_BYTES).read_to_end(&mut part)?;
        if part.is_empty() {
            break;
        }
        let name = format!("{:04}", names.len());
        let mut file = File::create(folder.join(&name))?;
        file.write_all(&part)?;
        file.sync_all()?;
        names.push(name);
    }
    fs::remove_file(made)?;
    Ok(names)
}

/// Runs a command to its end.
fn succeed(command: &mut Command) -> anyhow::Result<()> {
    let name = command.get_program().to_owned();
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", name.display()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("{} ends with {}: {}", name.display(), output.status, said.trim());
    }
    Ok(())
}
