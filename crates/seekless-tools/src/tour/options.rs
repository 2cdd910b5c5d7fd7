//! The size of a tour, its device, and the program that it records.

use super::sample;
use crate::advise;
use seekless_device::DeviceSpec;
use std::ffi::OsString;

/// The size of a tour, its device, and the program that it records.
#[derive(Clone, Debug)]
pub struct Options {
    /// About how many files the sample tree has. A run loads a tenth of them.
    pub files: usize,
    /// The modelled device of the last step.
    pub device: DeviceSpec,
    /// Timed rounds of the last step.
    pub rounds: u32,
    /// The program to record and its first arguments. A folder and a list of files follow; the
    /// program must load the listed files in order.
    pub reader: Vec<OsString>,
    /// How the first step finds out what a program of this machine waits for. `None` leaves that
    /// step out.
    pub advise: Option<advise::Options>,
}

impl Options {
    /// The tour as the user sees it, on a disk of 120 requests and 150 MB a second.
    #[must_use]
    pub fn full(reader: Vec<OsString>) -> Self {
        let device = DeviceSpec::Volume { iops: 120, bytes_per_second: 150_000_000 };
        Options { files: sample::FULL_FILES, device, rounds: 3, reader, advise: None }
    }

    /// A tenth of the full tour and one round, for tests.
    #[must_use]
    pub fn small(reader: Vec<OsString>) -> Self {
        Options { files: sample::FULL_FILES / 10, rounds: 1, ..Options::full(reader) }
    }
}
