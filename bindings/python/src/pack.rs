//! `pack`: a folder as an ordered Zip.

use crate::failure::Failure;
use crate::job;
use crate::trace::json;
use pyo3::prelude::*;
use seekless::sys::output::{Content, Destination};
use seekless::tools::device::named;
use seekless::tools::order::DEVICE;
use seekless::tools::pack::{self as packing, Codec, Level, Links, Options, OrderBy};
use std::path::PathBuf;

/// How to pack.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct PackOptions {
    order: Vec<String>,
    method: String,
    device: Option<String>,
    codec: String,
    exclude: Vec<String>,
    links: String,
    strict: bool,
    verify: bool,
    prediction: bool,
    references: bool,
    force: bool,
}

/// Packs a folder; returns what was packed as JSON.
#[pyfunction]
#[pyo3(signature = (directory, out, traces, options, progress=None))]
pub(crate) fn pack(
    py: Python<'_>,
    directory: PathBuf,
    out: PathBuf,
    traces: Vec<PathBuf>,
    options: PackOptions,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (codec, links) = (codec(&options.codec)?, links(&options.links)?);
    let device = options.device.as_deref().map(named).transpose().map_err(Failure::from)?;
    job::wait(py, progress, move |tick| {
        let device = device.unwrap_or(DEVICE);
        let how = OrderBy { device, ..OrderBy::by(&options.method) };
        let out = Destination::new(out).replacing(options.force);
        out.check(Content::Binary).map_err(|error| Failure::from(error).at(out.path()))?;
        let order = options.order;
        let options = Options {
            codec,
            links,
            verify: options.verify,
            exclude: options.exclude,
            strict: options.strict,
            no_prediction: !options.prediction,
            no_references: !options.references,
            cancel: tick.cancel(),
            ..Options::default()
        };
        let mut progress = tick.told();
        let summary = match traces.is_empty() {
            true => packing::pack(&directory, &out, &order, &options, &mut progress)?,
            false => {
                packing::pack_for_runs(&directory, &out, &traces, &how, &options, &mut progress)?
            }
        };
        json(&summary)
    })
}

fn codec(word: &str) -> Result<Codec, Failure> {
    match word {
        "auto" => Ok(Codec::Auto),
        "stored" => Ok(Codec::Stored),
        "deflate" => Ok(Codec::Deflate),
        "zstd" => Ok(Codec::Zstd(Level::default())),
        _ => {
            let message =
                format!("no codec is called {word:?}; there are auto, stored, deflate and zstd");
            Err(Failure::usage(message))
        }
    }
}

fn links(word: &str) -> Result<Links, Failure> {
    match word {
        "follow" => Ok(Links::Follow),
        "keep" => Ok(Links::Keep),
        _ => {
            let message = format!("links are not treated as {word:?}: \"follow\" or \"keep\" them");
            Err(Failure::usage(message))
        }
    }
}
