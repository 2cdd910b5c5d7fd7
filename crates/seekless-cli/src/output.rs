//! How a verb prints: text to standard output, JSON with `--json`, progress on a terminal.

use anyhow::Context;
use clap::Args as ClapArgs;
use seekless::report::{Drawing, Format};
use seekless::sys::output::{Content, Destination, Output, StandardOutput};
use seekless::tools::roots::Root;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use seekless_terminal::{counting, progress, stages};

/// Writes `value` to standard output as one indented JSON document.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    Words::Output.json(value)
}

/// Writes `text` to standard output.
pub fn text(text: &str) -> anyhow::Result<()> {
    Words::Output.text(text)
}

/// Where a verb prints its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Words {
    /// To standard output.
    Output,
    /// To standard error, since another output of the verb goes to standard output.
    Error,
}

impl Words {
    /// For a verb that writes to `destinations`: standard error if one of them is standard output.
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
        match self {
            Words::Output => {
                StandardOutput.write_all(text.as_bytes()).context("cannot write to standard output")
            }
            Words::Error => std::io::stderr()
                .write_all(text.as_bytes())
                .context("cannot write to standard error"),
        }
    }
}

/// The system's reason for a failure, without the error's number.
#[must_use]
pub fn reason(error: &anyhow::Error) -> String {
    let text = error.root_cause().to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}

/// The option of every verb that writes a file.
#[derive(ClapArgs, Clone, Copy, Debug)]
pub struct Force {
    /// Replace the file to write if it is there
    #[arg(long)]
    force: bool,
}

impl Force {
    /// The destination that `word` names.
    #[must_use]
    pub fn destination(self, word: &Path) -> Destination {
        Destination::from_word(word).replacing(self.force)
    }
}

/// Says that the traced files were found in another folder than the trace names.
#[must_use]
pub fn moved(root: &Root) -> String {
    format!(
        "no traced path is there as it stands; by the tails of names {root} was taken (--root OLD=NEW to say otherwise)\n"
    )
}

/// Parses the argument for a picture's file. The error says that its ending is neither that of SVG
/// nor of PNG.
pub fn picture_file(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    format_of(&path).map(|_| path)
}

/// The format by the path's ending. Standard output gets SVG.
fn format_of(path: &Path) -> Result<Format, String> {
    if path.as_os_str() == "-" { Ok(Format::Svg) } else { Format::of(path) }
}

/// A picture that is drawn at the end of the work. It is begun before the work, so that a file that
/// may not be written fails at once.
#[derive(Debug)]
pub struct Picture {
    output: Output,
    format: Format,
}

impl Picture {
    /// Begins the picture at `path`, if there is one.
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
