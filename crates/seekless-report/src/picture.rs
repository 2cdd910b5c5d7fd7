//! The before-and-after picture of a README: labelled bars of time.
//!
//! Labels stand above their bars and long text is wrapped, so that nothing overlaps, however long
//! the words are.

use crate::drawing::{Drawing, Ink, Shape};
use crate::words::wrap_pixels;
use seekless_device::units;

const WIDTH: f64 = 720.0;
const MARGIN: f64 = 24.0;
/// Room to the right of the longest bar for its figure.
const FIGURE: f64 = 176.0;
const BAR: f64 = 22.0;

/// Draws `rows` of (label, seconds) as bars: the first is *before*, the others *after*, with their
/// ratio to the first. The caption should say the command, the device and the machine.
#[must_use]
pub fn before_after(title: &str, rows: &[(&str, f64)], caption: &str) -> Drawing {
    let mut drawing = Drawing::new(WIDTH as u32, title);
    let mut y = lines(&mut drawing, MARGIN, title, Ink::Text, 19.0, true, 22.0) + 14.0;
    let longest =
        rows.iter().map(|row| row.1).filter(|seconds| seconds.is_finite()).fold(0.0, f64::max);
    let before = rows.first().map_or(0.0, |row| row.1);
    for (index, &(label, seconds)) in rows.iter().enumerate() {
        let ink = if index == 0 { Ink::Before } else { Ink::After };
        let figure = figure(seconds, before, index == 0);
        y = bar(&mut drawing, y, label, &figure, seconds / longest, ink);
    }
    y = lines(&mut drawing, y + 8.0, caption, Ink::Quiet, 13.0, false, 18.0);
    drawing.finish(y + MARGIN)
}

/// Text in as many lines as it takes, below y; returns the last baseline.
fn lines(
    drawing: &mut Drawing,
    mut y: f64,
    text: &str,
    ink: Ink,
    size: f64,
    bold: bool,
    step: f64,
) -> f64 {
    for line in wrap_pixels(text, size, bold, WIDTH - 2.0 * MARGIN) {
        y += step;
        drawing.text((MARGIN, y), ink, size, bold, &line);
    }
    y
}

/// One label with its bar below and its figure behind; returns where the next may start.
fn bar(drawing: &mut Drawing, y: f64, label: &str, figure: &str, share: f64, ink: Ink) -> f64 {
    let y = lines(drawing, y, label, Ink::Text, 14.0, false, 18.0) + 7.0;
    let room = WIDTH - 2.0 * MARGIN - FIGURE;
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    for (width, ink) in [(room, Ink::Grid), ((share * room).max(2.0), ink)] {
        drawing.push(Shape::Rectangle { x: MARGIN, y, width, height: BAR, round: 3.0, ink });
    }
    drawing.text((MARGIN + room + 12.0, y + 16.0), Ink::Text, 14.0, true, figure);
    y + BAR + 8.0
}

/// The bar's figure: its time, and how much faster than the first it is.
fn figure(seconds: f64, before: f64, is_before: bool) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return "unknown".to_owned();
    }
    let time = units::format_duration((seconds * 1e9) as u64);
    let ratio = before / seconds;
    if is_before || !ratio.is_finite() { time } else { format!("{time}  ({ratio:.1}×)") }
}

#[cfg(test)]
#[path = "picture/tests.rs"]
mod tests;
