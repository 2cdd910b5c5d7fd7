//! What a start is expected to wait for, and what to bring in beside it.

use super::Options;
use super::at_once;
use super::bridge::bridge;
use super::candidates::{Candidate, candidates};
use super::devices::{Devices, Known};
use super::examine::{self, Found};
use super::names::Names;
use super::plan::{Decision, Plan, PlannedFile, PlannedRead, Trial};
use super::sample::Place;
use super::whole;
use crate::profiles::Key;
use seekless_policy::foresight::start::{self, Device, Expected, Need, Wait};
use seekless_policy::layout::extents::Extent;
use seekless_sys::memory;
use seekless_trace::Profile;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Of a run whose processor time is not known, so much of the time is taken to be the program's.
const BUSY_SHARE: f64 = 0.5;
/// Reads under way at most. More would take the program's processor.
const READS_MAX: usize = 32;

/// A file that pays, were nothing of it cached, and the device that it lies on.
struct Paying<'a> {
    file: &'a Candidate,
    device: Device,
    /// The device's number.
    number: usize,
    hoped: bool,
    joins: bool,
}

impl<'a> Paying<'a> {
    fn of(file: &'a Candidate, number: usize, known: &Known) -> Option<Self> {
        let expect = |device: &Device| start::expect(&file.needs, file.bytes(), true, device);
        let alone = expect(&known.device);
        let hoped = known.hoped().filter(|device| !alone.pays() && expect(device).pays());
        if hoped.is_none() && !pays(file, &alone, known.joins) {
            return None;
        }
        let device = hoped.unwrap_or(known.device);
        Some(Self { file, device, number, hoped: hoped.is_some(), joins: known.joins })
    }
}

pub(super) fn decide(profile: Option<&Profile>, key: &Key, options: &Options) -> (Plan, Decision) {
    let mut decision = Decision { start: key.text().to_owned(), ..Decision::default() };
    let Some(profile) = profile else { return (Plan::default(), decision) };
    let candidates = candidates(profile, options);
    decision.runs = profile.runs.len() as u64;
    decision.files = candidates.len() as u64;
    decision.needed_bytes = candidates.iter().map(Candidate::needed_bytes).sum();
    let mut devices = Devices::new(options.costs);
    // Before any file is opened, which brings its name into memory.
    let seen = options.expects.then(|| whole::see(profile, &candidates, options, &mut devices));
    let mut paying: Vec<Paying<'_>> = Vec::new();
    for file in &candidates {
        let number = devices.of(&file.path);
        paying.extend(Paying::of(file, number, devices.known(number)));
    }
    let Some(slowest) = main_device(&candidates, &paying, &mut devices) else {
        return (Plan::default(), decision);
    };
    let device = devices.known(slowest).device;
    decision.tell(devices.known(slowest));
    decision.files_that_do_not_pay = (candidates.len() - paying.len()) as u64;
    paying.sort_by_key(|paying| std::cmp::Reverse(paying.file.needed_bytes()));
    let mut plan = plan(profile, &paying, (&devices, slowest), options, &mut decision);
    if decision.warms {
        plan.names = Names::of(profile, options, &mut devices);
    }
    if decision.warms && is_of_program(profile, key) {
        hold(&mut plan, &device, &mut decision);
    }
    if decision.warms {
        bridge_gaps(&mut plan, profile, &device, options);
    }
    if let Some(seen) = seen {
        seen.sum(&candidates, &plan, &devices, &mut decision);
    }
    (plan, decision)
}

/// The number of the device on which most files lie that pay, else the largest file.
fn main_device(
    candidates: &[Candidate],
    paying: &[Paying<'_>],
    devices: &mut Devices,
) -> Option<usize> {
    let mut files: BTreeMap<usize, usize> = BTreeMap::new();
    for paying in paying {
        *files.entry(paying.number).or_default() += 1;
    }
    let most = files.into_iter().max_by_key(|(_, files)| *files);
    let largest = || candidates.iter().max_by_key(|file| file.needed_bytes());
    most.map(|(number, _)| number).or_else(|| Some(devices.of(&largest()?.path)))
}

fn plan(
    profile: &Profile,
    paying: &[Paying<'_>],
    (devices, slowest): (&Devices, usize),
    options: &Options,
    decision: &mut Decision,
) -> Plan {
    let files: Vec<&Candidate> = paying.iter().map(|paying| paying.file).collect();
    let found = found(paying, &options.within);
    let mut sums = [[Wait::default(); 2]; 2];
    let Known { device, joins, .. } = devices.known(slowest);
    let mut plan = Plan { counts_apart: !joins, ..Plan::default() };
    let mut numbers = Vec::new();
    let scale = own_share(profile);
    let (mut looked_at, mut changed) = (0_u64, 0_u64);
    for (paying, found) in paying.iter().zip(&found) {
        let file = paying.file;
        looked_at += if found.is_some() { file.needed_bytes() } else { 0 };
        let needs = match found {
            Some(Found::LeftOut(why)) => {
                changed += file.needed_bytes();
                *decision.left_out.entry(*why).or_default() += 1;
                continue;
            }
            Some(Found::Missing { needs, cached_bytes }) => {
                decision.cached_bytes += cached_bytes;
                needs
            }
            None => &file.needs,
        };
        if needs.is_empty() {
            continue;
        }
        let expected = start::expect(needs, file.bytes(), found.is_none(), &paying.device);
        if !pays(file, &expected, paying.joins) {
            continue;
        }
        let [plain, warmed] = &mut sums[usize::from(paying.hoped)];
        (*plain, *warmed) = (plain.and(expected.plain), warmed.and(expected.warmed));
        let number = plan.files.len();
        let (path, recorded) = (file.path.clone(), file.recorded);
        plan.files.push(PlannedFile { path, recorded, hoped: paying.hoped, place: file.place });
        numbers.push(paying.number);
        plan.reads.extend(expected.reads.iter().map(|&extent| PlannedRead {
            file: number,
            extent,
            needed_ns: (first_needed_ns(needs, extent) as f64 * scale) as u64,
        }));
    }
    decision.changed_share = changed as f64 / looked_at.max(1) as f64;
    let [[plain, warmed], hoped] = sums;
    decision.tries = start::worth(hoped[0], hoped[1]);
    let both = (plain.and(hoped[0]), warmed.and(hoped[1]));
    let (plain, warmed) = if decision.tries { both } else { (plain, warmed) };
    let tries = decision.tries;
    plan.reads.retain(|read| tries || !plan.files[read.file].hoped);
    plan.reads.sort_by_key(|read| read.needed_ns);
    keep_to_budget(&mut plan.reads, options.budget_bytes);
    plan.joined = plan.count_joined();
    let warmed = warmed.without(plan.joined, device.costs.depth, &device.costs);
    (decision.plain, decision.warmed) = (plain.into(), warmed.into());
    decision.warms = start::worth(plain, warmed);
    if !decision.warms {
        decision.tries = false;
        let little = plain.seconds < start::WORTH_S && decision.left_out.is_empty();
        let cached = if little { cached(&files, &found) } else { Vec::new() };
        return Plan { cached, is_settled: little, ..Plan::default() };
    }
    plan.trial = trial(&plan, &numbers, devices).filter(|_| tries);
    let depths = plan.reads.iter().map(|read| devices.known(numbers[read.file]).device.costs.depth);
    plan.at_once = (depths.max().unwrap_or(1) as usize).clamp(2, READS_MAX);
    plan.expected = expected_touches(profile);
    plan.within.clone_from(&options.within);
    plan
}

/// Has the plan read through small gaps, unless the bytes or folders are limited, the reads are a
/// trial of the device, or it counts them before they are joined.
fn bridge_gaps(plan: &mut Plan, profile: &Profile, device: &Device, options: &Options) {
    let is_limited = options.budget_bytes.is_some() || !options.within.is_empty();
    if plan.trial.is_none() && !is_limited && !plan.counts_apart && options.hidden.is_none() {
        let gap_bytes = device.costs.gap_bytes() / u64::from(device.costs.depth.max(1));
        bridge(plan, &profile.between, gap_bytes);
        plan.joined = plan.count_joined();
    }
}

/// Whether to bring a file in. Where its place is known, its reads may be joined with others', if
/// the device joins them.
fn pays(file: &Candidate, expected: &Expected, joins: bool) -> bool {
    expected.pays() || (joins && file.place.is_some() && expected.pays_joined())
}

/// What is found of the files, each device's by themselves: one may be cached, another not.
fn found(paying: &[Paying<'_>], within: &[PathBuf]) -> Vec<Option<Found>> {
    let mut places: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (place, paying) in paying.iter().enumerate() {
        places.entry(paying.number).or_default().push(place);
    }
    let mut found: Vec<Option<Found>> = paying.iter().map(|_| None).collect();
    for places in places.into_values() {
        let files: Vec<&Candidate> = places.iter().map(|place| paying[*place].file).collect();
        for (place, of_file) in places.into_iter().zip(examine::examine(&files, within)) {
            found[place] = of_file;
        }
    }
    found
}

/// The needs that are cached.
fn cached(files: &[&Candidate], found: &[Option<Found>]) -> Vec<Place> {
    let mut places = Vec::new();
    for (file, found) in files.iter().zip(found) {
        let Some(Found::Missing { needs, .. }) = found else { continue };
        let cached = file.needs.iter().filter(|need| !needs.contains(need));
        places.extend(cached.map(|need| Place {
            path: file.path.clone(),
            recorded: file.recorded,
            extent: need.extent,
        }));
    }
    places
}

/// The first small reads on the device with the most untested reads; they test how many it serves
/// at once.
fn trial(plan: &Plan, numbers: &[usize], devices: &Devices) -> Option<Trial> {
    let mut reads: BTreeMap<usize, usize> = BTreeMap::new();
    for read in plan.reads.iter().filter(|read| plan.files[read.file].hoped) {
        *reads.entry(numbers[read.file]).or_default() += 1;
    }
    let (number, _) = reads.into_iter().max_by_key(|(_, reads)| *reads)?;
    let shows = |read: &PlannedRead| {
        numbers[read.file] == number && read.extent.bytes <= at_once::READ_BYTES_MAX
    };
    let places = plan.reads.iter().enumerate().filter(|(_, read)| shows(read));
    let count = at_once::ALONE + at_once::TOGETHER_MAX;
    let reads: Vec<usize> = places.map(|(place, _)| place).take(count).collect();
    let device = devices.known(number).untried.clone()?;
    (reads.len() >= at_once::ALONE + at_once::TOGETHER_MIN).then_some(Trial { device, reads })
}

/// How much of a run's time is the program's own, rather than waiting.
fn own_share(profile: &Profile) -> f64 {
    let newest = profile.runs.last();
    let share = newest.and_then(|run| Some(run.cpu_ns? as f64 / run.info.duration_ns? as f64));
    share.filter(|share| share.is_finite()).map_or(BUSY_SHARE, |share| share.clamp(0.0, 1.0))
}

fn first_needed_ns(needs: &[Need], read: Extent) -> u64 {
    let inside = needs.iter().filter(|need| read.covers(need.extent));
    inside.map(|need| need.time_ns).min().unwrap_or(0)
}

/// Leaves what is needed first, as far as the budget goes: half of the free memory if none is
/// given.
fn keep_to_budget(reads: &mut Vec<PlannedRead>, budget_bytes: Option<u64>) {
    let free = || memory::free_bytes().map_or(u64::MAX, |bytes| bytes / 2);
    let mut left = budget_bytes.unwrap_or_else(free);
    reads.retain(|read| {
        let fits = read.extent.bytes <= left;
        left -= if fits { read.extent.bytes } else { 0 };
        fits
    });
}

/// Whether a profile was learned from starts of the same program. Another's may be wrong, and then
/// waiting for it is lost.
fn is_of_program(profile: &Profile, key: &Key) -> bool {
    let program = |text: &str| text.split(' ').next().map(str::to_owned);
    program(&profile.key) == program(key.text())
}

/// How long to hold the program back, and how many reads that is.
fn hold(plan: &mut Plan, device: &Device, decision: &mut Decision) {
    let takes_ns = |read: &PlannedRead| {
        let requests = read.extent.bytes.div_ceil(start::REQUEST_BYTES_MAX);
        (Wait::of(requests, read.extent.bytes, device.costs.depth, &device.costs).seconds * 1e9)
            as u64
    };
    // What is joined takes no time of its own.
    let own = 1.0 - plan.joined as f64 / plan.reads.len().max(1) as f64;
    let takes_ns = |read: &PlannedRead| (takes_ns(read) as f64 * own) as u64;
    let times = || plan.reads.iter().map(|read| (takes_ns(read), read.needed_ns));
    let saved_ns = ((decision.plain.seconds - decision.warmed.seconds) * 1e9) as u64;
    let held_ns = start::head_start_ns(times()).min(saved_ns);
    let mut sum_ns = 0_u64;
    let before = times().take_while(|(takes_ns, _)| {
        sum_ns += takes_ns;
        sum_ns <= held_ns
    });
    plan.first_reads = before.count();
    // A wave ends there.
    plan.joined = plan.count_joined();
    decision.head_start_s = held_ns as f64 / 1e9;
}

fn expected_touches(profile: &Profile) -> Vec<(String, Vec<Extent>)> {
    let mut all: Vec<(String, Vec<Extent>)> =
        profile.files.iter().map(|file| (file.name.clone(), Vec::new())).collect();
    for need in profile.runs.iter().flat_map(|run| &run.needs) {
        if let Some((_, extents)) = all.get_mut(need.file as usize) {
            extents.push(Extent { offset: need.offset, bytes: need.bytes });
        }
    }
    all
}
