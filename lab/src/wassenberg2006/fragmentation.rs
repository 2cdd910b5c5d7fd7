//! Section 4.6: how much of the cache's memory the allocator cannot use, in a region of the cache's
//! size, as the paper has it, and in ours, which is an address space four times as large.

use crate::data::{self, ZeroAd};
use seekless::policy::cache::placed::PlacedCache;
use seekless::policy::eviction::{Eviction, Outcome, Request, Visitor, visit};
use seekless::policy::sample::Draws;
use seekless::report::table;
use seekless::sim::{Requests, Unit};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;

/// The paper's 10 MB, and a cache of our time.
const CAPACITIES: [u64; 2] = [10_000_000, 64 << 20];
const POLICIES: [&str; 2] = ["landlord", "lru"];
/// The paper's waste, in percent of the cache.
const PAPER_PERCENT: f64 = 12.0;
/// Starts in a day of play: one every four minutes.
const STARTS_A_DAY: usize = 360;
const SEED: u64 = 2006;

/// One run through one cache.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    run: String,
    policy: &'static str,
    cache_bytes: u64,
    /// Whether the region has just the cache's size.
    in_its_size: bool,
    requests: u64,
    hits: u64,
    /// Hits of a cache whose files always find a place.
    hits_without_places: u64,
    /// Victims beyond those that the capacity asked for.
    victims: u64,
    /// The share of the memory in use, or of a region of the cache's size, that held no byte of a
    /// file, once the cache was full.
    mean_waste: f64,
    max_waste: f64,
}

/// The mean share of the memory that holds no byte of a file, under Landlord.
pub(crate) fn waste(rows: &[Row]) -> Table {
    let title = "Memory of the cache in use that holds no byte of a file";
    let columns = ["10 MB", "64 MiB", "10 MB, the paper's region", "64 MiB, the paper's region"];
    let mut table = Table::new("waste", title, "starts", "%", Better::Neither)
        .contenders(columns.map(Contender::ours))
        .under(&format!(
            "Simulated; Landlord. The paper's region has just the cache's size; ours is an address space \
             four times as large, and what no file touches is given back. The paper has {PAPER_PERCENT} % for 10 MB."
        ));
    for row in rows.iter().filter(|row| row.policy == "landlord") {
        let column =
            usize::from(row.cache_bytes != CAPACITIES[0]) + 2 * usize::from(row.in_its_size);
        table.set(&row.run, columns[column], Figure::exact(100.0 * row.mean_waste));
    }
    table
}

/// The waste of Landlord in the paper's region of 10 MB, over the starts, in percent.
pub(super) fn mean_percent(rows: &[Row]) -> f64 {
    let is = |row: &&Row| {
        row.in_its_size && (row.policy, row.cache_bytes) == ("landlord", CAPACITIES[0])
    };
    let starts: Vec<f64> = rows.iter().filter(is).map(|row| 100.0 * row.mean_waste).collect();
    // The last is a day of play, which the paper does not have.
    let starts = &starts[..starts.len().saturating_sub(1)];
    starts.iter().sum::<f64>() / starts.len() as f64
}

pub(crate) fn measure(zero_ad: &ZeroAd) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for run in &zero_ad.runs {
        let requests = Requests::read(std::slice::from_ref(run), Unit::File, &mut |_, _| ())?;
        rows.extend(measure_one(&data::run_name(run), &requests)?);
    }
    let day = day_of_play(&Requests::read(&zero_ad.runs, Unit::File, &mut |_, _| ())?);
    rows.extend(measure_one(&format!("{STARTS_A_DAY} starts"), &day)?);
    Ok(rows)
}

fn measure_one(run: &str, requests: &Requests) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for cache_bytes in CAPACITIES {
        for policy in POLICIES {
            for in_its_size in [true, false] {
                let play = Play { run, policy, cache_bytes, in_its_size, requests };
                rows.push(visit(policy, cache_bytes, play)??);
            }
        }
    }
    Ok(rows)
}

/// Parts of the five starts in an order drawn from the seed: each time a start, from a place drawn
/// too, since no two days load alike.
fn day_of_play(starts: &Requests) -> Requests {
    let mut draws = Draws::new(SEED);
    let ids = starts.ids();
    let mut files = Vec::with_capacity(STARTS_A_DAY * ids.len() / 5);
    for _ in 0..STARTS_A_DAY {
        let first = draws.below(ids.len());
        files.extend(ids.iter().cycle().skip(first).take(ids.len() / 5));
    }
    let bytes = (0..starts.id_limit()).map(|id| starts.weight(id)).collect();
    Requests::from_numbered_files(files, bytes)
}

struct Play<'a> {
    run: &'a str,
    policy: &'static str,
    cache_bytes: u64,
    in_its_size: bool,
    requests: &'a Requests,
}

impl Visitor for Play<'_> {
    type Output = anyhow::Result<Row>;

    fn visit<E: Eviction + Send + 'static>(self, policy: E) -> Self::Output {
        let Self { run, policy: name, cache_bytes, in_its_size, requests } = self;
        let mut cache = match in_its_size {
            true => PlacedCache::in_its_size(policy, cache_bytes)?,
            false => PlacedCache::new(policy, cache_bytes)?,
        };
        cache.grow(requests.id_limit());
        let request = |&id: &u32| Request::file(id, requests.weight(id));
        let hits = requests.ids().iter().map(request);
        let hits = hits.filter(|request| cache.access(request) == Outcome::Hit).count() as u64;
        let case = seekless::sim::Case { policy: name.to_owned(), capacity: cache_bytes };
        let waste = cache.waste();
        Ok(Row {
            run: run.to_owned(),
            policy: name,
            cache_bytes,
            in_its_size,
            requests: requests.len() as u64,
            hits,
            hits_without_places: seekless::sim::simulate(requests, &case)?.hits,
            victims: waste.victims,
            mean_waste: waste.mean_share,
            max_waste: waste.max_share,
        })
    }
}

pub(crate) fn words(rows: &[Row]) -> String {
    let header = [
        "run",
        "cache",
        "region",
        "policy",
        "further victims",
        "waste",
        "at most",
        "hits",
        "without",
    ];
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let cells = rows.iter().map(|row| {
        let of_requests = |hits: u64| percent(hits as f64 / row.requests.max(1) as f64);
        vec![
            row.run.clone(),
            format!("{:.0} MB", row.cache_bytes as f64 / 1e6),
            if row.in_its_size { "the paper's" } else { "ours" }.to_owned(),
            row.policy.to_owned(),
            row.victims.to_string(),
            percent(row.mean_waste),
            percent(row.max_waste),
            of_requests(row.hits),
            of_requests(row.hits_without_places),
        ]
    });
    format!(
        "Allocator fragmentation (4.6): the share of the memory in use that holds no byte of a file, once the cache is\n\
         full. The paper: {PAPER_PERCENT} %, in a region of just the cache's size; ours is an address space four times as large, of\n\
         which no more than the cache's bytes are in use. Without: the hits of a cache that does not place its files.\n\n{}",
        table(&header, cells.collect())
    )
}
