//! How a verb speaks: text to standard output, JSON when asked, progress on a terminal.

use anyhow::Context;
use clap::Args as ClapArgs;
use seekless::report::{Drawing, Format};
use seekless::sys::output::{Content, Destination, Output};
use seekless::tools::roots::Root;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use seekless_terminal::{progress, stages};

/// Writes `value` to standard output as one indented JSON document.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    Words::Output.json(value)
}

/// Writes `text` to standard output.
pub fn text(text: &str) -> anyhow::Result<()> {
    Words::Output.text(text)
}

/// Where a verb's words go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// To standard output.
    Output,
    /// To standard error, since an output of the verb has taken standard output.
    Error,
}

impl Words {
    /// For a verb that writes to `destinations`.
    pub fn beside<'a>(destinations: impl IntoIterator<Item = &'a Destination>) -> Self {
        let taken = destinations.into_iter().any(Destination::is_standard_output);
        if taken { Words::Error } else { Words::Output }
    }

    /// Writes `value` as one indented JSON document.
    pub fn json<T: Serialize>(self, value: &T) -> anyhow::Result<()> {
        let mut text = serde_json::to_string_pretty(value)?;
        text.push('\n');
        self.text(&text)
    }

    /// Writes `text`.
    pub fn text(self, text: &str) -> anyhow::Result<()> {
        // Flushed here: what is left in the buffer at exit would be lost without a word.
        match self {
            Words::Output => {
                let mut out = std::io::stdout().lock();
                let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
                written.context("cannot write to standard output")
            }
            Words::Error => {
                std::io::stderr().write_all(text.as_bytes()).context("cannot write to standard error")
            }
        }
    }
}

/// Why something failed, as the system says it, without its number.
#[must_use]
pub fn reason(error: &anyhow::Error) -> String {
    let text = error.root_cause().to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The flag of every verb that writes a file.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub struct Force {
    /// Replace the file to write if it is there
    #[arg(long)]
    force: bool,
}

impl Force {
    /// Where `word` says that an output goes.
    #[must_use]
    pub fn destination(self, word: &Path) -> Destination {
        Destination::from_word(word).replacing(self.force)
    }
}

/// Says that traced files were found elsewhere than the trace says.
#[must_use]
pub fn moved(root: &Root) -> String {
    format!(
        "no traced path is there as it stands; by the tails of names {root} was taken (--root OLD=NEW to say otherwise)\n"
    )
}

/// A picture's file as an argument: refused before the work if its ending says neither SVG nor PNG.
pub fn picture_file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    format_of(&path).map(|_| path)
}

/// To standard output goes an SVG.
fn format_of(path: &Path) -> Result<Format, String> {
    if path.as_os_str() == "-" { Ok(Format::Svg) } else { Format::of(path) }
}

/// A picture that is drawn at the end of the work. It is begun before, so that a file that may not be written is said at once.
#[derive(Debug)]
pub struct Picture {
    output: Output,
    format: Format,
}

impl Picture {
    /// Begins the picture at `path`, if one was asked for.
    pub fn begin(path: Option<&Path>, force: Force) -> anyhow::Result<Option<Self>> {
        let Some(path) = path else { return Ok(None) };
        let format = format_of(path).map_err(anyhow::Error::msg)?;
        let content = if format == Format::Svg { Content::Text } else { Content::Binary };
        let output = force.destination(path).create(content)?;
        Ok(Some(Self { output, format }))
    }

    /// Where it goes.
    #[must_use]
    pub fn destination(&self) -> &Destination {
        self.output.destination()
    }

    /// Writes it, whole or not at all.
    pub fn draw(mut self, drawing: &Drawing) -> anyhow::Result<()> {
        let written = self.output.write_all(&drawing.encode(self.format));
        written.with_context(|| format!("cannot write {}", self.output.path().display()))?;
        Ok(self.output.publish()?)
    }
}
