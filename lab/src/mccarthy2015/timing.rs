//! Figures 1 and 2: the time to read every entry in order, in a random order, and in the order of
//! the trace. First with nothing in the page cache, then with everything in it, as his second to
//! fifth trials had it.

use super::Args;
use super::access::Counts;
use super::files::{ID_BYTES, Packed, Tree};
use super::method::Method;
use super::trace::{Trace, shuffled};
use crate::claims::Claim;
use anyhow::{Context, ensure};
use seekless::measure::{Coldness, Dropping, make_cold};
use seekless::policy::eviction::Id;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::time::{Duration, Instant};

/// Figures 1 and 2 in milliseconds: in order, at random, trace. His trace is longer than the part
/// that is available.
const PAPER: [(&str, [f64; 3]); 6] = [
    ("directory", [415.99, 463.32, 8509.17]),
    ("packed file", [213.08, 266.93, 4401.58]),
    ("memory map", [184.78, 236.494, 2615.1]),
    ("LRU of 15000 entries", [368.0, 425.0, 3500.0]),
    ("LRU of 20000 entries", [369.0, 422.0, 3145.0]),
    ("LRU of 25000 entries", [404.0, 461.0, 3137.0]),
];
/// What the others are compared with.
const PACKED: &str = "packed file";
const ORDERS: [&str; 3] = ["in order", "random", "trace"];
/// The paper's mean seek time, from 463.32 and 415.99 ms.
const PAPER_SEEK_US: f64 = 3.38;

#[derive(Debug, Serialize)]
pub(crate) struct Times {
    /// The least cold of all starts.
    residency: Coldness,
    rows: Vec<Row>,
}

/// One way of reading, in one order.
#[derive(Debug, Serialize)]
struct Row {
    order: &'static str,
    method: String,
    cold: Spread,
    warm: Spread,
    paper_ms: Option<f64>,
    hits: u64,
    reads: u64,
}

/// Figures 1 and 2: milliseconds of each way of reading, and how they compare with the paper's.
pub(crate) fn tables(times: &Times) -> [Table; 3] {
    let ways = "a directory of small files, a packed file, a map and caches";
    let cold = ("cold", "from cold", Row::cold as fn(&Row) -> &Spread);
    let warm = ("warm", "again, from the page cache", Row::warm as _);
    let [cold, warm] = [cold, warm].map(|(id, when, spread)| {
        let title = format!("Reading {ways}, {when}");
        let mut table = Table::new(id, &title, "read by", "ms", Better::Neither)
            .contenders(ORDERS.map(Contender::ours))
            .under("All entries in order, all at random, and the trace; caches begin empty.");
        for row in &times.rows {
            table.set(&row.method, row.order, Figure::of_rounds(&spread(row).trials_ms));
        }
        table
    });
    [cold, warm, beside_paper(times)]
}

/// His times are of another machine and a longer trace: only their ratios can be compared.
fn beside_paper(times: &Times) -> Table {
    let title = "Time of each way of reading, of that of the packed file";
    let mut table = Table::new("paper", title, "read by", "×", Better::Neither)
        .contenders(ORDERS.map(Contender::ours))
        .under("From the page cache, as all trials of the paper but the first.");
    for row in &times.rows {
        let Some(packed) = times.row(row.order, PACKED) else { continue };
        let trials = row.warm.trials_ms.iter().zip(&packed.warm.trials_ms);
        let ratios: Vec<f64> = trials.map(|(own, packed)| own / packed).collect();
        table.set(&row.method, row.order, Figure::of_rounds(&ratios));
        if let Some((own, packed)) = row.paper_ms.zip(packed.paper_ms) {
            table.set(
                &row.method,
                &format!("the paper, {}", row.order),
                Figure::exact(own / packed),
            );
        }
    }
    table
}

/// Mean and standard deviation (of a sample) of the trials.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Spread {
    pub(crate) mean_ms: f64,
    pub(crate) deviation_ms: f64,
    pub(crate) trials_ms: Vec<f64>,
}

/// His figures 1 and 2 were measured warm: only his first trial read from the disk.
pub(super) fn claims(times: &Times) -> Vec<Claim> {
    let warm = |method: &str, order: &str| {
        let row = times.rows.iter().find(|row| row.method == method && row.order == order);
        row.map_or(f64::NAN, |row| row.warm.mean_ms)
    };
    let of = |method: &str, other: &str, order: &str| warm(method, order) / warm(other, order);
    let lru = PAPER[3].0;
    let mut claims = vec![
        Claim::within(
            "fig. 1: the trace from a directory, times a packed file",
            of("directory", "packed file", "trace"),
            &(1.5..=2.5),
        ),
        Claim::within(
            "fig. 1: the trace from a packed file, times a map",
            of("packed file", "memory map", "trace"),
            &(1.3..=2.1),
        ),
    ];
    if warm(lru, "trace").is_finite() {
        claims.push(Claim::within(
            "fig. 2: the trace through an LRU of 15,000, of the packed file",
            of(lru, "packed file", "trace"),
            &(0.7..=0.9),
        ));
        claims.push(Claim::at_least(
            "fig. 2: in order through that cache, of the packed file",
            of(lru, "packed file", "in order"),
            1.0,
        ));
    }
    claims
}

pub(crate) fn measure(
    trace: &Trace,
    tree: &Tree,
    packed: &Packed,
    args: &Args,
) -> anyhow::Result<Times> {
    let bench = Bench { trace, tree, packed };
    let mut times = Times { residency: Coldness::default(), rows: Vec::new() };
    for (number, order) in ORDERS.into_iter().enumerate() {
        eprintln!("reading {order}, {} trials and one to discard", args.trials);
        let methods = methods(args);
        let mut seen: Vec<(Vec<f64>, Vec<f64>, Counts)> = vec![Default::default(); methods.len()];
        for turn in 0..methods.len() * (args.trials + 1) {
            let trial = turn / methods.len();
            let which = (turn + trial) % methods.len();
            let requests = bench.requests(number, trial);
            let coldness = bench.make_cold(methods[which])?;
            let (cold, counts) = bench.time(methods[which], &requests)?;
            let (warm, _) = bench.time(methods[which], &requests)?;
            if trial > 0 {
                seen[which].0.push(milliseconds(cold));
                seen[which].1.push(milliseconds(warm));
                seen[which].2 = counts;
                times.note(coldness);
            }
        }
        times
            .rows
            .extend(methods.iter().zip(seen).map(|(method, seen)| row(number, *method, seen)));
    }
    Ok(times)
}

fn methods(args: &Args) -> Vec<Method> {
    let entries_a_line = args.entries_a_line;
    let caches = args.lines.iter().map(|&lines| Method::Cached { lines, entries_a_line });
    [Method::Directory, Method::Packed, Method::Mapped].into_iter().chain(caches).collect()
}

fn row(order: usize, method: Method, (cold, warm, counts): (Vec<f64>, Vec<f64>, Counts)) -> Row {
    let method = method.name();
    let paper_ms =
        PAPER.iter().find(|(name, _)| *name == method).map(|(_, figures)| figures[order]);
    Row {
        order: ORDERS[order],
        cold: Spread::of(cold),
        warm: Spread::of(warm),
        paper_ms,
        hits: counts.hits,
        reads: counts.reads,
        method,
    }
}

/// The files that are read.
struct Bench<'a> {
    trace: &'a Trace,
    tree: &'a Tree,
    packed: &'a Packed,
}

impl Bench<'_> {
    /// The requests of a trial: shuffled anew for each trial, and the same for all methods.
    fn requests(&self, order: usize, trial: usize) -> Vec<Id> {
        let entries = self.trace.ids.len();
        match order {
            0 => (0..entries as Id).collect(),
            1 => shuffled(entries, trial as u64),
            _ => self.trace.requests.clone(),
        }
    }

    fn make_cold(&self, method: Method) -> anyhow::Result<Coldness> {
        Ok(match method {
            Method::Directory => make_cold(&self.tree.paths, Dropping::Files)?,
            _ => make_cold([&self.packed.path], Dropping::Files)?,
        })
    }

    fn time(&self, method: Method, requests: &[Id]) -> anyhow::Result<(Duration, Counts)> {
        time(method, self.tree, self.packed, &self.trace.ids, requests)
    }
}

/// Reads the entries one after another, and checks that each is the right one.
pub(crate) fn time(
    method: Method,
    tree: &Tree,
    packed: &Packed,
    ids: &[u64],
    requests: &[Id],
) -> anyhow::Result<(Duration, Counts)> {
    let mut access = method.open(tree, packed)?;
    let start = Instant::now();
    for &entry in requests {
        let id = ids[entry as usize];
        let bytes = access
            .read(entry)
            .with_context(|| format!("{}: cannot read entry {id}", method.name()))?;
        ensure!(bytes[..ID_BYTES] == id.to_le_bytes(), "{}: entry {id} is another", method.name());
    }
    Ok((start.elapsed(), access.counts()))
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

impl Spread {
    pub(crate) fn of(trials_ms: Vec<f64>) -> Self {
        let count = trials_ms.len().max(1) as f64;
        let mean_ms = trials_ms.iter().sum::<f64>() / count;
        let squares: f64 = trials_ms.iter().map(|trial| (trial - mean_ms).powi(2)).sum();
        Self { mean_ms, deviation_ms: (squares / (count - 1.0).max(1.0)).sqrt(), trials_ms }
    }

    pub(crate) fn words(&self) -> String {
        format!("{:.1} ± {:.1} ms", self.mean_ms, self.deviation_ms)
    }
}

impl Row {
    fn cold(&self) -> &Spread {
        &self.cold
    }

    fn warm(&self) -> &Spread {
        &self.warm
    }
}

impl Times {
    /// Keeps the least cold start.
    fn note(&mut self, coldness: Coldness) {
        let warmth = |coldness: &Coldness| {
            (coldness.resident_bytes_after_drop, coldness.unknown, coldness.files)
        };
        if warmth(&coldness) >= warmth(&self.residency) {
            self.residency = coldness;
        }
    }

    fn row(&self, order: &str, method: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.order == order && row.method == method)
    }

    /// How much longer a random order takes than the sequential one, in microseconds an entry.
    fn seek_us(&self, of: impl Fn(&Row) -> f64) -> Option<f64> {
        let (random, in_order) =
            (self.row("random", "directory")?, self.row("in order", "directory")?);
        Some((of(random) - of(in_order)) * 1e3 / random.reads.max(1) as f64)
    }
}

pub(crate) fn words(times: &Times) -> String {
    let cells = times.rows.iter().map(|row| {
        let packed = times.row(row.order, PACKED);
        let ratio = |own: f64, packed: Option<f64>| {
            packed.map_or_else(|| "-".to_owned(), |packed| format!("{:.2}", own / packed))
        };
        let paper = row.paper_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0} ms"));
        let paper_ratio = row.paper_ms.map_or_else(
            || "-".to_owned(),
            |own| ratio(own, packed.and_then(|packed| packed.paper_ms)),
        );
        vec![
            row.order.to_owned(),
            row.method.clone(),
            row.cold.words(),
            ratio(row.cold.mean_ms, packed.map(|packed| packed.cold.mean_ms)),
            row.warm.words(),
            ratio(row.warm.mean_ms, packed.map(|packed| packed.warm.mean_ms)),
            paper,
            paper_ratio,
        ]
    });
    let header =
        ["entries", "read by", "cold", "× packed", "again, warm", "× packed", "paper", "× packed"];
    let seek =
        |found: Option<f64>| found.map_or_else(|| "unknown".to_owned(), |us| format!("{us:.2} µs"));
    format!(
        "Read performance (figures 1 and 2): mean and deviation of the trials; × packed: time over that of the packed file\n\n{}\n\
         Cold: {}.\nWarm: at once after, so all that fits is in the page cache; the caches begin empty.\n\
         A random entry costs over a sequential one: {} cold, {} warm (directory; the paper: {PAPER_SEEK_US} µs).\n",
        table(&header, cells.collect()),
        times.residency,
        seek(times.seek_us(|row| row.cold.mean_ms)),
        seek(times.seek_us(|row| row.warm.mean_ms)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_deviation_of_a_sample() {
        let spread = Spread::of(vec![2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]);
        assert!((spread.mean_ms - 5.0).abs() < 1e-9);
        assert!((spread.deviation_ms - 2.138).abs() < 1e-3);
        assert!(Spread::of(vec![3.0]).deviation_ms.abs() < 1e-9);
    }
}
