//! The figures, for the terminal and for the page.

use super::means::{Means, Trial};
use super::price;
use super::simulated::Simulated;
use super::way::Way;
use crate::rounds::median;
use seekless::device::Price;
use seekless::device::units::{format_bytes, format_count, format_rate};
use seekless::report::table;
use seekless_results::{Better, Figure, Table};

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

fn seconds(trials: &[Trial]) -> f64 {
    median(&mut trials.iter().map(|trial| trial.loaded.seconds).collect::<Vec<_>>())
}

/// The delay and the bandwidth in words.
fn case(means: &Means<'_>, delay_ms: u64) -> String {
    let spread_ms = delay_ms as f64 * means.args.spread;
    format!("{delay_ms} ms ± {spread_ms:.0}, {} a stream", format_rate(means.args.stream))
}

pub(super) fn of(means: &Means<'_>, all: &[WithDelay]) -> Vec<Table> {
    all.iter().flat_map(|with| [ways(means, with), simulated(means, with)]).collect()
}

/// A table of one delay. That of the first that is asked for is known by `id` alone.
fn table_of(means: &Means<'_>, delay_ms: u64, id: &str, title: &str) -> Table {
    let id = match means.args.delay_ms.first() == Some(&delay_ms) {
        true => id.to_owned(),
        false => format!("{id}-{delay_ms}"),
    };
    Table::new(&id, title, "way", "", Better::Neither)
}

/// What each way takes.
fn ways(means: &Means<'_>, with: &WithDelay) -> Table {
    let args = means.args;
    let columns: [(&str, Of); 6] = [
        ("seconds", |trial, _| trial.loaded.seconds),
        ("files", |trial, _| trial.loaded.files as f64),
        ("requests", |trial, _| trial.served.requests as f64),
        ("MB", |trial, _| trial.served.bytes as f64 / 1e6),
        ("USD, 1000 starts: requests", |trial, prices| price::requests(prices, &trial.served)),
        ("with egress", |trial, prices| price::whole(prices, &trial.served)),
    ];
    let under = format!(
        "A start of 0 A.D. ({}), {} files of {}, from a pack of all files which neither order nor \
         prediction knew; {}; versitygw on loopback behind a proxy that delays and counts. A way \
         that had not loaded all files after {} s was ended.",
        args.start,
        format_count(means.prepared.wanted.len() as u64),
        format_bytes(means.prepared.expected.bytes()),
        case(means, with.delay_ms),
        means.limit().as_secs(),
    );
    let title = "A start from object storage";
    let mut table = table_of(means, with.delay_ms, "ways", title).under(&under);
    for (way, trials) in &with.ways {
        let of_way = if way.is_ours() { "Seekless, " } else { "" };
        let row = format!("{of_way}{}", way.name());
        for (column, of) in columns {
            let figures: Vec<f64> = trials.iter().map(|trial| of(trial, &args.price)).collect();
            table.set(&row, column, Figure::of_rounds(&figures));
        }
    }
    table
}

/// What the simulator says beside what came.
fn simulated(means: &Means<'_>, with: &WithDelay) -> Table {
    let under = format!(
        "The simulator on a device of {}, beside a store that was told its costs; one start each.",
        case(means, with.delay_ms)
    );
    let title = "The simulator and the storage";
    let mut table = table_of(means, with.delay_ms, "simulated", title).under(&under);
    for one in &with.simulated {
        let (figures, live) = (&one.figures, &one.live);
        let columns = [
            ("requests, simulated", figures.requests as f64),
            ("live", live.served.requests as f64),
            ("MB, simulated", figures.bytes as f64 / 1e6),
            ("MB, live", live.served.bytes as f64 / 1e6),
            ("seconds, simulated", figures.time_ns as f64 / 1e9),
            ("seconds, live", live.loaded.seconds),
        ];
        for (column, value) in columns {
            table.set(one.way.name(), column, Figure::exact(value));
        }
    }
    table
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
