//! The further work that his last section suggests: entries packed in the order in which the trace
//! reads them, and neighbours fetched together or by threads. `overhead` has the rest.
//!
//! An order is made from the first half of the trace and judged on the second. The order that knows
//! the second half is shown for comparison only.

use super::Args;
use super::access::Counts;
use super::files::{Packed, Tree};
use super::method::Method;
use super::timing::{Spread, milliseconds, time};
use super::trace::Trace;
use seekless::device::Costs;
use seekless::measure::{Dropping, make_cold};
use seekless::policy::eviction::Id;
use seekless::policy::layout::ordering::by_method;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::path::Path;

/// How many entries are fetched together.
const ENTRIES_A_LINE: [u32; 3] = [1, 4, 16];
/// How many entries threads fetch after a miss (with the missed one as many as in a line), and how
/// many threads.
const PREFETCH: [(u32, u32); 3] = [(3, 2), (15, 2), (15, 8)];
/// A slow cloud volume. The greedy order does not use it.
const COSTS: Costs = Costs { request_ns: 2_000_000, bytes_per_second: 150_000_000, depth: 1 };

/// One order and one number of entries a line, in a cache of the same size as the others.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    order: &'static str,
    /// Whether the order was made from the requests on which it is judged.
    trained: bool,
    method: String,
    entries_a_line: u32,
    /// How many entries threads fetch after a miss. The next is the number of threads.
    ahead: u32,
    threads: u32,
    requests: usize,
    hits: u64,
    reads: u64,
    read_bytes: u64,
    cold: Spread,
}

pub(crate) fn measure(trace: &Trace, folder: &Path, args: &Args) -> anyhow::Result<Vec<Row>> {
    let entries = args.lines[args.lines.len() / 2] * u64::from(args.entries_a_line);
    let (first, second) = trace.requests.split_at(trace.requests.len() / 2);
    let greedy = |requests: &[Id]| order(trace, requests, entries, args);
    let orders = [
        ("by id", false, (0..trace.ids.len() as Id).collect()),
        ("greedy, first half", false, greedy(first)?),
        ("greedy, whole trace", true, greedy(&trace.requests)?),
    ];
    let mut rivals = Vec::new();
    for (number, (name, trained, order)) in orders.iter().enumerate() {
        eprintln!("packing: {name}");
        let path = folder.join(format!("db-order-{number}"));
        rivals.push((*name, *trained, Packed::make(path, &trace.ids, order, args.file_size)?));
    }
    let rivals: Vec<Rival> = rivals.iter().flat_map(|rival| rivals_of(rival, entries)).collect();
    eprintln!("reading the second half of the trace cold");
    let seen = alternate(trace, &rivals, second, args)?;
    let row =
        |(rival, (times, counts)): (&Rival, (Vec<f64>, Counts))| rival.row(second, times, counts);
    Ok(rivals.iter().zip(seen).map(row).collect())
}

/// One packed file, read through one cache.
struct Rival<'a> {
    order: &'static str,
    trained: bool,
    packed: &'a Packed,
    method: Method,
}

fn rivals_of<'a>(
    (order, trained, packed): &'a (&'static str, bool, Packed),
    entries: u64,
) -> impl Iterator<Item = Rival<'a>> {
    let by_lines = ENTRIES_A_LINE.into_iter().map(move |entries_a_line| {
        let lines = (entries / u64::from(entries_a_line)).max(1);
        Method::Cached { lines, entries_a_line }
    });
    let by_threads = PREFETCH.into_iter().map(move |(ahead, threads)| Method::Prefetching {
        entries,
        ahead,
        threads,
    });
    by_lines.chain(by_threads).map(|method| Rival { order, trained: *trained, packed, method })
}

impl Rival<'_> {
    fn row(
        &self,
        requests: &[Id],
        times: Vec<f64>,
        Counts { hits, reads, read_bytes }: Counts,
    ) -> Row {
        let (entries_a_line, ahead, threads) = match self.method {
            Method::Cached { entries_a_line, .. } => (entries_a_line, 0, 0),
            Method::Prefetching { ahead, threads, .. } => (1, ahead, threads),
            _ => (1, 0, 0),
        };
        let (order, trained, method) = (self.order, self.trained, self.method.name());
        let (requests, cold) = (requests.len(), Spread::of(times));
        Row {
            order,
            trained,
            method,
            entries_a_line,
            ahead,
            threads,
            requests,
            hits,
            reads,
            read_bytes,
            cold,
        }
    }
}

/// Times and counts of each rival. Rivals take turns, and the first round is discarded.
fn alternate(
    trace: &Trace,
    rivals: &[Rival<'_>],
    requests: &[Id],
    args: &Args,
) -> anyhow::Result<Vec<(Vec<f64>, Counts)>> {
    let tree = Tree { paths: Vec::new() };
    let mut seen = vec![(Vec::new(), Counts::default()); rivals.len()];
    for turn in 0..rivals.len() * (args.trials + 1) {
        let trial = turn / rivals.len();
        let which = (turn + trial) % rivals.len();
        let rival = &rivals[which];
        make_cold([&rival.packed.path], Dropping::Files)?;
        let (elapsed, counts) = time(rival.method, &tree, rival.packed, &trace.ids, requests)?;
        if trial > 0 {
            seen[which].0.push(milliseconds(elapsed));
            seen[which].1 = counts;
        }
    }
    Ok(seen)
}

/// Greedy chains of the requests that miss a cache of as many entries.
fn order(trace: &Trace, requests: &[Id], entries: u64, args: &Args) -> anyhow::Result<Vec<Id>> {
    let bytes = vec![args.file_size as u64; trace.ids.len()];
    let ordering = by_method("greedy", Some(entries * args.file_size as u64))?;
    Ok(ordering.order(&[requests], &bytes, &COSTS))
}

/// Hits, reads and milliseconds from cold, for each way to fetch and each order of the packed file.
pub(crate) fn tables(rows: &[Row]) -> [Table; 3] {
    let share = |row: &Row| Figure::exact(100.0 * row.hits as f64 / row.requests.max(1) as f64);
    let hits = filled(rows, ("together-hits", "Hits", "% of requests"), share);
    let reads = |row: &Row| Figure::exact(row.reads as f64);
    let reads = filled(rows, ("together-reads", "Reads", ""), reads);
    let cold = |row: &Row| Figure::of_rounds(&row.cold.trials_ms);
    let cold = filled(rows, ("together-cold", "Time from cold", "ms"), cold);
    [hits, reads, cold]
}

fn filled(
    rows: &[Row],
    (id, what, unit): (&str, &str, &str),
    figure: impl Fn(&Row) -> Figure,
) -> Table {
    let title = format!("{what} of an LRU cache where entries are fetched together or ahead");
    let mut table = Table::new(id, &title, "read by", unit, Better::Neither).under(
        "The second half of the trace; the packed file in three orders, \
         all caches of the same size. An entry that a thread is fetching counts as a hit.",
    );
    for row in rows {
        let known = if row.trained { " (knows the second half)" } else { "" };
        let order = format!("{}{known}", row.order);
        if table.contenders.iter().all(|contender| contender.name != order) {
            table.contenders.push(Contender::ours(&order));
        }
        table.set(&row.method, &order, figure(row));
    }
    table
}

pub(crate) fn words(rows: &[Row]) -> String {
    let share = |count: u64, row: &Row| {
        format!("{:.2} %", 100.0 * count as f64 / row.requests.max(1) as f64)
    };
    let cells = rows.iter().map(|row| {
        vec![
            row.order.to_owned(),
            if row.trained { "trained" } else { "held out" }.to_owned(),
            row.method.clone(),
            share(row.hits, row),
            row.reads.to_string(),
            seekless::device::units::format_bytes(row.read_bytes),
            row.cold.words(),
        ]
    });
    let header = ["packed", "", "read by", "hits", "reads", "bytes read", "cold"];
    format!(
        "Future work: {} requests (the second half), an LRU of the same size in bytes; reordered, and with neighbours fetched\n\
         together or by threads; an entry that a thread is fetching already is a hit\n\n{}",
        rows.first().map_or(0, |row| row.requests),
        table(&header, cells.collect())
    )
}
