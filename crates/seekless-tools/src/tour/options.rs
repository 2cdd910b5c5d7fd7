//! How large a tour, on which device, and which program it records.

use super::sample;
use seekless_device::DeviceSpec;
use std::ffi::OsString;

/// How large a tour, and on which device.
#[derive(Clone, Debug)]
pub struct Options {
    /// Files of the sample tree, about; a run loads a tenth of them.
    pub files: usize,
    /// The modelled device of the last step.
    pub device: DeviceSpec,
    /// Timed rounds of the last step.
    pub rounds: u32,
    /// The program to record and its first arguments; a folder and a list of files follow. It must load them in order.
    pub reader: Vec<OsString>,
}

impl Options {
    /// The tour as the user sees it, on a disk of 120 requests and 150 MB a second.
    #[must_use]
    pub fn full(reader: Vec<OsString>) -> Self {
        let device = DeviceSpec::Volume { iops: 120, bytes_per_second: 150_000_000 };
        Options { files: sample::FULL_FILES, device, rounds: 3, reader }
    }

    /// A tenth of it and one round, for tests.
    #[must_use]
    pub fn small(reader: Vec<OsString>) -> Self {
        Options { files: sample::FULL_FILES / 10, rounds: 1, ..Options::full(reader) }
    }
}
