//! Sections 4.3 and 4.4.1: the seeks of what passes the cache, with an unlimited cache and with 10
//! MiB. The paper's cache absorbs repeated loads, and one of 10 MiB lets some of them pass.

use crate::data::ZeroAd;
use anyhow::{Context, ensure};
use seekless::policy::cache::{Cache, Config, Filled, Step};
use seekless::policy::eviction::{Id, Request, named};
use seekless::report::table;
use seekless::tools::order::{Options, order};
use seekless::trace::{FileList, Loads};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

const LIMITED_BYTES: u64 = 10 << 20;
const UNLIMITED_BYTES: u64 = 1 << 40;

const METHODS: [&str; 4] = ["name", "recent", "greedy", "best"];

/// What passes a cache, and how much of it is not directly behind what passed before.
#[derive(Clone, Copy, Default, Serialize)]
struct Passed {
    requests: u64,
    seeks: u64,
}

/// One order.
#[derive(Serialize)]
pub(crate) struct Row {
    method: &'static str,
    cache_bytes: u64,
    /// The five starts recorded as one run, of which the order is made: the paper's combined
    /// trace.
    combined: Passed,
    /// The five starts one after another, through one cache; the order is made of all five.
    together: Passed,
    /// Each by itself, sums; the order is made of all five.
    trained: Passed,
    /// Each by itself, sums; the order is made of the other four.
    held_out: Passed,
}

/// The share that seeks under the greedy order: of one combined run, of each start alone, and of
/// these with a cache of 10 MiB.
pub(super) fn greedy_percent(rows: &[Row]) -> [f64; 3] {
    let row = |bytes| rows.iter().find(|row| (row.method, row.cache_bytes) == ("greedy", bytes));
    let percent =
        |row: Option<&Row>, of: fn(&Row) -> Passed| row.map_or(f64::NAN, |row| of(row).percent());
    let unlimited = row(UNLIMITED_BYTES);
    [
        percent(unlimited, |row| row.combined),
        percent(unlimited, |row| row.trained),
        percent(row(LIMITED_BYTES), |row| row.trained),
    ]
}

/// The share of what passes an unlimited cache that seeks, beside the paper.
pub(crate) fn beside_paper(rows: &[Row]) -> Table {
    let title = "Loads that pass an unlimited cache and seek, as the paper counts them";
    let mut table = Table::new("seeks-combined", title, "starts", "%", Better::Neither)
        .contenders([Contender::ours("greedy"), Contender::rival("the paper")])
        .under(
            "Ours: five starts of 0 A.D. A26, the order made of them. The paper: three starts; of \
             two of them alone it prints 9.4 and 10.6 %.",
        );
    for row in
        rows.iter().filter(|row| (row.method, row.cache_bytes) == ("greedy", UNLIMITED_BYTES))
    {
        for (case, passed, paper) in [
            ("recorded as one run", row.combined, &[0.0][..]),
            ("each alone", row.trained, &[9.4, 10.6]),
        ] {
            table.set(case, row.method, Figure::exact(passed.percent()));
            table.set(case, "the paper", Figure::of_rounds(paper));
        }
    }
    table
}

/// The share of what passes a cache that seeks.
pub(crate) fn behind_cache(rows: &[Row]) -> Table {
    let title = "Loads that pass a cache of 10 MiB and seek";
    let mut table = Table::new("seeks-cached", title, "the order is made of", "%", Better::Lower)
        .contenders(["greedy", "best"].map(Contender::ours))
        .under("Five starts of 0 A.D., each by itself, all 36,266 files ordered.");
    for row in rows.iter().filter(|row| row.cache_bytes == LIMITED_BYTES) {
        for (case, passed) in
            [("the starts themselves", row.trained), ("the other four starts", row.held_out)]
        {
            table.set(case, row.method, Figure::exact(passed.percent()));
        }
    }
    table
}

/// The starts, as files by number.
struct Starts {
    numbers: HashMap<String, Id>,
    bytes: Vec<u64>,
    loads: Vec<Vec<Id>>,
}

pub(crate) fn measure(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Row>> {
    let starts = Starts::read(zero_ad)?;
    let mut rows = Vec::new();
    let one_run = starts.combined(&zero_ad.scratch.join("combined.csv"))?;
    for method in METHODS {
        let ranks_of = |runs: &[PathBuf]| starts.ranks(zero_ad, runs, method);
        let all = ranks_of(&zero_ad.runs)?;
        let combined = ranks_of(std::slice::from_ref(&one_run))?;
        let mut without = Vec::new();
        for left_out in 0..zero_ad.runs.len() {
            let mut others = zero_ad.runs.clone();
            others.remove(left_out);
            without.push(ranks_of(&others)?);
        }
        for cache_bytes in [UNLIMITED_BYTES, LIMITED_BYTES] {
            let alone = |number: usize, ranks: &[u32]| {
                starts.passed(&starts.loads[number..=number], cache_bytes, ranks)
            };
            let mut row = Row {
                method,
                cache_bytes,
                combined: starts.passed(&starts.loads, cache_bytes, &combined)?,
                together: starts.passed(&starts.loads, cache_bytes, &all)?,
                trained: Passed::default(),
                held_out: Passed::default(),
            };
            for (number, without) in without.iter().enumerate() {
                row.trained.add(alone(number, &all)?);
                row.held_out.add(alone(number, without)?);
            }
            rows.push(row);
        }
    }
    Ok(rows)
}

impl Passed {
    fn percent(self) -> f64 {
        100.0 * self.seeks as f64 / self.requests.max(1) as f64
    }

    fn add(&mut self, other: Self) {
        self.requests += other.requests;
        self.seeks += other.seeks;
    }
}

impl Starts {
    fn read(zero_ad: &ZeroAd) -> anyhow::Result<Self> {
        let list = FileList::read(&zero_ad.files)?;
        let bytes = list.bytes.iter().map(|bytes| bytes.unwrap_or(0)).collect();
        let numbers: HashMap<String, Id> = list.paths.into_iter().zip(0..).collect();
        let mut starts = Self { numbers, bytes, loads: Vec::new() };
        for run in &zero_ad.runs {
            let loads = Loads::read(std::slice::from_ref(run))?;
            let names = loads.runs.iter().flatten().map(|load| &loads.names[load.file as usize]);
            let numbered = names.filter_map(|name| starts.numbers.get(name).copied()).collect();
            starts.loads.push(numbered);
        }
        Ok(starts)
    }

    /// Writes the starts, one after another, as one run.
    fn combined(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let mut names = vec![""; self.bytes.len()];
        self.numbers.iter().for_each(|(name, &id)| names[id as usize] = name);
        let mut rows = "time_s,path,size\n".to_owned();
        for (second, &id) in self.loads.iter().flatten().enumerate() {
            let name = names[id as usize];
            ensure!(!name.contains([',', '"', '\n']), "{name}: its name needs quotes");
            writeln!(rows, "{second},{name},{}", self.bytes[id as usize])?;
        }
        std::fs::write(path, rows).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path.to_owned())
    }

    /// The place of each file in the order that `method` makes of `runs`.
    fn ranks(&self, zero_ad: &ZeroAd, runs: &[PathBuf], method: &str) -> anyhow::Result<Vec<u32>> {
        let options = Options {
            files: Some(zero_ad.files.clone()),
            method: method.to_owned(),
            ..Options::default()
        };
        let mut ranks = vec![u32::MAX; self.bytes.len()];
        for (rank, name) in (0..).zip(&order(runs, &options)?.order) {
            if let Some(&id) = self.numbers.get(name) {
                ranks[id as usize] = rank;
            }
        }
        Ok(ranks)
    }

    /// The loads of these starts, one start after another, that a cache does not have. The first is
    /// no seek.
    fn passed(
        &self,
        starts: &[Vec<Id>],
        cache_bytes: u64,
        ranks: &[u32],
    ) -> anyhow::Result<Passed> {
        let mut cache = Cache::new(named("landlord", cache_bytes)?, Config::files(cache_bytes))?;
        cache.grow(self.bytes.len() as u32);
        let (mut passed, mut before, mut commands) = (Passed::default(), None, Vec::new());
        for &id in starts.iter().flatten() {
            let request = Request::file(id, self.bytes[id as usize]);
            let step = cache.step(&request, &mut commands);
            if cache.in_flight(id) {
                cache.complete(id, Filled::Yes, &mut commands);
            }
            commands.clear();
            if step != Step::Ready {
                let rank = ranks[id as usize];
                passed.requests += 1;
                passed.seeks += u64::from(
                    before.is_some_and(|before: u32| before.checked_add(1) != Some(rank)),
                );
                before = Some(rank);
            }
        }
        Ok(passed)
    }
}

pub(crate) fn words(rows: &[Row]) -> String {
    let header = [
        "order",
        "cache",
        "one run of five",
        "five in a row, trained",
        "each alone, trained",
        "each alone, held out",
    ];
    let cells = rows.iter().map(|row| {
        let cache = if row.cache_bytes == LIMITED_BYTES { "10 MiB" } else { "unlimited" };
        let mut cells = vec![row.method.to_owned(), cache.to_owned()];
        cells.extend([row.combined, row.together, row.trained, row.held_out].map(share));
        cells
    });
    format!(
        "Seeks of what passes the cache (4.3), and with the 10 MiB of 4.4.1; Landlord\n\n{}\n\
         The paper, greedy: 0 for its three starts recorded as one run, 9.4 and 10.6 % for two of them alone, unlimited; 14 %\n\
         with 10 MiB. One run of five: the order is made of that run. In the other columns it is made of separate runs, which\n\
         it has to please one by one.\n",
        table(&header, cells.collect())
    )
}

fn share(passed: Passed) -> String {
    format!("{} of {} ({:.1} %)", passed.seeks, passed.requests, passed.percent())
}
