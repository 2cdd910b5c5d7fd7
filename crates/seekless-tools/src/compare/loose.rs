//! The rival to beat: the files as they lie, opened, asked for their size, read whole and closed,
//! one after another.

use super::placed::Placed;
use super::plan::{Plan, Tell};
use super::survey::Survey;
use seekless_device::{ColdFiles, DeviceModel, DeviceSpec, Fetch, Geometry, Io, Nanos, parts};
use seekless_engine::{Clock, Counters, Throttle};
use seekless_job::{Error, Result};
use seekless_measure::Checksum;
use serde::Serialize;
use std::fs::File;
use std::io::{self, Read};

/// What a device is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Expected {
    /// Requests, large ones cut as [`parts`] says.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
    /// What the device takes for them one after another, in nanoseconds; 0 on a device that is not
    /// modelled.
    pub ns: u64,
}

/// A modelled device under the loose files.
pub(crate) struct Charge<'a> {
    files: ColdFiles<'a>,
    throttle: Throttle,
    /// Place and bytes of the requests of one call, kept between calls.
    fetched: Vec<(u64, u64)>,
}

impl<'a> Charge<'a> {
    pub(crate) fn new(survey: &'a Survey, device: &DeviceSpec, clock: Clock) -> Self {
        let throttle = Throttle::with_model(Box::new(Placed::new(device, 0)), clock);
        Charge { files: survey.cold(survey.geometry), throttle, fetched: Vec::new() }
    }

    fn open<T>(&mut self, file: usize, work: impl FnOnce() -> T) -> T {
        self.fetched.clear();
        self.files.open(file, &mut |fetch| self.fetched.push((fetch.place, fetch.bytes)));
        self.during(work)
    }

    fn read<T>(&mut self, file: usize, work: impl FnOnce() -> T) -> T {
        self.fetched.clear();
        self.files.read(file, &mut |fetch| self.fetched.push((fetch.place, fetch.bytes)));
        self.during(work)
    }

    /// Does the work, the I/O itself, while the first request runs on the model, then waits for the
    /// others in turn.
    fn during<T>(&self, work: impl FnOnce() -> T) -> T {
        let Some((&(place, bytes), rest)) = self.fetched.split_first() else { return work() };
        let (result, _): (T, Nanos) = self.throttle.during(place, bytes, work);
        for &(place, bytes) in rest {
            self.throttle.during(place, bytes, || ());
        }
        result
    }
}

/// Loads the plan from loose files. Returns a digest of what was loaded, and what was charged;
/// without a model that is unknown.
///
/// A file that is loaded again comes from the kernel's page cache, as it would for a real program,
/// and costs the model nothing.
pub(crate) fn load_all(
    plan: &Plan,
    mut charge: Option<Charge<'_>>,
    tell: &mut Tell<'_>,
) -> Result<(Checksum, Counters)> {
    let mut content = Vec::new();
    let mut delivered = Checksum::default();
    for (place, &file) in plan.loads.iter().enumerate() {
        tell(place)?;
        let bytes = read_whole(plan, file, charge.as_mut(), &mut content)
            .map_err(|error| Error::unreadable(&plan.files[file].path, error))?;
        delivered.add(place as u64, &content[..bytes]);
    }
    Ok((delivered, charge.map(|charge| charge.throttle.counters()).unwrap_or_default()))
}

/// What loading the plan asks of a cold file system, charged by `geometry`, and how long `device`
/// takes for it.
pub(crate) fn expected(
    plan: &Plan,
    survey: &Survey,
    geometry: Geometry,
    device: Option<&DeviceSpec>,
) -> Expected {
    let mut files = survey.cold(geometry);
    let mut model = device.map(|device| Placed::new(device, 0));
    let mut expected = Expected::default();
    for &file in &plan.loads {
        let mut tell = |fetch: Fetch| {
            expected.requests += parts(fetch.bytes);
            expected.bytes += fetch.bytes;
            if let Some(model) = &mut model {
                let now = expected.ns;
                let Fetch { place: offset, bytes, .. } = fetch;
                model.submit(now, Io { tag: 0, write: false, offset, bytes });
                model.advance(Nanos::MAX, &mut |end, _| expected.ns = end.max(now));
            }
        };
        files.open(file, &mut tell);
        files.read(file, &mut tell);
    }
    expected
}

/// Reads a file as a careful program does: its size first, then all of it in one call. `content`
/// only ever grows, so that no time goes into clearing it; returns how much of it is the file's.
fn read_whole(
    plan: &Plan,
    number: usize,
    mut charge: Option<&mut Charge<'_>>,
    content: &mut Vec<u8>,
) -> io::Result<usize> {
    let path = &plan.files[number].path;
    let mut file = match &mut charge {
        Some(charge) => charge.open(number, || File::open(path)),
        None => File::open(path),
    }?;
    let bytes = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    if content.len() < bytes {
        content.resize(bytes, 0);
    }
    let mut read = || file.read_exact(&mut content[..bytes]);
    match charge {
        Some(charge) => charge.read(number, read)?,
        None => read()?,
    }
    Ok(bytes)
}
