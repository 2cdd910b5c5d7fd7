//! A progress bar on standard error for long jobs.

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use std::fmt::Write;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A job shorter than this shows no bar, which would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress callback for `(done, total)`. After a second it draws a bar on standard error if that
/// is a terminal, and wipes it when the callback is dropped.
pub fn progress(what: impl Into<String>) -> impl FnMut(u64, u64) + Send {
    let mut bar = Bar::new(what, None);
    move |done, total| bar.update(done, total)
}

/// As [`progress`], for a job that counts in `unit`s (rows, requests): the bar also shows how many
/// a second.
pub fn counting(what: impl Into<String>, unit: &'static str) -> impl FnMut(u64, u64) + Send {
    let mut bar = Bar::new(what, Some(unit));
    move |done, total| bar.update(done, total)
}

/// As [`progress`], for a job of several stages. Each stage has a name and its own bar.
pub fn stages() -> impl FnMut(&'static str, u64, u64) {
    let mut stage: Option<Bar> = None;
    move |what, done, total| {
        if stage.as_ref().is_none_or(|bar| bar.what != what) {
            stage = Some(Bar::new(what, None));
        }
        stage.iter_mut().for_each(|bar| bar.update(done, total));
    }
}

struct Bar {
    what: String,
    /// What is counted, if the rate is shown.
    unit: Option<&'static str>,
    started: Instant,
    shown: Option<ProgressBar>,
}

impl Bar {
    fn new(what: impl Into<String>, unit: Option<&'static str>) -> Self {
        Self { what: what.into(), unit, started: Instant::now(), shown: None }
    }

    fn update(&mut self, done: u64, total: u64) {
        if self.shown.is_none() {
            if self.started.elapsed() < PATIENCE || !std::io::stderr().is_terminal() {
                return;
            }
            self.shown = Some(self.draw(total));
        }
        if let Some(bar) = &self.shown {
            bar.set_length(total);
            bar.set_position(done.min(total));
        }
    }

    fn draw(&self, total: u64) -> ProgressBar {
        let style = ProgressStyle::with_template(&template(self.unit));
        let bar = ProgressBar::new(total).with_message(crate::line(&self.what).into_owned());
        let bar = bar.with_elapsed(self.started.elapsed());
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        let show = |state: &ProgressState, out: &mut dyn Write| {
            let _ = out.write_str(&rate(state.per_sec())); // into text, which never fails
        };
        bar.set_style(style.with_key("rate", show));
        bar
    }
}

/// How a bar looks that counts in `unit`s.
fn template(unit: Option<&str>) -> String {
    let rate = unit.map_or(String::new(), |unit| format!("  {{rate}} {unit}/s"));
    format!("{{msg}} {{wide_bar}} {{percent:>3}} %{rate}  {{eta}} left")
}

/// A rate in three digits or so: 12.3 M.
fn rate(per_second: f64) -> String {
    match per_second {
        1e6.. => format!("{:.1} M", per_second / 1e6),
        1e3.. => format!("{:.1} k", per_second / 1e3),
        _ => format!("{per_second:.0}"),
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_that_counts_shows_its_rate() {
        assert!(!template(None).contains("rate"));
        assert!(template(Some("rows")).contains("{rate} rows/s"));
        for unit in [None, Some("rows")] {
            assert!(ProgressStyle::with_template(&template(unit)).is_ok());
        }
        let shown = [0.0, 999.4, 1000.0, 12_340_000.0].map(rate);
        assert_eq!(shown, ["0", "999", "1.0 k", "12.3 M"]);
    }
}
