//! Loads a run cold from loose files and from their pack, turn about in one go, and says what each took.
//!
//! Three rivals deliver the same bytes: the loose files on demand, the pack on demand, and the pack with the list of loads
//! known beforehand. On a device model (`--device`) both sides run under the same one: opening a loose file costs one
//! request and each read at least one more; a pack is opened inside the measured time, its directory included.

use crate::error::{Error, ErrorKind, Result};
use plan::Plan;
use seekless_device::DeviceSpec;
use seekless_measure::{Coldness, Dropping, Figures, make_cold};
use seekless_pack::Index;
use seekless_sys::open_seekable;
use seekless_trace::Loads;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};

mod loose;
mod packed;
mod plan;
mod rival;

pub use plan::Missing;

#[cfg(test)]
mod tests;

/// How to compare.
#[derive(Clone, Debug)]
pub struct Options {
    /// The run to load; without it the newest.
    pub run: Option<u32>,
    /// The device model that both sides run on; without it the real device.
    pub device: Option<DeviceSpec>,
    /// Timed rounds, after one that is discarded.
    pub rounds: u32,
    /// The cache of the pack's store in bytes; empty at the start of each round.
    pub cache_bytes: u64,
    /// First loads only.
    pub unique: bool,
    /// Before each trial also empty the whole machine's caches, names and inodes included. Needs root.
    pub drop_all_caches: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            run: None,
            device: None,
            rounds: 5,
            cache_bytes: 64_000_000,
            unique: false,
            drop_all_caches: false,
        }
    }
}

impl Options {
    fn dropping(&self) -> Dropping {
        if self.drop_all_caches { Dropping::Machine } else { Dropping::Files }
    }
}

/// What was compared, how cold it was, and what each rival took.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    /// The run that was loaded.
    pub run: u32,
    /// Runs in the traces given.
    pub runs: u32,
    /// Loads, repeats included.
    pub loads: u64,
    /// Loads of a file that was loaded before. The loose files' come from the kernel's page cache.
    pub repeats: u64,
    /// Bytes that the loads deliver.
    pub bytes: u64,
    /// Files left out on both sides.
    pub missing: Missing,
    /// The device model, in its own words; `None` is the real device.
    pub device: Option<String>,
    /// Timed rounds.
    pub rounds: u32,
    /// The store's cache in bytes.
    pub cache_bytes: u64,
    /// The loose files before anything ran: what of them was cached, and what could not be dropped.
    pub loose_at_start: Coldness,
    /// The pack before anything ran.
    pub pack_at_start: Coldness,
    /// Loose files on demand, pack on demand, pack with the list known.
    pub rivals: Vec<Figures>,
}

impl Comparison {
    /// The loose files, on demand.
    #[must_use]
    pub fn loose(&self) -> &Figures {
        &self.rivals[0]
    }

    /// The pack, on demand: the headline.
    #[must_use]
    pub fn pack(&self) -> &Figures {
        &self.rivals[1]
    }

    /// Whether the pack on demand took more than `percent` longer than the loose files.
    #[must_use]
    pub fn is_slower_by(&self, percent: f64) -> bool {
        self.pack().slower_by() > percent / 100.0
    }
}

/// Compares `directory` with `pack` on a run of `loads`. `progress` hears of trials done, of all.
///
/// # Errors
/// When the run or a file is missing, a loose file differs from what was packed, or a side cannot be read.
pub fn compare(
    directory: &Path,
    pack: &Path,
    loads: &Loads,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Comparison> {
    let directory = &directory.canonicalize().map_err(|error| {
        Error::because(ErrorKind::Io, format!("cannot open folder {}", directory.display()), error)
    })?;
    if options.rounds == 0 {
        return Err(Error::new(ErrorKind::Invalid, "a comparison needs at least one round: --rounds 5"));
    }
    let run = chosen_run(loads, options.run)?;
    let opened = open_seekable(pack)
        .map_err(|error| Error::because(ErrorKind::Io, format!("cannot open {}", pack.display()), error))?;
    // Before its directory is read, which would be found cached.
    let pack_at_start = cold(&[pack.to_path_buf()], options)?;
    let index = read_index(pack, &opened)?;
    let plan = Plan::new(directory, &index, loads, &loads.runs[run as usize], options.unique)?;
    let loose_at_start = cold(&plan.paths(), options)?;
    plan.check(&index)?;
    let rivals = rival::alternate(&plan, pack, options, progress)?;
    Ok(Comparison {
        run,
        runs: loads.runs.len() as u32,
        loads: plan.loads.len() as u64,
        repeats: (plan.loads.len() - plan.files.len()) as u64,
        bytes: plan.bytes,
        missing: plan.missing,
        device: options.device.map(|device| device.to_string()),
        rounds: options.rounds,
        cache_bytes: options.cache_bytes,
        loose_at_start,
        pack_at_start,
        rivals,
    })
}

fn cold(paths: &[PathBuf], options: &Options) -> Result<Coldness> {
    make_cold(paths, options.dropping())
        .map_err(|error| Error::because(ErrorKind::Measure, "cannot look at what is cached", error))
}

fn chosen_run(loads: &Loads, wanted: Option<u32>) -> Result<u32> {
    let runs = loads.runs.len() as u32;
    match wanted {
        _ if runs == 0 => Err(Error::new(ErrorKind::Missing, "the trace has no run: record one first")),
        Some(run) if run >= runs => {
            let message = format!("there is no run {run}: the trace has runs 0 to {}", runs - 1);
            Err(Error::new(ErrorKind::Missing, message))
        }
        Some(run) => Ok(run),
        None => Ok(runs - 1),
    }
}

fn read_index(pack: &Path, file: &File) -> Result<Index> {
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    Index::open(file, bytes).map_err(|error| {
        Error::because(ErrorKind::Pack, format!("cannot read the pack {}", pack.display()), error)
    })
}
