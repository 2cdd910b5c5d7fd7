//! A progress bar on standard error for a lab's long jobs.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A job shorter than this shows no bar: it would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// A callback for `(done, total)`: after a second it draws a bar if standard error is a terminal, and wipes it when dropped.
pub(crate) fn bar(what: String) -> impl FnMut(u64, u64) + Send {
    let mut bar = Bar { what, started: Instant::now(), shown: None };
    move |done, total| bar.update(done, total)
}

struct Bar {
    what: String,
    started: Instant,
    shown: Option<ProgressBar>,
}

impl Bar {
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
        let bar =
            ProgressBar::new(total).with_message(self.what.clone()).with_elapsed(self.started.elapsed());
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
