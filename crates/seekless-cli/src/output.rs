//! How a verb speaks: text to standard output, JSON when asked, progress on a terminal.

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};
use seekless::report::{Drawing, Format};
use seekless::tools::output::Output;
use serde::Serialize;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Writes `value` to standard output as one indented JSON document.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    self::text(&text)
}

/// Writes `text` to standard output.
pub fn text(text: &str) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    // Flushed here: what is left in the buffer at exit would be lost without a word.
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("cannot write to standard output")
}

/// Writes `bytes` to `path`, which appears whole or not at all.
pub fn file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let output = Output::create(path, true)?;
    output.file().write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(output.publish()?)
}

/// A picture's file as an argument: refused before the work if its ending says neither SVG nor PNG.
pub fn picture_file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    Format::of(&path).map(|_| path)
}

/// Writes a picture to `path` as its ending says.
pub fn picture(path: &Path, drawing: &Drawing) -> anyhow::Result<()> {
    let format = Format::of(path).map_err(anyhow::Error::msg)?;
    file(path, &drawing.encode(format))
}

/// A job shorter than this shows no bar: it would only flicker.
const PATIENCE: Duration = Duration::from_secs(1);

/// A progress callback for a library's `&mut dyn FnMut(done, total)`: after a second it draws a bar on standard error if
/// that is a terminal, and wipes it when the callback is dropped.
pub fn progress(what: &'static str) -> impl FnMut(u64, u64) {
    let mut bar = Bar { what, started: Instant::now(), shown: None };
    move |done, total| bar.update(done, total)
}

struct Bar {
    what: &'static str,
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
        let bar = ProgressBar::new(total).with_message(self.what).with_elapsed(self.started.elapsed());
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
