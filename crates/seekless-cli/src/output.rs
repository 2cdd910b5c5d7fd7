//! How a verb prints: text to standard output, JSON with `--json`, progress on a terminal.
//!
//! All that the command prints goes through here, and clippy refuses other ways (`clippy.toml`):
//! nothing that a name holds moves the cursor, changes a colour or adds a line. Two things remain
//! exact: what other programs take ([`data`], [`json`]), and what wc, grep and find print, which
//! quote names as GNU's do.

mod page;
mod stream;

use anyhow::Context;
use clap::Args as ClapArgs;
use seekless::job::roots::Root;
use seekless::report::{Drawing, Format};
use seekless::sys::names::misleads;
use seekless::sys::objects;
use seekless::sys::output::{Content, Destination, Output};
use seekless_terminal::lines;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt::Display;
use std::io::Write;
use std::path::{Path, PathBuf};

pub use page::{Html, HtmlFile};
pub use seekless_terminal::{counting, line, progress, shown, stages};
use stream::{Stream, write};
pub use stream::{errors_are_shown, is_shown};

/// The colours (SGR) that a text for a terminal may have, and their end.
const COLOURS: [&str; 9] = [
    "\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[34m", "\x1b[35m",
    "\x1b[36m",
];

/// Writes `value` to standard output as one indented JSON document.
pub fn json<T: Serialize>(value: &T) -> anyhow::Result<()> {
    Words::Output.json(value)
}

/// Writes `value` to standard output as JSON on one line.
pub fn json_line<T: Serialize>(value: &T) -> anyhow::Result<()> {
    Words::Output.json_line(value)
}

/// Writes `text` to standard output.
pub fn text(text: &str) -> anyhow::Result<()> {
    Words::Output.text(text)
}

/// As [`text`], with the colours that are in it.
pub fn coloured(text: &str) -> anyhow::Result<()> {
    write(Stream::Output, with_colours(text).as_bytes())
}

/// Moves the cursor home, and clears the terminal.
pub fn clear() -> anyhow::Result<()> {
    write(Stream::Output, b"\x1b[H\x1b[2J")
}

/// Writes bytes for another program to standard output, as they are.
pub fn data(bytes: &[u8]) -> anyhow::Result<()> {
    write(Stream::Output, bytes)
}

/// Prints a message to standard error, on one line. If that is closed, nobody wants to know.
pub fn say(message: impl Display) {
    note(&format!("seekless: {}\n", line(&message.to_string())));
}

/// Prints a text of our own to standard error, as [`say`] does.
pub fn note(text: &str) {
    let _ = Words::Error.text(text);
}

/// A table, each of whose rows is one line whatever its cells hold.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "its cells are made harmless here")]
pub fn table(header: &[&str], rows: Vec<Vec<String>>) -> String {
    let cell = |cell: String| match line(&cell) {
        Cow::Owned(escaped) => escaped,
        Cow::Borrowed(_) => cell,
    };
    let rows = rows.into_iter().map(|row| row.into_iter().map(cell).collect());
    seekless::report::table(header, rows.collect())
}

/// `text` as a terminal may show it, but for our colours.
fn with_colours(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\x1b') {
        let (before, after) = rest.split_at(at);
        let colour = COLOURS.into_iter().find(|colour| after.starts_with(colour)).unwrap_or("");
        shown += &lines(before);
        shown += if colour.is_empty() { "\\x1b" } else { colour };
        rest = &after[colour.len().max(1)..];
    }
    shown + &lines(rest)
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
        self.document(serde_json::to_string_pretty(value)?)
    }

    /// Writes `value` as JSON on one line.
    pub fn json_line<T: Serialize>(self, value: &T) -> anyhow::Result<()> {
        self.document(serde_json::to_string(value)?)
    }

    fn document(self, mut text: String) -> anyhow::Result<()> {
        text.push('\n');
        write(self.stream(), escaped_in_json(&text).as_bytes())
    }

    /// Writes `text`, whose names were all [`shown`].
    pub fn text(self, text: &str) -> anyhow::Result<()> {
        write(self.stream(), lines(text).as_bytes())
    }

    /// Whether that is a terminal.
    #[must_use]
    pub fn are_shown(self) -> bool {
        match self {
            Words::Output => is_shown(),
            Words::Error => errors_are_shown(),
        }
    }

    fn stream(self) -> Stream {
        match self {
            Words::Output => Stream::Output,
            Words::Error => Stream::Error,
        }
    }
}

/// The document with what a terminal would obey as `\uXXXX`, by which it says the same. Such
/// characters stand in its strings alone, where serde has escaped those below the blank.
fn escaped_in_json(document: &str) -> Cow<'_, str> {
    let is_odd = |char| misleads(char) && char != '\n';
    if !document.contains(is_odd) {
        return Cow::Borrowed(document);
    }
    let mut escaped = String::with_capacity(document.len());
    for char in document.chars() {
        match is_odd(char) {
            true => char.encode_utf16(&mut [0; 2]).iter().for_each(|unit| {
                escaped += &format!("\\u{unit:04x}");
            }),
            false => escaped.push(char),
        }
    }
    Cow::Owned(escaped)
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
    /// The destination that `word` names. From then on Ctrl-C waits for an object to be given up,
    /// which removes its parts; a second one ends the program at once.
    #[must_use]
    pub fn destination(self, word: &Path) -> Destination {
        if objects::of(word).is_some() {
            let _ = seekless_terminal::interrupt::cancel_when_interrupted();
        }
        Destination::from_word(word).replacing(self.force)
    }

    /// Whether a file that is there may be replaced.
    #[must_use]
    pub fn is_given(self) -> bool {
        self.force
    }
}

/// Says that the traced files were found in another folder than the trace names.
#[must_use]
pub fn moved(root: &Root) -> String {
    format!(
        "no traced path is there as it stands; by the tails of names {} was taken (--root OLD=NEW to say otherwise)\n",
        line(&root.to_string())
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
        written.with_context(|| format!("cannot write {}", shown(self.output.path())))?;
        Ok(self.output.publish()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stays_a_row() {
        let text = table(&["file", "bytes"], vec![vec!["a\nb  9\t\x1b[2J".into(), "1".into()]]);
        assert_eq!(text.lines().count(), 3, "{text}");
        assert!(text.contains("a\\x0ab  9\\x09\\x1b[2J"), "{text}");
    }

    #[test]
    fn our_colours_pass_and_nothing_else_does() {
        assert_eq!(with_colours("\x1b[32mgood\x1b[0m\n"), "\x1b[32mgood\x1b[0m\n");
        assert_eq!(with_colours("\x1b]0;title\x07\x1b"), "\\x1b]0;title\\x07\\x1b");
    }

    #[test]
    fn json_says_the_same_without_what_a_terminal_obeys() {
        let name = "a\u{202e}b\u{9b}\u{7f}\u{e0041}\x1b é";
        let text = serde_json::to_string(name).unwrap();
        let escaped = escaped_in_json(&text);
        assert_eq!(escaped, r#""a\u202eb\u009b\u007f\udb40\udc41\u001b é""#);
        assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), name);
    }
}
