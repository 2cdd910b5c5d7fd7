//! What Landlord costs for each request, beside the naive algorithm that visits every file at each
//! eviction. Both hold exact credits, so both must name the same victims, one by one.

mod naive;

use crate::clock::timed;
use crate::rounds::{load_average, median};
use anyhow::{Context, ensure};
use naive::Naive;
use seekless::policy::eviction::{Eviction, Id, Landlord, Outcome, Pool, Request, Visitor, visit};
use seekless::policy::sample::Draws;
use seekless::report::table;
use seekless::trace::FileList;
use seekless_results::{Better, Contender, Figure, Table, data_folder, number};
use std::path::PathBuf;

const SEED: u64 = 2006;

/// The exponent of Zipf's law by which files are requested.
const EXPONENT: f64 = 0.8;

/// The paper's own algorithm in floating point. Files without credit leave together, so it names
/// other victims.
const PUBLISHED: &str = "landlord@naive";

/// Options of the measurement.
#[derive(clap::Args, Debug)]
pub(crate) struct Args {
    /// Files.
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2..))]
    files: u32,
    /// Requests of a round, after as many that fill the cache.
    #[arg(long, default_value_t = 20_000)]
    requests: usize,
    /// Timed rounds, after one that is discarded.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
    /// The files whose sizes are taken, as CSV [default: those of 0 A.D. in ../shared/data].
    #[arg(long, value_name = "LIST")]
    sizes: Option<PathBuf>,
}

/// The files, and what is asked of a cache that holds half of their bytes.
struct Script {
    bytes: Vec<u64>,
    capacity: u64,
    requests: Vec<Id>,
    /// Of these, requests that only fill the cache.
    fill: usize,
}

/// What a policy did, beside its time.
#[derive(Default, PartialEq, Eq)]
struct Answer {
    hits: u64,
    victims: Vec<Id>,
}

/// Plays the script: what the policy did, and the processor seconds that it took.
type Rival = fn(&Script) -> anyhow::Result<(Answer, f64)>;

pub(crate) fn run(args: &Args) -> anyhow::Result<Vec<Table>> {
    ensure!(args.rounds > 0 && args.requests > 0, "--rounds, --requests: at least 1");
    let before = load_average();
    let script = Script::new(args)?;
    let rivals: [(&str, Rival); 3] = [
        ("landlord", |script| Ok(played(Landlord::new(script.capacity), script))),
        ("naive, exact", |script| Ok(played(Naive::new(script.capacity), script))),
        (PUBLISHED, |script| Ok(visit(PUBLISHED, script.capacity, Play(script))?)),
    ];
    let (mut seconds, mut hits) = (vec![Vec::new(); rivals.len()], [0; 3]);
    for round in 0..=args.rounds {
        let mut answers = Vec::new();
        for (at, (_, rival)) in rivals.iter().enumerate() {
            let (answer, took) = rival(&script)?;
            if round > 0 {
                seconds[at].push(took);
            }
            hits[at] = answer.hits;
            answers.push(answer);
        }
        ensure!(answers[0] == answers[1], "landlord and the naive algorithm name other victims");
    }
    let table_of_ns = costs(args, &rivals.map(|(name, _)| name), &seconds);
    let medians: Vec<f64> = seconds.iter_mut().map(|seconds| median(seconds)).collect();
    let rows = (0..rivals.len()).map(|at| {
        vec![
            rivals[at].0.to_owned(),
            format!("{:.0}", medians[at] * 1e9 / args.requests as f64),
            format!("1/{:.0}", medians[1] / medians[at]),
            format!("{:.1} %", 100.0 * hits[at] as f64 / args.requests as f64),
        ]
    });
    println!(
        "{}\n{} files with sizes of 0 A.D., of whose bytes half fit; {} requests by Zipf's law ({EXPONENT}) to a full cache;\n\
         processor time, medians of {} rounds in turn, after one discarded. The first two named the same victims one by\n\
         one; {PUBLISHED} has floating-point credits and lets files without credit leave together. Load average {before}\n\
         before and {} after.",
        table(&["policy", "ns a request", "of naive", "hits"], rows.collect()),
        args.files,
        args.requests,
        args.rounds,
        load_average()
    );
    Ok(vec![table_of_ns])
}

/// Nanoseconds of a request, by policy.
fn costs(args: &Args, names: &[&str], seconds: &[Vec<f64>]) -> Table {
    let title = "Processor time of a request to Landlord";
    let mut table = Table::new("ns", title, "files", "ns", Better::Lower)
        .contenders([Contender::ours("landlord")])
        .under(
            "Sizes of 0 A.D.; half of the bytes fit; ours and the naive exact algorithm name the \
             same victims. landlord@naive is the paper's own.",
        );
    let files = number(f64::from(args.files), None);
    for (name, seconds) in names.iter().zip(seconds) {
        let rounds: Vec<f64> =
            seconds.iter().map(|seconds| seconds * 1e9 / args.requests as f64).collect();
        table.set(&files, name, Figure::of_rounds(&rounds));
    }
    table
}

impl Script {
    fn new(args: &Args) -> anyhow::Result<Self> {
        let mut draws = Draws::new(SEED);
        let bytes = sizes(args, &mut draws)?;
        let files = bytes.len();
        let weights = (1..=files).map(|rank| (rank as f64).powf(-EXPONENT));
        let mut ends: Vec<f64> = weights
            .scan(0.0, |sum, weight| {
                *sum += weight;
                Some(*sum)
            })
            .collect();
        let all = ends.last().copied().unwrap_or(1.0);
        ends.iter_mut().for_each(|end| *end /= all);
        let mut drawn = || {
            let draw = draws.below(1 << 30) as f64 / f64::from(1 << 30);
            ends.partition_point(|&end| end <= draw).min(files - 1) as Id
        };
        let requests = (0..2 * args.requests).map(|_| drawn()).collect();
        let capacity = bytes.iter().sum::<u64>() / 2;
        Ok(Self { bytes, capacity, requests, fill: args.requests })
    }

    fn play<E: Eviction>(&self, policy: &mut E, requests: &[Id], answer: &mut Answer) {
        for &id in requests {
            let request = Request::file(id, self.bytes[id as usize]);
            let outcome = policy.request(&request, &mut Victims(&mut answer.victims));
            answer.hits += u64::from(outcome == Outcome::Hit);
        }
    }
}

/// Sizes of this many files, each of another file of the list.
fn sizes(args: &Args, draws: &mut Draws) -> anyhow::Result<Vec<u64>> {
    let beside = || data_folder(None).join("0ad/files.csv.gz");
    let list = args.sizes.clone().unwrap_or_else(beside);
    let mut bytes: Vec<u64> = FileList::read(&list)
        .with_context(|| format!("cannot read {}; name a list with --sizes", list.display()))?
        .bytes
        .into_iter()
        .flatten()
        .filter(|&bytes| bytes > 0)
        .collect();
    let count = args.files as usize;
    ensure!(bytes.len() >= count, "{} lists fewer than {count} files", list.display());
    for place in 0..count {
        let other = place + draws.below(bytes.len() - place);
        bytes.swap(place, other);
    }
    bytes.truncate(count);
    Ok(bytes)
}

/// What the policy did with the requests that are timed, and the processor seconds that it took.
fn played<E: Eviction>(mut policy: E, script: &Script) -> (Answer, f64) {
    policy.grow(script.bytes.len() as u32);
    let (fill, rest) = script.requests.split_at(script.fill);
    script.play(&mut policy, fill, &mut Answer::default());
    let mut answer = Answer::default();
    answer.victims.reserve(rest.len());
    let ((), took) = timed(|| script.play(&mut policy, rest, &mut answer));
    (answer, took)
}

/// Plays the script once the type of the policy is known.
struct Play<'a>(&'a Script);

impl Visitor for Play<'_> {
    type Output = (Answer, f64);

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        played(policy, self.0)
    }
}

struct Victims<'a>(&'a mut Vec<Id>);

impl Pool for Victims<'_> {
    fn evict(&mut self, victim: Id) {
        self.0.push(victim);
    }

    fn forget(&mut self, _id: Id) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_naive_algorithm_and_ours_name_the_same_victims() {
        let mut draws = Draws::new(1);
        let bytes: Vec<u64> = (0..60).map(|_| 1 + draws.below(5_000) as u64).collect();
        let requests: Vec<Id> = (0..8_000).map(|_| draws.below(60) as Id).collect();
        let capacity = bytes.iter().sum::<u64>() / 3;
        let script = Script { bytes, capacity, requests, fill: 1_000 };
        let (ours, _) = played(Landlord::new(capacity), &script);
        let (naive, _) = played(Naive::new(capacity), &script);
        assert!(ours.hits > 500 && ours.victims.len() > 500);
        assert!(ours == naive);
    }
}
