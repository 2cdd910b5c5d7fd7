//! A progress bar on standard error for long jobs.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A job shorter than this shows no bar, which would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress callback for `(done, total)`. After a second it draws a bar on standard error if that
/// is a terminal, and wipes it when the callback is dropped.
pub fn progress(what: impl Into<String>) -> impl FnMut(u64, u64) + Send {
    let mut bar = Bar::new(what);
    move |done, total| bar.update(done, total)
}

/// As [`progress`], for a job of several stages. Each stage has a name and its own bar.
pub fn stages() -> impl FnMut(&'static str, u64, u64) {
    let mut stage: Option<Bar> = None;
    move |what, done, total| {
        if stage.as_ref().is_none_or(|bar| bar.what != what) {
            stage = Some(Bar::new(what));
        }
        stage.iter_mut().for_each(|bar| bar.update(done, total));
    }
}

struct Bar {
    what: String,
    started: Instant,
    shown: Option<ProgressBar>,
}

impl Bar {
    fn new(what: impl Into<String>) -> Self {
        Self { what: what.into(), started: Instant::now(), shown: None }
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
        let style = ProgressStyle::with_template("{msg} {wide_bar} {percent:>3} %  {eta} left");
        let bar = ProgressBar::new(total).with_message(self.what.clone());
        let bar = bar.with_elapsed(self.started.elapsed());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        bar
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if let Some(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}
