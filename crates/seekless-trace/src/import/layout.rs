//! Imports records of one length, whose fields the caller names.

use super::binary::Bytes;
use super::csv::Rows;
use super::fields::{Binding, Field, field_and_scale};
use super::record::Record;
use super::select::Test;
use super::{Import, Options};
use crate::compressed::Input;
use crate::error::{Error, ErrorKind, Place, Result};
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// The most fields and bytes of a record.
const FIELDS_MAX: usize = 256;
const BYTES_MAX: usize = 4096;

/// The fields of a record, parsed from `u32:time,u64:key,u32:bytes,i64:next`: each a type, perhaps
/// with `be` behind it for the byte order of networks, then `:FIELD[:UNIT]`. Fields that are not
/// known are skipped, and so is a type alone. libCacheSim's own words are understood, too:
/// `format=<IIQ,obj-id-col=3,obj-size-col=2,time-col=1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    parts: Vec<Part>,
    bindings: Vec<Binding>,
}

/// A number in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    kind: Kind,
    bytes: usize,
    big_endian: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Unsigned,
    Signed,
    Float,
}

impl FromStr for Layout {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let layout = match text.strip_prefix("format=") {
            Some(words) => of_libcachesim(words)?,
            None => of_names(text)?,
        };
        let Layout { parts, bindings } = &layout;
        if parts.len() > FIELDS_MAX || layout.bytes() > BYTES_MAX {
            return Err(format!("has more than {FIELDS_MAX} fields or {BYTES_MAX} bytes"));
        }
        let has = |field| bindings.iter().any(|binding| binding.field == field);
        if !has(Field::Path) && !has(Field::Offset) {
            return Err("names no key; add one, such as u64:key, or an offset".into());
        }
        Ok(layout)
    }
}

fn of_names(text: &str) -> std::result::Result<Layout, String> {
    let mut layout = Layout { parts: Vec::new(), bindings: Vec::new() };
    for part in text.split(',') {
        let (kind, name) = part.split_once(':').unwrap_or((part, ""));
        let column = layout.parts.len();
        layout.parts.push(part_of(kind)?);
        // Times of records are in seconds unless a unit is given.
        let name = match name {
            "time" => "time:s",
            "ttl" => "ttl:s",
            name => name,
        };
        match field_and_scale(name) {
            Ok((field, scale)) => layout.bindings.push(Binding { field, scale, column }),
            Err(wrong) if name.contains(':') => return Err(wrong),
            Err(_) => {} // such as `next`
        }
    }
    Ok(layout)
}

fn part_of(name: &str) -> std::result::Result<Part, String> {
    let (plain, big_endian) = match name.strip_suffix("be") {
        Some(plain) => (plain, true),
        None => (name.strip_suffix("le").unwrap_or(name), false),
    };
    let (kind, bytes) = match plain {
        "u8" => (Kind::Unsigned, 1),
        "u16" => (Kind::Unsigned, 2),
        "u32" => (Kind::Unsigned, 4),
        "u64" => (Kind::Unsigned, 8),
        "i8" => (Kind::Signed, 1),
        "i16" => (Kind::Signed, 2),
        "i32" => (Kind::Signed, 4),
        "i64" => (Kind::Signed, 8),
        "f32" => (Kind::Float, 4),
        "f64" => (Kind::Float, 8),
        _ => {
            return Err(format!(
                "`{name}` is no type, expected u8 u16 u32 u64 i8 i16 i32 i64 f32 f64, perhaps with be"
            ));
        }
    };
    Ok(Part { kind, bytes, big_endian })
}

/// The words of `-t binary -T "format=…"`: the letters of Python's `struct`, and columns from 1.
fn of_libcachesim(words: &str) -> std::result::Result<Layout, String> {
    let mut words = words.split(',');
    let letters = words.next().unwrap_or_default().trim_matches('"');
    let (letters, big_endian) = match letters.strip_prefix(['<', '=', '@']) {
        Some(letters) => (letters, false),
        None => match letters.strip_prefix(['>', '!']) {
            Some(letters) => (letters, true),
            None => (letters, false),
        },
    };
    let mut parts = Vec::new();
    let mut repeats = String::new();
    for letter in letters.chars() {
        let (kind, bytes) = match letter {
            '0'..='9' => {
                repeats.push(letter);
                continue;
            }
            'B' => (Kind::Unsigned, 1),
            'H' => (Kind::Unsigned, 2),
            'I' | 'L' => (Kind::Unsigned, 4),
            'Q' => (Kind::Unsigned, 8),
            'b' => (Kind::Signed, 1),
            'h' => (Kind::Signed, 2),
            'i' | 'l' => (Kind::Signed, 4),
            'q' => (Kind::Signed, 8),
            'f' => (Kind::Float, 4),
            'd' => (Kind::Float, 8),
            _ => return Err(format!("`{letter}` is no type of `format=`: expected bBhHiIlLqQfd")),
        };
        let count = if repeats.is_empty() { Ok(1) } else { repeats.parse() };
        let count = count.ok().filter(|count| *count <= FIELDS_MAX);
        let count = count.ok_or_else(|| format!("`{repeats}`: at most {FIELDS_MAX} fields"))?;
        parts.extend(std::iter::repeat_n(Part { kind, bytes, big_endian }, count));
        repeats.clear();
    }
    let mut bindings = Vec::new();
    for word in words {
        let (name, column) =
            word.split_once('=').ok_or_else(|| format!("`{word}`: expected NAME=COLUMN"))?;
        let (field, scale) = match name.trim() {
            "obj-id-col" => (Field::Path, 1),
            "obj-size-col" => (Field::Bytes, 1),
            "time-col" => (Field::Time, crate::foreign::SECOND_NS),
            "cnt-col" => (Field::Count, 1),
            "tenant-col" => (Field::Tenant, 1),
            "ttl-col" => (Field::Ttl, crate::foreign::SECOND_NS),
            "next-access-vtime-col" => (Field::Next, 1),
            _ => continue, // features
        };
        let position = column.trim().parse::<usize>().ok();
        let column = position.and_then(|at| at.checked_sub(1)).filter(|at| *at < parts.len());
        let column = column
            .ok_or_else(|| format!("`{word}`: expected a column from 1 to {}", parts.len()))?;
        bindings.push(Binding { field, scale, column });
    }
    Ok(Layout { parts, bindings })
}

impl Layout {
    /// The bytes of a record.
    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.bytes).sum()
    }

    /// Whether records say how long their objects may be kept.
    #[must_use]
    pub fn has_lifetimes(&self) -> bool {
        self.bindings.iter().any(|binding| binding.field == Field::Ttl)
    }

    /// Whether records are accesses to a device rather than to named objects.
    pub(super) fn is_blocks(&self) -> bool {
        !self.bindings.iter().any(|binding| binding.field == Field::Path)
    }
}

impl Part {
    /// Writes the number as text, as CSV would have it.
    fn write(self, bytes: &[u8], text: &mut Vec<u8>) {
        let mut wide = [0; 8];
        for (at, byte) in bytes.iter().enumerate() {
            wide[if self.big_endian { self.bytes - 1 - at } else { at }] = *byte;
        }
        let number = u64::from_le_bytes(wide);
        let spare = 64 - 8 * self.bytes as u32;
        let _ = match self.kind {
            Kind::Unsigned => write!(text, "{number}"),
            Kind::Signed => write!(text, "{}", (number << spare) as i64 >> spare),
            Kind::Float if self.bytes == 4 => write!(text, "{}", f32::from_bits(number as u32)),
            Kind::Float => write!(text, "{}", f64::from_bits(number)),
        }; // a vector takes all
    }
}

/// The layout that the options name.
pub(super) fn of_options<'o>(options: &'o Options, path: &Path) -> Result<&'o Layout> {
    options.layout.as_ref().ok_or_else(|| {
        let message = "records need their layout, such as --binary u32:time,u64:key,u32:bytes";
        Error::new(ErrorKind::Usage, path, message)
    })
}

pub(super) fn import_file(import: &mut Import<'_>, input: Input, path: &Path) -> Result<()> {
    let layout = of_options(import.options, path)?.clone();
    let tests = Test::all(&import.options.select.wheres, &layout.bindings, None, path)?;
    let ops = import.options.ops.clone();
    let rows = Rows::of_layout(&layout.bindings, tests, ops, import.report.runs);
    let mut source = Bytes::of(input, path);
    let (mut bytes, mut record) = (vec![0; layout.bytes()], Record::default());
    let mut number = 0;
    while !import.at_limit() && source.next_into(&mut bytes)? {
        let mut at = 0;
        let fill = |text: &mut Vec<u8>, field: usize| {
            let part = layout.parts[field];
            part.write(&bytes[at..at + part.bytes], text);
            at += part.bytes;
        };
        record.fill(fill, layout.parts.len());
        let place = number * bytes.len() as u64;
        let pushed = match rows.parse(&record, number) {
            Ok(row) => import.push_row(&row, |import| Ok(import.writer.file(&row.name))),
            Err(wrong) => Err(Error::new(ErrorKind::Malformed, path, wrong).at(Place::Byte(place))),
        };
        import.forgive(pushed)?;
        number += 1;
        import.tick_at(source.consumed());
    }
    import.add_runs(path, 1);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(Kind, usize, bool)> {
        let layout: Layout = text.parse().unwrap();
        layout.parts.iter().map(|part| (part.kind, part.bytes, part.big_endian)).collect()
    }

    #[test]
    fn layouts_are_read_in_our_words_and_in_libcachesims() {
        let ours: Layout = "u32:time,u32:bytes,u64:key".parse().unwrap();
        let theirs: Layout = "format=<IIQ,obj-id-col=3,obj-size-col=2,time-col=1".parse().unwrap();
        assert_eq!(ours.parts, theirs.parts);
        let sorted = |layout: &Layout| {
            let mut all: Vec<_> =
                layout.bindings.iter().map(|one| (one.column, one.scale, one.field)).collect();
            all.sort_by_key(|one| one.0);
            all
        };
        assert_eq!(sorted(&ours), sorted(&theirs));
        assert_eq!(kinds("u32be:key"), [(Kind::Unsigned, 4, true)]);
        assert_eq!(
            kinds("format=>2hd,obj-id-col=1")[1..],
            [(Kind::Signed, 2, true), (Kind::Float, 8, true)]
        );
        assert_eq!(kinds("u8,i64:key,u16:next").len(), 3, "what is not known is skipped");
    }

    #[test]
    fn what_is_no_layout_is_refused_in_words() {
        for (text, word) in [
            ("", "is no type"),
            ("u31:key", "u31"),
            ("u32:time", "names no key"),
            ("u32:bytes:moons,u32:key", "moons"),
            ("format=<IX,obj-id-col=1", "X"),
            ("format=<I,obj-id-col=2", "from 1 to 1"),
            ("format=<999999999999I,obj-id-col=1", "at most"),
            ("format=<IQ", "names no key"),
            ("format=<I,obj-id-col", "NAME=COLUMN"),
        ] {
            let error = text.parse::<Layout>().unwrap_err();
            assert!(error.contains(word), "{text}: {error}");
        }
    }

    #[test]
    fn numbers_become_text() {
        let text = |name: &str, bytes: &[u8]| {
            let mut text = Vec::new();
            part_of(name).unwrap().write(bytes, &mut text);
            String::from_utf8(text).unwrap()
        };
        assert_eq!(text("i16", &(-3_i16).to_le_bytes()), "-3");
        assert_eq!(text("i32be", &(-70_000_i32).to_be_bytes()), "-70000");
        assert_eq!(text("u64be", &u64::MAX.to_be_bytes()), u64::MAX.to_string());
        assert_eq!(text("f64", &1.5_f64.to_le_bytes()), "1.5");
        assert_eq!(text("f32be", &0.25_f32.to_be_bytes()), "0.25");
    }
}
