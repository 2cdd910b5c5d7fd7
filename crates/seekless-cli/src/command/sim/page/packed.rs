//! The page of `sim --pack`: what loading a run from a pack asks of a device.

use super::super::Args;
use super::page;
use crate::output::Html;
use seekless::device::units::{counted, format_bytes, format_duration};
use seekless::report::page::{Bar, Bars, Cell, Column, Content, Table};
use seekless::tools::predict::{Prediction, Row};

/// Writes it.
pub(in super::super) fn packed(
    html: Html,
    args: &Args,
    prediction: &Prediction,
) -> anyhow::Result<()> {
    let Prediction { run, loads, missing, device, device_known, rows } = prediction;
    let loads = counted(*loads, "load");
    let answer = rows.iter().min_by_key(|row| row.figures.time_ns).map_or_else(
        || "Nothing was predicted.".to_owned(),
        |best| {
            format!(
                "{loads} from the pack take {} with {}, and ask the device for {} and {}.",
                format_duration(best.figures.time_ns),
                name(best),
                counted(best.figures.requests, "request"),
                format_bytes(best.figures.bytes),
            )
        },
    );
    let known = if *device_known { "" } else { ", which the store does not know" };
    let left_out = match missing {
        0 => String::new(),
        missing => format!("{} of files that the pack lacks", counted(*missing, "load")),
    };
    let found = vec![
        ("run", format!("{run}: {loads}, one after another")),
        ("device", format!("{device}{known}")),
        ("left out", left_out),
        ("how", "simulated with the store's own decisions".to_owned()),
    ];
    html.write(page(args).sentence(&answer).bars(bars(rows)).table(table(rows)), found)
}

fn name(row: &Row) -> String {
    format!("{} of {}", row.policy, format_bytes(row.capacity))
}

fn bars(rows: &[Row]) -> Bars {
    let row = |row: &Row| Bar {
        label: name(row),
        values: vec![row.figures.time_ns as f64],
        figure: format_duration(row.figures.time_ns),
    };
    Bars {
        heading: "How long the loads take".to_owned(),
        note: "By the store's cache.".to_owned(),
        parts: vec!["time".to_owned()],
        rows: rows.iter().map(row).collect(),
    }
}

fn table(rows: &[Row]) -> Table {
    let row = |row: &Row| -> Vec<Cell> {
        let figures = &row.figures;
        vec![
            row.policy.as_str().into(),
            row.capacity.into(),
            figures.hits.into(),
            figures.read_ahead_hits.into(),
            figures.requests.into(),
            figures.bytes.into(),
            (figures.time_ns as f64 / 1e9).into(),
            (figures.wait_ns as f64 / 1e9).into(),
        ]
    };
    Table {
        heading: "Caches".to_owned(),
        note: String::new(),
        columns: vec![
            Column::new("policy", Content::Text),
            Column::new("capacity", Content::Bytes),
            Column::new("hits", Content::Count),
            Column::new("read ahead", Content::Count),
            Column::new("requests", Content::Count),
            Column::new("bytes read", Content::Bytes),
            Column::new("time", Content::Seconds),
            Column::new("waited", Content::Seconds),
        ],
        rows: rows.iter().map(row).collect(),
    }
}
