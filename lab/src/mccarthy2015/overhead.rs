//! The cost of a cache itself, which he suspects of making his cache slower than no cache. His
//! design (a hash map, fresh memory for each entry) and ours (dense numbers, reused buffers) beside
//! plain reads of the packed file, all from the page cache.

use super::Args;
use super::access::Counts;
use super::files::{Packed, Tree};
use super::method::Method;
use super::timing::{Spread, milliseconds, time};
use super::trace::Trace;
use seekless::policy::eviction::Id;
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;

/// Figure 2 in milliseconds for 20,000 entries: packed file, and his cache.
const PAPER: [(&str, [f64; 2]); 2] = [("in order", [213.0, 369.0]), ("trace", [4402.0, 3145.0])];

#[derive(Debug, Serialize)]
pub(crate) struct Row {
    order: &'static str,
    method: String,
    hits: u64,
    reads: u64,
    warm: Spread,
    /// The time for each entry, minus that of the packed file. Negative where the hits save more
    /// than the cache costs.
    over_packed_ns: f64,
    paper_ms: Option<f64>,
}

pub(crate) fn measure(trace: &Trace, packed: &Packed, args: &Args) -> anyhow::Result<Vec<Row>> {
    let entries = args.lines[args.lines.len() / 2] * u64::from(args.entries_a_line);
    let methods = [
        Method::Packed,
        Method::Published { entries },
        Method::Cached { lines: entries, entries_a_line: 1 },
    ];
    let in_order: Vec<Id> = (0..trace.ids.len() as Id).collect();
    let mut rows = Vec::new();
    for ((order, paper), requests) in PAPER.into_iter().zip([&in_order, &trace.requests]) {
        eprintln!("reading {order} warm, for the overhead");
        let seen = alternate(trace, packed, &methods, requests, args.trials)?;
        let plain = Spread::of(seen[0].0.clone()).mean_ms;
        for (number, (method, (times, counts))) in methods.iter().zip(seen).enumerate() {
            let warm = Spread::of(times);
            let over_packed_ns = (warm.mean_ms - plain) * 1e6 / requests.len().max(1) as f64;
            let paper_ms = (entries == 20_000).then(|| paper.get(number).copied()).flatten();
            let Counts { hits, reads, .. } = counts;
            rows.push(Row {
                order,
                method: method.name(),
                hits,
                reads,
                warm,
                over_packed_ns,
                paper_ms,
            });
        }
    }
    Ok(rows)
}

/// Rivals take turns. The first round fills the page cache and is discarded.
fn alternate(
    trace: &Trace,
    packed: &Packed,
    methods: &[Method],
    requests: &[Id],
    trials: usize,
) -> anyhow::Result<Vec<(Vec<f64>, Counts)>> {
    let tree = Tree { paths: Vec::new() };
    let mut seen = vec![(Vec::new(), Counts::default()); methods.len()];
    for trial in 0..=trials {
        for turn in 0..methods.len() {
            let which = (turn + trial) % methods.len();
            let (elapsed, counts) = time(methods[which], &tree, packed, &trace.ids, requests)?;
            if trial > 0 {
                seen[which].0.push(milliseconds(elapsed));
                seen[which].1 = counts;
            }
        }
    }
    Ok(seen)
}

/// The time for each entry, beyond that of a plain read of the packed file.
pub(crate) fn over_packed(rows: &[Row]) -> Table {
    let title = "What a cache costs for each entry, beyond a plain read of the packed file";
    let mut table = Table::new("overhead", title, "read by", "ns", Better::Neither)
        .contenders(PAPER.map(|(order, _)| Contender::ours(order)))
        .under("From the page cache; negative where hits save more than the cache costs.");
    let packed = Method::Packed.name();
    for row in rows.iter().filter(|row| row.method != packed) {
        table.set(&row.method, row.order, Figure::exact(row.over_packed_ns));
    }
    table
}

pub(crate) fn words(rows: &[Row]) -> String {
    let cells = rows.iter().map(|row| {
        vec![
            row.order.to_owned(),
            row.method.clone(),
            row.hits.to_string(),
            row.warm.words(),
            format!("{:+.0} ns", row.over_packed_ns),
            row.paper_ms.map_or_else(|| "-".to_owned(), |ms| format!("{ms:.0} ms")),
        ]
    });
    let header = ["entries", "read by", "hits", "warm", "over packed, an entry", "paper"];
    format!(
        "Lower overhead: the cache as he wrote it, and ours with the same hits; everything in the page cache\n\n{}",
        table(&header, cells.collect())
    )
}
