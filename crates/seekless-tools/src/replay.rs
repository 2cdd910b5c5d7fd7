//! Plays a trace again: a block trace on a file or device, a trace of files on its files; and on a
//! device model beside it.

mod place;
mod rows;

use place::{Placed, place};
use seekless_device::{DeviceSpec, SplitMix64};
use seekless_job::roots::Roots;
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::replay::{
    Changes, Fitted, Io, Limits, Live, Modelled, Plan, Rounds, Target, fit, play,
};
use seekless_trace::import;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use seekless_measure::replay::{Pace, Percentiles, Point, Remap, Repeat, Writes};

/// What the trace is played on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum On {
    /// Its own files, read only.
    #[default]
    Files,
    /// A file or device, read only.
    Target(PathBuf),
    /// A file to be overwritten; it is made if it is not there.
    Write(PathBuf),
    /// A device whose data is destroyed.
    DestroyData(PathBuf),
    /// Nothing but the device model.
    Model,
}

/// What bytes writes write.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pattern {
    /// Such as no device compresses.
    #[default]
    Random,
    /// `@` everywhere, as Ozen's player.
    Ozen,
}

/// How a trace is played.
#[derive(Clone, Debug)]
pub struct Options {
    /// What it is played on.
    pub on: On,
    /// Where traced files have moved.
    pub roots: Roots,
    /// When each I/O starts.
    pub pace: Pace,
    /// I/Os in flight at most; `None` for what the pace needs.
    pub depth: Option<u32>,
    /// How often it is played.
    pub repeat: Repeat,
    /// Passes in a round, without a pause.
    pub passes: u32,
    /// What becomes of writes.
    pub writes: Writes,
    /// What writes write.
    pub pattern: Pattern,
    /// What becomes of I/Os outside the target.
    pub remap: Option<Remap>,
    /// The size of a target that is made; `None` for what the trace needs.
    pub size: Option<u64>,
    /// By threads, although io_uring may be allowed.
    pub threads: bool,
    /// A device model to play it on, too.
    pub device: Option<DeviceSpec>,
    /// How a trace of another format is read.
    pub import: import::Options,
    /// How many I/Os to keep for a picture.
    pub points: usize,
    /// Set to stop.
    pub cancel: Arc<AtomicBool>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            on: On::default(),
            roots: Roots::default(),
            pace: Pace::default(),
            depth: None,
            repeat: Repeat::Times(1),
            passes: 1,
            writes: Writes::default(),
            pattern: Pattern::default(),
            remap: None,
            size: None,
            threads: false,
            device: None,
            import: import::Options::default(),
            points: 0,
            cancel: Arc::default(),
        }
    }
}

/// Rows of the trace that are not played.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// Accesses without a place (offset −1).
    pub without_place: u64,
    /// Files that are not there.
    pub files_missing: u64,
    /// The first of them.
    pub first_missing: Option<String>,
    /// Files that may not be read.
    pub files_unreadable: u64,
    /// Files that cannot be read past the page cache, as the others can.
    pub files_not_direct: u64,
    /// I/Os on these files.
    pub on_skipped_files: u64,
}

/// The target of a replay.
#[derive(Clone, Debug, Serialize)]
pub struct Place {
    /// Its name.
    pub name: String,
    /// How many files.
    pub files: u64,
    /// Their size.
    pub bytes: u64,
    /// The disk that they lie on.
    pub device: Option<String>,
    /// Whether I/Os go past the page cache.
    pub direct: bool,
    /// What moves the bytes: `io_uring`, or threads and the reason.
    pub engine: String,
    /// Whether it was made for this replay.
    pub made: bool,
}

/// By how much the model is off, as a share of the device's figure: 0.1 is 10 % too much.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ModelError {
    /// Of the time, against the device's median.
    pub time: f64,
    /// Of the median latency of reads.
    pub read_p50: Option<f64>,
    /// Of the latency that 99 of 100 reads keep.
    pub read_p99: Option<f64>,
}

/// What a replay came to.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The trace.
    pub trace: String,
    /// I/Os that were played in each pass.
    pub ios: u64,
    /// From the first to the last of them in the trace.
    pub trace_ns: u64,
    /// What was changed to fit the target.
    pub changes: Changes,
    /// What was not played.
    pub skipped: Skipped,
    /// When each I/O started.
    pub pace: Pace,
    /// I/Os in flight at most.
    pub depth: u32,
    /// The target; `None` on a model alone.
    pub target: Option<Place>,
    /// On the target.
    pub real: Option<Rounds>,
    /// The device model.
    pub model_name: Option<String>,
    /// On the device model.
    pub model: Option<Rounds>,
    /// By how much the model is off.
    pub model_error: Option<ModelError>,
    /// Where each file begins in a picture.
    #[serde(skip)]
    pub starts: Vec<u64>,
}

/// What is played, made to fit.
struct Ready {
    target: Option<Target>,
    made: bool,
    limits: Limits,
    fitted: Fitted,
    skipped: Skipped,
}

/// Plays a trace. `progress` gets the stage, and how much of it is done.
///
/// # Errors
/// The trace cannot be read, or has nothing to play; the target is refused or too small; an I/O
/// fails; or the caller asked to stop.
pub fn replay(
    trace: &Path,
    options: &Options,
    progress: &mut dyn FnMut(&'static str, u64, u64),
) -> Result<Report> {
    check(options)?;
    let mut tell = |stage, done, total| {
        progress(stage, done, total);
        !options.cancel.load(Ordering::Relaxed)
    };
    let ready = prepare(trace, options, &mut tell)?;
    let depth = options.depth.unwrap_or_else(|| options.pace.depth());
    let plan = Plan { pace: options.pace, passes: options.passes, points: options.points };
    let ios = &ready.fitted.ios;
    let mut report = Report {
        trace: trace.display().to_string(),
        ios: ios.len() as u64,
        trace_ns: span_ns(ios),
        changes: ready.fitted.changes,
        skipped: ready.skipped.clone(),
        pace: options.pace,
        depth,
        target: None,
        real: None,
        model_name: options.device.as_ref().map(ToString::to_string),
        model: None,
        model_error: None,
        starts: starts(&ready.limits.file_bytes),
    };
    if let Some(target) = &ready.target {
        let longest = ios.iter().map(|io| io.bytes).max().unwrap_or(0);
        let mut stage = Live::new(target, depth, longest, pattern(options), options.threads)
            .map_err(measured)?;
        report.target = Some(place_of(target, stage.engine(), ready.made));
        let repeat = options.repeat;
        let mut tell = |done, total| tell("Replaying", done, total);
        report.real = Some(
            Rounds::live(ios, &plan, repeat, target, &mut stage, &mut tell).map_err(measured)?,
        );
    }
    if let Some(device) = &options.device {
        let mut stage = Modelled::new(device.model(), &ready.limits.file_bytes, depth);
        let mut tell = |done, total| tell("Modelling", done, total);
        let pass = play(ios, &plan, &mut stage, &mut tell).map_err(measured)?;
        report.model = Some(Rounds::modelled(pass, &plan));
    }
    if let (Some(real), Some(model)) = (&report.real, &report.model) {
        report.model_error = Some(ModelError::of(real, model));
    }
    Ok(report)
}

fn check(options: &Options) -> Result<()> {
    let writes = options.writes == Writes::Written;
    let may_write = matches!(options.on, On::Write(_) | On::DestroyData(_) | On::Model);
    if writes && !may_write {
        let message = "writes are played only on what was named for that: --write FILE or \
                       --destroy-data DEVICE";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    if options.on == On::Model && options.device.is_none() {
        let message = "nothing to play on: name a target with --on, or a model with --device";
        return Err(Error::new(ErrorKind::Invalid, message));
    }
    Ok(())
}

fn prepare(
    trace: &Path,
    options: &Options,
    tell: &mut dyn FnMut(&'static str, u64, u64) -> bool,
) -> Result<Ready> {
    let rows = rows::read(trace, options)?;
    let placed: Placed = place(trace, rows, options, tell)?;
    let limits = match &placed.target {
        Some(target) => target.limits(),
        None => Limits {
            name: "the model".to_owned(),
            file_bytes: placed.file_bytes,
            alignment: MODEL_ALIGNMENT,
        },
    };
    let mut fitted = fit(placed.ios, &limits, options.writes, options.remap).map_err(measured)?;
    fitted.changes.writes_left_out += placed.writes_elsewhere;
    if fitted.ios.is_empty() {
        let message = match fitted.changes.writes_left_out {
            0 => format!("{}: nothing to play: it has no reads or writes", trace.display()),
            writes => format!(
                "{}: nothing to play: all {writes} I/Os are writes, which are left out; \
                 --writes-as-reads reads their places, --write FILE writes",
                trace.display()
            ),
        };
        return Err(Error::new(ErrorKind::Missing, message));
    }
    let Placed { target, skipped, made, .. } = placed;
    Ok(Ready { target, made, limits, fitted, skipped })
}

/// The sectors of a model.
const MODEL_ALIGNMENT: u64 = 512;

/// Bytes of what writes write; slots begin at different places of it.
const PATTERN_BYTES: usize = 1 << 20;

fn pattern(options: &Options) -> Vec<u8> {
    match (options.writes, options.pattern) {
        (Writes::Out | Writes::AsReads, _) => Vec::new(),
        (_, Pattern::Ozen) => b"@".to_vec(),
        (_, Pattern::Random) => {
            let mut random = SplitMix64::new(PATTERN_BYTES as u64);
            (0..PATTERN_BYTES / 8).flat_map(|_| random.bits().to_le_bytes()).collect()
        }
    }
}

fn span_ns(ios: &[Io]) -> u64 {
    let last = ios.iter().map(|io| io.time_ns).max().unwrap_or(0);
    last - ios.first().map_or(0, |io| io.time_ns)
}

fn starts(file_bytes: &[u64]) -> Vec<u64> {
    let ends = file_bytes.iter().scan(0_u64, |end, bytes| {
        *end = end.saturating_add(*bytes);
        Some(*end)
    });
    std::iter::once(0).chain(ends).take(file_bytes.len()).collect()
}

fn place_of(target: &Target, engine: &str, made: bool) -> Place {
    Place {
        name: target.name(),
        files: target.paths().len() as u64,
        bytes: target.file_bytes().iter().sum(),
        device: target.device().map(|device| device.name()),
        direct: target.is_direct(),
        engine: engine.to_owned(),
        made,
    }
}

impl ModelError {
    fn of(real: &Rounds, model: &Rounds) -> Self {
        let off = |model: u64, real: u64| model as f64 / real.max(1) as f64 - 1.0;
        let latency = |of: fn(&Percentiles) -> u64| {
            let (real, model) = (real.read_latency.as_ref()?, model.read_latency.as_ref()?);
            Some(off(of(model), of(real)))
        };
        ModelError {
            time: off(model.time.median_ns, real.time.median_ns),
            read_p50: latency(|it| it.p50_ns),
            read_p99: latency(|it| it.p99_ns),
        }
    }
}

/// A failure of the measuring, as this crate says it.
fn measured(error: seekless_measure::Error) -> Error {
    use seekless_measure::ErrorKind as Measured;
    let kind = match error.kind() {
        Measured::Interrupted => ErrorKind::Interrupted,
        Measured::Io => ErrorKind::Io,
        Measured::Refused | Measured::Outside => ErrorKind::Invalid,
        _ => ErrorKind::Measure,
    };
    let message = error.to_string();
    match error.into_source() {
        Some(source) => Error::because(kind, message, source),
        None => Error::new(kind, message),
    }
}

#[cfg(test)]
mod tests;
