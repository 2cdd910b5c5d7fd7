//! Packs the same folder in two simple orders: by name, and as the newest run loaded its files.
//!
//! They show how much of a pack's gain comes from its order and how much from packing at all.

use super::options::Options;
use crate::pack::{self, pack, pack_for_runs};
use seekless_job::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Packs that go when this is dropped.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    pub(crate) packs: Vec<Order>,
    _folder: Option<TempDir>,
}

/// A pack in another order.
#[derive(Debug)]
pub(crate) struct Order {
    pub(crate) name: &'static str,
    pub(crate) path: PathBuf,
}

/// Packs `directory` as `options` asks, beside `out` or in the temporary folder.
pub(crate) fn make(
    directory: &Path,
    out: &Path,
    options: &Options,
    progress: &mut dyn FnMut(&'static str, u64, u64),
) -> Result<Orders> {
    let Some(runs) = &options.rivals else { return Ok(Orders::default()) };
    let folder = folder_beside(out)?;
    let packing = pack::Options {
        cancel: Arc::clone(&options.cancel),
        roots: options.roots.clone(),
        no_prediction: options.no_prediction,
        ..pack::Options::default()
    };
    let by_name = folder.path().join("name.zip");
    let mut hear = |done, total| progress("Packing by name", done, total);
    // Of the runs it has the prediction, as the others: what differs is the order.
    match runs.is_empty() {
        true => pack(directory, &by_name, &[], &packing, &mut hear)?,
        false => pack_for_runs(
            directory,
            &by_name,
            runs,
            &pack::OrderBy::by("name"),
            &packing,
            &mut hear,
        )?,
    };
    let mut packs = vec![Order { name: "pack by name", path: by_name }];
    if !runs.is_empty() {
        let recent = folder.path().join("recent.zip");
        let mut hear = |done, total| progress("Packing by the newest run", done, total);
        pack_for_runs(directory, &recent, runs, &pack::OrderBy::by("recent"), &packing, &mut hear)?;
        packs.push(Order { name: "pack by the newest run", path: recent });
    }
    Ok(Orders { packs, _folder: Some(folder) })
}

fn folder_beside(out: &Path) -> Result<TempDir> {
    let named = || {
        let mut builder = tempfile::Builder::new();
        builder.prefix(".seekless-rivals-");
        builder
    };
    let beside =
        out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    named().tempdir_in(beside).or_else(|_| named().tempdir()).map_err(|error| {
        Error::because(
            ErrorKind::Io,
            "cannot make a folder for the rivals' packs: give a writable TMPDIR",
            error,
        )
    })
}
