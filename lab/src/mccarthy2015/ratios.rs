//! Figures 3 and 4: the hit ratio of an LRU cache of N entries, at the end and over time.

use super::Args;
use super::trace::Trace;
use crate::claims::Claim;
use anyhow::{Context, ensure};
use seekless::report::chart::{Axis, LineChart, LinePoint, Scale, Series, Unit};
use seekless::report::{Drawing, table};
use seekless::sim::{Case, Options, Requests, simulate, simulate_with};
use seekless_results::{Better, Contender, Figure, Table};
use serde::Serialize;
use std::num::NonZeroU64;

/// The interval at which his program prints.
const EVERY: u64 = 5000;
/// The interval of the points that are saved.
const SAVED_EVERY: u64 = 5 * EVERY;
/// He prints six significant digits.
const TOLERANCE: f64 = 6e-7;
/// Figure 4, in percent, as printed there. The 74.8 is a slip: his program's output ends at 73.8.
const FIGURE_4: [(u64, &str); 3] = [(15_000, "71 %"), (20_000, "74.8 %"), (25_000, "76.1 %")];

/// One size of cache.
#[derive(Debug, Serialize)]
pub(crate) struct Row {
    pub(super) entries: u64,
    pub(super) hits: u64,
    hit_ratio: f64,
    /// The hit ratio of the optimal policy, which knows the future.
    best_hit_ratio: f64,
    /// Misses of all requests so far, every 5,000 requests.
    curve: Vec<(u64, f64)>,
    published: Option<Published>,
}

/// The comparison with his program's output for the same size.
#[derive(Debug, Serialize)]
struct Published {
    points_compared: usize,
    /// Largest difference between a point of ours and his.
    max_difference: f64,
    /// The last point that the trace reaches.
    last_point: u64,
    /// The hit ratio at that point.
    hit_ratio_there: f64,
    /// The hit ratio at the end of his whole trace.
    hit_ratio_at_end: f64,
}

/// Where his own program's output is there to compare with.
pub(super) fn claims(trace: &Trace, rows: &[Row]) -> Vec<Claim> {
    let compared = |row: &Row| {
        let published = row.published.as_ref()?;
        let equal = published.max_difference < TOLERANCE;
        let claim = format!("fig. 3: miss ratios of {} entries, point by point", row.entries);
        let found =
            format!("{} points, {:.0e} apart", published.points_compared, published.max_difference);
        Some(Claim::new(&claim, found, "equal to six digits", equal))
    };
    let mut claims: Vec<Claim> = rows.iter().filter_map(compared).collect();
    if let Some(row) = rows.iter().find(|row| row.entries == 25_000) {
        let claim = "12: hits of 25,000 entries, of what an unlimited cache hits";
        claims.push(Claim::at_least(claim, row.hit_ratio / trace.perfect_hit_ratio(), 0.8));
    }
    claims
}

pub(crate) fn simulate_each(trace: &Trace, args: &Args) -> anyhow::Result<Vec<Row>> {
    let requests = Requests::from_files(&trace.requests, &vec![1; trace.ids.len()]);
    let row = |&entries: &u64| row(&requests, entries, args);
    args.lines.iter().map(row).collect()
}

fn row(requests: &Requests, entries: u64, args: &Args) -> anyhow::Result<Row> {
    let options = Options { every: NonZeroU64::new(EVERY), ..Options::default() };
    let case = |policy: &str| Case { policy: policy.to_owned(), capacity: entries };
    let lru = simulate_with(requests, &case("lru"), &options)?;
    let curve: Vec<(u64, f64)> =
        lru.over_time.iter().map(|point| (point.requests, point.miss_ratio)).collect();
    let published =
        if args.quick || args.trace.is_some() { None } else { compare(&curve, entries, args)? };
    Ok(Row {
        entries,
        hits: lru.hits,
        hit_ratio: lru.hit_ratio,
        best_hit_ratio: simulate(requests, &case("opt"))?.hit_ratio,
        curve,
        published,
    })
}

/// Compares our curve with his, if he published one for this size.
fn compare(curve: &[(u64, f64)], entries: u64, args: &Args) -> anyhow::Result<Option<Published>> {
    let path = args.published(&format!("cache_out_{entries}.txt"));
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(None) };
    let point = |line: &str| -> Option<(u64, f64)> {
        let (count, ratio) = line.split_once(char::is_whitespace)?;
        Some((count.parse().ok()?, ratio.trim().parse().ok()?))
    };
    let his: Vec<(u64, f64)> = text.lines().filter_map(point).collect();
    let his_at = |count: u64| his.iter().find(|point| point.0 == count).map(|point| point.1);
    let both: Vec<(u64, f64, f64)> = curve
        .iter()
        .filter_map(|&(count, ours)| his_at(count).map(|his| (count, ours, his)))
        .collect();
    let (last, end) =
        both.last().zip(his.last()).with_context(|| format!("{} has no points", path.display()))?;
    for &(count, ours, his) in &both {
        let differs = (ours - his).abs() > TOLERANCE;
        ensure!(
            !differs,
            "{entries} entries, {count} requests: miss ratio {ours:.6}, published {his}"
        );
    }
    Ok(Some(Published {
        points_compared: both.len(),
        max_difference: both.iter().map(|(_, ours, his)| (ours - his).abs()).fold(0.0, f64::max),
        last_point: last.0,
        hit_ratio_there: 1.0 - last.2,
        hit_ratio_at_end: 1.0 - end.1,
    }))
}

/// Misses of the cache at the end, as published and as we have them.
pub(crate) fn misses(trace: &Trace, rows: &[Row]) -> Table {
    let title = "Misses of an LRU cache under a web server's trace";
    let mut table = Table::new("misses", title, "entries", "% of requests", Better::Neither)
        .contenders(["LRU", "optimal"].map(Contender::ours))
        .under(conditions(trace));
    for row in rows {
        let case = row.entries.to_string();
        let mut set =
            |name: &str, hits: f64| table.set(&case, name, Figure::exact(100.0 * (1.0 - hits)));
        set("LRU", row.hit_ratio);
        set("optimal", row.best_hit_ratio);
        if let Some(published) = &row.published {
            set("his output, where it ends", published.hit_ratio_at_end);
        }
        table.place(&case, row.entries as f64);
    }
    table
}

/// Figure 3: misses of all requests so far.
pub(crate) fn misses_over_time(trace: &Trace, rows: &[Row]) -> Table {
    let title = "Misses of an LRU cache so far, by requests of a web server's trace";
    let entries = |row: &Row| format!("{} entries", row.entries);
    let mut table = Table::new("misses-over-time", title, "requests", "%", Better::Neither)
        .contenders(rows.iter().map(|row| Contender::ours(&entries(row))))
        .under(conditions(trace));
    for row in rows {
        for &(requests, misses) in row.curve.iter().filter(|point| point.0 % SAVED_EVERY == 0) {
            let case = requests.to_string();
            table.set(&case, &entries(row), Figure::exact(100.0 * misses));
            table.place(&case, requests as f64);
        }
    }
    table
}

fn conditions(trace: &Trace) -> &'static str {
    match trace.is_stand_in {
        true => "Simulated: made-up requests of the shape of McCarthy's, not the published trace.",
        false => "Simulated: McCarthy's trace. His whole trace is longer than what he published.",
    }
}

pub(crate) fn words(trace: &Trace, rows: &[Row]) -> String {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let or_nothing = |found: Option<String>| found.unwrap_or_else(|| "-".to_owned());
    let cells = rows.iter().map(|row| {
        let published = row.published.as_ref();
        let printed =
            FIGURE_4.iter().find(|(entries, _)| published.is_some() && *entries == row.entries);
        vec![
            row.entries.to_string(),
            percent(row.hit_ratio),
            or_nothing(published.map(|published| {
                format!("{} at {}", percent(published.hit_ratio_there), published.last_point)
            })),
            or_nothing(published.map(|published| published.points_compared.to_string())),
            or_nothing(published.map(|published| format!("{:.1e}", published.max_difference))),
            or_nothing(published.map(|published| percent(published.hit_ratio_at_end))),
            or_nothing(printed.map(|(_, words)| (*words).to_owned())),
            percent(row.best_hit_ratio),
        ]
    });
    let header = [
        "LRU, entries",
        "hits",
        "published",
        "points",
        "largest difference",
        "published, whole trace",
        "printed",
        "best possible",
    ];
    let heading = match trace.is_stand_in {
        true => "Not the published trace: made-up requests of its shape.\n\n",
        false => "",
    };
    format!(
        "{heading}Hit ratio (figure 4): {} requests for {} entries; a perfect cache hits {:.2} of them (the paper's trace goes on: .95)\n\
         and miss ratio every {EVERY} requests (figure 3), beside his program's output\n\n{}\n{}",
        trace.requests.len(),
        trace.ids.len(),
        trace.perfect_hit_ratio(),
        table(&header, cells.collect()),
        curves(rows)
    )
}

/// Figure 3 with a tenth of its points.
fn curves(rows: &[Row]) -> String {
    let names: Vec<String> =
        rows.iter().map(|row| format!("misses, {} entries", row.entries)).collect();
    let header: Vec<&str> =
        ["requests"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let points = rows.first().map_or(0, |row| row.curve.len());
    let step = (points / 8).max(1);
    let line = |place: usize| {
        let count = rows.first().map(|row| row.curve[place].0.to_string());
        count
            .into_iter()
            .chain(rows.iter().map(|row| format!("{:.6}", row.curve[place].1)))
            .collect()
    };
    table(&header, (0..points).step_by(step).map(line).collect())
}

pub(crate) fn picture(rows: &[Row]) -> Drawing {
    let series = |row: &Row| Series {
        name: format!("{} entries", row.entries),
        points: row
            .curve
            .iter()
            .map(|&(count, ratio)| LinePoint::exact(count as f64, ratio))
            .collect(),
    };
    LineChart {
        title: "Number of requests and miss ratio of LRU".to_owned(),
        x: Axis { label: "requests".to_owned(), scale: Scale::Linear, unit: Unit::Count },
        y: Axis {
            label: "misses, of requests so far".to_owned(),
            scale: Scale::Linear,
            unit: Unit::Percent,
        },
        series: rows.iter().map(series).collect(),
        caption: "McCarthy 2015, figure 3, on the first part of his trace.".to_owned(),
    }
    .draw()
}
