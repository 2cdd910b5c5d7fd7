//! What each method takes on the device: a table, and which one wins in a sentence.

use crate::output::table;
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::tools::order::{Loading, Rival, Rivals, Shuffle};
use std::fmt::Write;

/// Differences below this are called none, in percent.
const NO_DIFFERENCE: f64 = 1.0;

/// The table and the sentences below it. `made_as` is the method that `best` came to for all runs,
/// if that is the order at hand.
pub(super) fn words(rivals: &Rivals, made_as: Option<&str>) -> String {
    let runs = rivals.methods.first().map_or(0, |rival| rival.runs.len());
    let mut text = format!(
        "\nLoading {runs} runs on {}, each from orders made without it:\n",
        crate::output::line(&rivals.device)
    );
    let header = [
        "order",
        "list known:\ntime",
        "\nrequests",
        "\nread",
        "\nwasted",
        "on demand:\ntime",
        "\nrequests",
        "\nread",
        "\nwasted",
    ];
    let mut rows: Vec<Vec<String>> = rivals.methods.iter().map(row).collect();
    let floor = cells(&rivals.floor).into_iter().chain((0..4).map(|_| String::new()));
    rows.push(std::iter::once("floor".to_owned()).chain(floor).collect());
    text += &table(&header, rows);
    text += &verdict(rivals, made_as);
    match &rivals.shuffle {
        Some(shuffle) => text += &advice(shuffle),
        None if !rivals.shared_order => text += "These runs share no order.\n",
        None => {}
    }
    text
}

fn row(rival: &Rival) -> Vec<String> {
    let cells = cells(&rival.sums.listed).into_iter().chain(cells(&rival.sums.on_demand));
    std::iter::once(rival.method.clone()).chain(cells).collect()
}

fn cells(loading: &Loading) -> [String; 4] {
    [
        format_duration(loading.time_ns),
        format_count(loading.requests),
        format_bytes(loading.bytes),
        format_bytes(loading.wasted_bytes),
    ]
}

/// Says which order wins, by how much, and whether it is the one that is written.
fn verdict(rivals: &Rivals, made_as: Option<&str>) -> String {
    let Some(winner) = rivals.methods.iter().find(|rival| rival.method == rivals.winner) else {
        return String::new();
    };
    let others: Vec<&Rival> =
        rivals.methods.iter().filter(|rival| rival.method != rivals.winner).collect();
    let beside = |loading: fn(&Rival) -> &Loading| {
        let saved =
            |other: &&Rival| saved(&other.method, loading(winner).time_ns, loading(other).time_ns);
        others.iter().map(saved).collect::<Vec<_>>().join(", ")
    };
    let above = percent(rivals.floor.time_ns, winner.sums.listed.time_ns);
    let mut text = String::new();
    let what = if rivals.shared_order { "wins here" } else { "takes the least time here" };
    let _ = write!(text, "\n{} {what}", winner.method);
    if made_as == Some(winner.method.as_str()) {
        let _ = write!(text, "; best, made of all these runs, is that order");
    }
    text += ".\n";
    let _ = writeln!(text, "List known: {}.", beside(|rival| &rival.sums.listed));
    let _ = writeln!(text, "On demand: {}.", beside(|rival| &rival.sums.on_demand));
    let _ = writeln!(text, "With the list known, {above:.0} % of its time is above the floor.");
    text
}

/// `10 % less time than recent`.
fn saved(other: &str, winner_ns: u64, other_ns: u64) -> String {
    match percent(winner_ns, other_ns) {
        less if less >= NO_DIFFERENCE => format!("{less:.0} % less time than {other}"),
        less if less <= -NO_DIFFERENCE => format!("{:.0} % more time than {other}", -less),
        _ => format!("as long as {other}"),
    }
}

/// How much less `time` is than `other`, in percent of `other`.
fn percent(time: u64, other: u64) -> f64 {
    if other == 0 {
        return 0.0;
    }
    100.0 * (1.0 - time as f64 / other as f64)
}

fn advice(shuffle: &Shuffle) -> String {
    let Shuffle { files, time_ns, grouped_time_ns } = *shuffle;
    format!(
        "These runs share no order: shuffle inside groups of {} files instead. Then the newest run \
         takes {} rather than {} on demand.\n",
        format_count(files),
        format_duration(grouped_time_ns),
        format_duration(time_ns)
    )
}
