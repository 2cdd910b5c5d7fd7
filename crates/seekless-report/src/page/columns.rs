//! Columns of a table, and how their cells are written: the script writes them the same.

use super::text::shown;
use seekless_device::units::{format_bytes, format_count, format_duration};

/// A column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its heading.
    pub name: String,
    /// What its cells hold.
    pub content: Content,
}

impl Column {
    /// A column with this heading.
    #[must_use]
    pub fn new(name: &str, content: Content) -> Self {
        Self { name: name.to_owned(), content }
    }
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Words.
    Text,
    /// The path of a file or folder.
    Path,
    /// Seconds, written as `1.23 s` or `45.6 ms`.
    Seconds,
    /// Bytes, written as `141.2 MB`.
    Bytes,
    /// A whole number, written as `36,266`.
    Count,
    /// A share from 0 to 1, written as `25.0 %`.
    Share,
}

impl Content {
    /// The name that the script knows.
    pub(super) fn name(self) -> &'static str {
        match self {
            Content::Text => "text",
            Content::Path => "path",
            Content::Seconds => "seconds",
            Content::Bytes => "bytes",
            Content::Count => "count",
            Content::Share => "share",
        }
    }

    pub(super) fn is_words(self) -> bool {
        matches!(self, Content::Text | Content::Path)
    }

    /// A number as it stands in the data: nanoseconds, bytes, a count, or thousandths. `None` if
    /// it is not finite or negative.
    pub(super) fn steps(self, value: f64) -> Option<u64> {
        let value = match self {
            Content::Seconds => 1e9 * value,
            Content::Share => 1e3 * value,
            _ => value,
        };
        (value.is_finite() && value >= 0.0).then(|| value.round() as u64)
    }

    fn words(self, steps: u64) -> String {
        match self {
            Content::Seconds => format_duration(steps),
            Content::Bytes => format_bytes(steps),
            Content::Share => format!("{}.{} %", steps / 10, steps % 10),
            _ => format_count(steps),
        }
    }
}

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words, or a path.
    Text(String),
    /// A number in the unit of its column; one that is not finite or negative is *unknown*.
    Number(f64),
    /// Nothing.
    Empty,
}

impl Cell {
    /// It in words.
    pub(super) fn words(&self, content: Content) -> String {
        match self {
            Cell::Text(text) => shown(text),
            Cell::Number(value) => {
                content.steps(*value).map_or("unknown".to_owned(), |steps| content.words(steps))
            }
            Cell::Empty => String::new(),
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Cell::Number(value)
    }
}

impl From<u64> for Cell {
    fn from(value: u64) -> Self {
        Cell::Number(value as f64)
    }
}
