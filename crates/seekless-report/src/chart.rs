//! Charts of figures: [`LineChart`] for curves with their error bands and for courses over time,
//! [`BarChart`] for one figure of several things in several groups, [`DotChart`] for many single
//! places in panels side by side.

mod axis;
mod bars;
mod dots;
mod frame;
mod lines;

pub use axis::{Axis, Scale, Unit};
pub use bars::BarChart;
pub use dots::{DotChart, DotSeries};
pub use lines::{LineChart, LinePoint, Series};

#[cfg(test)]
mod tests;
