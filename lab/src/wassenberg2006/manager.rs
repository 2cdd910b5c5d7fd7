//! Section 4.5: the cost of the cache manager itself, for each way to keep Landlord's credits.
//!
//! The paper says neither how many files its cache had nor whether it was full. That decides: in a
//! full cache each addition evicts as well, and in one that has room only evictions do.

use crate::data::ZeroAd;
use anyhow::ensure;
use seekless::policy::eviction::{Eviction, Id, Outcome, Pool, Request, Visitor, visit};
use seekless::policy::sample::{Draws, Members};
use seekless::report::table;
use seekless::trace::FileList;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::time::Duration;

const SEED: u64 = 2006;
/// The paper's share of additions, and a share at which it expects the lazy variant to be far
/// ahead.
const ADDITIONS: [f64; 2] = [0.7, 0.3];

/// The paper's result for each variant, in percent: faster than naive, and faster than the same
/// without reciprocal.
const VARIANTS: [(&str, Option<f64>, Option<f64>); 7] = [
    ("landlord@naive", Some(0.0), None),
    ("landlord@naive-reciprocal", Some(-1.4), Some(-1.4)),
    ("landlord@cached", Some(21.0), None),
    ("landlord@cached-reciprocal", None, Some(-0.6)),
    ("landlord@lazy", Some(19.0), None),
    ("landlord@lazy-reciprocal", None, Some(0.8)),
    ("landlord", None, None),
];

/// The size of the measurement.
pub(crate) struct Scale {
    pub(crate) files: usize,
    pub(crate) operations: usize,
    pub(crate) rounds: usize,
}

/// How much of the files fits in the cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Room {
    /// Half of their bytes: it is full at the start, and an addition evicts.
    Half,
    /// All of them, half of which are in the cache at the start: no addition evicts.
    All,
}

/// One variant at one share of additions.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    policy: &'static str,
    room: Room,
    additions: f64,
    files: usize,
    /// Median of the rounds.
    ns_per_operation: f64,
    /// The time of naive divided by the time of this variant, less 1, in percent.
    faster_than_naive: f64,
    paper: Option<f64>,
    /// The same against the variant that divides.
    reciprocal_faster: Option<f64>,
    paper_reciprocal: Option<f64>,
}

/// By how many percent a variant is faster than naive in a cache with room.
pub(super) fn faster(rows: &[Row], policy: &str, additions: f64) -> f64 {
    let is = |row: &&Row| {
        row.policy == policy && row.room == Room::All && (row.additions - additions).abs() < 1e-9
    };
    rows.iter().find(is).map_or(f64::NAN, |row| row.faster_than_naive)
}

/// Nanoseconds of an operation, by share of additions and variant.
pub(crate) fn costs(rows: &[Row]) -> Table {
    let title = "Processor time of an operation of the cache manager, by variant of Landlord";
    let mut table = Table::new("manager", title, "additions, cache", "ns", Better::Lower)
        .contenders([Contender::ours("landlord")]);
    for row in rows {
        table.measured.conditions =
            format!("{} files; the paper's variants are rivals.", row.files);
        let case = format!("{:.0} %, {}", 100.0 * row.additions, row.room.words());
        table.set(&case, row.policy, Figure::exact(row.ns_per_operation));
    }
    table
}

/// Files, and a sequence of operations on them. All variants have the same.
struct Script {
    bytes: Vec<u64>,
    room: Room,
    capacity: u64,
    additions: f64,
    adds: Vec<bool>,
}

pub(crate) fn measure(zero_ad: &ZeroAd, scale: &Scale) -> anyhow::Result<Vec<Row>> {
    let bytes = sizes(zero_ad, scale.files)?;
    let mut rows = Vec::new();
    for (room, operations) in [
        (Room::Half, scale.operations),
        // Few, since the files outside would run out, or those inside.
        (Room::All, scale.operations.min(scale.files / 2)),
    ] {
        for additions in ADDITIONS {
            let script = Script::new(&bytes, room, additions, operations);
            let times = alternate(&script, scale.rounds)?;
            rows.extend((0..VARIANTS.len()).map(|variant| row(variant, &times, &script)));
        }
    }
    Ok(rows)
}

/// Sizes of `count` files of the game, each drawn once.
fn sizes(zero_ad: &ZeroAd, count: usize) -> anyhow::Result<Vec<u64>> {
    let mut bytes: Vec<u64> = FileList::read(&zero_ad.files)?
        .bytes
        .into_iter()
        .flatten()
        .filter(|&bytes| bytes > 0)
        .collect();
    ensure!(bytes.len() >= count, "{} lists fewer than {count} files", zero_ad.files.display());
    let mut draws = Draws::new(SEED);
    for place in 0..count {
        let other = place + draws.below(bytes.len() - place);
        bytes.swap(place, other);
    }
    bytes.truncate(count);
    Ok(bytes)
}

impl Script {
    fn new(bytes: &[u64], room: Room, additions: f64, operations: usize) -> Self {
        let mut draws = Draws::new(SEED + 1);
        let adds =
            (0..operations).map(|_| (draws.below(1000) as f64) < additions * 1000.0).collect();
        let all = bytes.iter().sum::<u64>();
        let capacity = if room == Room::Half { all / 2 } else { all };
        Self { bytes: bytes.to_vec(), room, capacity, additions, adds }
    }

    /// Additions before the clock starts. A full cache takes as many as there are files to be full
    /// surely.
    fn beforehand(&self) -> usize {
        if self.room == Room::Half { self.bytes.len() } else { self.bytes.len() / 2 }
    }
}

/// Times of each variant, round by round. Each round begins with another variant, and the first
/// round is discarded.
fn alternate(script: &Script, rounds: usize) -> anyhow::Result<Vec<Vec<Duration>>> {
    let mut times = vec![Vec::new(); VARIANTS.len()];
    for turn in 0..VARIANTS.len() * (rounds + 1) {
        let round = turn / VARIANTS.len();
        let variant = (turn + round) % VARIANTS.len();
        let time = visit(VARIANTS[variant].0, script.capacity, Play(script))?;
        if round > 0 {
            times[variant].push(time);
        }
    }
    Ok(times)
}

/// Runs the script once the type of the policy is known.
struct Play<'a>(&'a Script);

impl Visitor for Play<'_> {
    type Output = Duration;

    fn visit<E: Eviction + Send + 'static>(self, mut policy: E) -> Duration {
        let files = self.0.bytes.len() as u32;
        policy.grow(files);
        let mut outside = Outside(Members::new());
        outside.0.grow(files);
        (0..files).for_each(|id| outside.0.insert(id));
        let mut draws = Draws::new(SEED + 2);
        for _ in 0..self.0.beforehand() {
            add(&mut policy, &mut outside, &mut draws, self.0);
        }
        let start = processor_time();
        for &adds in &self.0.adds {
            if adds {
                add(&mut policy, &mut outside, &mut draws, self.0);
            } else {
                policy.evict_one(&mut outside);
            }
        }
        processor_time() - start
    }
}

/// The processor time of this thread, which other programs do not affect.
fn processor_time() -> Duration {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// The files that are not in the cache.
struct Outside(Members);

impl Pool for Outside {
    fn evict(&mut self, victim: Id) {
        self.0.insert(victim);
    }

    fn forget(&mut self, _id: Id) {}
}

/// Adds a file that is not in the cache.
fn add<E: Eviction>(policy: &mut E, outside: &mut Outside, draws: &mut Draws, script: &Script) {
    let Some(id) = draws.pick(outside.0.ids()) else { return };
    outside.0.remove(id);
    if policy.request(&Request::file(id, script.bytes[id as usize]), outside) == Outcome::Bypassed {
        outside.0.insert(id);
    }
}

fn row(variant: usize, times: &[Vec<Duration>], script: &Script) -> Row {
    let (policy, paper, paper_reciprocal) = VARIANTS[variant];
    let additions = script.additions;
    let ns = |variant: usize| {
        median(&times[variant]).as_nanos().max(1) as f64 / script.adds.len().max(1) as f64
    };
    let faster_than = |other: usize| (ns(other) / ns(variant) - 1.0) * 100.0;
    Row {
        policy,
        room: script.room,
        additions,
        files: script.bytes.len(),
        ns_per_operation: ns(variant),
        faster_than_naive: faster_than(0),
        paper: paper.filter(|_| additions == ADDITIONS[0]),
        reciprocal_faster: policy.ends_with("reciprocal").then(|| faster_than(variant - 1)),
        paper_reciprocal: paper_reciprocal.filter(|_| additions == ADDITIONS[0]),
    }
}

fn median(times: &[Duration]) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

pub(crate) fn words(rows: &[Row]) -> String {
    let header = [
        "additions",
        "the cache",
        "policy",
        "ns per operation",
        "faster than naive",
        "paper",
        "reciprocal",
        "paper",
    ];
    let or_none = |percent: Option<f64>| percent.map_or_else(|| "-".to_owned(), signed);
    let cells = rows.iter().map(|row| {
        vec![
            format!("{:.0} %", row.additions * 100.0),
            row.room.words().to_owned(),
            row.policy.to_owned(),
            format!("{:.0}", row.ns_per_operation),
            or_none(Some(row.faster_than_naive)),
            or_none(row.paper),
            or_none(row.reciprocal_faster),
            or_none(row.paper_reciprocal),
        ]
    });
    format!(
        "Cache manager (4.5): additions of files that are not there, else evictions, at random; {} files with sizes of 0 A.D.;\n\
         processor time, in which choosing the file is too. Faster: the other's time over this one, less 1. `landlord` is ours:\n\
         exact, O(log n). Full: half of the files' bytes fit, so an addition evicts; with room: all fit, half of them are there\n\
         at the start, and no addition evicts. The paper does not say which it measured.\n\n{}\n\
         Naive and cached go through all files at each eviction, lazy at an addition that follows one, when it builds its\n\
         queue anew as well. With room lazy gains more, the fewer additions there are, as the paper expects. In a full cache\n\
         it is the other way round: with 70 % additions nearly each evicts, and with 30 % the cache runs empty, which leaves\n\
         lazy little to save.\n",
        rows.first().map_or(0, |row| row.files),
        table(&header, cells.collect())
    )
}

impl Room {
    fn words(self) -> &'static str {
        match self {
            Self::Half => "full",
            Self::All => "with room",
        }
    }
}

/// `+21.0 %`; from ten times as fast on, `526×`.
fn signed(percent: f64) -> String {
    if percent < 900.0 {
        format!("{percent:+.1} %")
    } else {
        format!("{:.0}×", percent / 100.0 + 1.0)
    }
}
