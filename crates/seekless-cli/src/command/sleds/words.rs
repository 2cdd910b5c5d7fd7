//! The figures of a file for people: a bar, a table, the times.

use super::bar::bar;
use super::figures::{Figures, Seconds};
use seekless::device::Origin;
use seekless::device::units::{format_bytes, format_count, format_duration};
use seekless::report::table;
use seekless::sled::{Level, Sled};
use std::fmt::Write as _;

/// Rows of a table; what lies behind them is summed up.
const ROWS_MAX: usize = 40;

pub(super) fn report(figures: &Figures, colour: bool) -> String {
    let mut text = format!("{}  {}\n", figures.file, format_bytes(figures.bytes));
    if figures.bytes == 0 {
        return text;
    }
    text += &bar(&figures.raw, figures.bytes, colour);
    text.push('\n');
    let rows = figures.raw.iter().take(ROWS_MAX).map(row).collect();
    text += &table(&["offset", "bytes", "level", "latency", "bandwidth", "sure", "age"], rows);
    if figures.raw.len() > ROWS_MAX {
        let left = figures.raw.len() - ROWS_MAX;
        let _ = writeln!(text, "... and {} more (--json has all)", format_count(left as u64));
    }
    text.push('\n');
    let _ =
        writeln!(text, "linear {}, best {}", seconds(figures.total_s.linear), seconds(figures.total_s.best));
    if let Some(residence) =
        figures.residence_s.filter(|_| figures.raw.iter().any(|sled| sled.level == Level::Memory))
    {
        let _ = writeln!(text, "what is cached stays about {}", duration(residence));
    }
    if figures.origin == Origin::Assumed {
        let _ = writeln!(text, "assumed, not measured: {} (seekless probe PATH measures it)", figures.device);
    }
    for note in &figures.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text
}

fn row(sled: &Sled) -> Vec<String> {
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
        duration(sled.latency.as_secs_f64()),
        bandwidth,
        sled.confidence.name().to_owned(),
        age,
    ]
}

/// One time, or the range it lies in.
fn seconds(time: Seconds) -> String {
    let (low, high) = (duration(time.low), duration(time.high));
    if low == high { low } else { format!("{low} to {high}") }
}

fn duration(seconds: f64) -> String {
    format_duration((seconds * 1e9).round() as u64)
}
