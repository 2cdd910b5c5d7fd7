//! What a Parquet file claims to be, checked before memory is given for it: a file of few bytes can claim a gigabyte in a page, a
//! million row groups, or a dictionary of a billion values, and the reader of Parquet files would believe it.

mod footer;
mod pages;
mod thrift;

pub(crate) use footer::check as check_footer;
pub(crate) use pages::{Column, Pages};

use std::io;

/// A claim that no writer makes: the caller says of which file.
fn absurd(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}
