//! Advice from traces: no program is run.
//!
//! What the traces are decides what is asked of them. Traces of a program's files show for what it
//! waited, and how its next start would wait less ([`files`]). Traces of blocks, of objects, or of
//! a service that stays with few large files show how large a cache should be, and by which policy
//! ([`cache`]). A recording of a program that was running has both ([`service`]).

pub mod cache;
pub mod files;
pub mod service;

use cache::CacheAdvice;
use files::FilesAdvice;
use seekless_device::DeviceSpec;
use seekless_job::{Error, ErrorKind, Result};
use seekless_sim::{Capacities, Reading, Unit};
use seekless_trace::Trace;
use serde::Serialize;
use service::ServiceAdvice;
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
    /// What was recorded. `None`: what the traces are decides.
    pub basis: Option<Basis>,
    /// What messages and commands call the traces, if not by their paths.
    pub called: Option<String>,
}

/// What advice from traces is based on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Traces that were made before.
    #[default]
    Traces,
    /// One run of the program, recorded now.
    OneRun,
    /// A program that was running when it was recorded.
    Service,
}

impl Options {
    /// The names of the traces.
    fn names(&self, traces: &[PathBuf]) -> Vec<String> {
        match &self.called {
            Some(called) => vec![called.clone()],
            None => traces.iter().map(|path| path.display().to_string()).collect(),
        }
    }

    fn basis(&self) -> Basis {
        self.basis.unwrap_or_default()
    }
}

/// What traces show.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TraceAdvice {
    /// Of a program's files.
    Files(Box<FilesAdvice>),
    /// Of a cache's requests.
    Cache(Box<CacheAdvice>),
    /// Of a program that was running.
    Service(Box<ServiceAdvice>),
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
    if is_of_service(traces, options) {
        let options = Options { basis: Some(Basis::Service), ..options.clone() };
        return Ok(TraceAdvice::Service(Box::new(service::advise(traces, &options, tell)?)));
    }
    let may_be_files = options.reading.unit.is_none_or(|unit| unit == Unit::File);
    if options.cache.is_none()
        && may_be_files
        && let Some(advice) = files::advise(traces, options, tell)?
    {
        return Ok(TraceAdvice::Files(Box::new(advice)));
    }
    Ok(TraceAdvice::Cache(Box::new(cache::advise(traces, options, tell)?)))
}

/// Whether the traces are of a program that was running, and no other advice is asked for.
fn is_of_service(traces: &[PathBuf], options: &Options) -> bool {
    let newest = || Trace::open(traces.last()?).ok()?.metadata().runs.last().cloned();
    match options.basis {
        Some(basis) => basis == Basis::Service,
        None if options.cache.is_some() || options.reading.unit.is_some() => false,
        None => newest().is_some_and(|run| seekless_record::was_running(&run)),
    }
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
