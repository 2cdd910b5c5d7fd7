//! The figures, for the terminal and for the page.

use super::means::{Means, Trial};
use super::price;
use super::simulated::Simulated;
use super::way::Way;
use crate::rounds::median;
use seekless::device::Price;
use seekless::device::units::{format_bytes, format_count, format_rate};
use seekless::report::table;
use seekless_results::{Better, Contender, Figure, Table};

/// The trials of each way with the same delay.
pub(super) struct WithDelay {
    pub(super) delay_ms: u64,
    pub(super) ways: Vec<(Way, Vec<Trial>)>,
    pub(super) simulated: Vec<Simulated>,
    /// Seconds of the list without delay and limit.
    pub(super) hurried: Option<f64>,
}

/// What is known of a trial, in a table's unit.
type Of = fn(&Trial, &Price) -> f64;

const SIMULATED: &str = "simulated";
const LIVE: &str = "live";

fn seconds(trials: &[Trial]) -> f64 {
    median(&mut trials.iter().map(|trial| trial.loaded.seconds).collect::<Vec<_>>())
}

/// The delay and the bandwidth in words.
fn case(means: &Means<'_>, delay_ms: u64) -> String {
    let spread_ms = delay_ms as f64 * means.args.spread;
    format!("{delay_ms} ms ± {spread_ms:.0}, {} a stream", format_rate(means.args.stream))
}

pub(super) fn of(means: &Means<'_>, all: &[WithDelay], load: &str) -> Vec<Table> {
    let args = means.args;
    let under = format!(
        "A start of 0 A.D. ({}), {} files of {}, from a pack of all files which neither order nor \
         prediction knew; versitygw on loopback behind a proxy that delays and counts. A rival was \
         ended after {} s. {load}",
        args.start,
        format_count(means.prepared.wanted.len() as u64),
        format_bytes(means.prepared.expected.bytes()),
        means.limit().as_secs(),
    );
    let new = |id: &str, title: &str, unit: &str, better| {
        Table::new(id, title, "delay of a request", unit, better).under(&under)
    };
    let whole = means.prepared.wanted.len() as f64;
    let share = |trial: &Trial| 100.0 * trial.loaded.files as f64 / whole;
    let kinds: [(Table, Of); 4] = [
        (new("seconds", "A start from object storage", "s", Better::Lower), |trial, _| {
            trial.loaded.seconds
        }),
        (new("requests", "The same: requests", "", Better::Lower), |trial, _| {
            trial.served.requests as f64
        }),
        (new("megabytes", "The same: bytes received", "MB", Better::Lower), |trial, _| {
            trial.served.bytes as f64 / 1e6
        }),
        (
            new("price", "The same: requests of a thousand starts", "USD", Better::Lower),
            |trial, prices| price::requests(prices, &trial.served),
        ),
    ];
    let mut tables: Vec<Table> = kinds
        .into_iter()
        .map(|(table, of)| enter(table, means, all, |trial| of(trial, &args.price)))
        .collect();
    let title = "The same, with all bytes leaving the provider's network: a thousand starts";
    let egress = new("price-egress", title, "USD", Better::Lower);
    tables.push(enter(egress, means, all, |trial| price::whole(&args.price, &trial.served)));
    let loaded =
        new("loaded", "The same: files loaded until the end", "% of files", Better::Higher);
    tables.push(enter(loaded, means, all, share));
    tables.extend(simulated(all, load));
    tables
}

fn enter(table: Table, means: &Means<'_>, all: &[WithDelay], of: impl Fn(&Trial) -> f64) -> Table {
    let ours = Way::ALL.into_iter().filter(|way| way.is_ours());
    let mut table = table.contenders(ours.map(|way| Contender::ours(way.name())));
    for with in all {
        let case = case(means, with.delay_ms);
        for (way, trials) in &with.ways {
            let figures: Vec<f64> = trials.iter().map(&of).collect();
            table.set(&case, way.name(), Figure::of_rounds(&figures));
        }
    }
    table
}

/// What the simulator says beside what came.
fn simulated(all: &[WithDelay], load: &str) -> [Table; 3] {
    let under = format!(
        "The simulator on a device of this delay and bandwidth, beside a store that was told its \
         costs; one start each. {load}"
    );
    let table = |id: &str, title, unit| {
        Table::new(id, title, "delay, way", unit, Better::Neither)
            .contenders([SIMULATED, LIVE].map(Contender::ours))
            .under(&under)
    };
    let mut requests = table("simulated-requests", "Simulated and live: requests", "");
    let mut megabytes = table("simulated-megabytes", "The same: bytes", "MB");
    let mut seconds = table("simulated-seconds", "The same: time", "s");
    for with in all {
        for one in &with.simulated {
            let case = format!("{} ms, {}", with.delay_ms, one.way.name());
            let (figures, live) = (&one.figures, &one.live);
            requests.set(&case, SIMULATED, Figure::exact(figures.requests as f64));
            requests.set(&case, LIVE, Figure::exact(live.served.requests as f64));
            megabytes.set(&case, SIMULATED, Figure::exact(figures.bytes as f64 / 1e6));
            megabytes.set(&case, LIVE, Figure::exact(live.served.bytes as f64 / 1e6));
            seconds.set(&case, SIMULATED, Figure::exact(figures.time_ns as f64 / 1e9));
            seconds.set(&case, LIVE, Figure::exact(live.loaded.seconds));
        }
    }
    [requests, megabytes, seconds]
}

const HEADER: [&str; 9] = [
    "way",
    "list known",
    "time",
    "files",
    "requests",
    "bytes",
    "requests of 1000 starts",
    "with egress",
    "times ours",
];

pub(super) fn words(means: &Means<'_>, all: &[WithDelay]) -> String {
    let prices = &means.args.price;
    let mut words = String::new();
    for with in all {
        let of = |way: Way| {
            let found = with.ways.iter().find(|(known, _)| *known == way);
            found.map(|(_, trials)| seconds(trials))
        };
        let row = |(way, trials): &(Way, Vec<Trial>)| {
            let ours = match way.knows_the_list() {
                true => of(Way::Listed),
                false => of(Way::OnDemand { predict: true }),
            };
            let (Some(last), took) = (trials.last(), seconds(trials)) else { return Vec::new() };
            let all = if last.loaded.files < means.prepared.wanted.len() { "over " } else { "" };
            vec![
                way.name().to_owned(),
                if way.knows_the_list() { "yes" } else { "" }.to_owned(),
                format!("{all}{took:.2} s"),
                format_count(last.loaded.files as u64),
                format_count(last.served.requests),
                format_bytes(last.served.bytes),
                format!("{:.2} $", price::requests(prices, &last.served)),
                format!("{:.2} $", price::whole(prices, &last.served)),
                ours.map_or_else(String::new, |ours| format!("{all}{:.1}", took / ours)),
            ]
        };
        let rows = with.ways.iter().map(row).collect();
        words += &format!("{}\n\n{}\n", case(means, with.delay_ms), table(&HEADER, rows));
        words += &simulated_words(with);
        words += &bars(with, of(Way::Listed), of(Way::OnDemand { predict: true }));
    }
    words
}

fn simulated_words(with: &WithDelay) -> String {
    let rows = with.simulated.iter().map(|one| {
        let (figures, live) = (&one.figures, &one.live);
        vec![
            one.way.name().to_owned(),
            format!("{}, {}", format_count(figures.requests), format_count(live.served.requests)),
            format!("{}, {}", format_bytes(figures.bytes), format_bytes(live.served.bytes)),
            format!("{:.2} s, {:.2} s", figures.time_ns as f64 / 1e9, live.loaded.seconds),
        ]
    });
    let header = ["simulated, and live with the costs told", "requests", "bytes", "time"];
    format!("{}\n", table(&header, rows.collect()))
}

/// Seconds of the predicted start, as simulated.
fn predicted_simulated(with: &WithDelay) -> f64 {
    let of = |one: &&Simulated| one.way == Way::OnDemand { predict: true };
    let found = with.simulated.iter().find(of);
    found.map_or(f64::NAN, |one| one.figures.time_ns as f64 / 1e9)
}

/// What the ways of ours come to, of each other and of the simulator.
fn bars(with: &WithDelay, listed: Option<f64>, predicted: Option<f64>) -> String {
    let mut words = String::new();
    let (Some(listed), Some(predicted)) = (listed, predicted) else { return words };
    words += &format!("Predicted takes {:.2} times the list's time", predicted / listed);
    let simulated = with.simulated.iter().find(|one| one.way == Way::Listed);
    if let Some(simulated) = simulated {
        let on_device = simulated.figures.time_ns as f64 / 1e9;
        words += &format!(" ({:.1} simulated)", predicted_simulated(with) / on_device);
        words += &format!(", and the list {:.2} times the simulator's", listed / on_device);
        if let Some(hurried) = with.hurried {
            // Delays pass while the processors work.
            let ceiling = on_device.max(hurried);
            words += &format!(
                "; without any delay it takes {hurried:.2} s, so it takes {:.2} times what it must",
                listed / ceiling
            );
        }
    }
    words + ".\n"
}
