//! What the device of the program's files costs: given by the user, or measured by some reads of
//! these files.

use super::Options;
use super::advice::{DeviceFigures, Source};
use super::starts::Learned;
use seekless_device::{Costs, LookUps};
use seekless_job::Result;
use seekless_measure::{Budget, calibrate, look_ups, requests};
use seekless_sys::mounts::Mounts;
use seekless_trace::unescape_path;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Reads for the bandwidth.
const BANDWIDTH: Budget = Budget { time: Duration::from_millis(1000), bytes: 128 << 20 };
/// Reads for what a request costs.
const REQUESTS: Duration = Duration::from_millis(1000);
/// A request of the kernel's readahead has so many bytes by default.
const READAHEAD_BYTES: u64 = 128 << 10;
/// Files that are read.
const FILES_MAX: usize = 64;

/// The device that a start asks most, and its costs.
pub(super) struct Found {
    pub(super) costs: Costs,
    /// Whether it limits requests and bytes, each by itself.
    pub(super) limits_apart: bool,
    /// What a look-up costs where the file system asks another program or machine for each.
    pub(super) look_ups: Option<LookUps>,
    pub(super) figures: DeviceFigures,
}

/// Finds the costs of the device that is asked most.
pub(super) fn find(
    learned: &Learned,
    options: &Options,
    tell: &mut dyn FnMut(&str),
) -> Result<Found> {
    let files = largest(learned);
    let name = files.first().map(|path| name(path)).unwrap_or_default();
    let ((costs, limits_apart), source) = match options.costs {
        Some(costs) => ((costs, false), Source::Given),
        None => {
            tell("reading some of its files, to see what the device costs");
            let assumed = ((Costs::ASSUMED, false), Source::Assumed);
            measured(&files).map_or(assumed, |it| (it, Source::Measured))
        }
    };
    let Costs { request_ns, bytes_per_second, depth } = costs;
    let figures = DeviceFigures { name, request_ns, bytes_per_second, at_once: depth, source };
    let folder = files.first().and_then(|path| path.parent());
    let look_ups = folder.filter(|_| options.costs.is_none()).and_then(look_ups);
    Ok(Found { costs, limits_apart, look_ups, figures })
}

/// The largest of the needed files on the device from which most single parts are needed: each is a
/// request that may be waited for, however small. A program that lies on a fast device may wait for
/// its data on a slow one.
fn largest(learned: &Learned) -> Vec<PathBuf> {
    let needs = &learned.needs;
    let mut needed: BTreeMap<u32, u64> = BTreeMap::new();
    for need in needs.runs.last().into_iter().flatten() {
        *needed.entry(need.file).or_default() += need.bytes.div_ceil(READAHEAD_BYTES).max(1);
    }
    let mut devices: BTreeMap<u64, (u64, Vec<(u64, PathBuf)>)> = BTreeMap::new();
    for (file, parts) in needed {
        let path = PathBuf::from(OsString::from_vec(unescape_path(&needs.names[file as usize])));
        let Ok(found) = path.metadata() else { continue };
        let (sum, files) = devices.entry(found.dev()).or_default();
        *sum += parts;
        files.push((found.size(), path));
    }
    let most = devices.into_values().max_by_key(|(parts, _)| *parts);
    let mut files = most.map(|(_, files)| files).unwrap_or_default();
    files.sort_by(|(one, first), (other, second)| (other, first).cmp(&(one, second)));
    files.into_iter().take(FILES_MAX).map(|(_, path)| path).collect()
}

/// What reads of these files cost, and whether requests and bytes have limits of their own; `None`
/// if they are too small, or in memory.
fn measured(files: &[PathBuf]) -> Option<(Costs, bool)> {
    let bandwidth = calibrate(files, BANDWIDTH, &mut |_, _| {}).ok()?;
    let found = requests(files, REQUESTS).ok()??;
    // Many small requests wait for each other; one alone takes its latency.
    let request_ns = if found.at_once > 1 { found.alone_ns } else { found.together_ns };
    let bytes_per_second = bandwidth.bytes_per_second.max(1);
    let costs = Costs { request_ns, bytes_per_second, depth: found.at_once };
    Some((costs, found.limits_apart(bytes_per_second)))
}

/// `ext4 on vda`.
fn name(path: &Path) -> String {
    let mounts = Mounts::read().ok();
    let below = mounts.iter().flat_map(Mounts::iter).filter(|mount| path.starts_with(&mount.point));
    // Of two mounts at one place, the later hides the earlier.
    let Some(mount) = below.max_by_key(|mount| mount.point.as_os_str().len()) else {
        return String::new();
    };
    let (major, minor) = mount.device;
    let link = PathBuf::from(format!("/sys/dev/block/{major}:{minor}"));
    let device = link.canonicalize().ok().and_then(|it| Some(it.file_name()?.to_owned()));
    match device {
        Some(device) => format!("{} on {}", mount.kind, device.to_string_lossy()),
        None => format!("{} at {}", mount.kind, mount.point.display()),
    }
}
