//! Merges late rows with the file that holds all others.

use super::encoder::Encoder;
use super::merged::{Merged, Rows};
use super::spill::Spills;
use crate::error::{Error, Result};
use crate::names::Names;
use crate::{Access, Metadata, Trace};
use seekless_sys::output::{Content, Destination, Output};
use std::fs::File;

/// Merges the rows of `main` with the spilled and the last late rows into a new file. Rows of one
/// instant keep the order in which they were pushed: those of `main` came before the late ones.
pub(super) fn merge(
    place: &Destination,
    main: Encoder,
    spills: Spills,
    late: Vec<Access>,
    names: &Names,
) -> Result<Encoder> {
    let lifetimes = main.has_lifetimes();
    let (main, order) = main.finish_ordered(&Metadata::default(), names)?;
    let main = Trace::from_file(again(&main)?, place.path())?;
    let rename =
        move |row: Result<Access>| row.map(|row| Access { file: order[row.file as usize], ..row });
    let mut sources: Vec<Rows> = vec![Box::new(main.accesses()?.map(rename))];
    sources.extend(spills.into_readers()?);
    sources.push(Box::new(late.into_iter().map(Ok)));

    let mut out = Encoder::create(place.create(Content::Binary)?, lifetimes)?;
    let mut rows = Vec::with_capacity(1 << 13);
    for row in Merged::new(sources)? {
        rows.push(row?);
        if rows.len() == rows.capacity() {
            out.write(&rows, names)?;
            rows.clear();
        }
    }
    out.write(&rows, names)?;
    Ok(out)
}

/// A second handle on the file that has been written.
pub(super) fn again(out: &Output) -> Result<File> {
    let error =
        |error| Error::io(out.path(), "its temporary file could not be opened again", error);
    out.file().try_clone().map_err(error)
}
