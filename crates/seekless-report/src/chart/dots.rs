//! Dots in panels side by side, such as where in an archive each load of a run finds its file, for
//! several orders.

use super::axis::Axis;
use super::frame::{Frame, Key};
use crate::drawing::{Drawing, Ink, Shape};
use std::collections::HashSet;

/// The side of a dot, in pixels. Of dots that fall on one place, one is drawn.
const DOT: f64 = 2.0;

/// Pixels between two panels.
const BETWEEN: f64 = 24.0;

/// Dots in panels side by side, all with one vertical axis.
#[derive(Clone, Debug, PartialEq)]
pub struct DotChart {
    /// Above the chart.
    pub title: String,
    /// What the horizontal axis of each panel measures.
    pub x_label: String,
    /// The vertical axis; it begins at 0.
    pub y: Axis,
    /// The panels' names.
    pub panels: Vec<String>,
    /// The dots.
    pub series: Vec<DotSeries>,
    /// Below the chart: what is shown.
    pub caption: String,
}

/// Dots of one colour.
#[derive(Clone, Debug, PartialEq)]
pub struct DotSeries {
    /// Its name in the legend.
    pub name: String,
    /// Its dots in each panel: x from 0 to 1, and y.
    pub panels: Vec<Vec<(f64, f64)>>,
}

impl DotChart {
    /// Draws it.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let names = self.series.iter().map(|series| series.name.as_str()).enumerate();
        let keys: Vec<Key> = names
            .map(|(index, name)| Key { name, ink: Ink::Series(index), dashed: false })
            .collect();
        let values = self.series.iter().flat_map(|series| series.panels.iter().flatten());
        let mut frame = Frame::new(&self.title, &keys, &self.y, values.map(|dot| dot.1));
        let slot = (frame.right - frame.left) / self.panels.len().max(1) as f64;
        let left = frame.left;
        for panel in 0..self.panels.len() {
            let begin = left + panel as f64 * slot + BETWEEN / 2.0;
            self.panel(&mut frame, panel, begin, slot - BETWEEN - DOT);
        }
        let name =
            |(panel, name): (usize, &String)| (left + (panel as f64 + 0.5) * slot, name.clone());
        let names: Vec<_> = self.panels.iter().enumerate().map(name).collect();
        frame.names(&names, false);
        frame.finish(&self.x_label, &self.caption)
    }

    fn panel(&self, frame: &mut Frame, panel: usize, begin: f64, width: f64) {
        let mut drawn = HashSet::new();
        for (index, series) in self.series.iter().enumerate() {
            for &(x, y) in series.panels.get(panel).into_iter().flatten() {
                let across = (x.clamp(0.0, 1.0) * width / DOT).round();
                let down = ((frame.y(y) - frame.top) / DOT).round();
                if x.is_finite() && y.is_finite() && drawn.insert((across as i64, down as i64)) {
                    frame.drawing.push(Shape::Rectangle {
                        x: begin + across * DOT,
                        y: (frame.top + down * DOT - DOT / 2.0).min(frame.bottom - DOT),
                        width: DOT,
                        height: DOT,
                        round: 0.0,
                        ink: Ink::Series(index),
                    });
                }
            }
        }
    }
}
