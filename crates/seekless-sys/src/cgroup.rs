//! The control groups of this process, and what they limit: how fast it may read a disk, how much
//! memory it may use.
//!
//! /proc/self/cgroup names the groups and /proc/self/mountinfo says where their hierarchies are
//! mounted. Version 1 has a hierarchy for each controller, version 2 has one for all; a machine may
//! have both mounted (systemd's hybrid layout), with some controllers in one and some in the other.
//! Inside a container only part of a hierarchy may be visible: limits above that part are not
//! reported.

mod memory;
mod reads;
#[cfg(test)]
mod tests;

pub use memory::MemoryLimit;
pub use reads::{ReadLimits, ReadsServed};

use crate::mounts::{Mount, Mounts};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The groups of one process, one for each hierarchy that is mounted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Groups(Vec<Group>);

/// The group of one process in one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    version: Version,
    /// Where the hierarchy is mounted.
    top: PathBuf,
    folder: PathBuf,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Version {
    /// With the names of its controllers.
    One(Vec<String>),
    Two,
}

impl Groups {
    /// Those of this process, where the hierarchies were mounted when this was first asked.
    ///
    /// # Errors
    /// /proc is not there.
    pub fn of_this_process() -> io::Result<Self> {
        static MOUNTS: OnceLock<Mounts> = OnceLock::new();
        let mounts = match MOUNTS.get() {
            Some(mounts) => mounts,
            None => {
                let mounts = Mounts::read()?;
                MOUNTS.get_or_init(|| mounts)
            }
        };
        Self::among(mounts)
    }

    /// Those of this process, where `mounts` has the hierarchies.
    ///
    /// # Errors
    /// /proc is not there.
    pub fn among(mounts: &Mounts) -> io::Result<Self> {
        Ok(Self::parse(&fs::read_to_string("/proc/self/cgroup")?, mounts))
    }

    /// The same, looking again at what is mounted.
    ///
    /// # Errors
    /// /proc is not there.
    pub fn as_mounted_now() -> io::Result<Self> {
        Self::among(&Mounts::read()?)
    }

    /// From the text of /proc/PID/cgroup: lines `7:blkio:/path` for version 1, `0::/path` for
    /// version 2.
    #[must_use]
    pub fn parse(text: &str, mounts: &Mounts) -> Self {
        Groups(text.lines().filter_map(|line| Group::parse(line, mounts)).collect())
    }

    /// The group in the hierarchy of version 1 that has this controller.
    #[must_use]
    pub fn version_1(&self, controller: &str) -> Option<&Group> {
        self.0.iter().find(|group| match &group.version {
            Version::One(controllers) => controllers.iter().any(|name| name == controller),
            Version::Two => false,
        })
    }

    /// The group in the hierarchy of version 2.
    #[must_use]
    pub fn version_2(&self) -> Option<&Group> {
        self.0.iter().find(|group| group.version == Version::Two)
    }
}

impl Group {
    fn parse(line: &str, mounts: &Mounts) -> Option<Self> {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next()?, fields.next()?);
        let version = match controllers {
            "" => Version::Two,
            names => Version::One(names.split(',').map(str::to_owned).collect()),
        };
        let fitting: Vec<&Mount> = mounts.iter().filter(|mount| version.is_of(mount)).collect();
        let below = |mount: &&Mount| {
            Some((mount.point.clone(), Path::new(path).strip_prefix(&mount.root).ok()?.to_owned()))
        };
        // A group above the mounted part is not visible; what is mounted is the nearest that is.
        let (top, below) = fitting
            .iter()
            .find_map(below)
            .or_else(|| Some((fitting.first()?.point.clone(), PathBuf::new())))?;
        // `join("")` would end the folder with a slash.
        let folder = if below.as_os_str().is_empty() { top.clone() } else { top.join(below) };
        Some(Group { version, top, folder })
    }

    /// Its folder, which holds the files of its controllers.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The folder of the topmost group that is visible.
    #[must_use]
    pub fn top(&self) -> &Path {
        &self.top
    }

    /// The folders of this group and of those around it, up to the topmost that is visible.
    fn upwards(&self) -> impl Iterator<Item = &Path> {
        self.folder.ancestors().take_while(|folder| folder.starts_with(&self.top))
    }
}

impl Version {
    /// Whether `mount` is the hierarchy of such a group.
    fn is_of(&self, mount: &Mount) -> bool {
        match self {
            Version::One(controllers) => {
                mount.kind == "cgroup"
                    && mount
                        .options
                        .split(',')
                        .any(|option| controllers.iter().any(|name| name == option))
            }
            Version::Two => mount.kind == "cgroup2",
        }
    }
}
