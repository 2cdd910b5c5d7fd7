//! Which facilities of the kernel are usable here. Each is tried by the code that uses it, for a
//! moment and without harm: no version is looked at but where that code does so itself.

mod files;
mod kernel;

use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::mounts::Mounts;
use serde::Serialize;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Something that the kernel can do for us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Facility {
    /// Many reads handed over by one call.
    IoUring,
    /// Reads past the page cache.
    Direct,
    /// Reads that leave nothing in it (RWF_DONTCACHE).
    DontCache,
    /// Mapped files brought in by pieces of 2 MiB.
    LargeFolios,
    /// What of a file is cached, by a count of its pages.
    Cachestat,
    /// The same by a mapping.
    Mincore,
    /// Where a file lies on its device.
    Fiemap,
    /// A file opened by its handle.
    Handles,
    /// Everything dropped from the page cache.
    DropCaches,
    /// Files kept in memory.
    Locked,
    /// A program stopped at its calls.
    Ptrace,
    /// A filter that says at which calls.
    Filter,
    /// A filter that hands calls to another process.
    Notification,
    /// Which parts of mapped files are touched.
    PageFaults,
    /// Small programs in the kernel.
    Ebpf,
    /// What comes into the page cache for a program.
    Fetches,
    /// What reaches the disks.
    BlockEvents,
    /// What limits this process.
    Groups,
    /// A file system served by a program.
    Fuse,
    /// Mounts that only one program sees.
    OwnMounts,
}

/// What came of trying a facility.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which one.
    pub facility: Facility,
    /// Whether it can be used.
    pub usable: bool,
    /// Why not; of one that is usable, what limits it, if anything does.
    pub why: Option<String>,
}

/// What a machine, a user and a file system offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The kernel's version.
    pub kernel: String,
    /// Whether this is root.
    pub root: bool,
    /// The folder in which files were tried.
    pub folder: PathBuf,
    /// The type of its file system.
    pub file_system: Option<String>,
    /// The device of that, or the share.
    pub device: Option<String>,
    /// Each facility, in the order of [`Facility`].
    pub findings: Vec<Finding>,
}

/// What trying a facility gives: that it works, perhaps with a limit, or why it does not.
type Tried = std::result::Result<Option<String>, String>;

/// Tries each facility; those of files with a file of 2 MiB in `folder`, which has no name there.
/// Call it while this process has one thread and no children.
///
/// # Errors
/// There can be no file in `folder`.
pub fn examine(folder: &Path) -> Result<Examined> {
    let tried = files::Tried::in_folder(folder).map_err(|error| {
        let message = format!(
            "cannot make a file in {}; name another folder: seekless doctor /tmp",
            folder.display()
        );
        Error::because(ErrorKind::Io, message, error)
    })?;
    let kernel = rustix::system::uname();
    let (file_system, device) = mounted(tried.file(), folder).unzip();
    Ok(Examined {
        kernel: kernel.release().to_string_lossy().into_owned(),
        root: rustix::process::geteuid().is_root(),
        folder: folder.canonicalize().unwrap_or_else(|_| folder.to_owned()),
        file_system,
        device,
        findings: findings(&tried),
    })
}

fn findings(tried: &files::Tried) -> Vec<Finding> {
    let attempts = [
        (Facility::IoUring, kernel::io_uring()),
        (Facility::Direct, tried.direct()),
        (Facility::DontCache, tried.dont_cache()),
        (Facility::LargeFolios, tried.large_folios()),
        (Facility::Cachestat, tried.cachestat()),
        (Facility::Mincore, tried.mincore()),
        (Facility::Fiemap, tried.fiemap()),
        (Facility::Handles, tried.handles()),
        (Facility::DropCaches, kernel::drop_caches()),
        (Facility::Locked, tried.locked()),
        (Facility::Ptrace, seekless_record::ptrace_works().map(|()| None)),
        (Facility::Filter, kernel::filters()),
        (Facility::Notification, kernel::notifications()),
        (Facility::PageFaults, kernel::page_faults()),
        (Facility::Ebpf, seekless_record::ebpf_works().map(|()| None)),
        (Facility::Fetches, seekless_record::fetches_work().map(|()| None)),
        (Facility::BlockEvents, seekless_record::block_events_work().map(|()| None)),
        (Facility::Groups, kernel::groups()),
        (Facility::Fuse, kernel::fuse()),
        (Facility::OwnMounts, kernel::own_mounts()),
    ];
    let finding = |(facility, tried): (Facility, Tried)| match tried {
        Ok(limit) => Finding { facility, usable: true, why: limit },
        Err(why) => Finding { facility, usable: false, why: Some(why) },
    };
    attempts.into_iter().map(finding).collect()
}

/// The type and the source of the file system that holds a file.
fn mounted(file: &File, folder: &Path) -> Option<(String, String)> {
    let device = file.metadata().ok()?.dev();
    let number = (rustix::fs::major(device), rustix::fs::minor(device));
    let mounts = Mounts::read().ok()?;
    let mount = mounts.of(number, Some(&folder.canonicalize().ok()?))?;
    Some((mount.kind.clone(), mount.source.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_facility_is_tried_once_and_what_is_refused_says_why() {
        let folder = tempfile::tempdir().unwrap();
        let examined = examine(folder.path()).unwrap();
        let mut facilities: Vec<Facility> =
            examined.findings.iter().map(|finding| finding.facility).collect();
        facilities.sort_by_key(|facility| *facility as u32);
        facilities.dedup();
        assert_eq!(facilities.len(), examined.findings.len());
        for finding in &examined.findings {
            let says_why = finding.why.as_ref().is_some_and(|why| !why.is_empty());
            assert!(finding.usable || says_why, "{finding:?}");
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
    }

    #[test]
    fn a_folder_that_cannot_hold_a_file_is_named() {
        let error = examine(Path::new("/proc")).unwrap_err();
        assert!(error.to_string().contains("/proc"), "{error}");
    }
}
