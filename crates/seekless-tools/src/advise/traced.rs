//! Advice from traces: no program is run.
//!
//! What the traces are decides what is asked of them. Traces of a program's files show for what it
//! waited, and how its next start would wait less ([`files`]). Traces of blocks, of objects, or of
//! a service that stays with few large files show how large a cache should be, and by which policy
//! ([`cache`]).

pub mod cache;
pub mod files;

use cache::CacheAdvice;
use files::FilesAdvice;
use seekless_device::DeviceSpec;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sim::{Capacities, Reading, Unit};
use serde::Serialize;
use std::path::PathBuf;

/// How to find out.
#[derive(Clone, Debug)]
pub struct Options {
    /// How the traces are read.
    pub reading: Reading,
    /// The device of the files. `None`: [`DEVICE`](crate::order::DEVICE) is assumed.
    pub device: Option<DeviceSpec>,
    /// The cache that there is now. With it, the advice is about a cache.
    pub cache: Option<Capacities>,
    /// The policy of that cache.
    pub policy: String,
}

/// What traces show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceAdvice {
    /// Of a program's files.
    Files(Box<FilesAdvice>),
    /// Of a cache's requests.
    Cache(Box<CacheAdvice>),
}

/// Finds out what these traces show. Files of the same name are the same; the last run of the last
/// trace is the newest. `tell` gets what is done now.
///
/// # Errors
/// A trace cannot be read, or takes more memory than allowed.
pub fn advise_traces(
    traces: &[PathBuf],
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<TraceAdvice> {
    tell("reading");
    let may_be_files = options.reading.unit.is_none_or(|unit| unit == Unit::File);
    if options.cache.is_none()
        && may_be_files
        && let Some(advice) = files::advise(traces, options, tell)?
    {
        return Ok(TraceAdvice::Files(Box::new(advice)));
    }
    Ok(TraceAdvice::Cache(Box::new(cache::advise(traces, options, tell)?)))
}

/// An error of the simulation.
fn failed(error: seekless_sim::Error) -> Error {
    let kind = match error.kind() {
        seekless_sim::ErrorKind::Trace => ErrorKind::Trace,
        _ => ErrorKind::Invalid,
    };
    Error::new(kind, error.to_string())
}

/// The gain that is worth offering.
fn is_worth(gain: f64, whole: f64, least: f64) -> bool {
    gain >= (super::measures::GAIN_MIN * whole).max(least)
}
