//! How every figure is simulated: one reader that reads page after page, an empty cache in which
//! everything fits, I/Os of at most 512 KiB.

use super::disk;
use seekless::device::{DeviceModel, DiskParameters};
use seekless::policy::readahead::Options;
use seekless::sim::timed::{self, Rules, TimedCase, TimedFigures, Workload};

pub(super) const MB: u64 = 1_000_000;
pub(super) const MIB: u64 = 1 << 20;
/// Linux 2.6.22, "legacy" in Seekless.
pub(super) const OLD: &str = "legacy";
/// The paper's algorithm, as Linux 2.6.24 has it.
pub(super) const NEW: &str = "ondemand";
/// Seed of the orders in which streams interleave.
pub(super) const SEED: u64 = 2010;

/// Linux 2.6 on such a disk: its largest I/O, and a queue that is congested at 113 of 128 requests.
/// The 24 µs that the program takes for a page are fitted to the paper's figures.
pub(super) fn rules() -> Rules {
    Rules { think_ns: 24_000, io_bytes_max: 512 << 10, congested_ios: 113, ..Rules::default() }
}

pub(super) fn case(readahead: &str, max_bytes: u64) -> TimedCase {
    TimedCase { options: Options::with_max_bytes(max_bytes), ..TimedCase::unbounded(readahead) }
}

/// Runs the workload under each case.
pub(super) fn simulate(
    workload: &Workload,
    cases: &[TimedCase],
    rules: &Rules,
    parameters: &DiskParameters,
) -> anyhow::Result<Vec<TimedFigures>> {
    // A disk that cannot be made is found here, and not in the threads.
    disk::model(parameters)?;
    let make = || -> Box<dyn DeviceModel> {
        Box::new(disk::model(parameters).expect("made a moment ago"))
    };
    Ok(timed::each(workload, cases, rules, &make, &mut |_, _| {})?)
}

/// MB/s that the program got.
pub(super) fn rate(figures: &TimedFigures) -> f64 {
    figures.bytes_per_second / MB as f64
}

/// The older algorithm and the paper's, with windows of 1 MiB.
pub(super) fn both() -> [TimedCase; 2] {
    [case(OLD, MIB), case(NEW, MIB)]
}
