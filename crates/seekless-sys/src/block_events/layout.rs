//! Where the fields of a tracepoint lie in its record. The kernel says so in the event's `format`
//! file; places differ between versions.

use crate::perf::{u16_at, u32_at, u64_at};
use std::io;

/// A field: its first byte and its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Field {
    /// Finds a field in the text of a `format` file.
    pub(super) fn find(format: &str, name: &str) -> io::Result<Self> {
        let found = format.lines().find_map(|line| parse(line).filter(|field| field.0 == name));
        found.map(|(_, field)| field).ok_or_else(|| {
            let message = format!("the kernel's block events have no field `{name}`");
            io::Error::new(io::ErrorKind::Unsupported, message)
        })
    }

    /// The field's bytes; `None` if the record is too short.
    pub(super) fn of<'a>(&self, record: &'a [u8]) -> Option<&'a [u8]> {
        record.get(self.offset..self.offset.checked_add(self.bytes)?)
    }

    /// A whole number of two, four or eight bytes.
    pub(super) fn number(&self, record: &[u8]) -> Option<u64> {
        let field = self.of(record)?;
        match field.len() {
            2 => Some(u16_at(field, 0).into()),
            4 => Some(u32_at(field, 0).into()),
            8 => Some(u64_at(field, 0)),
            _ => None,
        }
    }
}

/// `field:char rwbs[10];  offset:34;  size:10;  signed:0;`, with tabs between.
fn parse(line: &str) -> Option<(&str, Field)> {
    let mut parts = line.trim().split(';').map(str::trim);
    let declared = parts.next()?.strip_prefix("field:")?;
    let name = declared.rsplit(' ').next()?.split('[').next()?;
    let mut number = |label: &str| parts.next()?.strip_prefix(label)?.parse().ok();
    let (offset, bytes) = (number("offset:")?, number("size:")?);
    Some((name, Field { offset, bytes }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FORMAT: &str = "name: block_rq_issue\nID: 2104\nformat:\n\
        \tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\n\
        \tfield:sector_t sector;\toffset:16;\tsize:8;\tsigned:0;\n\
        \tfield:char rwbs[10];\toffset:34;\tsize:10;\tsigned:0;\n\
        \tfield:__data_loc char[] cmd;\toffset:60;\tsize:4;\tsigned:0;\n\nprint fmt: \"%d\"";

    #[test]
    fn fields_lie_where_the_format_says() {
        assert_eq!(Field::find(FORMAT, "rwbs").unwrap(), Field { offset: 34, bytes: 10 });
        let sector = Field::find(FORMAT, "sector").unwrap();
        let mut record = [0; 60];
        record[16..18].copy_from_slice(&[1, 2]);
        assert_eq!(sector.number(&record), Some(513));
        assert_eq!(sector.number(&record[..20]), None, "cut off");
        assert!(Field::find(FORMAT, "nr_sector").unwrap_err().to_string().contains("nr_sector"));
    }
}
