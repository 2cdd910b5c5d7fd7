//! Reads lists of files: a CSV `path,size`, or one path a line.

use crate::error::Result;
use crate::escape_path;
use crate::import::fields::{Binding, Field, bind_header};
use crate::import::record::Record;
use crate::import::too_many_names;
use crate::lines::Lines;
use crate::names::Names;
use std::path::Path;

/// Files in a given order, each once, with their sizes if the list has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileList {
    /// Paths, escaped as a trace's are.
    pub paths: Vec<String>,
    /// The size of each.
    pub bytes: Vec<Option<u64>>,
}

impl FileList {
    /// Reads a list, plain or compressed with gzip, xz, lzma or zstd. It is CSV if the first line
    /// is a header with `path` (and perhaps `size`); otherwise each line is a path.
    ///
    /// # Errors
    /// The file cannot be read, a size is not a number, or a path is empty or listed twice.
    pub fn read(path: &Path) -> Result<Self> {
        Self::of(Lines::open(path)?, Again::IsRefused)
    }

    /// As [`FileList::read`], but a path that is listed again is passed over.
    ///
    /// # Errors
    /// The file cannot be read, a size is not a number, or a path is empty.
    pub fn read_first(path: &Path) -> Result<Self> {
        Self::of(Lines::open(path)?, Again::IsPassedOver)
    }

    pub(crate) fn of(mut lines: Lines, again: Again) -> Result<Self> {
        let mut record = Record::default();
        let mut names = Names::default();
        let mut bytes = Vec::new();
        let mut columns = None;
        let mut first = true;
        while lines.advance_any()? {
            lines.check_length()?;
            let is_text = lines.ends_in_newlines();
            let line = lines.text();
            if line.is_empty() || is_text && line.trim_ascii().is_empty() {
                continue;
            }
            if std::mem::take(&mut first) && is_text {
                record.read(&mut lines, b',')?;
                columns = header(&record);
                if columns.is_some() {
                    continue;
                }
            }
            let (name, size) = match &columns {
                Some(columns) => entry(&mut lines, &mut record, columns)?,
                None => (escape_path(lines.text()), None),
            };
            if names.are_too_many(lines.consumed()) {
                return Err(too_many_names(&lines));
            }
            match (names.intern(&name).1, again) {
                (true, _) => bytes.push(size),
                (false, Again::IsPassedOver) => {}
                (false, Again::IsRefused) => {
                    let message = format!("has `{name}` a second time, expected each path once");
                    return Err(lines.malformed(message));
                }
            }
        }
        Ok(FileList { paths: names.into_vec(), bytes })
    }
}

/// What becomes of a path that is listed again.
#[derive(Clone, Copy)]
pub(crate) enum Again {
    IsRefused,
    IsPassedOver,
}

/// The columns, if the record is a header, which has known names only.
fn header(record: &Record) -> Option<Vec<Binding>> {
    let names: Vec<String> =
        record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    bind_header(&names).ok().filter(|(_, ignored)| ignored.is_empty()).map(|(bindings, _)| bindings)
}

fn entry(
    lines: &mut Lines,
    record: &mut Record,
    columns: &[Binding],
) -> Result<(String, Option<u64>)> {
    record.read(lines, b',')?;
    let find = |field| {
        let binding = columns.iter().find(|binding| binding.field == field)?;
        record.get(binding.column)
    };
    let name = find(Field::Path).unwrap_or_default();
    if name.is_empty() {
        return Err(lines.malformed("has no path, expected path,size"));
    }
    let size = match find(Field::FileBytes).or_else(|| find(Field::Bytes)).map(<[u8]>::trim_ascii) {
        None | Some([]) => None,
        Some(text) => {
            let number = crate::import::number::whole(text);
            let shown = text[..text.len().min(40)].escape_ascii();
            Some(number.ok_or_else(|| {
                lines.malformed(format!("has the size `{shown}`, expected a number of bytes"))
            })?)
        }
    };
    Ok((escape_path(name), size))
}
