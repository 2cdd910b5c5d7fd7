//! The wait of the newest run if nothing is cached: alone, and with what the others needed brought
//! in beside it.

use crate::advise::advice::{Cause, Part};
use crate::advise::readahead::{LINUX_BYTES, by_file, bytes_of, need};
use crate::advise::searches::Search;
use seekless_device::Costs;
use seekless_policy::foresight::start::{self, Device, Need, Wait, by_most};
use seekless_policy::layout::extents::Extent;
use seekless_trace::Needs;
use std::collections::BTreeMap;

/// A file is small if one window of the readahead holds it.
const SMALL_BYTES: u64 = 128 << 10;

/// The wait for one file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfFile {
    pub(super) plain: Wait,
    pub(super) first_ns: u64,
}

/// What the newest run waits.
#[derive(Clone, Debug, Default)]
pub(super) struct Estimate {
    /// By file.
    pub(super) files: BTreeMap<u32, OfFile>,
    /// By cause.
    pub(super) parts: BTreeMap<Cause, Part>,
    /// Alone.
    pub(super) plain: Wait,
    /// With help: what is brought in, and what the run waits for alone since no other needed it.
    pub(super) helped: Wait,
    /// Whether help is worth a process beside the program.
    pub(super) is_worth_it: bool,
}

impl Estimate {
    pub(super) fn new(needs: &Needs, costs: Costs, searches: &[Search]) -> Self {
        let device = Device { costs, readahead_bytes: LINUX_BYTES };
        let runs: Vec<Vec<Need>> =
            needs.runs.iter().map(|run| run.iter().map(need).collect()).collect();
        let Some((newest, others)) = runs.split_last() else { return Self::default() };
        let makers: Vec<&[Need]> = match others {
            [] => vec![newest],
            others => others.iter().map(Vec::as_slice).collect(),
        };
        let mut found = Self::default();
        for (file, needed) in by_file(newest.iter().copied()) {
            found.add(file, &needed, bytes_of(needs, file, &needed), &device);
        }
        let brought = by_file(by_most(&makers).into_iter());
        found.search(searches, &costs);
        found.help(needs, &by_file(newest.iter().copied()), &brought, &device);
        found
    }

    /// Adds what the run waits for a file alone.
    fn add(&mut self, file: u32, needed: &[Need], file_bytes: u64, device: &Device) {
        let expected = start::expect(needed, file_bytes, true, device);
        let name = Wait::of(1, 0, 1, &device.costs);
        let data = expected.plain.without(1, 1, &device.costs);
        let cause = match needed.iter().all(|need| need.mapped) {
            true => Cause::Mapped,
            false if file_bytes <= SMALL_BYTES => Cause::SmallFiles,
            false => Cause::LargeFiles,
        };
        for (cause, wait) in [(Cause::Names, name), (cause, data)] {
            let fresh = Part { cause, wait_s: 0.0, calls: 0, bytes: 0 };
            let part = self.parts.entry(cause).or_insert(fresh);
            part.wait_s += wait.seconds;
            part.calls += wait.requests;
            part.bytes += wait.bytes;
        }
        let first_ns = needed.iter().map(|need| need.time_ns).min().unwrap_or(0);
        self.files.insert(file, OfFile { plain: expected.plain, first_ns });
        self.plain = self.plain.and(expected.plain);
    }

    /// Adds what the run waits for names that it looks for in vain, with help as without: only a
    /// shorter search path saves them for certain.
    fn search(&mut self, searches: &[Search], costs: &Costs) {
        let requests = searches.iter().map(|search| search.requests).sum();
        let wait = Wait::of(requests, 0, 1, costs);
        if requests > 0 {
            let cause = Cause::MissingNames;
            let part = Part { cause, wait_s: wait.seconds, calls: wait.requests, bytes: 0 };
            self.parts.insert(cause, part);
        }
        self.plain = self.plain.and(wait);
        self.helped = self.helped.and(wait);
    }

    /// Files that pay are brought in; of these the run waits alone for what was not.
    fn help(
        &mut self,
        needs: &Needs,
        newest: &BTreeMap<u32, Vec<Need>>,
        brought: &BTreeMap<u32, Vec<Need>>,
        device: &Device,
    ) {
        let mut paid = Wait::default();
        for (&file, wanted) in brought {
            let file_bytes = bytes_of(needs, file, wanted);
            let expected = start::expect(wanted, file_bytes, true, device);
            if !expected.pays() {
                continue;
            }
            paid = paid.and(expected.plain);
            self.helped = self.helped.and(expected.warmed);
            let Some(needed) = newest.get(&file) else { continue };
            let is_missed =
                |need: &&Need| !expected.reads.iter().any(|read| holds(*read, need.extent));
            let missed: Vec<Need> = needed.iter().filter(is_missed).copied().collect();
            self.helped = self.helped.and(start::expect(&missed, file_bytes, false, device).plain);
        }
        let is_brought = |file: &u32| {
            brought.get(file).is_some_and(|wanted| {
                start::expect(wanted, bytes_of(needs, *file, wanted), true, device).pays()
            })
        };
        let alone = self.files.iter().filter(|(file, _)| !is_brought(file)).map(|(_, it)| it.plain);
        let alone = alone.fold(Wait::default(), Wait::and);
        self.is_worth_it = start::worth(paid, self.helped);
        self.helped = self.helped.and(alone);
    }
}

fn holds(read: Extent, need: Extent) -> bool {
    read.offset <= need.offset
        && need.offset.saturating_add(need.bytes) <= read.offset.saturating_add(read.bytes)
}
