//! `seekless compare`: loads a run cold from loose files and from their pack, in turn, and reports
//! what each took.
//!
//! All rivals deliver the same bytes: the loose files on demand, the pack on demand, and the pack
//! with the list of loads known beforehand. The measured time includes opening the pack and reading
//! its directory.
//!
//! On a modelled device both sides are charged for the reads of a cold ext4 (`survey`). These are
//! each block of metadata on the way to a file once, and the file's extents. On a throttled device
//! the kernel charges the real file system, before it merges requests that touch, unless the files
//! lie on a loop device with direct I/O.

pub(crate) use packed::Pack;
pub(crate) use placed::Placed;
use plan::Plan;
use rival::Side;
use seekless_device::{DeviceSpec, Geometry};
use seekless_engine::ObjectName;
use seekless_io::Store;
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::{Coldness, Figures, INODE_READAHEAD_BLOCKS, Slowed, make_cold};
use seekless_pack::Index;
use seekless_sys::open_seekable;
use seekless_trace::Loads;
use serde::Serialize;
use std::fs::File;
use std::path::{Path, PathBuf};
use survey::{Sought, Survey};

mod loose;
mod options;
mod orders;
mod packed;
pub mod pattern;
mod placed;
mod plan;
mod rival;
pub(crate) mod survey;

pub use loose::Expected;
pub use options::{Device, Options};
pub use packed::Served;
pub use plan::Missing;
pub use survey::Basis;

#[cfg(test)]
mod tests;

/// Rounds that a verdict takes at least: one trial, or two that differ, decide nothing.
pub const ROUNDS_FOR_VERDICT: u32 = 3;

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
    /// The model or the limits, in their own words; `None` is the real device as it is.
    pub device: Option<String>,
    /// Whether those are limits on the real device.
    pub throttled: bool,
    /// Where what a model charges for the loose files comes from.
    pub basis: Basis,
    /// What the models of ext4 and of the device expect of the loose files, requests counted as the
    /// device counts them.
    pub expected: Expected,
    /// Timed rounds.
    pub rounds: u32,
    /// The store's cache in bytes.
    pub cache_bytes: u64,
    /// The loose files before anything ran: what of them was cached, and what could not be dropped.
    pub loose_at_start: Coldness,
    /// The pack before anything ran.
    pub pack_at_start: Coldness,
    /// Loose files on demand, pack on demand, pack with the list known; then the same two of each
    /// pack in another order.
    pub rivals: Vec<Figures>,
    /// What became of the loads from the pack in the last round on demand.
    pub served: Served,
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

    /// Whether there were rounds enough to say which is faster.
    #[must_use]
    pub fn decides(&self) -> bool {
        self.rounds >= ROUNDS_FOR_VERDICT
    }

    /// Whether the pack on demand took more than `percent` longer than the loose files.
    #[must_use]
    pub fn is_slower_by(&self, percent: f64) -> bool {
        self.pack().slower_by() > percent / 100.0
    }
}

/// Compares `directory` with `pack` on a run of `loads`. `progress` is given the step, how much of
/// it is done, and of how much.
///
/// # Errors
/// When the run or a file is missing, a loose file differs from what was packed, a side cannot be
/// read, or the device cannot be throttled.
pub fn compare(
    directory: &Path,
    pack: &Path,
    loads: &Loads,
    options: &Options,
    progress: &mut dyn FnMut(&'static str, u64, u64),
) -> Result<Comparison> {
    let directory = &directory.canonicalize().map_err(|error| {
        Error::because(ErrorKind::Io, format!("cannot open folder {}", directory.display()), error)
    })?;
    if options.rounds == 0 {
        return Err(Error::new(
            ErrorKind::Invalid,
            "a comparison needs at least one round: --rounds 5",
        ));
    }
    let run = chosen_run(loads, options.run)?;
    let (pack_at_start, index) = match ObjectName::is_meant(pack) {
        true => (Coldness::default(), index_of_object(pack, options)?),
        false => index_of_file(pack, options)?,
    };
    let plan = Plan::new(
        directory,
        &index,
        loads,
        &loads.runs[run as usize],
        options.unique,
        &options.roots,
    )?;
    let loose_at_start = cold(&plan.paths(), options)?;
    plan.check(&index)?;
    let sought: Vec<Sought<'_>> =
        plan.files.iter().map(|file| Sought { name: &file.name, path: &file.path }).collect();
    let survey = Survey::of(directory, &sought)?;
    let slowed = match &options.device {
        Device::Throttled(spec) => Some(slow(spec, &[directory, pack])?),
        _ => None,
    };
    let geometry = geometry(survey.geometry, slowed.as_ref());
    let spec = match &options.device {
        Device::Real => None,
        Device::Modelled { spec, .. } | Device::Throttled(spec) => Some(spec),
    };
    let expected = loose::expected(&plan, &survey, geometry, spec);
    let orders = orders::make(directory, pack, options, progress)?;
    let mut sides = vec![Side { name: "pack".to_owned(), pack: Pack::new(pack)? }];
    for order in &orders.packs {
        sides.push(Side { name: order.name.to_owned(), pack: Pack::new(&order.path)? });
    }
    let mut hear = |done, total| progress("Comparing", done, total);
    let rivals = rival::alternate(&plan, &survey, &sides, options, slowed.as_ref(), &mut hear)?;
    Ok(Comparison {
        run,
        runs: loads.runs.len() as u32,
        loads: plan.loads.len() as u64,
        repeats: (plan.loads.len() - plan.files.len()) as u64,
        bytes: plan.bytes,
        missing: plan.missing,
        device: spec.map(ToString::to_string),
        throttled: slowed.is_some(),
        basis: survey.basis,
        expected,
        rounds: options.rounds,
        cache_bytes: options.cache_bytes,
        loose_at_start,
        pack_at_start,
        rivals,
        served: sides[0].pack.served(),
    })
}

/// What was cached of a pack, and its directory.
fn index_of_file(pack: &Path, options: &Options) -> Result<(Coldness, Index)> {
    let opened = open_seekable(pack).map_err(|error| {
        Error::because(ErrorKind::Io, format!("cannot open {}", pack.display()), error)
    })?;
    // Before its directory is read, which would be found cached.
    let at_start = cold(&[pack.to_path_buf()], options)?;
    Ok((at_start, read_index(pack, &opened)?))
}

/// The directory of a pack in object storage. Nothing of it is cached on this machine.
fn index_of_object(pack: &Path, options: &Options) -> Result<Index> {
    if options.device != Device::Real {
        let why = "a pack in object storage is loaded from there: give a file for --device and \
                   --throttle";
        return Err(Error::new(ErrorKind::Invalid, why));
    }
    match Store::builder().disk_cache(options.disk_cache.clone()).open(pack) {
        Ok(store) => Ok(store.index().clone()),
        Err(error) => Err(Error::new(ErrorKind::Pack, error.to_string())),
    }
}

fn slow(spec: &DeviceSpec, paths: &[&Path]) -> Result<Slowed> {
    let &DeviceSpec::Volume { iops, bytes_per_second } = spec else {
        let why = format!(
            "{spec} cannot be made of a real device: give --throttle iops=N,bandwidth=RATE"
        );
        return Err(Error::new(ErrorKind::Invalid, why));
    };
    Slowed::new(paths, iops, bytes_per_second)
        .map_err(|error| Error::because(ErrorKind::Measure, "cannot throttle the device", error))
}

/// How requests for metadata are counted: joined on a volume, and mostly one by one by the kernel's
/// throttle.
fn geometry(found: Geometry, slowed: Option<&Slowed>) -> Geometry {
    if slowed.is_none_or(Slowed::merges) { found } else { one_by_one(found) }
}

fn one_by_one(found: Geometry) -> Geometry {
    Geometry { inode_readahead_blocks: INODE_READAHEAD_BLOCKS, joins: false, ..found }
}

fn cold(paths: &[PathBuf], options: &Options) -> Result<Coldness> {
    make_cold(paths, options.dropping())
        .map_err(|error| Error::because(ErrorKind::Measure, "cannot look at what is cached", error))
}

pub(crate) fn chosen_run(loads: &Loads, wanted: Option<u32>) -> Result<u32> {
    let runs = loads.runs.len() as u32;
    match wanted {
        _ if runs == 0 => {
            Err(Error::new(ErrorKind::Missing, "the trace has no run: record one first"))
        }
        Some(run) if run >= runs => {
            let message = format!("there is no run {run}: the trace has runs 0 to {}", runs - 1);
            Err(Error::new(ErrorKind::Missing, message))
        }
        Some(run) => Ok(run),
        None => Ok(runs - 1),
    }
}

/// The directory of the pack that `file` is.
pub(crate) fn read_index(pack: &Path, file: &File) -> Result<Index> {
    let bytes = file.metadata().map_or(0, |metadata| metadata.len());
    Index::open(file, bytes).map_err(|error| {
        Error::because(ErrorKind::Pack, format!("cannot read the pack {}", pack.display()), error)
    })
}
