//! An archive: a folder whose files are recalled when they are opened.

use super::{Served, cut, folder};
use seekless_testing::{Delayed, Delays, Recall};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The disk of the staging area.
const DISK_BYTES_PER_SECOND: u64 = 200_000_000;
const RECALL_LATENCY: Duration = Duration::from_millis(500);
const TAPE_BYTES_PER_SECOND: u64 = 100_000_000;

pub(in super::super) struct Archive {
    files: PathBuf,
    configuration: PathBuf,
    mounted: Delayed,
}

impl Archive {
    pub(super) fn make(parent: &Path, cache_bytes: u64) -> anyhow::Result<Self> {
        let (files, mounted) = (folder(parent, "files")?, folder(parent, "mounted")?);
        let configuration = folder(parent, "configuration")?;
        let ours = folder(&configuration, "seekless")?;
        let rule = format!(
            "[device.staging]\nzones = [{{ latency = \"1ms\", bandwidth = \"200MB/s\" }}]\n\
             [device.archive]\nzones = [{{ latency = \"500ms\", bandwidth = \"100MB/s\" }}]\n\
             [[mount]]\npath = \"{}\"\nrow = \"staging\"\nlevel = \"device\"\n\
             [mount.recall]\nxattr = \"user.hsm.state\"\noffline = \"released\"\n",
            mounted.display()
        );
        fs::write(ours.join("sleds.toml"), rule)?;
        let mounted = Delayed::of(
            &files,
            &mounted,
            Delays {
                bytes_per_second: Some(DISK_BYTES_PER_SECOND),
                at_once: 8,
                recall: Some(Recall {
                    latency: RECALL_LATENCY,
                    bytes_per_second: TAPE_BYTES_PER_SECOND,
                    staged_bytes: cache_bytes,
                }),
                ..Delays::default()
            },
        )?;
        Ok(Archive { files, configuration, mounted })
    }

    /// Cuts a file into files of whole blocks.
    pub(super) fn put(&self, made: &Path) -> anyhow::Result<Vec<PathBuf>> {
        let names = cut(made, &self.files)?;
        Ok(names.iter().map(|name| self.mounted.place().join(name)).collect())
    }

    pub(super) fn clear(&mut self) -> anyhow::Result<()> {
        for entry in fs::read_dir(&self.files)? {
            fs::remove_file(entry?.path())?;
        }
        self.mounted.cool()
    }

    pub(super) fn release_all(&self) {
        self.mounted.release_all();
    }

    pub(super) fn served(&self) -> Served {
        let asked = self.mounted.asked();
        Served { bytes: asked.bytes, recalls: asked.recalls }
    }

    pub(super) fn configuration(&self) -> &Path {
        &self.configuration
    }
}
