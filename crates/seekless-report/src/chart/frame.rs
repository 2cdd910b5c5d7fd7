//! What charts have in common: title above, legend below it, axes with their names, caption at the
//! bottom; text is measured before it is placed, so nothing overlaps.

use super::axis::{Axis, Span};
use crate::drawing::{Anchor, Drawing, Ink, Shape, Text, text_width};
use crate::words::wrap_pixels;

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 24.0;
const PLOT_HEIGHT: f64 = 320.0;
const SMALL: f64 = 12.0;
/// Pixels from one small line to the next.
const LINE: f64 = 15.0;
/// Steps of the vertical axis.
const ROWS: usize = 5;
/// Free pixels between two names on the horizontal axis.
const GAP: f64 = 14.0;

/// The pixels that names to the right of a plot take.
pub(super) fn room_for<'a>(names: impl Iterator<Item = &'a str>) -> f64 {
    8.0 + names.map(|name| text_width(name, SMALL, false)).fold(0.0, f64::max)
}

/// A chart that is being drawn; the plot's corners are in pixels.
pub(super) struct Frame {
    pub(super) drawing: Drawing,
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
    vertical: Span,
}

/// A name in the legend.
pub(super) struct Key<'a> {
    pub(super) name: &'a str,
    pub(super) ink: Ink,
    pub(super) dashed: bool,
}

impl Frame {
    /// Title, legend and the vertical axis with its grid.
    pub(super) fn new(
        title: &str,
        keys: &[Key],
        axis: &Axis,
        highest: impl Iterator<Item = f64>,
    ) -> Self {
        Self::beside(title, keys, axis, highest, 0.0)
    }

    /// The same, with as many pixels free to the right of the plot.
    pub(super) fn beside(
        title: &str,
        keys: &[Key],
        axis: &Axis,
        highest: impl Iterator<Item = f64>,
        free: f64,
    ) -> Self {
        let vertical = Span::around(axis.scale, highest).rounded(ROWS);
        let mut drawing = Drawing::new(WIDTH as u32, title);
        let mut y = MARGIN;
        for line in wrap_pixels(title, 19.0, true, WIDTH - 2.0 * MARGIN) {
            y += 22.0;
            drawing.text((MARGIN, y), Ink::Text, 19.0, true, &line);
        }
        y = legend(&mut drawing, keys, y + 8.0) + 26.0;
        drawing.text((MARGIN, y), Ink::Quiet, SMALL, false, &axis.label);
        let ticks = vertical.ticks(ROWS);
        let names: Vec<String> = ticks.iter().map(|&tick| axis.unit.words(tick)).collect();
        let widest = names.iter().map(|name| text_width(name, SMALL, false)).fold(0.0, f64::max);
        let top = y + 18.0;
        let mut frame = Self {
            drawing,
            left: MARGIN + widest + 8.0,
            right: WIDTH - MARGIN - free,
            top,
            bottom: top + PLOT_HEIGHT,
            vertical,
        };
        for (tick, name) in ticks.into_iter().zip(&names) {
            frame.row(tick, name);
        }
        frame
    }

    /// The height of a value.
    pub(super) fn y(&self, value: f64) -> f64 {
        self.bottom - self.vertical.share(value) * (self.bottom - self.top)
    }

    fn row(&mut self, tick: f64, name: &str) {
        let y = self.y(tick);
        let points = vec![(self.left, y), (self.right, y)];
        self.drawing.push(Shape::Line { points, width: 1.0, dashed: false, ink: Ink::Grid });
        self.small((self.left - 8.0, y + 4.0), Anchor::End, Ink::Quiet, name);
    }

    pub(super) fn small(&mut self, (x, y): (f64, f64), anchor: Anchor, ink: Ink, words: &str) {
        let words = words.to_owned();
        self.drawing.push(Shape::Text(Text { x, y, size: SMALL, bold: false, anchor, ink, words }));
    }

    /// Names to the right of the plot, each beside its height and in its colour, pushed apart so
    /// that none touches another.
    pub(super) fn names_beside(&mut self, mut names: Vec<(f64, Ink, &str)>) {
        names.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut least = self.top;
        for name in &mut names {
            name.0 = name.0.max(least);
            least = name.0 + LINE;
        }
        let mut most = self.bottom;
        for name in names.iter_mut().rev() {
            name.0 = name.0.min(most);
            most = name.0 - LINE;
        }
        for (y, ink, name) in names {
            self.small((self.right + 8.0, y + 4.0), Anchor::Start, ink, name);
        }
    }

    /// Names under the plot, centred at their x and in rising order; if they would touch, only
    /// every second, third...
    pub(super) fn names(&mut self, names: &[(f64, String)], marked: bool) {
        let centred = |(x, name): &(f64, String)| {
            let half = text_width(name, SMALL, false) / 2.0;
            (x.min(WIDTH - 4.0 - half), half)
        };
        let places: Vec<(f64, f64)> = names.iter().map(centred).collect();
        let fits = |step: &usize| {
            let shown: Vec<_> = places.iter().step_by(*step).collect();
            shown.windows(2).all(|pair| pair[0].0 + pair[0].1 + GAP <= pair[1].0 - pair[1].1)
        };
        let step = (1..=names.len()).find(fits).unwrap_or(1);
        for ((x, name), (centre, _)) in names.iter().zip(&places).step_by(step) {
            if marked {
                let points = vec![(*x, self.bottom), (*x, self.bottom + 5.0)];
                self.drawing.push(Shape::Line {
                    points,
                    width: 1.0,
                    dashed: false,
                    ink: Ink::Quiet,
                });
            }
            self.small((*centre, self.bottom + 20.0), Anchor::Middle, Ink::Quiet, name);
        }
    }

    /// The base line, the horizontal axis's name and the caption; the page ends below.
    pub(super) fn finish(mut self, label: &str, caption: &str) -> Drawing {
        let points = vec![(self.left, self.bottom), (self.right, self.bottom)];
        self.drawing.push(Shape::Line { points, width: 1.0, dashed: false, ink: Ink::Quiet });
        let mut y = self.bottom + 42.0;
        self.small(((self.left + self.right) / 2.0, y), Anchor::Middle, Ink::Quiet, label);
        y += 8.0;
        for line in wrap_pixels(caption, SMALL, false, WIDTH - 2.0 * MARGIN) {
            y += 18.0;
            self.drawing.text((MARGIN, y), Ink::Quiet, SMALL, false, &line);
        }
        self.drawing.finish(y + MARGIN)
    }
}

/// Names with a stroke of their colour, in as many lines as they take; returns the last baseline.
fn legend(drawing: &mut Drawing, keys: &[Key], y: f64) -> f64 {
    let (mut x, mut y) = (MARGIN, y + 18.0);
    for key in keys {
        let taken = 26.0 + text_width(key.name, 13.0, false) + 18.0;
        if x > MARGIN && x + taken > WIDTH - MARGIN {
            (x, y) = (MARGIN, y + 20.0);
        }
        let points = vec![(x, y - 4.5), (x + 20.0, y - 4.5)];
        drawing.push(Shape::Line { points, width: 3.0, dashed: key.dashed, ink: key.ink });
        drawing.text((x + 26.0, y), Ink::Text, 13.0, false, key.name);
        x += taken;
    }
    y
}
