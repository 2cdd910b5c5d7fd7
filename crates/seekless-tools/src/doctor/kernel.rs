//! What depends on the kernel, the container and the user alone.

use super::Tried;
use seekless_engine::Ring;
use seekless_sys::cgroup::Groups;
use seekless_sys::{namespaces, reason};
use seekless_watch::seccomp;
use std::fs::OpenOptions;
use std::io;
use std::path::Path;

/// The kernel's device for file systems that programs serve.
const FUSE: &str = "/dev/fuse";
/// The program that mounts for users who are not root, of fuse 3 and of fuse 2.
const HELPERS: [&str; 2] = ["fusermount3", "fusermount"];

fn said(error: io::Error) -> String {
    reason(&error)
}

pub(super) fn io_uring() -> Tried {
    Ring::new().map(|_| None).map_err(said)
}

/// It is opened only: to write to it would drop what other programs have cached.
pub(super) fn drop_caches() -> Tried {
    let opened = OpenOptions::new().write(true).open("/proc/sys/vm/drop_caches");
    opened.map(|_| None).map_err(said)
}

pub(super) fn filters() -> Tried {
    seccomp::filters_work().map(|()| None).map_err(said)
}

pub(super) fn notifications() -> Tried {
    seccomp::notifications_work().map(|()| None).map_err(said)
}

pub(super) fn page_faults() -> Tried {
    let sees_kernel = seekless_record::touches_work()?;
    let limit = "without those that the kernel takes for a program, as in a write of mapped memory";
    Ok((!sees_kernel).then(|| limit.to_owned()))
}

pub(super) fn groups() -> Tried {
    let groups = Groups::of_this_process().map_err(said)?;
    let version_1: Vec<&str> = ["memory", "blkio"]
        .into_iter()
        .filter(|controller| groups.version_1(controller).is_some())
        .collect();
    let version_2 = groups.version_2().map(|_| "version 2");
    let version_1 =
        (!version_1.is_empty()).then(|| format!("version 1 of {}", version_1.join(" and ")));
    let found: Vec<String> = version_1.into_iter().chain(version_2.map(str::to_owned)).collect();
    if found.is_empty() {
        return Err("no hierarchy is mounted".to_owned());
    }
    let limit = groups.memory_limits().len();
    let limit = if limit == 0 { "; no memory limit holds" } else { "; a memory limit holds" };
    Ok(Some(found.join(", ") + limit))
}

pub(super) fn fuse() -> Tried {
    let opened = OpenOptions::new().read(true).write(true).open(FUSE);
    if let Err(error) = opened {
        return Err(format!("{FUSE}: {}", reason(&error)));
    }
    if rustix::process::geteuid().is_root() || HELPERS.iter().any(|name| is_installed(name)) {
        return Ok(None);
    }
    Err(format!("{} is not installed, which mounts for users", HELPERS[0]))
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| Path::new(&folder).join(program).exists())
}

pub(super) fn own_mounts() -> Tried {
    namespaces::own_mounts_work().map(|()| None).map_err(said)
}
