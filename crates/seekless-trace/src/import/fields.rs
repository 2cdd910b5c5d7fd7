//! Finds which column of a text holds which field, and in which unit, from the header's names or
//! from `--columns`.

use crate::Kind;
use crate::error::{Error, ErrorKind, Result};
use std::path::Path;
use std::str::FromStr;

/// The names that a header may use, as help and messages list them.
pub const KNOWN_NAMES: &str = "time_s time_ms time_us time_ns path size file_bytes bytes offset op pid tid run \
     latency_s latency_ms latency_us latency_ns error device inode lost";

/// A field of a trace that a column of text can hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Run,
    Time,
    Pid,
    Tid,
    Op,
    Path,
    Offset,
    Bytes,
    Latency,
    Error,
    FileBytes,
    Device,
    Inode,
    Lost,
    /// How often the row comes.
    Count,
    /// Whose request it is. A trace has no place for it; rules can ask for it.
    Tenant,
    /// When the object comes next, which a simulator computes itself.
    Next,
    /// How long the object may be kept.
    Ttl,
}

impl Field {
    /// The field called `name`, which has no unit in it.
    fn named(name: &str) -> Option<Field> {
        Some(match name {
            "run" => Field::Run,
            "time" | "timestamp" | "ts" => Field::Time,
            "pid" => Field::Pid,
            "tid" => Field::Tid,
            "op" | "operation" => Field::Op,
            "path" | "file" | "filename" | "name" => Field::Path,
            "offset" => Field::Offset,
            "bytes" | "length" | "len" => Field::Bytes,
            "latency" => Field::Latency,
            "error" | "errno" => Field::Error,
            "size" | "file_bytes" | "file_size" => Field::FileBytes,
            "device" | "dev" => Field::Device,
            "inode" | "ino" => Field::Inode,
            "lost" => Field::Lost,
            _ => return None,
        })
    }

    /// The field that `--columns` calls `name`: traces of objects have keys, not paths.
    fn asked(name: &str) -> Option<Field> {
        match name {
            "key" | "id" | "object" => Some(Field::Path),
            "count" => Some(Field::Count),
            "tenant" => Some(Field::Tenant),
            "next" => Some(Field::Next),
            "ttl" => Some(Field::Ttl),
            name => Field::named(name),
        }
    }

    fn is_time(self) -> bool {
        matches!(self, Field::Time | Field::Latency | Field::Ttl)
    }

    fn is_bytes(self) -> bool {
        matches!(self, Field::Offset | Field::Bytes | Field::FileBytes)
    }

    /// How many nanoseconds or bytes one `unit` of this field is.
    fn scale(self, unit: &str) -> Option<u64> {
        let table: &[(&str, u64)] = match () {
            () if self.is_time() => {
                &[("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000), ("ns", 1)]
            }
            () if self.is_bytes() => &[
                ("b", 1),
                ("kb", 1000),
                ("kib", 1 << 10),
                ("mb", 1_000_000),
                ("mib", 1 << 20),
                ("gb", 1_000_000_000),
                ("gib", 1 << 30),
                ("sectors", 512),
                ("pages", 4096),
            ],
            () => &[],
        };
        table.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).map(|(_, scale)| *scale)
    }
}

/// A field, its unit's size in nanoseconds or bytes, and the number of its column, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Binding {
    pub(crate) field: Field,
    pub(crate) scale: u64,
    pub(crate) column: usize,
}

/// Which column holds which field, parsed from `--columns`, as in
/// `time:ms=ts,path=name,bytes:KiB=#3`. Each part is `FIELD[:UNIT]=COLUMN`; COLUMN is a name from
/// the header, or `#` and a position from 1. Bytes may be the sum of several: `bytes=#3+#4`.
/// Without a path, but with an offset, rows are accesses to one device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    wanted: Vec<Wanted>,
    has_keys: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    field: Field,
    scale: u64,
    column: String,
}

impl FromStr for Columns {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted: Vec<Wanted> = text.split(',').map(wanted).collect::<Result<_, String>>()?;
        let has = |field| wanted.iter().any(|wanted: &Wanted| wanted.field == field);
        if !has(Field::Path) && !has(Field::Offset) {
            return Err("names no path; add `path=COLUMN`, or the offset of a device".into());
        }
        for (at, one) in wanted.iter().enumerate() {
            if wanted[..at].iter().any(|other| other.field == one.field) {
                return Err(format!(
                    "gives two columns for one field, the second is `{}`",
                    one.column
                ));
            }
        }
        let is_key = |part: &str| {
            let name = part.split(['=', ':']).next().unwrap_or_default();
            matches!(name, "key" | "id" | "object")
        };
        Ok(Columns { wanted, has_keys: text.split(',').any(is_key) })
    }
}

fn wanted(part: &str) -> Result<Wanted, String> {
    let (left, column) =
        part.split_once('=').ok_or_else(|| format!("`{part}`: expected FIELD[:UNIT]=COLUMN"))?;
    let (field, scale) = field_and_scale(left)?;
    Ok(Wanted { field, scale, column: column.to_owned() })
}

/// The field that `--columns` calls `name`.
pub(super) fn field_named(name: &str) -> Option<Field> {
    Field::asked(name)
}

/// The column called `name`, or `#` and a position from 1.
pub(super) fn column_named(name: &str, header: Option<&[String]>) -> Option<usize> {
    match name.strip_prefix('#').and_then(|at| at.parse::<usize>().ok()) {
        Some(position) => position.checked_sub(1),
        None => header.and_then(|header| header.iter().position(|found| found == name)),
    }
}

/// The field of `FIELD[:UNIT]`, and its unit's size.
pub(super) fn field_and_scale(text: &str) -> Result<(Field, u64), String> {
    let (name, unit) = text.split_once(':').unwrap_or((text, ""));
    let expected = "time path key op offset bytes size count ttl tenant next pid tid run latency error device inode lost";
    let field = Field::asked(name)
        .ok_or_else(|| format!("`{name}` is not a field, expected one of {expected}"))?;
    let scale = match unit {
        "" if field.is_time() => return Err(format!("`{name}` needs a unit: {name}:s, :ms, :us or :ns")),
        "" => 1,
        unit => field.scale(unit).ok_or_else(|| {
            format!("`{unit}` is not a unit of `{name}`, expected s ms us ns for times, B KB KiB MB MiB GB GiB sectors pages for bytes")
        })?,
    };
    Ok((field, scale))
}

impl Columns {
    /// What a trace of these columns is about. What has keys is no file.
    pub(crate) fn kind(&self) -> Kind {
        match () {
            () if self.is_blocks() => Kind::Blocks,
            () if self.has_keys => Kind::Ids,
            () => Kind::Files,
        }
    }

    /// Whether rows say how long their objects may be kept.
    #[must_use]
    pub fn has_lifetimes(&self) -> bool {
        self.wanted.iter().any(|wanted| wanted.field == Field::Ttl)
    }

    /// Whether rows are accesses to one device, which has no name.
    fn is_blocks(&self) -> bool {
        !self.wanted.iter().any(|wanted| wanted.field == Field::Path)
    }

    /// Finds the column of a part of such a list, which need not have a path.
    pub(super) fn bind_part(part: &str, header: &[String], path: &Path) -> Result<Vec<Binding>> {
        let wanted = wanted(part).map_err(|wrong| Error::new(ErrorKind::Usage, path, wrong))?;
        Columns { wanted: vec![wanted], has_keys: true }.bind(Some(header), path)
    }

    /// Finds the columns in the header. Without a header all of them must be positions. A sum has
    /// a binding for each of its columns.
    pub(crate) fn bind(&self, header: Option<&[String]>, path: &Path) -> Result<Vec<Binding>> {
        let at = |name: &str| column_named(name, header);
        let mut bindings = Vec::new();
        for &Wanted { field, scale, ref column } in &self.wanted {
            // A name may have a plus in it.
            let is_sum = field.is_bytes() && field != Field::Offset && at(column).is_none();
            let parts = if is_sum { column.split('+').collect() } else { vec![column.as_str()] };
            for part in parts {
                let column = at(part).ok_or_else(|| {
                    let found = header.map_or("none, as there is no header".to_owned(), |header| {
                        header.join(",")
                    });
                    let message = format!("has no column `{part}`; its columns are {found}");
                    Error::new(ErrorKind::Usage, path, message)
                })?;
                bindings.push(Binding { field, scale, column });
            }
        }
        Ok(bindings)
    }
}

/// The fields that a header's names stand for, and the names that stand for no field. The error
/// says what is wrong with the header.
pub(crate) fn bind_header(header: &[String]) -> Result<(Vec<Binding>, Vec<String>), String> {
    let mut bindings: Vec<Binding> = Vec::new();
    let mut ignored = Vec::new();
    for (column, name) in header.iter().enumerate() {
        match known(name)? {
            Some((field, _)) if bindings.iter().any(|binding| binding.field == field) => {
                ignored.push(name.clone())
            }
            Some((field, scale)) => bindings.push(Binding { field, scale, column }),
            None => ignored.push(name.clone()),
        }
    }
    if bindings.iter().any(|binding| binding.field == Field::Path) {
        return Ok((bindings, ignored));
    }
    Err("its header names no `path`".into())
}

/// The field and scale of a header's name: `time_ms`, `Size`, `latency_us`.
fn known(name: &str) -> Result<Option<(Field, u64)>, String> {
    let lower = name.trim().to_ascii_lowercase();
    if let Some(field) = Field::named(&lower) {
        if field.is_time() {
            return Err(format!(
                "its column `{name}` has no unit; name it {lower}_s, {lower}_ms, {lower}_us or {lower}_ns"
            ));
        }
        return Ok(Some((field, 1)));
    }
    let Some((name, unit)) = lower.rsplit_once('_') else { return Ok(None) };
    Ok(Field::named(name).and_then(|field| Some((field, field.scale(unit)?))))
}
