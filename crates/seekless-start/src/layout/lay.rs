//! Moves files part by part: each part has a donor, is moved, written to the device and checked
//! before the next begins, so that a full disk needs room for one part only.

use super::donor::{Donor, free_bytes};
use super::figures::wait;
use super::find::Found;
use super::moving::{Moved, check, move_file};
use super::{Options, Progress, Report, order, stopped};
use seekless_device::Costs;
use seekless_device::units::format_bytes;
use seekless_job::{Error, ErrorKind, Result};
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

/// A part is at most so large where there is room, and so large where there is little.
const PART_BYTES_MAX: u64 = 1 << 30;
const SMALL_PART_BYTES: u64 = 64 << 20;
/// Room that stays free, for the block maps of the moved files: so much, and this share of a part.
const SPARE_BYTES: u64 = 1 << 20;
const SPARE_SHARE: u64 = 64;

/// Moves the files that do not stay. Says in the report what was done.
pub(super) fn lay(
    files: &mut [Found],
    options: &Options,
    report: &mut Report,
    progress: Progress<'_>,
) -> Result<()> {
    for numbers in order::devices(files).into_values() {
        let mut rest = &numbers[..];
        while !rest.is_empty() {
            let part = next_part(files, rest)?;
            rest = &rest[part..];
            let taken = &numbers[numbers.len() - rest.len() - part..numbers.len() - rest.len()];
            lay_part(files, taken, options, report, progress)?;
        }
    }
    Ok(())
}

/// How many of the files are laid together: as many as there is room for, at least one.
fn next_part(files: &[Found], numbers: &[usize]) -> Result<usize> {
    let first = &files[numbers[0]];
    let folder = folder(first);
    let free = free_bytes(folder).map_err(|error| Error::unreadable(folder, error))?;
    let room = free.saturating_sub(SPARE_BYTES) / (SPARE_SHARE + 1) * SPARE_SHARE;
    let all = bytes(files, numbers);
    let most = if all <= room { PART_BYTES_MAX } else { SMALL_PART_BYTES.min(room) };
    let mut sum = 0;
    let fits = numbers.iter().take_while(|number| {
        sum += files[**number].taken_bytes();
        sum <= most
    });
    let count = fits.count();
    let alone = first.taken_bytes();
    match count {
        0 if alone > room => Err(no_room(first, free, alone)),
        0 => Ok(1),
        count => Ok(count),
    }
}

fn no_room(file: &Found, free: u64, bytes: u64) -> Error {
    let message = format!(
        "{} cannot be moved: its file system has {} free, and {} are needed beside some room for \
         block maps: free some space; what was moved before stays in its new place",
        file.path.display(),
        format_bytes(free),
        format_bytes(bytes)
    );
    Error::new(ErrorKind::Missing, message)
}

fn lay_part(
    files: &mut [Found],
    numbers: &[usize],
    options: &Options,
    report: &mut Report,
    progress: Progress<'_>,
) -> Result<()> {
    stopped(options)?;
    let donor = match reserve(files, numbers) {
        Ok(donor) => donor,
        Err(error) => return unreserved(error, &files[numbers[0]], numbers, report),
    };
    if !pays(files, numbers, &donor) {
        report.leave_out("with no better place in the free space", numbers.len() as u64);
        return Ok(());
    }
    let moved = exchange(files, numbers, &donor, options, report, progress);
    seekless_sys::residency::write_back_file_system(donor.file.as_fd())
        .map_err(|error| Error::because(ErrorKind::Io, "moved files cannot be written", error))?;
    let all = moved.len() as u64;
    for (done, moved) in (0..).zip(&moved) {
        progress("Checking", done, all);
        check(&mut files[moved.number], moved, &donor, report)?;
    }
    stopped(options)
}

/// Moves each file, until the caller asks to stop.
fn exchange(
    files: &[Found],
    numbers: &[usize],
    donor: &Donor,
    options: &Options,
    report: &mut Report,
    progress: Progress<'_>,
) -> Vec<Moved> {
    let (mut moved, mut offset) = (Vec::with_capacity(numbers.len()), 0);
    for (done, &number) in (0..).zip(numbers) {
        if stopped(options).is_err() {
            break;
        }
        progress("Laying", done, numbers.len() as u64);
        match move_file(&files[number], donor, offset) {
            Ok(before) => {
                moved.push(Moved { number, offset, before });
                offset += files[number].taken_bytes();
            }
            Err(why) => report.leave_out(why, 1),
        }
    }
    moved
}

/// Reserves room beside one of the files: the user may not write into all of their folders.
fn reserve(files: &[Found], numbers: &[usize]) -> io::Result<Donor> {
    let bytes = bytes(files, numbers);
    let mut refused = None;
    let mut tried: Vec<&Path> = Vec::new();
    for folder in numbers.iter().map(|number| folder(&files[*number])) {
        if tried.contains(&folder) {
            continue;
        }
        match Donor::reserve(folder, bytes) {
            Ok(donor) => return Ok(donor),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => refused = Some(error),
            Err(error) => return Err(error),
        }
        tried.push(folder);
    }
    Err(refused.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
}

fn unreserved(
    error: io::Error,
    first: &Found,
    numbers: &[usize],
    report: &mut Report,
) -> Result<()> {
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            report.leave_out("in folders where this user may not write", numbers.len() as u64);
            Ok(())
        }
        _ => {
            let message = format!(
                "no room can be reserved on the file system of {}: free some space",
                first.path.display()
            );
            Err(Error::because(ErrorKind::Missing, message, error))
        }
    }
}

/// Whether all files together are fewer requests with these in the donor's place.
fn pays(files: &[Found], numbers: &[usize], donor: &Donor) -> bool {
    let (mut after, mut offset) = (files.to_vec(), 0);
    for &number in numbers {
        let file = &mut after[number];
        file.extents = donor.part(offset, file.laid_bytes());
        offset += file.taken_bytes();
    }
    wait(&after, &Costs::ASSUMED).requests < wait(files, &Costs::ASSUMED).requests
}

fn bytes(files: &[Found], numbers: &[usize]) -> u64 {
    numbers.iter().map(|number| files[*number].taken_bytes()).sum()
}

fn folder(file: &Found) -> &Path {
    file.path.parent().unwrap_or(Path::new("/"))
}
