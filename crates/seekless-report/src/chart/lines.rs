//! Lines through points, each with a pale band where it may be off.

use super::axis::{Axis, Scale, Span};
use super::frame::{Frame, Key, room_for};
use crate::drawing::{Drawing, Ink, Shape};

/// Where a line passes, and between which values it may lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinePoint {
    /// Along the horizontal axis.
    pub x: f64,
    /// Along the vertical axis.
    pub y: f64,
    /// Lower end of the band; the same as `y` for a line without a band.
    pub low: f64,
    /// Upper end of the band; the same as `y` for a line without a band.
    pub high: f64,
}

impl LinePoint {
    /// A point that is exact.
    #[must_use]
    pub fn exact(x: f64, y: f64) -> Self {
        Self { x, y, low: y, high: y }
    }
}

/// One line.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// From left to right.
    pub points: Vec<LinePoint>,
}

/// Lines over one horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LineChart {
    /// Above the chart.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines.
    pub series: Vec<Series>,
    /// Below the chart: what was measured, and how.
    pub caption: String,
}

/// Series of one colour differ by their strokes.
const COLOURS: usize = 8;

impl LineChart {
    /// Draws it, with a legend above the plot.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let names = self.series.iter().map(|series| series.name.as_str()).enumerate();
        let key = |(index, name)| Key { name, ink: Ink::Series(index), dashed: dashed(index) };
        let keys: Vec<Key> = names.map(key).collect();
        self.draw_in(Frame::new(&self.title, &keys, &self.y, self.heights()))
    }

    /// Draws it, with the name of each line at its right end: for few lines.
    #[must_use]
    pub fn draw_labelled(&self) -> Drawing {
        let names = || self.series.iter().map(|series| series.name.as_str());
        let room = room_for(names());
        let mut frame = Frame::beside(&self.title, &[], &self.y, self.heights(), room);
        let ends = self.series.iter().enumerate().filter_map(|(index, series)| {
            let last = finite(series).next_back()?;
            Some((frame.y(last.y), Ink::Series(index), series.name.as_str()))
        });
        let ends = ends.collect();
        frame.names_beside(ends);
        self.draw_in(frame)
    }

    /// What the vertical axis spans.
    fn heights(&self) -> impl Iterator<Item = f64> {
        let lowest = self.series.iter().flat_map(|series| &series.points).map(|point| point.low);
        let is_log = self.y.scale == Scale::Log;
        let highest = self.series.iter().flat_map(|series| &series.points).map(|point| point.high);
        highest.chain(lowest.filter(move |_| is_log))
    }

    fn draw_in(&self, mut frame: Frame) -> Drawing {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let horizontal = Span::around(self.x.scale, points().map(|point| point.x));
        let (left, width) = (frame.left, frame.right - frame.left);
        let x = |value: f64| left + horizontal.share(value) * width;
        for (index, series) in self.series.iter().enumerate() {
            band(&mut frame, series, &x, Ink::Series(index));
        }
        for (index, series) in self.series.iter().enumerate() {
            let points = finite(series).map(|point| (x(point.x), frame.y(point.y))).collect();
            frame.drawing.push(Shape::Line {
                points,
                width: 2.0,
                dashed: dashed(index),
                ink: Ink::Series(index),
            });
        }
        let name = |&tick: &f64| (x(tick), self.x.unit.words(tick));
        let names: Vec<_> = horizontal.ticks(6).iter().map(name).collect();
        frame.names(&names, true);
        frame.finish(&self.x.label, &self.caption)
    }
}

/// Whether the line of this number is drawn in dashes.
fn dashed(index: usize) -> bool {
    (index / COLOURS) % 2 == 1
}

fn finite(series: &Series) -> impl DoubleEndedIterator<Item = &LinePoint> {
    series.points.iter().filter(|point| point.x.is_finite() && point.y.is_finite())
}

fn band(frame: &mut Frame, series: &Series, x: &dyn Fn(f64) -> f64, ink: Ink) {
    if finite(series).all(|point| point.low == point.high) {
        return;
    }
    let above = finite(series).map(|point| (x(point.x), frame.y(point.high)));
    let below = finite(series).rev().map(|point| (x(point.x), frame.y(point.low)));
    let points = above.chain(below).collect();
    frame.drawing.push(Shape::Area { points, ink });
}
