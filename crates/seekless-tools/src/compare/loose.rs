//! The rival to beat: the files as they lie, opened, asked for their size, read whole and closed, one after another.

use super::plan::Plan;
use crate::error::{Error, ErrorKind, Result};
use seekless_device::DeviceSpec;
use seekless_engine::{Counters, Throttle};
use seekless_measure::Checksum;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Loads the plan from loose files; on a modelled device an open costs one request and each read at least one more.
///
/// A file that is loaded again comes from the kernel's page cache, as it would for a real program, and costs the model
/// nothing. Returns a digest of what was loaded, and what was charged; without a device that is unknown.
pub(crate) fn load_all(plan: &Plan, device: Option<DeviceSpec>) -> Result<(Checksum, Counters)> {
    let throttle = device.map(Throttle::new);
    let mut seen = vec![false; plan.files.len()];
    let mut content = Vec::new();
    let mut delivered = Checksum::default();
    for (place, &file) in (0..).zip(&plan.loads) {
        let path = &plan.files[file].path;
        let charged = if std::mem::replace(&mut seen[file], true) { None } else { throttle.as_ref() };
        let bytes = read_whole(path, charged, &mut content).map_err(|error| {
            Error::because(ErrorKind::Io, format!("cannot read {}", path.display()), error)
        })?;
        delivered.add(place, &content[..bytes]);
    }
    Ok((delivered, throttle.map(|throttle| throttle.counters()).unwrap_or_default()))
}

/// Reads a file as a careful program does: its size first, then all of it in one call. `content` only ever grows, so that
/// no time goes into clearing it; returns how much of it is the file's.
fn read_whole(path: &Path, throttle: Option<&Throttle>, content: &mut Vec<u8>) -> io::Result<usize> {
    let mut file = during(throttle, 0, || File::open(path))?;
    let file_bytes = file.metadata()?.len();
    let bytes = usize::try_from(file_bytes).map_err(io::Error::other)?;
    if content.len() < bytes {
        content.resize(bytes, 0);
    }
    if bytes > 0 {
        during(throttle, file_bytes, || file.read_exact(&mut content[..bytes]))?;
    }
    Ok(bytes)
}

fn during<T>(throttle: Option<&Throttle>, bytes: u64, work: impl FnOnce() -> T) -> T {
    match throttle {
        Some(throttle) => throttle.during(bytes, work).0,
        None => work(),
    }
}
