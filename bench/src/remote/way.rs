//! The ways to load, by name.

use crate::remote::Args;

/// A way to load a start's files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Our store, told the list.
    Listed,
    /// Our store, one load after another.
    OnDemand {
        predict: bool,
    },
    /// An object a file.
    Gets {
        at_once: usize,
    },
    /// One object laid out as a tar, whose index the program has.
    Tar {
        at_once: usize,
    },
    /// fsspec's `ZipFileSystem` over s3fs, on our pack.
    ZipFileSystem,
    /// s3fs of fsspec, an object a file.
    S3Python,
    Rclone,
    /// s3fs by FUSE, an object a file.
    S3Fuse,
}

/// Loads at once of ways that have several.
const AT_ONCE: usize = 32;

impl Way {
    /// In the order of the tables, ours first.
    pub(super) const ALL: [Self; 11] = [
        Self::OnDemand { predict: true },
        Self::Listed,
        Self::OnDemand { predict: false },
        Self::Gets { at_once: AT_ONCE },
        Self::Gets { at_once: 1 },
        Self::Tar { at_once: AT_ONCE },
        Self::Tar { at_once: 1 },
        Self::ZipFileSystem,
        Self::S3Python,
        Self::Rclone,
        Self::S3Fuse,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Listed => "list known",
            Self::OnDemand { predict: true } => "on demand, predicted",
            Self::OnDemand { predict: false } => "on demand",
            Self::Gets { at_once: 1 } => "a GET a file",
            Self::Gets { .. } => "32 GETs at once",
            Self::Tar { at_once: 1 } => "tar with an index",
            Self::Tar { .. } => "the same, 32 at once",
            Self::ZipFileSystem => "ZipFileSystem over s3fs",
            Self::S3Python => "s3fs in Python",
            Self::Rclone => "rclone mount",
            Self::S3Fuse => "s3fs by FUSE",
        }
    }

    pub(super) fn is_ours(self) -> bool {
        matches!(self, Self::Listed | Self::OnDemand { .. })
    }

    /// Whether another program loads, which may fail for reasons of its own.
    pub(super) fn is_a_program(self) -> bool {
        matches!(self, Self::ZipFileSystem | Self::S3Python | Self::Rclone | Self::S3Fuse)
    }

    /// Whether the program gives all names at once.
    pub(super) fn knows_the_list(self) -> bool {
        match self {
            Self::Listed => true,
            Self::Gets { at_once } | Self::Tar { at_once } => at_once > 1,
            _ => false,
        }
    }

    pub(super) fn is_asked(self, args: &Args) -> bool {
        let only = &args.only;
        only.is_empty() || only.iter().any(|word| self.name().contains(&**word))
    }
}
