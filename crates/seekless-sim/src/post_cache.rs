//! The accesses that a cache passes on to its device, as a block trace. It can be replayed, or
//! simulated in a cache below.

use crate::case::{Case, Options};
use crate::drive::DeviceAccess;
use crate::figures::Figures;
use crate::requests::{Requests, Space};
use crate::run::run;
use crate::unit::{PAGE_BYTES, Unit};
use crate::{Error, ErrorKind, Result};
use seekless_policy::cache::page_keys;
use seekless_sys::output::{Content, Destination};
use seekless_trace::export::OzenPages;
use seekless_trace::{Access, FileId, Kind, Metadata, Op, RunInfo, View, Writer};
use std::path::Path;
use std::str::FromStr;

/// The format of a post-cache trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A block trace of reads and writes of 4096 bytes. The time is that of the request that caused
    /// the access, or its number in nanoseconds where times were not read.
    Parquet,
    /// The text of Ozen's program: one line of heading, then `r N` or `w N`, where N is the number
    /// of the page.
    Ozen,
}

impl Format {
    /// The format for a file name: text if it ends in `.txt`.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        if path.extension().is_some_and(|ending| ending == "txt") {
            Format::Ozen
        } else {
            Format::Parquet
        }
    }

    /// A description of the format.
    #[must_use]
    pub fn content(self) -> Content {
        match self {
            Format::Parquet => Content::Binary,
            Format::Ozen => Content::Text,
        }
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(word: &str) -> Result<Self> {
        match word {
            "parquet" => Ok(Format::Parquet),
            "ozen" => Ok(Format::Ozen),
            _ => Err(Error::new(ErrorKind::Usage, format!("`{word}`: expected parquet or ozen"))),
        }
    }
}

/// Simulates a case and writes the accesses that reach the device to `out`. Pages that are dirty at
/// the end stay in the cache and are not written. In [`Format::Ozen`] the pages of several files
/// have one sequence of numbers.
///
/// # Errors
/// As [`simulate_with`](crate::simulate_with); or the requests are not pages that were read from a
/// trace; or `out` cannot be written.
pub fn write(
    requests: &Requests,
    case: &Case,
    options: &Options,
    out: impl Into<Destination>,
    format: Format,
) -> Result<Figures> {
    let out = &out.into();
    let Some(space) = requests.space().filter(|_| requests.unit() == Unit::Page) else {
        let message = "a post-cache trace is one of pages read from a trace; use --unit page";
        return Err(Error::new(ErrorKind::Usage, message));
    };
    match format {
        Format::Ozen => text(requests, case, options, out, space),
        Format::Parquet => blocks(requests, case, options, out, space),
    }
}

fn text(
    requests: &Requests,
    case: &Case,
    options: &Options,
    out: &Destination,
    space: &Space,
) -> Result<Figures> {
    let mut pages = OzenPages::create(out)?;
    let mut failed = Ok(());
    let device = |access: DeviceAccess| {
        if failed.is_ok() {
            failed = pages.push(access.write, space.in_sequence(access.id));
        }
    };
    let figures = run(requests, case, options, Some(Box::new(device)))?;
    failed?;
    pages.finish()?;
    Ok(figures)
}

fn blocks(
    requests: &Requests,
    case: &Case,
    options: &Options,
    out: &Destination,
    space: &Space,
) -> Result<Figures> {
    let source = format!("post-cache of {} with {} bytes", case.policy, case.capacity);
    let runs = vec![RunInfo { source, ..RunInfo::default() }];
    let view = Some(View::PostCache);
    let metadata = Metadata { kind: Kind::Blocks, view, runs, ..Metadata::default() };
    let mut writer = Writer::create(out, metadata)?;
    let mut failed = Ok(());
    let device = |access: DeviceAccess| {
        if failed.is_ok() {
            let (file, page) = page_keys::place(requests.key(access.id));
            let number = writer.file(&name(space, file));
            let op = if access.write { Op::Write } else { Op::Read };
            failed = writer.push(Access {
                time_ns: requests.time(access.position),
                offset: page.saturating_mul(PAGE_BYTES) as i64,
                bytes: PAGE_BYTES,
                ..Access::new(op, number)
            });
        }
    };
    let figures = run(requests, case, options, Some(Box::new(device)))?;
    failed?;
    writer.finish()?;
    Ok(figures)
}

/// The name of a file, or a substitute if names were not read.
fn name(space: &Space, file: FileId) -> std::borrow::Cow<'_, str> {
    match space.names.get(file as usize) {
        Some(name) => name.into(),
        None => format!("file {file}").into(),
    }
}
