//! What a device is inside, or how long its requests take: measured on a file, a device or a model,
//! and made into a device model.

use super::{Error, ErrorKind, Result};
use seekless_device::{DeviceSpec, Parameters, SplitMix64};
use seekless_measure::inside::{
    Curve, DiskInside, FlashInside, Grid, GridOptions, Modelled, Probed, Taken, Timed, disk_inside,
    flash_inside, latency_grid,
};
use seekless_measure::replay::{Protected, Target};
use serde::Serialize;
use std::fs;
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Time for the latencies by size and depth.
const GRID_TIME: Duration = Duration::from_secs(8);
/// The size of a model without a capacity.
const MODEL_BYTES: u64 = 100 << 30;

/// What is probed.
#[derive(Clone, Debug)]
pub enum Subject<'a> {
    /// A file or block device.
    Path(&'a Path),
    /// A device model in virtual time, whose times are read with an error of this share.
    Model(&'a DeviceSpec, f64),
}

/// How.
#[derive(Clone, Debug)]
pub struct InsideOptions {
    /// Look for the inside; else only for latencies by size and depth.
    pub inside: bool,
    /// Writes too: what the target holds is lost.
    pub destroy: bool,
    /// Time that the search for the inside may take.
    pub limit: Duration,
    /// For places; else from the clock.
    pub seed: Option<u64>,
    /// Set to stop.
    pub cancel: Arc<AtomicBool>,
}

/// What was found.
#[derive(Clone, Debug, Serialize)]
pub struct InsideReport {
    /// The target.
    pub target: String,
    /// `disk`, `flash drive`, or `unknown`.
    pub kind: &'static str,
    /// With what I/O was made.
    pub engine: String,
    /// Of a disk.
    pub disk: Option<DiskInside>,
    /// Of a drive without rotation.
    pub flash: Option<FlashInside>,
    /// Latencies by size and depth, where the inside was not asked for or does not show.
    pub latencies: Option<Grid>,
    /// What was taken of the device by the search for the inside.
    pub taken: Taken,
    /// Bytes that were looked at.
    pub bytes: u64,
    /// Curves for pictures.
    #[serde(skip)]
    pub curves: Vec<Curve>,
    /// The device as a model.
    #[serde(skip)]
    pub parameters: Parameters,
}

/// Probes.
///
/// # Errors
/// The target cannot be read, or may not be written to; or the caller asked to stop.
pub fn inside(
    subject: &Subject<'_>,
    options: &InsideOptions,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<InsideReport> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let seed = options.seed.unwrap_or(SplitMix64::mix(now.as_nanos() as u64));
    let (target, engine, mut device): (String, String, Box<dyn Timed>) = match *subject {
        Subject::Path(path) => {
            let probed = open(path, options.destroy).map_err(|error| wrong(path, error))?;
            (path.display().to_string(), probed.engine().to_owned(), Box::new(probed))
        }
        Subject::Model(spec, noise) => {
            let bytes = spec.parameters().capacity_bytes().unwrap_or(MODEL_BYTES);
            let model = Modelled::new(spec.model(), bytes).with_noise(noise, seed);
            (spec.to_string(), "a model in virtual time".to_owned(), Box::new(model))
        }
    };
    let mut stoppable = Stoppable { device: &mut *device, cancel: &options.cancel };
    let found = search(&mut stoppable, options, seed, progress);
    let mut found = found.map_err(|error| match options.cancel.load(Ordering::Relaxed) {
        true => Error::new(ErrorKind::Interrupted, "the probe was interrupted".to_owned()),
        false => wrong(Path::new(&target), error),
    })?;
    (found.target, found.engine) = (target, engine);
    Ok(found)
}

fn wrong(path: &Path, error: seekless_measure::Error) -> Error {
    use std::error::Error as _;
    let cause = error.source().map_or(String::new(), |cause| format!(": {cause}"));
    let text = format!("{error}{cause}");
    let named = text.contains(&*path.to_string_lossy());
    let text = if named { text } else { format!("{}: {text}", path.display()) };
    Error::new(ErrorKind::Measure, text)
}

/// Opens for reading; with `destroy` for writing, if nothing else uses it.
fn open(path: &Path, destroy: bool) -> std::result::Result<Probed, seekless_measure::Error> {
    let device = fs::metadata(path).is_ok_and(|about| about.file_type().is_block_device());
    let target = match (destroy, device) {
        (false, _) => Target::read_only(&[path])?,
        (true, true) => Target::destroy_device(path)?,
        (true, false) => Target::write_file(path, &Protected::default())?,
    };
    Probed::new(path, &target)
}

fn search(
    device: &mut dyn Timed,
    options: &InsideOptions,
    seed: u64,
    progress: &mut dyn FnMut(u64, u64),
) -> std::result::Result<InsideReport, seekless_measure::Error> {
    let bytes = device.capacity_bytes();
    let limit = u64::try_from(options.limit.as_nanos()).unwrap_or(u64::MAX);
    let (mut disk, mut flash, mut taken) = (None, None, Taken::default());
    if options.inside {
        let (found, used) = disk_inside(device, limit, seed, progress)?;
        (disk, taken) = (Some(found), used);
        if disk.as_ref().is_some_and(|disk| !disk.rotation_ns.is_identified()) {
            let (found, used) = flash_inside(device, options.destroy, limit, seed, progress)?;
            (flash, taken) = (Some(found), used);
        }
    }
    let (mut parameters, mut kind, mut curves) = (None, "unknown", Vec::new());
    if let Some(disk) = &mut disk {
        curves.append(&mut disk.curves);
        if disk.rotation_ns.is_identified() {
            kind = "disk";
        }
        parameters = disk.parameters.take().map(Parameters::Disk);
    }
    if let Some(flash) = &mut flash {
        curves.append(&mut flash.curves);
        parameters = parameters.or(flash.parameters.take().map(Parameters::Flash));
        if matches!(parameters, Some(Parameters::Flash(_))) {
            kind = "flash drive";
        }
    }
    let parameters = parameters.filter(|parameters| parameters.check().is_ok());
    let mut latencies = None;
    let parameters = match parameters {
        Some(parameters) => parameters,
        None => {
            let time_ns = GRID_TIME.as_nanos() as u64;
            let destroy = options.destroy;
            let grid = latency_grid(device, GridOptions { time_ns, destroy, seed }, progress)?;
            curves.extend(grid.curves());
            let parameters = Parameters::LatencyTable(grid.parameters());
            latencies = Some(grid);
            parameters
        }
    };
    Ok(InsideReport {
        target: String::new(),
        engine: String::new(),
        kind,
        disk,
        flash,
        latencies,
        taken,
        bytes,
        curves,
        parameters,
    })
}

/// A device that fails once the caller has asked to stop.
struct Stoppable<'a> {
    device: &'a mut dyn Timed,
    cancel: &'a AtomicBool,
}

impl Timed for Stoppable<'_> {
    fn run(
        &mut self,
        requests: &[seekless_measure::inside::Request],
    ) -> std::result::Result<Vec<seekless_measure::inside::Span>, seekless_measure::Error> {
        if self.cancel.load(Ordering::Relaxed) {
            return Err(seekless_measure::Error::interrupted("the probe was interrupted"));
        }
        self.device.run(requests)
    }

    fn now(&self) -> u64 {
        self.device.now()
    }

    fn pause(&mut self, nanos: u64) {
        self.device.pause(nanos);
    }

    fn capacity_bytes(&self) -> u64 {
        self.device.capacity_bytes()
    }

    fn grain_bytes(&self) -> u64 {
        self.device.grain_bytes()
    }
}
