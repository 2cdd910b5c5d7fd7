//! `compare --html`: the loads from loose files and from packs as a page.

use super::{Args, headline, times};
use crate::output::{Html, shown};
use seekless::device::units::{format_bytes, format_duration};
use seekless::measure::Figures;
use seekless::report::chart::{Axis, LineChart, LinePoint, Series, Unit};
use seekless::report::page::{Bar, Bars, Cell, Column, Content, Curve, Page, Table};
use seekless::tools::compare::Comparison;

/// Writes the page.
pub(super) fn write(html: Html, args: &Args, comparison: &Comparison) -> anyhow::Result<()> {
    let said = headline::of(comparison);
    let rivals = &comparison.rivals;
    let mut page = Page::new(&title(args));
    for sentence in said.lines() {
        page = page.sentence(sentence);
    }
    let page = page.bars(bars(rivals)).curve(rounds(rivals)).table(table(rivals));
    html.write(page, found(args, comparison))
}

/// The folder, and the pack.
fn title(args: &Args) -> String {
    let pack = args.pack.as_ref().map_or_else(String::new, |pack| format!(" {}", shown(pack)));
    format!("seekless compare {}{pack}", shown(&args.directory))
}

fn bars(rivals: &[Figures]) -> Bars {
    let row = |rival: &Figures| Bar {
        label: rival.name.clone(),
        values: vec![rival.median_ns as f64],
        figure: format!("{} ({})", format_duration(rival.median_ns), times(rival.ratio)),
    };
    Bars {
        heading: "Before and after".to_owned(),
        note: "The median of the rounds, each from cold; × is how many times as fast as the loose \
               files."
            .to_owned(),
        parts: Vec::new(),
        rows: rivals.iter().map(row).collect(),
    }
}

/// How steady the times are.
fn rounds(rivals: &[Figures]) -> Curve {
    let point =
        |(round, &time_ns): (usize, &u64)| LinePoint::exact(round as f64 + 1.0, time_ns as f64);
    let series = |rival: &Figures| Series {
        name: rival.name.clone(),
        points: rival.rounds_ns.iter().enumerate().map(point).collect(),
    };
    let chart = LineChart {
        title: "Time of each round".to_owned(),
        x: Axis::linear("round", Unit::Count),
        y: Axis::log("time", Unit::Duration),
        series: rivals.iter().map(series).collect(),
        caption: "The sides take turns, after one round that is discarded.".to_owned(),
    };
    Curve::of(chart)
}

fn table(rivals: &[Figures]) -> Table {
    let seconds = |time_ns: u64| Cell::from(time_ns as f64 / 1e9);
    let row = |rival: &Figures| -> Vec<Cell> {
        vec![
            rival.name.as_str().into(),
            times(rival.ratio).as_str().into(),
            seconds(rival.median_ns),
            seconds(rival.min_ns),
            seconds(rival.max_ns),
            rival.requests.map_or(Cell::Number(f64::NAN), Cell::from),
            rival.bytes.map_or(Cell::Number(f64::NAN), Cell::from),
        ]
    };
    Table {
        heading: "Loaded from".to_owned(),
        note: String::new(),
        columns: vec![
            Column::new("loaded from", Content::Text),
            Column::new("faster", Content::Text),
            Column::new("median", Content::Seconds),
            Column::new("shortest", Content::Seconds),
            Column::new("longest", Content::Seconds),
            Column::new("requests", Content::Count),
            Column::new("bytes read", Content::Bytes),
        ],
        rows: rivals.iter().map(row).collect(),
    }
}

fn found(args: &Args, comparison: &Comparison) -> Vec<(&'static str, String)> {
    let mut left_out = String::new();
    super::left_out(&mut left_out, comparison);
    let left_out = left_out.replace("left out on both sides: ", "");
    let device = match super::on_what(comparison) {
        words if words.is_empty() => "this disk".to_owned(),
        words => words.trim_end().replace('\n', "; "),
    };
    vec![
        ("loads", super::what(comparison)),
        ("left out on both sides", left_out.trim_end().replace('\n', "; ")),
        ("cold", super::coldness(comparison, args.drop_all_caches)),
        ("device", device),
        ("store", super::served(comparison).trim_end().replace('\n', "; ")),
        ("cache of the store", format_bytes(comparison.cache_bytes)),
    ]
}
