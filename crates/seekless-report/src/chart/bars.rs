//! Bars side by side in groups: a group a capacity, a bar a policy.

use super::axis::Axis;
use super::frame::{Frame, Key};
use crate::drawing::{Anchor, Drawing, Ink, Shape, text_width};

/// One figure of several things in several groups.
#[derive(Clone, Debug, PartialEq)]
pub struct BarChart {
    /// Above the chart.
    pub title: String,
    /// What the groups are, below them.
    pub x_label: String,
    /// The vertical axis; it begins at 0.
    pub y: Axis,
    /// The groups' names.
    pub groups: Vec<String>,
    /// Each bar's name and its value in each group; a value that is not finite has no bar.
    pub series: Vec<(String, Vec<f64>)>,
    /// Below the chart: what was measured, and how.
    pub caption: String,
}

impl BarChart {
    /// Draws it. Bars wide enough have their value above.
    #[must_use]
    pub fn draw(&self) -> Drawing {
        let names = self.series.iter().map(|(name, _)| name.as_str()).enumerate();
        let keys: Vec<Key> = names
            .map(|(index, name)| Key { name, ink: Ink::Series(index), dashed: false })
            .collect();
        let values = self.series.iter().flat_map(|(_, values)| values.iter().copied());
        let mut frame = Frame::new(&self.title, &keys, &self.y, values);
        let slot = (frame.right - frame.left) / self.groups.len().max(1) as f64;
        let bar = (0.84 * slot / self.series.len().max(1) as f64).min(64.0);
        let start = frame.left + (slot - bar * self.series.len() as f64) / 2.0;
        for (index, (_, values)) in self.series.iter().enumerate() {
            for (group, &value) in values.iter().enumerate().take(self.groups.len()) {
                let x = start + group as f64 * slot + index as f64 * bar;
                self.bar(&mut frame, x, bar, value, Ink::Series(index));
            }
        }
        let left = frame.left;
        let name =
            |(group, name): (usize, &String)| (left + (group as f64 + 0.5) * slot, name.clone());
        let names: Vec<_> = self.groups.iter().enumerate().map(name).collect();
        frame.names(&names, false);
        frame.finish(&self.x_label, &self.caption)
    }

    fn bar(&self, frame: &mut Frame, x: f64, width: f64, value: f64, ink: Ink) {
        if !value.is_finite() {
            return;
        }
        let top = frame.y(value);
        let (inner, round) = (0.92 * width, (width / 8.0).min(2.0));
        let height = (frame.bottom - top).max(1.0);
        frame.drawing.push(Shape::Rectangle {
            x,
            y: frame.bottom - height,
            width: inner,
            height,
            round,
            ink,
        });
        let figure = self.y.unit.figure(value);
        if text_width(&figure, 12.0, false) + 2.0 <= width {
            frame.small((x + inner / 2.0, top - 5.0), Anchor::Middle, Ink::Text, &figure);
        }
    }
}
