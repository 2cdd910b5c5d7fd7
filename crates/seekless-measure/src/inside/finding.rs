//! A figure of a device's inside, and how sure it is.

use serde::Serialize;

/// Below this many standard errors a dip, a step or a difference counts as chance.
pub const SIGMAS_MIN: f64 = 3.0;

/// A time is given if three standard errors are at most this share of it.
const TIME_OFF_MAX: f64 = 0.1;

/// The reason of a finding until the search comes to it.
const NOT_LOOKED_FOR: &str = "not looked for";
/// The reason of what the search did not come to.
pub(super) const OUT_OF_TIME: &str = "the probe's time was up: give it more with --seconds";

/// A figure that a probe looked for.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding<T> {
    /// The figure; `null` if it is unidentifiable.
    pub value: Option<T>,
    /// How many standard errors lie between this value and the next best explanation: at least
    /// three, or the value is not given.
    pub sigmas: f64,
    /// Of a time: its standard error as a share of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relative_error: Option<f64>,
    /// What the answer stands on, or why nothing was found.
    pub reason: String,
}

impl<T> Default for Finding<T> {
    fn default() -> Self {
        Finding::unidentifiable(NOT_LOOKED_FOR)
    }
}

/// A finding of any type that may still lack its reason.
pub(super) trait Open {
    /// Gives the reason why there is no figure, unless one was found or has its reason.
    fn explain(&mut self, why: &str);
}

impl<T> Open for Finding<T> {
    fn explain(&mut self, why: &str) {
        if self.value.is_none() && self.reason == NOT_LOOKED_FOR {
            why.clone_into(&mut self.reason);
        }
    }
}

/// Gives all findings that still lack one this reason.
pub(super) fn explain_all(findings: &mut [&mut dyn Open], why: &str) {
    findings.iter_mut().for_each(|finding| finding.explain(why));
}

impl<T> Finding<T> {
    /// No figure, and why.
    #[must_use]
    pub fn unidentifiable(reason: impl Into<String>) -> Self {
        Finding { value: None, sigmas: 0.0, relative_error: None, reason: reason.into() }
    }

    /// A figure, unless fewer than three standard errors speak for it.
    #[must_use]
    pub fn of(value: T, sigmas: f64, reason: impl Into<String>) -> Self {
        let value = (sigmas >= SIGMAS_MIN).then_some(value);
        Finding { value, sigmas, relative_error: None, reason: reason.into() }
    }

    /// Whether the figure was found.
    #[must_use]
    pub fn is_identified(&self) -> bool {
        self.value.is_some()
    }
}

impl Finding<f64> {
    /// A time or a rate with its standard error; not given unless three errors are at most a tenth
    /// of it.
    #[must_use]
    pub fn time(nanos: f64, error: f64, reason: impl Into<String>) -> Self {
        let share = error / nanos.abs().max(1e-9);
        let sigmas = if share > 0.0 { (1.0 / share).min(1e6) } else { 1e6 };
        let known = (share * SIGMAS_MIN <= TIME_OFF_MAX).then_some(nanos);
        Finding { value: known, sigmas, relative_error: Some(share), reason: reason.into() }
    }
}

/// A curve that a probe measured, for a picture.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curve {
    /// Its name, as part of a file's name.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// What runs along the horizontal axis.
    pub x: &'static str,
    /// What runs along the vertical axis.
    pub y: &'static str,
    /// Places along both, from left to right.
    pub points: Vec<(f64, f64)>,
}
