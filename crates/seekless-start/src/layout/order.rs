//! Which files lie in the order of need already, and where the others would lie.

use super::Report;
use super::figures::{REQUEST_BYTES_MAX, wait};
use super::find::{ELSEWHERE, Found};
use seekless_device::Costs;
use seekless_sys::extents::Extent;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Where files are thought to lie that are not laid yet: behind all devices.
const NOWHERE: u64 = 1 << 60;
/// The reason of files that do not need to move.
pub(super) const IN_ORDER: &str = "in order already";

/// Leaves the files that lie in order where they are, and counts what stays by reason. The files
/// below `copied` folders are laid by a copy.
pub(super) fn settle(files: &mut [Found], copied: &[PathBuf], report: &mut Report) {
    for device in devices(files).into_values() {
        settle_device(files, &device, report);
    }
    for file in files.iter() {
        match file.stays {
            None | Some(IN_ORDER) => {}
            Some(ELSEWHERE) if is_below(file, copied) => report.out_of_place += 1,
            Some(_) if is_below(file, copied) => {}
            Some(why) => report.leave_out(why, 1),
        }
    }
}

/// The files that may move, by their device.
pub(super) fn devices(files: &[Found]) -> BTreeMap<u64, Vec<usize>> {
    let mut devices: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
    for (number, file) in files.iter().enumerate().filter(|(_, file)| file.stays.is_none()) {
        devices.entry(file.looks.device).or_default().push(number);
    }
    devices
}

fn settle_device(files: &mut [Found], movable: &[usize], report: &mut Report) {
    let runs = runs(files, movable);
    let is_long = |run: &&Vec<usize>| {
        let bytes: u64 = run.iter().map(|number| files[*number].laid_bytes()).sum();
        whole(&files[run[0]]).is_some() && (bytes >= REQUEST_BYTES_MAX || runs.len() == 1)
    };
    let (long, short): (Vec<_>, Vec<_>) = runs.iter().partition(is_long);
    for run in long {
        stay(files, run, report);
    }
    // A short run that is the end of a layout is as good as it can be.
    let gains = gains(files);
    for run in short {
        match gains {
            true => report.out_of_place += run.len() as u64,
            false => stay(files, run, report),
        }
    }
}

fn stay(files: &mut [Found], run: &[usize], report: &mut Report) {
    report.in_order += run.len() as u64;
    run.iter().for_each(|number| files[*number].stays = Some(IN_ORDER));
}

/// Whether to lay the files that do not stay saves requests.
fn gains(files: &[Found]) -> bool {
    let requests = |files: &[Found]| wait(files, &Costs::ASSUMED).requests;
    requests(&laid(files, &[])) < requests(files)
}

/// Cuts the files into runs that lie side by side.
fn runs(files: &[Found], movable: &[usize]) -> Vec<Vec<usize>> {
    let mut runs: Vec<Vec<usize>> = Vec::new();
    let mut ends: Option<[u64; 2]> = None;
    for &number in movable {
        let range = whole(&files[number]);
        match (runs.last_mut(), range, ends) {
            (Some(run), Some((first, _)), Some(ends)) if ends.contains(&first) => run.push(number),
            _ => runs.push(vec![number]),
        }
        let taken = files[number].taken_bytes();
        ends = range.map(|(first, end)| [end, first + taken]);
    }
    runs
}

/// The first byte of the file on its device and that behind it, if it lies in one piece.
fn whole(file: &Found) -> Option<(u64, u64)> {
    let first = file.extents.first()?.place?;
    let mut end = first;
    for extent in &file.extents {
        if extent.place != Some(end) {
            return None;
        }
        end += extent.bytes;
    }
    Some((first, first + file.laid_bytes()))
}

/// The files as they would lie.
pub(super) fn laid(files: &[Found], copied: &[PathBuf]) -> Vec<Found> {
    let mut next: BTreeMap<u64, u64> = BTreeMap::new();
    let lay = |file: &Found| {
        let mut file = file.clone();
        if file.stays.is_none() || is_below(&file, copied) {
            let next = next.entry(file.looks.device).or_insert(NOWHERE);
            file.extents = vec![Extent {
                offset: 0,
                bytes: file.laid_bytes(),
                place: Some(*next),
                unwritten: false,
                placeless: None,
            }];
            *next += file.taken_bytes();
        }
        file
    };
    files.iter().map(lay).collect()
}

pub(super) fn is_below(file: &Found, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| file.path.starts_with(folder))
}

/// Whether two lists of extents name the same places.
pub(super) fn lie_alike(one: &[Extent], other: &[Extent]) -> bool {
    pieces(one) == pieces(other)
}

/// Their ranges in the file and on the device, with neighbours joined.
fn pieces(extents: &[Extent]) -> Vec<(u64, u64, Option<u64>)> {
    let mut pieces: Vec<(u64, u64, Option<u64>)> = Vec::new();
    for extent in extents {
        match pieces.last_mut() {
            Some((offset, bytes, Some(place)))
                if *offset + *bytes == extent.offset && Some(*place + *bytes) == extent.place =>
            {
                *bytes += extent.bytes;
            }
            _ => pieces.push((extent.offset, extent.bytes, extent.place)),
        }
    }
    pieces
}
