//! Tests 5 to 16. Each mix is recorded once with SQLite's cache off and once with it on; both cache
//! sizes are simulated over the recordings.

use super::calls::Captured;
use super::capture::capture;
use super::lines::Lines;
use super::published::{POLICIES, STATEMENTS, TESTS};
use super::{ApplicationCache, Kind, LedgerArgs, Setting, StoreArgs, Test, ranks};
use anyhow::Result;
use seekless::sim::{self, Case, simulate_all};
use seekless_terminal::progress;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The order of policies whose reads differ by less than this fraction may be chance.
pub(super) const NEAR: f64 = 0.01;
pub(super) const PAGE_BYTES: u32 = 4096;

/// The setting and the results.
#[derive(Serialize)]
pub(super) struct Figures {
    #[serde(flatten)]
    pub(super) setting: Setting,
    pub(super) database_bytes: u64,
    pub(super) tests: Vec<TestFigures>,
}

/// One of his tests.
#[derive(Serialize)]
pub(super) struct TestFigures {
    pub(super) test: u32,
    pub(super) reads_percent: u64,
    pub(super) application_cache: bool,
    /// The size of the cache below SQLite.
    pub(super) pages: u64,
    /// Calls of SQLite on the database file.
    pub(super) calls_read: u64,
    pub(super) calls_written: u64,
    /// How many pieces the database lies in on its device; unknown where the file system does not
    /// tell.
    pub(super) pieces: Option<usize>,
    /// His results, for each statement.
    pub(super) published: Vec<Rates>,
    pub(super) runs: Vec<Run>,
}

/// The ten policies with one way to turn calls into requests.
#[derive(Serialize)]
pub(super) struct Run {
    pub(super) lines: Lines,
    /// Whether each policy is the one of its own paper instead of his program's version.
    pub(super) corrected: bool,
    pub(super) requests: u64,
    pub(super) rows: Vec<Row>,
    /// The rank correlation of our reads with his.
    pub(super) spearman: f64,
    pub(super) kendall: f64,
    /// Pairs of policies that he has in the opposite order.
    pub(super) reversed: Vec<Reversed>,
}

/// One policy.
#[derive(Serialize)]
pub(super) struct Row {
    pub(super) published_as: &'static str,
    pub(super) policy: &'static str,
    pub(super) reads: u64,
    pub(super) writes: u64,
    #[serde(flatten)]
    pub(super) rates: Rates,
}

/// Pages for each statement, and the rank by reads.
#[derive(Clone, Copy, Serialize)]
pub(super) struct Rates {
    pub(super) reads_per_statement: f64,
    pub(super) writes_per_statement: f64,
    pub(super) rank: f64,
}

/// He has `first` before `second`; we have the opposite order.
#[derive(Serialize)]
pub(super) struct Reversed {
    pub(super) first: &'static str,
    pub(super) second: &'static str,
    /// Whether they are within a hundredth of each other on either side.
    pub(super) near: bool,
}

/// Runs the tests with these numbers; all tests if `numbers` is empty.
pub(super) fn measure(setting: &Setting, numbers: &[u32], folder: &Path) -> Result<Figures> {
    let path = setting.make(Kind::BTree, PAGE_BYTES, folder)?;
    let database_bytes = path.metadata()?.len();
    let wanted = |test: &&Test| numbers.is_empty() || numbers.contains(&test.number);
    let mut tests = Vec::new();
    for (reads_percent, application_cache) in recordings() {
        let of_recording = |test: &&Test| {
            (test.reads_percent, test.application_cache) == (reads_percent, application_cache)
                && wanted(test)
        };
        let wanted: Vec<&Test> = TESTS.iter().filter(of_recording).collect();
        if !wanted.is_empty() {
            let captured = recorded(setting, &path, reads_percent, application_cache, folder)?;
            tests.extend(simulate(setting, &wanted, &captured)?);
        }
    }
    tests.sort_by_key(|test| test.test);
    Ok(Figures { setting: *setting, database_bytes, tests })
}

pub(super) fn recordings() -> impl Iterator<Item = (u64, bool)> {
    [90, 66, 10].into_iter().flat_map(|percent| [(percent, false), (percent, true)])
}

pub(super) fn recorded(
    setting: &Setting,
    path: &Path,
    reads_percent: u64,
    application_cache: bool,
    folder: &Path,
) -> Result<Captured> {
    let path: PathBuf = path.to_path_buf();
    let application_cache = match application_cache {
        true if setting.scaled_down == 1 => ApplicationCache::Default,
        true => {
            let pages = ApplicationCache::Default.pages(PAGE_BYTES);
            ApplicationCache::Pages((pages / setting.scaled_down).max(1))
        }
        false => ApplicationCache::Pages(0),
    };
    let store = StoreArgs { kind: Kind::BTree, path, page_bytes: PAGE_BYTES, application_cache };
    capture(&LedgerArgs { store, workload: setting.workload(reads_percent) }, folder)
}

fn simulate(setting: &Setting, tests: &[&Test], captured: &Captured) -> Result<Vec<TestFigures>> {
    let mut found: Vec<TestFigures> =
        tests.iter().map(|test| TestFigures::new(test, setting, captured)).collect();
    for lines in Lines::ALL {
        let requests = captured.requests(lines);
        let (head, percent) = (tests[0].number, tests[0].reads_percent);
        let mut bar = progress(format!("test {head}: {percent} % reads, {} lines", lines.name()));
        let cases: Vec<Case> = tests.iter().flat_map(|test| cases(setting, test.pages)).collect();
        let figures = simulate_all(&requests, &cases, &mut bar)?;
        for ((test, found), figures) in
            tests.iter().zip(&mut found).zip(figures.chunks(2 * POLICIES.len()))
        {
            let (his, own) = figures.split_at(POLICIES.len());
            let run = |corrected, figures| Run::new(test, setting, lines, corrected, figures);
            found.runs.extend([run(false, his), run(true, own)]);
        }
    }
    Ok(found)
}

/// His versions, then the versions of the policies' own papers.
fn cases(setting: &Setting, pages: u64) -> impl Iterator<Item = Case> {
    let capacity = pages / setting.scaled_down * u64::from(PAGE_BYTES);
    let case = move |policy: &str| Case { policy: policy.to_owned(), capacity };
    let his = POLICIES.iter().map(|policy| policy.1);
    his.chain(POLICIES.iter().map(|policy| policy.2)).map(case)
}

impl TestFigures {
    fn new(test: &Test, setting: &Setting, captured: &Captured) -> Self {
        let per_statement = test.rows.map(|(reads, writes)| (reads, writes, STATEMENTS));
        let calls_written = captured.calls.iter().filter(|call| call.write).count() as u64;
        Self {
            test: test.number,
            reads_percent: test.reads_percent,
            application_cache: test.application_cache,
            pages: test.pages / setting.scaled_down,
            calls_read: captured.calls.len() as u64 - calls_written,
            calls_written,
            pieces: captured.laid.pieces(),
            published: rates(&per_statement),
            runs: Vec::new(),
        }
    }

    pub(super) fn run(&self, lines: Lines, corrected: bool) -> Option<&Run> {
        self.runs.iter().find(|run| run.lines == lines && run.corrected == corrected)
    }
}

impl Run {
    fn new(
        test: &Test,
        setting: &Setting,
        lines: Lines,
        corrected: bool,
        figures: &[sim::Figures],
    ) -> Self {
        let counts: Vec<_> = figures
            .iter()
            .map(|row| (row.device_reads, row.write_backs, setting.statements))
            .collect();
        let ours: Vec<f64> = counts.iter().map(|row| row.0 as f64).collect();
        let his = test.rows.map(|row| row.0 as f64);
        let row = |((&(published_as, published, own), &(reads, writes, _)), rates)| {
            let policy = if corrected { own } else { published };
            Row { published_as, policy, reads, writes, rates }
        };
        let reversed = ranks::reversed(&his, &ours, NEAR).into_iter();
        let name = |index: usize| POLICIES[index].0;
        Self {
            lines,
            corrected,
            requests: figures.first().map_or(0, |row| row.requests),
            rows: POLICIES.iter().zip(&counts).zip(rates(&counts)).map(row).collect(),
            spearman: ranks::spearman(&his, &ours),
            kendall: ranks::kendall(&his, &ours),
            reversed: reversed
                .map(|(first, second, near)| Reversed {
                    first: name(first),
                    second: name(second),
                    near,
                })
                .collect(),
        }
    }

    /// The policies with the fewest reads.
    pub(super) fn best(&self) -> &'static str {
        self.rows.iter().min_by_key(|row| row.reads).map_or("-", |row| row.published_as)
    }
}

/// Computes rates from reads, writes and statements.
fn rates(counts: &[(u64, u64, u64)]) -> Vec<Rates> {
    let reads: Vec<f64> = counts.iter().map(|row| row.0 as f64).collect();
    let rate = |(&(reads, writes, statements), rank)| Rates {
        reads_per_statement: reads as f64 / statements as f64,
        writes_per_statement: writes as f64 / statements as f64,
        rank,
    };
    counts.iter().zip(ranks::ranks(&reads)).map(rate).collect()
}
