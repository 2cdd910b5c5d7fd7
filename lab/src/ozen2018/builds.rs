//! Tests 1 and 2: a large build. He compiled Linux 4.15.4 with eight jobs. With `--kernel` it is
//! Debian's Linux, the least of it; else, in shape, the C sources of this project's own
//! dependencies, as cargo keeps them. They are compiled with eight jobs under our recorder, which
//! maps every access to its device. His ten policies run over his two caches, and over two that are
//! as small for this build as his were for his.

mod make;
mod published;
mod words;

use super::replay::Played;
use super::sqlite::published::POLICIES;
use super::sqlite::ranks;
use crate::{output, scratch};
use anyhow::{Context, Result, ensure};
use make::Sources;
use published::TESTS;
use seekless::record::{Options, Places, Recorded, Status, record};
use seekless::sim::{Case, Figures as Simulated, Lines, Reading, Requests, Unit, simulate_all};
use seekless::sys::output::Destination;
use seekless::tools::blocks::{self, Report, blocks};
use seekless_terminal::progress;
use serde::Serialize;
use std::path::{Path, PathBuf};

const PAGE_BYTES: u64 = 4096;

/// Options of tests 1 and 2.
#[derive(clap::Args, Clone, Debug)]
pub(crate) struct BuildArgs {
    /// Tests 1 and 2 in shape instead of test 3: a build of C sources is recorded, mapped to blocks
    /// and simulated.
    #[arg(long, conflicts_with_all = ["data", "trace", "sqlite", "picture"])]
    pub(crate) builds: bool,
    /// The folder with cargo's unpacked packages [default: registry/src of $CARGO_HOME].
    #[arg(long, requires = "builds", value_name = "DIR")]
    sources: Option<PathBuf>,
    /// Only the smallest of the packages, to see that everything works.
    #[arg(long, requires = "builds")]
    one: bool,
    /// Builds Linux (allnoconfig) from this archive, or from the newest one in this folder:
    /// Debian's linux-source, which `./run` installs [default: /usr/src].
    #[arg(long, requires = "builds", value_name = "TAR", num_args = 0..=1,
          default_missing_value = "/usr/src", conflicts_with_all = ["one", "sources"])]
    kernel: Option<PathBuf>,
}

impl BuildArgs {
    fn find(&self) -> Result<Sources> {
        match &self.kernel {
            Some(archive) => make::linux(archive),
            None => make::packages(self.sources.as_deref(), self.one),
        }
    }
}

/// The build and its tests.
#[derive(Serialize)]
struct Figures {
    /// What was built.
    built: String,
    accesses: u64,
    seconds: f64,
    lost: u64,
    mapped: Report,
    views: Vec<View>,
}

/// The build's accesses as one collector writes them, under caches of several sizes.
#[derive(Serialize)]
struct View {
    /// `his` or `merged`.
    name: &'static str,
    requests: u64,
    reads: u64,
    writes: u64,
    distinct_pages: u64,
    tests: Vec<TestFigures>,
}

/// The policies over one cache.
#[derive(Serialize)]
struct TestFigures {
    /// His test, if the cache is his or stands for it.
    test: u32,
    pages: u64,
    /// Whether the cache is smaller than his by as much as this build touches less.
    scaled: bool,
    rows: Vec<Row>,
    /// Rank correlation with his reads, over the policies that he lists.
    spearman: f64,
}

/// One policy.
#[derive(Serialize)]
struct Row {
    published_as: &'static str,
    policy: &'static str,
    reads: u64,
    writes: u64,
    dirty_at_end: u64,
    rank: f64,
    his_reads: Option<u64>,
    his_rank: Option<f64>,
}

pub(super) fn run(args: &BuildArgs, json: bool) -> Result<()> {
    let sources = args.find()?;
    let measure = |folder: &Path| measure(&sources, folder);
    let figures = scratch::within(&std::env::temp_dir(), "ozen2018", measure)?;
    if json { output::json(&figures) } else { output::text(&words::words(&figures)) }
}

fn measure(sources: &Sources, folder: &Path) -> Result<Figures> {
    let trace = folder.join("build.parquet");
    let recorded = build(sources, folder, &trace)?;
    let places = recorded.places.context("the recorder did not look where files lie")?;
    let his = view("his", &trace, &places, true, folder)?;
    let merged = view("merged", &trace, &places, false, folder)?;
    Ok(Figures {
        built: sources.words(),
        accesses: recorded.summary.accesses,
        seconds: recorded.duration_ns as f64 / 1e9,
        lost: recorded.summary.lost,
        mapped: merged.1,
        views: vec![his.0, merged.0],
    })
}

/// Records the build.
fn build(sources: &Sources, folder: &Path, trace: &Path) -> Result<Recorded> {
    let script = sources.script(folder)?;
    let mut bar = progress("building under the recorder");
    bar(0, 1);
    let options = Options { places: true, sync: true, ..Options::default() };
    let mut recorded = record("sh".as_ref(), &script, trace, &options)?;
    bar(1, 1);
    recorded.unfinished.take().map_or(Ok(()), Err)?;
    ensure!(
        recorded.status == Status::Exited(0),
        "the build failed ({:?}); it needs cc, ar and xargs; Linux needs make, flex, bison and bc",
        recorded.status
    );
    Ok(recorded)
}

/// The build as blocks, and every policy over it.
fn view(
    name: &'static str,
    trace: &Path,
    places: &Places,
    ozen: bool,
    folder: &Path,
) -> Result<(View, Report)> {
    let (requests, report) = mapped(name, trace, places, ozen, folder)?;
    let distinct_pages = u64::from(requests.distinct());
    let caches = caches(distinct_pages);
    let cases: Vec<Case> = caches.iter().flat_map(|cache| cases(cache.1, ozen)).collect();
    let mut bar = progress(format!("simulating {name} lines"));
    let figures = simulate_all(&requests, &cases, &mut bar)?;
    let tests = caches.iter().zip(figures.chunks(POLICIES.len()));
    let view = View {
        name,
        requests: requests.len() as u64,
        reads: requests.len() as u64 - requests.writes(),
        writes: requests.writes(),
        distinct_pages,
        tests: tests.map(|(cache, figures)| test(cache, figures, ozen)).collect(),
    };
    Ok((view, report))
}

/// The requests of the build, as his collector writes them or each use of a page once.
fn mapped(
    name: &'static str,
    trace: &Path,
    places: &Places,
    ozen: bool,
    folder: &Path,
) -> Result<(Requests, Report)> {
    let out = folder.join(format!("{name}.parquet"));
    let options = blocks::Options { ozen, ..blocks::Options::default() };
    let mut bar = progress(format!("mapping to blocks, {name} lines"));
    let report = blocks(trace, &Destination::new(&out), Some(places), &options, &mut bar)?;
    drop(bar);
    let lines = if ozen { Lines::Raw } else { Lines::Merged };
    let reading = Reading { unit: Some(Unit::Page), lines, ..Reading::default() };
    Ok((reading.read(&[out], &mut |_, _| ())?, report))
}

/// Records the build in `folder`, and hands over both tests: with his caches for Linux, else with
/// caches that hold as little of it as his did.
pub(super) fn each_test(
    args: &BuildArgs,
    folder: &Path,
    play: &mut dyn FnMut(&Played<'_>) -> Result<()>,
) -> Result<()> {
    let sources = args.find()?;
    let folder = tempfile::tempdir_in(folder)?;
    let trace = folder.path().join("build.parquet");
    let recorded = build(&sources, folder.path(), &trace)?;
    let places = recorded.places.context("the recorder did not look where files lie")?;
    let (published, _) = mapped("his", &trace, &places, true, folder.path())?;
    let (corrected, _) = mapped("merged", &trace, &places, false, folder.path())?;
    let caches = caches(u64::from(corrected.distinct()));
    // Linux is as large a build as his, so that his own caches tell.
    let is_scaled = args.kernel.is_none();
    for (number, pages, _) in caches.into_iter().filter(|cache| cache.2 == is_scaled) {
        let workload = match args.kernel {
            Some(_) => format!("a build of {}", sources.words()),
            None => "a build of C sources".to_owned(),
        };
        let (published, corrected) = (&published, &corrected);
        play(&Played { number, workload, pages, published, corrected })?;
    }
    Ok(())
}

/// His two caches, and two that hold as little of this build: the number of his test, the pages,
/// and whether they are scaled.
fn caches(distinct_pages: u64) -> Vec<(u32, u64, bool)> {
    let scaled = |share: u64| (distinct_pages / share).max(16);
    vec![(1, 10_000, false), (2, 2_000, false), (1, scaled(20), true), (2, scaled(100), true)]
}

/// His versions for his lines, and those of the policies' own papers for merged ones.
fn cases(pages: u64, his: bool) -> impl Iterator<Item = Case> {
    POLICIES.iter().map(move |policy| Case {
        policy: if his { policy.1 } else { policy.2 }.to_owned(),
        capacity: pages * PAGE_BYTES,
    })
}

fn test(
    &(test, pages, scaled): &(u32, u64, bool),
    figures: &[Simulated],
    his: bool,
) -> TestFigures {
    let published = &TESTS[test as usize - 1];
    let listed: Vec<usize> = (0..POLICIES.len()).filter(|&at| published[at].is_some()).collect();
    let his_reads: Vec<f64> =
        listed.iter().filter_map(|&at| published[at]).map(|row| row.0 as f64).collect();
    let ours: Vec<f64> = figures.iter().map(|row| row.device_reads as f64).collect();
    let our_listed: Vec<f64> = listed.iter().map(|&at| ours[at]).collect();
    let (ranks, his_ranks) = (ranks::ranks(&ours), ranks::ranks(&his_reads));
    let row = |(at, figures): (usize, &Simulated)| Row {
        published_as: POLICIES[at].0,
        policy: if his { POLICIES[at].1 } else { POLICIES[at].2 },
        reads: figures.device_reads,
        writes: figures.write_backs,
        dirty_at_end: figures.dirty_at_end,
        rank: ranks[at],
        his_reads: published[at].map(|row| row.0),
        his_rank: listed.iter().position(|&listed| listed == at).map(|place| his_ranks[place]),
    };
    TestFigures {
        test,
        pages,
        scaled,
        rows: figures.iter().enumerate().map(row).collect(),
        spearman: ranks::spearman(&his_reads, &our_listed),
    }
}
