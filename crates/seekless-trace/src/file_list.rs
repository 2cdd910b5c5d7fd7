//! Reads the list of files that an order places: a CSV `path,size`, or one path a line.

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
        let mut lines = Lines::open(path)?;
        let mut record = Record::default();
        let mut names = Names::default();
        let mut bytes = Vec::new();
        let mut columns = None;
        let mut first = true;
        while lines.advance()? {
            lines.check_length()?;
            if std::mem::take(&mut first) {
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
            if !names.intern(&name).1 {
                return Err(
                    lines.malformed(format!("has `{name}` a second time, expected each path once"))
                );
            }
            bytes.push(size);
        }
        Ok(FileList { paths: names.into_vec(), bytes })
    }
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
