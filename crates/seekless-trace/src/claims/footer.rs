//! Checks the footer's lists. The Parquet reader allocates as many elements as a list claims before
//! it reads the first.

use super::absurd;
use super::thrift::{Compact, Kind};
use std::io::{Read, Result};

/// Columns and groups of columns; a trace has 14 columns, and another tool may have added some.
const ELEMENTS_MAX: u64 = 1024;
/// A row group takes at least this many bytes in a footer.
const ROW_GROUP_BYTES_MIN: u64 = 32;
/// The numbers of the fields that we check.
const SCHEMA: i64 = 2;
const ROW_GROUPS: i64 = 4;
const CHILDREN: i64 = 5;

/// Checks a footer, given without the length and magic at its end.
///
/// # Errors
/// The absurd claim, in words that follow the file's name.
pub(crate) fn check(footer: &[u8]) -> Result<()> {
    let mut input = Compact::new(footer, footer.len() as u64);
    let mut last = 0;
    while let Some((field, kind)) = input.field(&mut last)? {
        match (field, kind) {
            (SCHEMA, Kind::LIST) => schema(&mut input)?,
            (ROW_GROUPS, Kind::LIST) => row_groups(&mut input)?,
            _ => input.skip(kind)?,
        }
    }
    Ok(())
}

fn schema(input: &mut Compact<impl Read>) -> Result<()> {
    let (elements, kind) = input.list()?;
    if elements > ELEMENTS_MAX {
        return Err(absurd(format!("claims {elements} columns; a trace has 14")));
    }
    let mut children = 0_i64;
    for _ in 0..elements {
        if kind != Kind::STRUCT {
            input.skip(kind)?;
            continue;
        }
        let mut last = 0;
        while let Some((field, kind)) = input.field(&mut last)? {
            match (field, kind) {
                (CHILDREN, Kind::I32) => children = children.saturating_add(input.signed()?.max(0)),
                _ => input.skip(kind)?,
            }
        }
    }
    match children.unsigned_abs() > elements {
        true => Err(absurd(format!("claims {children} columns and names {elements}"))),
        false => Ok(()),
    }
}

fn row_groups(input: &mut Compact<impl Read>) -> Result<()> {
    let (groups, kind) = input.list()?;
    if groups > input.left() / ROW_GROUP_BYTES_MIN {
        return Err(absurd(format!("claims {groups} row groups in {} bytes", input.left())));
    }
    (0..groups).try_for_each(|_| input.skip(kind))
}
