//! Where the cold files lie: in an ext4 of their own on a loop device, whose requests the kernel
//! may limit, or behind a file system in user space that takes its time for each read.

use crate::image::Image;
use anyhow::Context;
use seekless::measure::{ReadsServed, Slowed};
use seekless_testing::{Asked, Delayed};
use std::cell::RefCell;
use std::path::{Path, PathBuf};

/// Limits of requests and bytes a second.
pub(super) struct Limits {
    pub(super) iops: u64,
    pub(super) bytes_per_second: u64,
    /// Whether the disk below the loop device is limited, where requests come joined.
    pub(super) below: bool,
}

/// Where the files lie.
pub(super) enum Place {
    Image { image: Image, limits: Option<Limits> },
    Delayed { delayed: Box<RefCell<Delayed>>, folder: PathBuf, mounted: PathBuf },
}

impl Place {
    /// Where programs see them.
    pub(super) fn mounted(&self) -> &Path {
        match self {
            Self::Image { image, .. } => image.mounted(),
            Self::Delayed { mounted, .. } => mounted,
        }
    }

    /// The image, if they lie on one.
    pub(super) fn image(&self) -> Option<&Image> {
        match self {
            Self::Image { image, .. } => Some(image),
            Self::Delayed { .. } => None,
        }
    }

    /// What lies at this place where programs see it, and may be written.
    pub(super) fn made(&self, seen: &Path) -> anyhow::Result<PathBuf> {
        Ok(match self {
            Self::Image { .. } => seen.to_owned(),
            Self::Delayed { folder, mounted, .. } => folder.join(seen.strip_prefix(mounted)?),
        })
    }

    /// Adds a file under this name. Returns where programs see it.
    pub(super) fn add(&self, file: &Path, name: &str) -> anyhow::Result<PathBuf> {
        match self {
            Self::Image { image, .. } => image.add(file, name),
            Self::Delayed { folder, mounted, .. } => {
                let copied = std::fs::copy(file, folder.join(name));
                copied.with_context(|| format!("cannot copy {}", file.display()))?;
                Ok(mounted.join(name))
            }
        }
    }

    /// Does something while it may be written to.
    pub(super) fn writable<T>(
        &self,
        work: impl FnOnce() -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        match self {
            Self::Image { image, .. } => image.writable(work),
            Self::Delayed { .. } => work(),
        }
    }

    /// Mounts it anew, so that nothing of it is cached.
    pub(super) fn cool(&self) -> anyhow::Result<()> {
        match self {
            Self::Image { image, .. } => image.cool(),
            Self::Delayed { delayed, .. } => delayed.borrow_mut().cool(),
        }
    }

    /// Does some work behind the limits. Returns what it asked of the device, too.
    pub(super) fn during<T>(&self, work: impl FnOnce() -> T) -> anyhow::Result<(T, ReadsServed)> {
        let (image, limits) = match self {
            Self::Image { image, limits } => (image, limits),
            Self::Delayed { delayed, .. } => {
                let asked = || -> anyhow::Result<ReadsServed> {
                    let Asked { reads: requests, bytes, .. } = delayed.borrow().asked();
                    Ok(ReadsServed { requests, bytes })
                };
                return counted(asked, work);
            }
        };
        let Some(Limits { iops, bytes_per_second, below }) = *limits else {
            return counted(|| image.served(), work);
        };
        let slowed = if below { Slowed::new } else { Slowed::before_merging };
        Ok(slowed(&[image.mounted()], iops, bytes_per_second)?.during(work)?)
    }
}

fn counted<T>(
    served: impl Fn() -> anyhow::Result<ReadsServed>,
    work: impl FnOnce() -> T,
) -> anyhow::Result<(T, ReadsServed)> {
    let before = served()?;
    let done = work();
    let after = served()?;
    let requests = after.requests.saturating_sub(before.requests);
    let bytes = after.bytes.saturating_sub(before.bytes);
    Ok((done, ReadsServed { requests, bytes }))
}
