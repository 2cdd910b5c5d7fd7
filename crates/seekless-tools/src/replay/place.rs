//! Where the I/Os of a trace are played: on its own files, or on one target.

use super::rows::Rows;
use super::{On, Options, Skipped, measured};
use seekless_job::{Error, ErrorKind, Result};
use seekless_measure::replay::{Io, Protected, Remap, Target, Writes, create_file};
use seekless_sys::direct::open_direct;
use seekless_trace::{Kind, unescape_path};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Where files begin that are laid end to end.
const FILE_ALIGNMENT: u64 = 4096;

/// The target, and the I/Os on it.
pub(super) struct Placed {
    /// `None` if the I/Os are played on a model only.
    pub(super) target: Option<Target>,
    pub(super) ios: Vec<Io>,
    /// Of a model alone: how large each file is at least.
    pub(super) file_bytes: Vec<u64>,
    pub(super) skipped: Skipped,
    /// Whether the target was made for this replay.
    pub(super) made: bool,
    /// Writes to files that are never read.
    pub(super) writes_elsewhere: u64,
}

pub(super) fn place(
    trace: &Path,
    mut rows: Rows,
    options: &Options,
    progress: &mut dyn FnMut(&'static str, u64, u64) -> bool,
) -> Result<Placed> {
    let skipped = std::mem::take(&mut rows.skipped);
    let names: Vec<PathBuf> = rows
        .names
        .iter()
        .map(|name| PathBuf::from(OsString::from_vec(unescape_path(&options.roots.apply(name)))))
        .collect();
    let mut placed = Placed {
        target: None,
        ios: Vec::new(),
        file_bytes: Vec::new(),
        skipped,
        made: false,
        writes_elsewhere: 0,
    };
    if options.on == On::Files {
        if rows.kind == Kind::Blocks {
            let message = format!(
                "{}: a block trace names a device, not files: say with --on on which file or device \
                 it is played",
                trace.display()
            );
            return Err(Error::new(ErrorKind::Invalid, message));
        }
        on_own_files(rows.ios, &names, options, &mut placed)?;
        return Ok(placed);
    }
    end_to_end(&mut rows.ios, names.len());
    let end = rows.ios.iter().map(|io| io.offset.saturating_add(io.bytes)).max().unwrap_or(0);
    placed.ios = rows.ios;
    let protected = match rows.kind {
        Kind::Files => Protected::trees_of(&names),
        _ => Protected::default(),
    };
    let protected = protected.and(trace);
    placed.target = match &options.on {
        On::Files | On::Model => None,
        On::Target(path) => Some(Target::read_only(&[path]).map_err(measured)?),
        On::Write(path) => {
            if !path.exists() && path.symlink_metadata().is_err() {
                make(path, end, options, progress)?;
                placed.made = true;
            }
            Some(Target::write_file(path, &protected).map_err(measured)?)
        }
        On::DestroyData(path) => Some(Target::destroy_device(path).map_err(measured)?),
    };
    placed.file_bytes = vec![end.checked_next_multiple_of(FILE_ALIGNMENT).unwrap_or(end)];
    Ok(placed)
}

/// Makes the file to write to: as large as the trace needs, or as the user said.
fn make(
    path: &Path,
    end: u64,
    options: &Options,
    progress: &mut dyn FnMut(&'static str, u64, u64) -> bool,
) -> Result<()> {
    let bytes = options.size.unwrap_or(end).max(1);
    let bytes = bytes.checked_next_multiple_of(FILE_ALIGNMENT).unwrap_or(bytes);
    if let Some(free) = free_disk_bytes(path)
        && bytes > free
    {
        let remap = if options.remap == Some(Remap::Modulo) { "" } else { " --remap modulo" };
        let message = format!(
            "{}: the trace reaches up to {} MiB, and the disk has {} MiB free: make a smaller file \
             with --size SIZE{remap}",
            path.display(),
            bytes >> 20,
            free >> 20
        );
        return Err(Error::new(ErrorKind::Missing, message));
    }
    create_file(path, bytes, &mut |done, total| progress("Making the target", done, total))
        .map_err(measured)?;
    Ok(())
}

fn free_disk_bytes(path: &Path) -> Option<u64> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let status = rustix::fs::statvfs(folder.unwrap_or(Path::new("."))).ok()?;
    status.f_bavail.checked_mul(status.f_frsize)
}

/// Moves I/Os on several files onto one space in which the files lie end to end; a single device
/// keeps its offsets.
fn end_to_end(ios: &mut [Io], files: usize) {
    if files < 2 {
        return;
    }
    let mut ends = vec![0_u64; files];
    for io in &*ios {
        let end = &mut ends[io.file as usize];
        *end = (*end).max(io.offset.saturating_add(io.bytes));
    }
    let mut start = 0_u64;
    for end in &mut ends {
        let bytes = end.checked_next_multiple_of(FILE_ALIGNMENT).unwrap_or(*end);
        *end = start;
        start = start.saturating_add(bytes);
    }
    for io in ios {
        io.offset = io.offset.saturating_add(ends[io.file as usize]);
        io.file = 0;
    }
}

/// Keeps the I/Os on files that can be read, numbers these anew, and opens them.
fn on_own_files(
    ios: Vec<Io>,
    names: &[PathBuf],
    options: &Options,
    placed: &mut Placed,
) -> Result<()> {
    let counts = |io: &&Io| !io.write || options.writes == Writes::AsReads;
    let mut wanted = vec![false; names.len()];
    ios.iter().filter(counts).for_each(|io| wanted[io.file as usize] = true);
    let mut files = Vec::new();
    for (number, path) in names.iter().enumerate().filter(|(number, _)| wanted[*number]) {
        if !path.metadata().is_ok_and(|file| file.is_file()) {
            placed.skipped.files_missing += 1;
            placed.skipped.first_missing.get_or_insert_with(|| path.display().to_string());
        } else if let Ok(opened) = open_direct(path) {
            files.push((number, path, opened.is_some()));
        } else {
            placed.skipped.files_unreadable += 1;
        }
    }
    if files.iter().any(|&(_, _, direct)| direct) {
        let before = files.len();
        files.retain(|&(_, _, direct)| direct);
        placed.skipped.files_not_direct = (before - files.len()) as u64;
    }
    if files.is_empty() && placed.skipped.first_missing.is_some() {
        let missing = placed.skipped.first_missing.as_deref().unwrap_or_default();
        let message = format!(
            "none of the trace's files is here, such as {missing}: if they have moved, say where \
             with --root OLD=NEW; or play it on one file with --on"
        );
        return Err(Error::new(ErrorKind::Missing, message));
    }
    let mut numbers = vec![None; names.len()];
    for (new, &(old, _, _)) in files.iter().enumerate() {
        numbers[old] = Some(new as u32);
    }
    let paths: Vec<&PathBuf> = files.iter().map(|&(_, path, _)| path).collect();
    placed.target = Some(Target::read_only(&paths).map_err(measured)?);
    for io in ios {
        match numbers[io.file as usize] {
            Some(file) => placed.ios.push(Io { file, ..io }),
            None if io.write && options.writes == Writes::Out => {
                placed.writes_elsewhere += 1;
            }
            None => placed.skipped.on_skipped_files += 1,
        }
    }
    Ok(())
}
