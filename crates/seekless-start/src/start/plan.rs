//! What is expected of a start, and what is brought in for it.

use super::devices::Known;
use super::names::Names;
use super::sample::Place;
use crate::warm::bring::Recorded;
use crate::warm::wave::Fill;
use seekless_device::Costs;
use seekless_policy::foresight::start::{self, Wait};
use seekless_policy::layout::extents::Extent;
use serde::Serialize;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// What is expected of a start.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Decision {
    /// The program and the shape of its arguments.
    pub start: String,
    /// Where the profile lies, or will lie.
    #[serde(serialize_with = "seekless_job::in_json::path")]
    pub profile: PathBuf,
    /// Runs that the profile was learned from; 0 without a profile.
    pub runs: u64,
    /// Files that most of these runs needed.
    pub files: u64,
    /// Bytes that most of these runs needed.
    pub needed_bytes: u64,
    /// Of the bytes of files that were looked at, how many are cached.
    pub cached_bytes: u64,
    /// Files that would not come sooner for being brought in.
    pub files_that_do_not_pay: u64,
    /// Files that are left out, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// Share of the bytes looked at that lie in files that are no longer the same.
    pub changed_share: f64,
    /// What a request costs, in nanoseconds.
    pub request_ns: u64,
    /// Bytes a second.
    pub bytes_per_second: u64,
    /// Requests that the device serves at once, as far as that is known.
    pub at_once: u32,
    /// How far the kernel reads around a touch, in bytes.
    pub readahead_bytes: u64,
    /// Whether the costs are assumed.
    pub assumed: bool,
    /// Names that the start looks up and that are not in memory, with folders on the way. Only
    /// counted if [`Options::expects`](super::Options::expects) is set.
    pub names: u64,
    /// Waiting for all that the program needs, if it starts alone; if that is not expected whole,
    /// for the files that pay.
    pub plain: Waits,
    /// Waiting for it with help: what is brought in, and what is left to the program.
    pub warmed: Waits,
    /// What is brought in.
    pub brought_in: Waits,
    /// What is left to the program: names, and files that would come no sooner.
    pub left_to_program: Waits,
    /// How long the program is held back, so that it does not overtake, in seconds.
    pub head_start_s: f64,
    /// Whether they are brought in.
    pub warms: bool,
    /// Whether the first reads try how many requests a device serves at once.
    pub tries: bool,
    /// Whether this start is recorded, and why, in words.
    pub recording: String,
    /// Whether files are seen from the start's own pack, and why not, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pack: Option<Pack>,
}

/// Whether files are seen from the start's own pack.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pack {
    /// Why they are not, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without: Option<&'static str>,
    /// The folders that it stands for.
    pub folders: Vec<PathBuf>,
    /// What is to be waited for until all of it has come.
    pub waits: Waits,
    /// Of that, for the server's answers to the kernel, in seconds.
    pub answers_s: f64,
}

/// Requests, bytes and seconds of waiting.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Waits {
    /// Requests to the device.
    pub requests: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Seconds, without the program's own time.
    pub seconds: f64,
}

impl Decision {
    pub(super) fn tell(&mut self, known: &Known) {
        let Costs { request_ns, bytes_per_second, depth } = known.device.costs;
        (self.request_ns, self.bytes_per_second, self.at_once) =
            (request_ns, bytes_per_second, depth);
        self.readahead_bytes = known.device.readahead_bytes;
        self.assumed = known.assumed;
    }
}

impl From<Waits> for Wait {
    fn from(Waits { requests, bytes, seconds }: Waits) -> Self {
        Self { requests, bytes, seconds }
    }
}

impl From<Wait> for Waits {
    fn from(Wait { requests, bytes, seconds }: Wait) -> Self {
        Self { requests, bytes, seconds }
    }
}

/// Reads that are made before the program has opened one of the files, beyond those for which it is
/// held back.
const UNPROVEN: usize = 48;

/// What to bring in.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) files: Vec<PlannedFile>,
    /// Names to look up first.
    pub(super) names: Names,
    /// In the order of need.
    pub(super) reads: Vec<PlannedRead>,
    /// Whether the device counts requests before they are joined.
    pub(super) counts_apart: bool,
    /// How many of them become part of another's request.
    pub(super) joined: u64,
    /// What is read to bridge gaps.
    pub(super) bridged: Bridged,
    /// The program may start once this many reads are done.
    pub(super) first_reads: usize,
    /// How many reads to have under way.
    pub(super) at_once: usize,
    /// A device to try with the first reads.
    pub(super) trial: Option<Trial>,
    /// No link may lead out of these folders, if there are some.
    pub(super) within: Vec<PathBuf>,
    /// Whether little is missing.
    pub(super) is_settled: bool,
    /// What is cached of what the program needs, if little is missing.
    pub(super) cached: Vec<Place>,
    /// All that the profile's runs needed of mapped files, by the file's escaped name.
    pub(super) expected: Vec<(String, Vec<Extent>)>,
}

/// Reads that show how many requests a device serves at once.
#[derive(Debug)]
pub(super) struct Trial {
    /// The device's name.
    pub(super) device: String,
    /// The reads' places in the plan.
    pub(super) reads: Vec<usize>,
}

#[derive(Debug)]
pub(super) struct PlannedFile {
    pub(super) path: PathBuf,
    pub(super) recorded: Recorded,
    /// It pays only if the device that is tried serves several requests at once.
    pub(super) hoped: bool,
    /// Where its first byte lay, if that is known.
    pub(super) place: Option<u64>,
}

impl Plan {
    /// How many reads are made before the program has opened one of the files.
    pub(super) fn early_reads(&self) -> usize {
        self.first_reads + UNPROVEN + self.bridged.early_reads
    }

    /// Where the wave ends that begins at a read: where it is full, where the program is let go, or
    /// where the proof is awaited.
    pub(super) fn wave_end(&self, from: usize) -> usize {
        let ends = [self.first_reads, self.early_reads(), self.reads.len()];
        let most = ends.into_iter().filter(|end| *end > from).min().unwrap_or(from);
        let rest = self.reads.get(from..most.min(self.reads.len())).unwrap_or_default();
        from + wave_length(rest)
    }

    /// How many requests fewer the reads are than if each were one of its own, but those that
    /// bridge gaps: those of a wave that lie side by side become one.
    pub(super) fn count_joined(&self) -> u64 {
        if self.counts_apart {
            return 0;
        }
        let (mut from, mut joined) = (0, 0);
        while from < self.reads.len() {
            let end = self.wave_end(from);
            let placed = self.reads[from..end].iter().filter_map(|read| {
                let place = self.files[read.file].place?.checked_add(read.extent.offset)?;
                Some(Extent { offset: place, bytes: read.extent.bytes })
            });
            joined += start::joined(&mut placed.collect::<Vec<_>>(), start::REQUEST_BYTES_MAX);
            from = end;
        }
        joined.saturating_sub(self.bridged.reads)
    }

    /// The paths of files of which something is brought in.
    pub(super) fn brought_in(&self) -> HashSet<&Path> {
        self.reads.iter().map(|read| self.files[read.file].path.as_path()).collect()
    }
}

/// How many of these reads are one wave, which is handed to the device at once.
fn wave_length(reads: &[PlannedRead]) -> usize {
    let mut fill = Fill::default();
    reads.iter().take_while(|read| fill.add(read.extent.bytes)).count()
}

/// What is read to bridge gaps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Bridged {
    pub(super) reads: u64,
    pub(super) bytes: u64,
    /// How many of the reads are made before the program has opened a file, beside those for which
    /// it is held back.
    pub(super) early_reads: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlannedRead {
    pub(super) file: usize,
    pub(super) extent: Extent,
    /// On the program's own time.
    pub(super) needed_ns: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads of as many files that lie side by side, in the order of these places.
    fn plan(places: impl Iterator<Item = u64>) -> Plan {
        let files = places.map(|place| PlannedFile {
            path: PathBuf::from(format!("/{place}")),
            recorded: Recorded::default(),
            hoped: false,
            place: Some(place * 4096),
        });
        let files: Vec<PlannedFile> = files.collect();
        let extent = Extent { offset: 0, bytes: 4096 };
        let reads = (0..files.len()).map(|file| PlannedRead { file, extent, needed_ns: 0 });
        Plan { reads: reads.collect(), files, ..Plan::default() }
    }

    #[test]
    fn reads_are_joined_only_within_a_wave() {
        let count = 2 * UNPROVEN as u64;
        assert_eq!(plan(0..count).count_joined(), count - 2, "of two waves");
        // Each lies beside one of the other wave.
        let apart = plan((0..count).map(|at| 2 * (at % (count / 2)) + at / (count / 2)));
        assert_eq!(apart.count_joined(), 0);
        let held = Plan { first_reads: 10, ..plan(0..count) };
        assert_eq!((held.wave_end(0), held.wave_end(10)), (10, 10 + UNPROVEN));
        assert_eq!(held.wave_end(10 + UNPROVEN), count as usize);
        assert_eq!(held.count_joined(), count - 3);
        let apart = Plan { counts_apart: true, ..plan(0..count) };
        assert_eq!(apart.count_joined(), 0, "each counts by itself");
        assert_eq!(plan(0..0).count_joined(), 0);
    }
}
