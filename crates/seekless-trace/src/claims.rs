//! Checks what a Parquet file claims to hold before memory is allocated for it. A file of a few
//! bytes can claim a page of a gigabyte, a million row groups or a dictionary of a billion values.
//! The Parquet reader allocates all that before it looks at the data.

mod footer;
mod pages;
mod thrift;

pub(crate) use footer::check as check_footer;
pub(crate) use pages::{Column, Pages};

use std::io;

/// An error about a claim that no writer makes. The caller adds the file's name.
fn absurd(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}
