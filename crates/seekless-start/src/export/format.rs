//! The formats of lists: what each holds, which names it cannot carry, and who writes it.

use super::forms::{
    cvmfs, dwarfs, estargz, juicefs, lines, nydus, soci, squashfs, tar, unreal, vmtouch,
};
use super::job::Job;
use super::{Listed, samples};
use seekless_job::{Error, ErrorKind, Result};
use seekless_sys::output::{Content, Output};
use std::io::{self, BufWriter, Write};
use std::str::FromStr;

/// For which tool a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Prioritized files of eStargz layers.
    Estargz,
    /// Ranges for nydus's separate blob of hot data.
    Nydus,
    /// Patterns that nydus prefetches.
    NydusPatterns,
    /// Files for SOCI's prefetch artifacts.
    Soci,
    /// Ranges that JuiceFS warms.
    Juicefs,
    /// A bundle of CernVM-FS.
    CvmfsBundle,
    /// The hotness list of DwarFS.
    Dwarfs,
    /// The sort file of mksquashfs.
    SquashfsSort,
    /// A tar of the whole root, listed files first, from which mkfs.erofs takes the order.
    Erofs,
    /// The open order of an Unreal Engine game.
    Unreal,
    /// A list of files for vmtouch.
    Vmtouch,
    /// A tar of the listed files.
    Tar,
    /// A tar of the listed files in which those of a sample lie together.
    Webdataset,
}

/// In which order files are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that most runs need first; of those, as [`Order::Need`]. A list that is cut, or
    /// brought in while the program starts, holds what matters most.
    Runs,
    /// As the newest run needed them, then what older runs add. In a layout, what a start needs
    /// lies together.
    Need,
}

impl Format {
    /// The order that suits it. Laying out by how many runs need a file would tear apart what one
    /// start needs: `bench/src/lists.rs` measures it.
    #[must_use]
    pub fn order(self) -> Order {
        match self {
            Format::SquashfsSort | Format::Erofs | Format::Tar | Format::Webdataset => Order::Need,
            _ => Order::Runs,
        }
    }

    /// All of them.
    pub const ALL: [Format; 13] = [
        Format::Estargz,
        Format::Nydus,
        Format::NydusPatterns,
        Format::Soci,
        Format::Juicefs,
        Format::CvmfsBundle,
        Format::Dwarfs,
        Format::SquashfsSort,
        Format::Erofs,
        Format::Unreal,
        Format::Vmtouch,
        Format::Tar,
        Format::Webdataset,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Format::Estargz => "estargz",
            Format::Nydus => "nydus",
            Format::NydusPatterns => "nydus-patterns",
            Format::Soci => "soci",
            Format::Juicefs => "juicefs",
            Format::CvmfsBundle => "cvmfs-bundle",
            Format::Dwarfs => "dwarfs",
            Format::SquashfsSort => "squashfs-sort",
            Format::Erofs => "erofs",
            Format::Unreal => "unreal",
            Format::Vmtouch => "vmtouch",
            Format::Tar => "tar",
            Format::Webdataset => "webdataset",
        }
    }

    /// What it is and what takes it, in a line.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Format::Estargz => "record of files, for `nerdctl image convert --estargz-record-in`",
            Format::Nydus => "ranges of files, for `nydus-image optimize --prefetch-files`",
            Format::NydusPatterns => "paths, for `nydus-image create --prefetch-policy` and nydusd",
            Format::Soci => "array of paths, for `soci convert --prefetch-files-json`",
            Format::Juicefs => "ranges of files, for `juicefs warmup --file`",
            Format::CvmfsBundle => "bundle of the files that the first one needs, for CernVM-FS",
            Format::Dwarfs => "paths, for `mkdwarfs --categorize=hotness --hotness-list`",
            Format::SquashfsSort => "priorities, for `mksquashfs -sort`",
            Format::Erofs => {
                "tar of the root, listed files first, for `mkfs.erofs --tar=f --sort=none`"
            }
            Format::Unreal => "open order, for `UnrealPak -order`; the root is the staged folder",
            Format::Vmtouch => "paths, for `vmtouch -b`",
            Format::Tar => "tar of the listed files, for OCI layers",
            Format::Webdataset => "tar of the listed files by samples, for WebDataset shards",
        }
    }

    /// Whether the files of a sample lie together in it: a tar of nothing but samples is a shard.
    pub(super) fn keeps_samples(self, files: &[Listed]) -> bool {
        self == Format::Webdataset || (self == Format::Tar && samples::are_all(files))
    }

    /// Whether it lists ranges of files; else a tool brings in whole files.
    #[must_use]
    pub fn has_ranges(self) -> bool {
        matches!(self, Format::Nydus | Format::Juicefs)
    }

    /// Whether files are named by where they lie here, instead of below the root.
    pub(super) fn names_path(self) -> bool {
        matches!(self, Format::Juicefs | Format::Vmtouch)
    }

    /// Whether it holds text or bytes.
    #[must_use]
    pub fn content(self) -> Content {
        match self {
            Format::Erofs | Format::Tar | Format::Webdataset => Content::Binary,
            _ => Content::Text,
        }
    }

    /// Why the format cannot carry a name; `None` if it can.
    pub(super) fn refuses(self, name: &[u8]) -> Option<&'static str> {
        match self {
            Format::Estargz => lines::not_text(name),
            Format::Nydus | Format::CvmfsBundle => lines::not_text(name),
            Format::NydusPatterns => lines::not_text(name).or_else(|| lines::trimmed(name)),
            Format::Soci => lines::not_text(name).or_else(|| lines::trimmed(name)),
            Format::Juicefs => lines::broken(name).or_else(|| lines::trimmed(name)),
            Format::Dwarfs | Format::Vmtouch => lines::broken(name),
            Format::SquashfsSort => squashfs::refuses(name),
            Format::Unreal => unreal::refuses(name),
            Format::Erofs | Format::Tar | Format::Webdataset => None,
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
            let why = format!("{name:?} is no format of lists: {}", names.join(", "));
            Error::new(ErrorKind::Invalid, why)
        })
    }
}

impl<'a> Job<'a> {
    /// Writes the list. Returns the files that could not be read.
    pub(super) fn write(
        &self,
        output: &mut Output,
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<Vec<&'a Listed>> {
        let listed = self.listed;
        let mut out = BufWriter::new(output);
        let written = match self.options.format {
            Format::Tar | Format::Webdataset => return tar::shard(self, &mut out, progress),
            Format::Erofs => return tar::root(self, &mut out, progress),
            Format::Estargz => estargz::write(listed, &mut out),
            Format::Nydus => nydus::ranges(listed, &mut out),
            Format::NydusPatterns => nydus::patterns(listed, &mut out),
            Format::Soci => soci::write(listed, &mut out),
            Format::Juicefs => juicefs::write(listed, &mut out),
            Format::CvmfsBundle => cvmfs::write(listed, &mut out),
            Format::Dwarfs => dwarfs::write(listed, &mut out),
            Format::SquashfsSort => squashfs::write(listed, &mut out),
            Format::Unreal => unreal::write(listed, &mut out),
            Format::Vmtouch => vmtouch::write(listed, &mut out),
        };
        written.and_then(|()| out.flush()).map_err(|error| self.failed(error))?;
        Ok(Vec::new())
    }

    /// The error of a write that failed.
    pub(super) fn failed(&self, error: io::Error) -> Error {
        Error::because(ErrorKind::Io, format!("cannot write {}", self.path.display()), error)
    }
}
