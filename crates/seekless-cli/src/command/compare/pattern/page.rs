//! `compare --pattern --html`: reads through the kernel and through Seekless as a page.

use super::super::times;
use crate::output::{Html, shown};
use seekless::device::units::format_duration;
use seekless::report::page::{Bar, Bars, Cell, Column, Content, Page, Table};
use seekless::tools::compare::pattern::{PatternComparison, SideFigures};
use std::path::Path;

/// Writes the page.
pub(super) fn write(html: Html, file: &Path, found: &[PatternComparison]) -> anyhow::Result<()> {
    let mut page = Page::new(&format!("seekless compare {}", shown(file)));
    page = page.sentence(&answer(found));
    for one in found {
        page = page.bars(bars(one));
    }
    let how = found.first().map_or_else(String::new, super::conditions);
    html.write(page.table(table(found)), vec![("how", how)])
}

fn answer(found: &[PatternComparison]) -> String {
    let by_ratio = |one: &&PatternComparison, other: &&PatternComparison| {
        one.seekless.figures.ratio.total_cmp(&other.seekless.figures.ratio)
    };
    let (Some(least), Some(most)) = (found.iter().min_by(by_ratio), found.iter().max_by(by_ratio))
    else {
        return "No pattern was read.".to_owned();
    };
    let ratio = |one: &PatternComparison| times(one.seekless.figures.ratio).replace('×', " times");
    match found.len() {
        1 => format!(
            "Seekless reads {} in {}; the kernel takes {}: {} as fast.",
            most.pattern,
            format_duration(most.seekless.figures.median_ns),
            format_duration(most.kernel.figures.median_ns),
            ratio(most),
        ),
        _ => format!(
            "Seekless reads {} as fast as the kernel ({}) up to {} as fast ({}).",
            ratio(least),
            least.pattern,
            ratio(most),
            most.pattern,
        ),
    }
}

fn bars(one: &PatternComparison) -> Bars {
    let row = |side: &SideFigures| Bar {
        label: side.figures.name.clone(),
        values: vec![side.figures.median_ns as f64],
        figure: format!(
            "{} ({})",
            format_duration(side.figures.median_ns),
            times(side.figures.ratio)
        ),
    };
    Bars {
        heading: one.pattern.to_string(),
        note: String::new(),
        parts: Vec::new(),
        rows: [&one.kernel, &one.seekless].map(row).into(),
    }
}

fn table(found: &[PatternComparison]) -> Table {
    let row = |pattern: String, side: &SideFigures| -> Vec<Cell> {
        let seconds = |time_ns: u64| Cell::from(time_ns as f64 / 1e9);
        let waste = side.waste.map_or_else(|| "unknown".to_owned(), |it| format!("{it:.2}"));
        vec![
            pattern.as_str().into(),
            side.figures.name.as_str().into(),
            times(side.figures.ratio).as_str().into(),
            waste.as_str().into(),
            seconds(side.figures.median_ns),
            side.bytes_per_second.into(),
            seconds(side.p50_ns),
            seconds(side.p99_ns),
            side.figures.requests.map_or(Cell::Number(f64::NAN), Cell::from),
        ]
    };
    let rows = found.iter().flat_map(|one| {
        [&one.kernel, &one.seekless].map(|side| row(one.pattern.to_string(), side))
    });
    Table {
        heading: "Patterns".to_owned(),
        note: "A read's time is at most that of p50 in half of all, of p99 in 99 of 100."
            .to_owned(),
        columns: vec![
            Column::new("pattern", Content::Text),
            Column::new("through", Content::Text),
            Column::new("faster", Content::Text),
            Column::new("waste", Content::Text),
            Column::new("median", Content::Seconds),
            Column::new("a second", Content::Bytes),
            Column::new("p50", Content::Seconds),
            Column::new("p99", Content::Seconds),
            Column::new("requests", Content::Count),
        ],
        rows: rows.collect(),
    }
}
