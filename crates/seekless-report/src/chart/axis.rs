//! An axis: where a value lies on it, and which values it names.

use seekless_device::units::{format_bytes, format_count, format_duration};

/// How values become lengths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps are equally long.
    Linear,
    /// Equal ratios are equally long; what is not above zero lies at the start.
    Log,
}

/// How values are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `64 MB`.
    Bytes,
    /// `36,266`.
    Count,
    /// A share from 0 to 1, written as `25 %`.
    Percent,
    /// Nanoseconds, written as `1.2 ms`.
    Duration,
    /// Any number, written with the digits that it needs: `1.02`.
    Number,
}

impl Unit {
    /// In words, as short as an axis wants them.
    pub(crate) fn words(self, value: f64) -> String {
        match self {
            Unit::Bytes => format_bytes(value.round() as u64).replace(".0 ", " "),
            Unit::Count => format_count(value.round() as u64),
            Unit::Duration => format_duration(value.round() as u64).replace(".0 ", " "),
            // A step of an axis may be off by rounding in its last digits.
            Unit::Number => format!("{}", (value * 1e9).round() / 1e9),
            Unit::Percent => {
                let percent = format!("{:.2}", 100.0 * value);
                format!("{} %", percent.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

impl Unit {
    /// As a bar's figure: the digits alone where the axis has the unit.
    pub(super) fn figure(self, value: f64) -> String {
        match self {
            Unit::Percent => format!("{:.1}", 100.0 * value),
            _ => self.words(value),
        }
    }
}

/// One side of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures.
    pub label: String,
    /// How values become lengths.
    pub scale: Scale,
    /// How values are written.
    pub unit: Unit,
}

impl Axis {
    /// An axis of equal steps.
    #[must_use]
    pub fn linear(label: &str, unit: Unit) -> Self {
        Self { label: label.to_owned(), scale: Scale::Linear, unit }
    }

    /// An axis of equal ratios.
    #[must_use]
    pub fn log(label: &str, unit: Unit) -> Self {
        Self { label: label.to_owned(), scale: Scale::Log, unit }
    }
}

/// An axis with its ends, laid along some length.
#[derive(Clone, Debug)]
pub(super) struct Span {
    scale: Scale,
    first: f64,
    last: f64,
}

impl Span {
    /// From the least of the values to the greatest; a linear one begins at 0 and ends at a round
    /// number.
    pub(super) fn around(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let usable = |value: &f64| value.is_finite() && (scale == Scale::Linear || *value > 0.0);
        let ends = values.filter(usable).fold(None, |ends: Option<(f64, f64)>, value| {
            Some(ends.map_or((value, value), |(low, high)| (low.min(value), high.max(value))))
        });
        let (low, high) = ends.unwrap_or((1.0, 1.0));
        match scale {
            Scale::Log => {
                Self { scale, first: low, last: if high > low { high } else { 2.0 * low } }
            }
            Scale::Linear => Self { scale, first: 0.0, last: if high > 0.0 { high } else { 1.0 } },
        }
    }

    /// The same, ending at the next step of `steps` or so.
    pub(super) fn rounded(self, steps: usize) -> Self {
        let step = round_step(self.last / steps as f64);
        // A last value that is a step but for rounding is not exceeded.
        Self { last: (self.last / step - 1e-9).ceil() * step, ..self }
    }

    /// 0 at the first value, 1 at the last; outside values lie at the ends.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.first) / (self.last - self.first),
            Scale::Log => {
                (value.max(f64::MIN_POSITIVE) / self.first).ln() / (self.last / self.first).ln()
            }
        };
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Values worth naming, rising: about `steps` round ones, or the 1, 2 and 5 of each power of
    /// ten.
    pub(super) fn ticks(&self, steps: usize) -> Vec<f64> {
        match self.scale {
            Scale::Linear => {
                let step = round_step((self.last - self.first) / steps as f64);
                let count = ((self.last - self.first) / step + 1e-9).floor() as usize;
                (0..=count).map(|index| self.first + index as f64 * step).collect()
            }
            Scale::Log => self.log_ticks(),
        }
    }

    fn log_ticks(&self) -> Vec<f64> {
        let decades = self.first.log10().floor() as i32..=self.last.log10().ceil() as i32;
        let digits: &[f64] = if decades.clone().count() > 5 { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let inside = |tick: &f64| (self.first * 0.999..=self.last * 1.001).contains(tick);
        decades
            .flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)))
            .filter(inside)
            .collect()
    }
}

/// 1, 2 or 5 times a power of ten, at least `step`.
fn round_step(step: f64) -> f64 {
    if step <= 0.0 || !step.is_finite() {
        return 1.0;
    }
    let power = 10f64.powf(step.log10().floor());
    let digit = [1.0, 2.0, 5.0].into_iter().find(|digit| digit * power >= step * 0.999_999);
    digit.unwrap_or(10.0) * power
}
