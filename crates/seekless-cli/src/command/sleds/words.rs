//! The figures of a file or a folder as text: a bar, a table, the times.

use super::bar::bar;
use super::figures::{Figures, FolderFigures, Seconds, Shown, Totals};
use crate::output::{line, table};
use seekless::device::Origin;
use seekless::device::units::{counted, format_bytes, format_count, format_duration};
use seekless::sled::{Level, Sled};
use std::fmt::Write as _;

/// The most rows of a table; the rest are counted in one line.
const ROWS_MAX: usize = 40;
/// How the table marks the figures of a device that was never measured.
const ASSUMED: &str = "assumed";

pub(super) fn report(shown: &Shown, colour: bool) -> String {
    match shown {
        Shown::File(figures) => file(figures, colour),
        Shown::Folder(figures) => folder(figures),
    }
}

fn folder(figures: &FolderFigures) -> String {
    let (files, bytes) = (counted(figures.files, "file"), format_bytes(figures.bytes));
    let mut text = format!("{}  {bytes} in {files}\n\n", figures.shown);
    let rows = figures.levels.iter().map(|(level, bytes)| {
        let share = *bytes as f64 * 100.0 / figures.bytes.max(1) as f64;
        vec![(*level).to_owned(), format_count(*bytes), format!("{share:.1} %")]
    });
    text += &table(&["level", "bytes", "share"], rows.collect());
    text.push('\n');
    text += &times(figures.total_s);
    let cached = figures.levels.contains_key(Level::Memory.name());
    text += &residence(figures.residence_s.filter(|_| cached));
    for device in &figures.assumed {
        text += &assumed(device, &figures.shown);
    }
    if figures.unreadable > 0 {
        let _ = writeln!(
            text,
            "not counted: {} that could not be asked about",
            format_count(figures.unreadable)
        );
    }
    text
}

fn file(figures: &Figures, colour: bool) -> String {
    let mut text = format!("{}  {}\n", figures.shown, format_bytes(figures.bytes));
    if figures.bytes == 0 {
        return text;
    }
    text += &bar(&figures.raw, figures.bytes, colour);
    text.push('\n');
    let rows = figures.raw.iter().take(ROWS_MAX).map(|sled| row(sled, figures.origin)).collect();
    text += &table(
        &["offset", "bytes", "level", "sure", "age", "latency", "bandwidth", "figures"],
        rows,
    );
    if figures.raw.len() > ROWS_MAX {
        let left = figures.raw.len() - ROWS_MAX;
        let _ = writeln!(text, "... and {} more (--json has all)", format_count(left as u64));
    }
    text.push('\n');
    text += &times(figures.total_s);
    let cached = figures.raw.iter().any(|sled| sled.level == Level::Memory);
    text += &residence(figures.residence_s.filter(|_| cached));
    if figures.raw.iter().any(|sled| figures_of(sled.level, figures.origin) == ASSUMED) {
        text += &assumed(&figures.device, &figures.shown);
    }
    for note in &figures.notes {
        let _ = writeln!(text, "note: {}", line(note));
    }
    text
}

fn times(times: Totals) -> String {
    let (linear, best) = (seconds(times.linear), seconds(times.best));
    format!(
        "linear {linear}: from the first byte to the last, as most programs read\n\
         best   {best}: cached data first, before the rest can push it out\n"
    )
}

fn residence(seconds: Option<f64>) -> String {
    seconds
        .map_or(String::new(), |seconds| format!("cached data stays about {}\n", duration(seconds)))
}

fn assumed(device: &str, path: &str) -> String {
    format!("{} was never measured, its figures are assumed: seekless probe {path}\n", line(device))
}

fn row(sled: &Sled, origin: Origin) -> Vec<String> {
    let bandwidth = if sled.bandwidth.is_finite() {
        format!("{}/s", format_bytes(sled.bandwidth as u64))
    } else {
        "-".to_owned()
    };
    let age = if sled.age.is_zero() { "-".to_owned() } else { duration(sled.age.as_secs_f64()) };
    vec![
        format_count(sled.offset),
        format_count(sled.bytes),
        sled.level.name().to_owned(),
        sled.confidence.name().to_owned(),
        age,
        duration(sled.latency.as_secs_f64()),
        bandwidth,
        figures_of(sled.level, origin).to_owned(),
    ]
}

/// The origin of a SLED's latency and bandwidth, if they are the device's.
fn figures_of(level: Level, origin: Origin) -> &'static str {
    match (level, origin) {
        (Level::Hole | Level::Memory | Level::Archive, _) => "-",
        (_, Origin::Assumed) => ASSUMED,
        (_, Origin::Given) => "yours",
        _ => "measured",
    }
}

/// One time, or the range in which it lies.
fn seconds(time: Seconds) -> String {
    let (low, high) = (duration(time.low), duration(time.high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn duration(seconds: f64) -> String {
    format_duration((seconds * 1e9).round() as u64)
}
