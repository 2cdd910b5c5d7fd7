//! His Time column: the post-cache trace of each policy, played on a real file or device as his
//! player does, and on three device models. Time stands beside misses, and beside his times.

mod experiments;
mod player;
mod published;
mod regression;
mod shape;
mod words;

use super::sqlite::published::POLICIES;
use super::sqlite::ranks::{kendall, spearman};
use crate::{output, scratch};
use anyhow::{Result, ensure};
use experiments::Experiment;
use player::{Model, Player};
use regression::Regression;
use seekless::measure::replay::Io;
use seekless::sim::post_cache::{self, Format};
use seekless::sim::{Case, Options, Requests};
use seekless_terminal::progress;
use serde::Serialize;
use shape::{Line, Shape};
use std::path::{Path, PathBuf};

/// Options of the replay.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct ReplayArgs {
    /// Plays the post-cache traces of all policies on a file, as his player, and on device models:
    /// test 3, test 4 with --trace, tests 1 and 2 with --builds, tests 5 to 16 with --sqlite.
    #[arg(long, conflicts_with = "picture")]
    pub(super) replay: bool,
    /// Plays on this unmounted block device, whose data is destroyed, and not on a file.
    #[arg(long, value_name = "DEVICE", requires = "replay")]
    destroy_data: Option<PathBuf>,
    /// Folder on the disk to measure, for the file, which is removed at the end.
    #[arg(long, value_name = "DIR", requires = "replay", default_value = "/var/tmp")]
    on: PathBuf,
    /// The size of the file, or the part of the device, in MiB. Pages lie in it modulo its size.
    #[arg(long, value_name = "MIB", requires = "replay", default_value_t = 2048,
          value_parser = clap::value_parser!(u64).range(16..=1 << 20))]
    target: u64,
    /// Rounds, in which the policies take turns; the shortest counts, as his.
    #[arg(long, value_name = "N", requires = "replay", default_value_t = 3,
          value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
    /// Plays only N I/Os of each trace, in stretches of 4,096 spread over all of it; times are
    /// scaled to the whole trace.
    #[arg(long, value_name = "N", requires = "replay",
          value_parser = clap::value_parser!(u64).range(1..))]
    ios: Option<u64>,
}

/// A test that is to be played.
pub(super) struct Played<'a> {
    pub(super) number: u32,
    pub(super) workload: String,
    pub(super) pages: u64,
    /// As his simulator saw it, for his versions of the policies.
    pub(super) published: &'a Requests,
    /// For the policies of the papers: each use of a page once, where the two differ.
    pub(super) corrected: &'a Requests,
}

/// All figures.
#[derive(Serialize)]
pub(super) struct Figures {
    target: String,
    engine: String,
    rounds: u32,
    load_average: String,
    tests: Vec<TestFigures>,
    regressions: Vec<Regression>,
    experiments: Vec<Experiment>,
}

/// One test: his versions of the policies, then those of the papers.
#[derive(Serialize)]
struct TestFigures {
    test: u32,
    workload: String,
    pages: u64,
    published: Vec<Row>,
    corrected: Vec<Row>,
    ranks: Ranks,
    corrected_ranks: Ranks,
}

/// One policy.
#[derive(Clone, Debug, Serialize)]
struct Row {
    published_as: &'static str,
    policy: &'static str,
    reads: u64,
    writes: u64,
    dirty_at_end: u64,
    shape: Shape,
    /// The shortest round, scaled to the whole trace if only a part of it was played.
    seconds: f64,
    /// His, on a Samsung 850 EVO; of other traces than ours from test 5 on.
    his_seconds: Option<f64>,
    models: Vec<ModelTime>,
}

#[derive(Clone, Debug, Serialize)]
struct ModelTime {
    model: &'static str,
    seconds: f64,
    /// By how much it is off, as a share of the device's time.
    error: f64,
}

/// Rank correlations (Spearman; Kendall in the second place).
#[derive(Serialize)]
struct Ranks {
    /// Our time with reads plus writes.
    time_with_ios: [f64; 2],
    /// Our time with reads, writes and what is dirty at the end.
    time_with_all: [f64; 2],
    /// Our time with his.
    time_with_his: [f64; 2],
    /// His time with his reads; see the thesis's graphs.
    his_with_our_reads: [f64; 2],
}

/// The lab's state while tests come.
pub(super) struct Replaying<'a> {
    args: &'a ReplayArgs,
    player: Player,
    models: Vec<Model>,
    folder: PathBuf,
    tests: Vec<TestFigures>,
}

/// Plays what `tests` hands to it one by one.
pub(super) fn run(
    args: &ReplayArgs,
    json: bool,
    tests: impl FnOnce(&mut Replaying<'_>) -> Result<()>,
) -> Result<()> {
    ensure!(
        args.on.is_dir(),
        "{} is no folder; name one on the disk to measure with --on",
        args.on.display()
    );
    let figures = scratch::within(&args.on, "ozen2018", |folder| measure(args, folder, tests))?;
    if json { output::json(&figures) } else { output::text(&words::of(&figures)) }
}

fn measure(
    args: &ReplayArgs,
    folder: &Path,
    tests: impl FnOnce(&mut Replaying<'_>) -> Result<()>,
) -> Result<Figures> {
    let mut player = match &args.destroy_data {
        Some(device) => Player::on_device(device, args.target << 20)?,
        None => {
            let mut bar = progress("making the target");
            Player::on_file(&folder.join("target"), args.target << 20, &mut bar)?
        }
    };
    let models = player.models()?;
    let experiments = experiments::run(&mut player)?;
    let mut replaying =
        Replaying { args, player, models, folder: folder.to_path_buf(), tests: Vec::new() };
    tests(&mut replaying)?;
    let Replaying { player, mut tests, .. } = replaying;
    ensure!(!tests.is_empty(), "no test was played");
    tests.sort_by_key(|test| test.test);
    let both = [
        regression::of("as published", tests.iter().map(|test| &test.published[..])),
        regression::of("corrected", tests.iter().map(|test| &test.corrected[..])),
    ];
    Ok(Figures {
        target: player.name(),
        engine: player.engine().to_owned(),
        rounds: args.rounds,
        load_average: std::fs::read_to_string("/proc/loadavg").unwrap_or_default(),
        tests,
        regressions: both.into_iter().flatten().collect(),
        experiments,
    })
}

impl Replaying<'_> {
    /// A folder for files of the tests, removed at the end.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Plays the ten policies of a test, in both versions. The policies take turns in each round,
    /// so that a device whose pace drifts does not choose among them.
    pub(super) fn test(&mut self, test: &Played<'_>) -> Result<()> {
        let mut traces = self.traces(test)?;
        let mut bar = progress(format!("test {}, playing", test.number));
        let turns = u64::from(self.args.rounds) * traces.len() as u64;
        for turn in 0..turns {
            bar(turn, turns);
            let at = turn as usize % traces.len();
            let ios = self.player.within(&traces[at].lines);
            traces[at].seconds = traces[at].seconds.min(self.player.seconds(&ios)?);
        }
        let rows: Vec<Row> = traces.iter().map(|it| self.row(it)).collect::<Result<_>>()?;
        let his = published::seconds(test.number);
        let of = |is_corrected: bool| -> Vec<Row> {
            let his_policies =
                POLICIES.iter().zip(his).map(|(&(published_as, as_his, own), his)| {
                    let key = Key::of(test, if is_corrected { own } else { as_his }, is_corrected);
                    let at = traces.iter().position(|it| it.key == key).expect("each was played");
                    Row { published_as, his_seconds: finite(his), ..rows[at].clone() }
                });
            his_policies.collect()
        };
        let (published, corrected) = (of(false), of(true));
        self.tests.push(TestFigures {
            test: test.number,
            workload: test.workload.clone(),
            pages: test.pages,
            ranks: Ranks::of(&published),
            corrected_ranks: Ranks::of(&corrected),
            published,
            corrected,
        });
        Ok(())
    }

    /// What each policy lets through: each policy of each version once.
    fn traces(&self, test: &Played<'_>) -> Result<Vec<PostCache>> {
        let of = |is_corrected: bool| {
            POLICIES.iter().map(move |&(_, as_his, own)| {
                Key::of(test, if is_corrected { own } else { as_his }, is_corrected)
            })
        };
        let mut bar = progress(format!("test {}, simulating", test.number));
        let mut traces: Vec<PostCache> = Vec::new();
        for (done, key) in of(false).chain(of(true)).enumerate() {
            bar(done as u64, 2 * POLICIES.len() as u64);
            if traces.iter().all(|it| it.key != key) {
                traces.push(self.trace(test, key)?);
            }
        }
        Ok(traces)
    }

    fn trace(&self, test: &Played<'_>, key: Key) -> Result<PostCache> {
        let requests = if key.is_corrected { test.corrected } else { test.published };
        let out = self.folder.join("post-cache.txt");
        let capacity = test.pages * requests.unit_bytes();
        let case = Case { policy: key.policy.to_owned(), capacity };
        let options = Options::default();
        let counts = post_cache::write(requests, &case, &options, out.as_path(), Format::Ozen)?;
        let mut lines = shape::read(&out)?;
        std::fs::remove_file(&out)?;
        let whole = lines.len();
        shape::keep(&mut lines, self.args.ios.map_or(usize::MAX, |most| most as usize));
        let scale = whole as f64 / lines.len().max(1) as f64;
        Ok(PostCache { key, counts, lines, scale, seconds: f64::INFINITY })
    }

    fn row(&self, trace: &PostCache) -> Result<Row> {
        let ios: Vec<Io> = self.player.within(&trace.lines);
        let models = self.models.iter().map(|model| {
            let modelled = model.seconds(&ios, self.player.bytes())?;
            let error = modelled / trace.seconds.max(1e-9) - 1.0;
            Ok(ModelTime { model: model.name, seconds: trace.scale * modelled, error })
        });
        Ok(Row {
            published_as: "",
            policy: trace.key.policy,
            reads: trace.counts.device_reads,
            writes: trace.counts.write_backs,
            dirty_at_end: trace.counts.dirty_at_end,
            shape: Shape::of(&trace.lines),
            seconds: trace.scale * trace.seconds,
            his_seconds: None,
            models: models.collect::<Result<_>>()?,
        })
    }
}

/// A policy and what it sees.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Key {
    policy: &'static str,
    /// Each use of a page once, where his simulator sees it several times.
    is_corrected: bool,
}

impl Key {
    fn of(test: &Played<'_>, policy: &'static str, is_corrected: bool) -> Self {
        let is_same = std::ptr::eq(test.published, test.corrected);
        Key { policy, is_corrected: is_corrected && !is_same }
    }
}

/// What a policy lets through, and how long it took to play.
struct PostCache {
    key: Key,
    counts: seekless::sim::Figures,
    /// What is played of it.
    lines: Vec<Line>,
    /// By how much the whole trace is longer.
    scale: f64,
    /// The shortest round so far.
    seconds: f64,
}

fn finite(seconds: f64) -> Option<f64> {
    seconds.is_finite().then_some(seconds)
}

impl Ranks {
    fn of(rows: &[Row]) -> Self {
        let both = |one: &[f64], other: &[f64]| [spearman(one, other), kendall(one, other)];
        let time: Vec<f64> = rows.iter().map(|row| row.seconds).collect();
        let ios: Vec<f64> = rows.iter().map(|row| (row.reads + row.writes) as f64).collect();
        let all: Vec<f64> =
            rows.iter().map(|row| (row.reads + row.writes + row.dirty_at_end) as f64).collect();
        let with_his = rows.iter().filter(|row| row.his_seconds.is_some());
        let pairs: Vec<(f64, f64, f64)> = with_his
            .map(|row| (row.his_seconds.unwrap_or(0.0), row.seconds, row.reads as f64))
            .collect();
        let column = |of: fn(&(f64, f64, f64)) -> f64| pairs.iter().map(of).collect::<Vec<f64>>();
        let (his, ours, reads) = (column(|it| it.0), column(|it| it.1), column(|it| it.2));
        Ranks {
            time_with_ios: both(&time, &ios),
            time_with_all: both(&time, &all),
            time_with_his: both(&ours, &his),
            his_with_our_reads: both(&his, &reads),
        }
    }
}
