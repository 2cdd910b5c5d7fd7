//! A control group of our own that limits reads and counts them: controller `blkio` of version 1,
//! else `io` of version 2.

use crate::Error;
use rustix::mount::{MountFlags, mount};
use seekless_sys::cgroup::{Group, Groups, ReadLimits, ReadsServed};
use seekless_sys::undo::Step;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PROCESSES: &str = "cgroup.procs";
/// In version 2: which controllers the groups below have.
const CHILDREN: &str = "cgroup.subtree_control";

/// Where a group of ours can be made, and what that takes.
#[derive(Debug)]
pub(super) struct Place {
    /// The group that this process is in.
    home: Group,
    /// The group to make.
    folder: PathBuf,
    /// Where the hierarchy of blkio has to be mounted first.
    mount: Option<PathBuf>,
    /// A file whose groups have to be given the controller first, which version 2 does.
    grant: Option<PathBuf>,
}

impl Place {
    /// Looks for a hierarchy that can limit reads.
    pub(super) fn find() -> Result<Self, Error> {
        let groups = Groups::as_mounted_now()
            .map_err(|error| Error::io(Path::new("/proc/self"), "cannot be read", error))?;
        if let Some(home) = groups.version_1("blkio") {
            return Ok(Place {
                folder: ours(home.folder()),
                home: home.clone(),
                mount: None,
                grant: None,
            });
        }
        if let Some(home) = groups.version_2()
            && has_io(home.top())
        {
            // Only the topmost group may hold both processes and groups that have controllers.
            let children = home.top().join(CHILDREN);
            let grant = (!lists_io(&children)).then_some(children);
            return Ok(Place { folder: ours(home.top()), home: home.clone(), mount: None, grant });
        }
        Self::unmounted()
    }

    /// A hierarchy of blkio that has yet to be mounted, in the temporary folder.
    fn unmounted() -> Result<Self, Error> {
        let top = std::env::temp_dir().join(format!("seekless-blkio-{}", std::process::id()));
        let line = format!("1 0 0:0 / {} rw - cgroup none rw,blkio", top.display());
        let groups = Groups::parse("1:blkio:/", &seekless_sys::mounts::Mounts::parse(&line));
        match groups.version_1("blkio") {
            Some(home) => {
                Ok(Place { folder: ours(&top), home: home.clone(), mount: Some(top), grant: None })
            }
            None => Err(Error::io(
                &top,
                "is an odd place for a mount: set TMPDIR",
                io::ErrorKind::InvalidInput.into(),
            )),
        }
    }

    /// What removes everything that [`Place::make`] makes for limits on `disks`.
    pub(super) fn undo(&self, disks: &[(u32, u32)]) -> io::Result<Vec<Step>> {
        let mut steps = Vec::new();
        for &disk in disks {
            // A process that is killed while its reads wait for the limit stays until they are
            // done.
            for (file, text) in self.home.limiting(disk, ReadLimits::default()) {
                steps.push(Step::write(text, self.folder.join(file))?);
            }
        }
        steps.push(Step::remove_folder(&self.folder)?);
        if let Some(children) = &self.grant {
            steps.push(Step::write("-io", children)?);
        }
        if let Some(top) = &self.mount {
            steps.push(Step::unmount(top)?);
            steps.push(Step::remove_folder(top)?);
        }
        Ok(steps)
    }

    /// Makes the group.
    pub(super) fn make(self) -> Result<Own, Error> {
        if let Some(top) = &self.mount {
            fs::create_dir(top).map_err(|error| Error::io(top, "cannot be made", error))?;
            mount("none", top, "cgroup", MountFlags::empty(), c"blkio").map_err(|error| {
                let doing = "cannot mount the control groups of blkio, and no others are here that limit reads (root)";
                Error::io(top, doing, error.into())
            })?;
        }
        if let Some(children) = &self.grant {
            let doing = "cannot give groups the controller `io`, which limiting reads needs (root)";
            fs::write(children, "+io").map_err(|error| Error::io(children, doing, error))?;
        }
        fs::create_dir(&self.folder).map_err(|error| {
            Error::io(&self.folder, "cannot be made, which limiting reads needs (root)", error)
        })?;
        Ok(Own { home: self.home, folder: self.folder })
    }
}

/// No other group has this name: neither another process's nor another of this process.
fn ours(above: &Path) -> PathBuf {
    static MADE: AtomicU32 = AtomicU32::new(0);
    above.join(format!("seekless-{}-{}", std::process::id(), MADE.fetch_add(1, Ordering::Relaxed)))
}

fn has_io(top: &Path) -> bool {
    lists_io(&top.join("cgroup.controllers"))
}

fn lists_io(file: &Path) -> bool {
    fs::read_to_string(file).is_ok_and(|text| text.split_whitespace().any(|name| name == "io"))
}

/// The group that was made.
#[derive(Debug)]
pub(super) struct Own {
    /// Where this process was before.
    home: Group,
    folder: PathBuf,
}

impl Own {
    pub(super) fn limit(&self, disk: (u32, u32), limits: ReadLimits) -> Result<(), Error> {
        for (file, text) in self.home.limiting(disk, limits) {
            let path = self.folder.join(file);
            fs::write(&path, text).map_err(|error| {
                Error::io(&path, "cannot be set: this kernel may lack blk-throttle", error)
            })?;
        }
        Ok(())
    }

    pub(super) fn served(&self, disk: (u32, u32)) -> Result<ReadsServed, Error> {
        self.home
            .served(&self.folder, disk)
            .map_err(|error| Error::io(&self.folder, "cannot say what was read", error))
    }

    /// Moves this process, all its threads, into the group until the answer is dropped.
    pub(super) fn enter(&self) -> Result<Stay<'_>, Error> {
        move_to(&self.folder)
            .map_err(|error| Error::io(&self.folder, "cannot be entered", error))?;
        Ok(Stay { group: self })
    }

    #[cfg(test)]
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }
}

/// This process in the group.
pub(super) struct Stay<'a> {
    group: &'a Own,
}

impl Drop for Stay<'_> {
    fn drop(&mut self) {
        if let Err(error) = move_to(self.group.home.folder()) {
            eprintln!("seekless: could not leave {}: {error}", self.group.folder.display());
        }
    }
}

fn move_to(group: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(group.join(PROCESSES))?;
    file.write_all(std::process::id().to_string().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_2_gives_its_groups_the_controller_and_takes_it_away_again() {
        let top = tempfile::tempdir().unwrap();
        let line = format!("1 0 0:0 / {} rw - cgroup2 none rw", top.path().display());
        let groups = Groups::parse("0::/user.slice", &seekless_sys::mounts::Mounts::parse(&line));
        let home = groups.version_2().unwrap().clone();
        let (folder, grant) = (ours(home.top()), top.path().join(CHILDREN));
        fs::write(&grant, "memory pids").unwrap();
        assert!(!lists_io(&grant));
        let place = Place { home, folder: folder.clone(), mount: None, grant: Some(grant.clone()) };
        let steps: Vec<String> =
            place.undo(&[(8, 0)]).unwrap().iter().map(Step::to_string).collect();
        let expected = [
            format!("write 8:0 rbps=max riops=max to {}/io.max", folder.display()),
            format!("remove the folder {}", folder.display()),
            format!("write -io to {}", grant.display()),
        ];
        assert_eq!(steps, expected);
        let own = place.make().unwrap();
        assert_eq!(fs::read_to_string(&grant).unwrap(), "+io");
        let limits =
            ReadLimits { bytes_per_second: Some(1_000_000), requests_per_second: Some(500) };
        own.limit((8, 0), limits).unwrap();
        assert_eq!(
            fs::read_to_string(folder.join("io.max")).unwrap(),
            "8:0 rbps=1000000 riops=500"
        );
        fs::write(folder.join("io.stat"), "8:0 rbytes=4096 wbytes=0 rios=1 wios=0\n").unwrap();
        assert_eq!(own.served((8, 0)).unwrap(), ReadsServed { requests: 1, bytes: 4096 });
    }
}
