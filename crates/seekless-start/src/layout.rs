//! Lays the files that programs read together on the device, in the order of need, while they stay
//! files of the same names: on ext4 by an exchange of blocks, elsewhere by a fresh copy of their
//! folder. Wassenberg's order of an archive, for those who cannot pack.
//!
//! # Idea
//!
//! A start asks for many small files. If the next one lies behind the last, one request brings many
//! of them. The files that recorded runs needed are laid into one free piece of the device. Files
//! that already lie in order stay: a layout is renewed for what has changed since. So do files that
//! anybody writes, and all that cannot be moved safely; each is counted by its reason.
//!
//! No byte changes. A checksum of each file is taken before, and again from the device after, and
//! its size, inode and times stay. A kill leaves each file whole, in its old or its new place.

mod donor;
mod figures;
mod find;
mod fresh;
mod lay;
mod moving;
mod order;
mod sum;

use crate::profiles;
use crate::start::Waits;
use find::Found;
use seekless_device::Costs;
use seekless_job::roots::Roots;
use seekless_job::{Error, ErrorKind, Result};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// What to lay, and how.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where recorded trees lie now.
    pub roots: Roots,
    /// Only files below one of these folders; all files if there are none.
    pub within: Vec<PathBuf>,
    /// What the device charges. `None`: as `seekless probe` measured it, else assumed.
    pub costs: Option<Costs>,
    /// Move nothing; say what it would gain.
    pub dry_run: bool,
    /// Replace the folders of `within` by fresh copies, also where blocks can be exchanged.
    pub copy: bool,
    /// Make a fresh copy of the one folder of `within` here, and leave the folder as it is.
    pub to: Option<PathBuf>,
    /// Stops the job when it is set.
    pub cancel: Arc<AtomicBool>,
}

/// Hears of the progress: what is done, how far, and how far it goes.
pub type Progress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// What was found, or why a file stays where it is, in words.
type OrReason<T> = std::result::Result<T, &'static str>;

/// What was laid, or would be.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Files that the sources need and that are here.
    pub files: u64,
    /// Bytes that they need of these.
    pub needed_bytes: u64,
    /// Of the files that may move: those that lay in order before.
    pub in_order: u64,
    /// Of the files that may move: those that did not.
    pub out_of_place: u64,
    /// Files that were moved, by an exchange of blocks.
    pub moved: u64,
    /// Their bytes.
    pub moved_bytes: u64,
    /// Files that were copied.
    pub copied: u64,
    /// Their bytes.
    pub copied_bytes: u64,
    /// Files that stay where they are, by reason.
    pub left_out: BTreeMap<&'static str, u64>,
    /// What a cold start asks the device for, of these files alone, before.
    pub before: Waits,
    /// The same after; expected if nothing was moved.
    pub after: Waits,
    /// Whether the costs of the device are assumed.
    pub assumed: bool,
    /// How long it took, in seconds; 0 for a dry run.
    pub seconds: f64,
}

impl Report {
    /// Whether the files have left their places so far that to lay them again saves requests.
    #[must_use]
    pub fn has_decayed(&self) -> bool {
        self.out_of_place > 0 && self.after.requests < self.before.requests
    }

    fn leave_out(&mut self, why: &'static str, files: u64) {
        *self.left_out.entry(why).or_default() += files;
    }
}

/// Lays the files that the runs of `sources` needed. A source is what
/// [`warm`](crate::warm::warm) takes.
///
/// # Errors
/// A source cannot be read or names no file that is here; there is not enough free space; a folder
/// to copy holds what cannot be copied, or changes meanwhile; or the caller asked to stop. What was
/// moved before stays moved. A single file that cannot be moved is no error: it is counted.
pub fn layout(sources: &[PathBuf], options: &Options, progress: Progress<'_>) -> Result<Report> {
    let started = Instant::now();
    let (mut files, left_out) = find::files(sources, options, progress)?;
    let Some(first) = files.first() else { return Err(nothing(sources)) };
    let (costs, assumed) = crate::warm::costs(options.costs, &first.path);
    let mut report = Report { left_out, assumed, files: files.len() as u64, ..Report::default() };
    report.needed_bytes = files.iter().map(Found::needed_bytes).sum();
    report.before = figures::wait(&files, &costs).into();
    let copied = fresh::folders(&files, options)?;
    order::settle(&mut files, &copied, &mut report);
    if options.dry_run {
        report.after = figures::wait(&order::laid(&files, &copied), &costs).into();
        return Ok(report);
    }
    for folder in &copied {
        fresh::lay(folder, &mut files, options, &mut report, progress)?;
    }
    lay::lay(&mut files, options, &mut report, progress)?;
    report.after = figures::wait(&files, &costs).into();
    renew(sources);
    report.seconds = started.elapsed().as_secs_f64();
    Ok(report)
}

/// Notes the new places in this user's profiles among the sources. They only help to estimate: a
/// profile that cannot be written is as good without.
fn renew(sources: &[PathBuf]) {
    let Ok(folder) = profiles::folder() else { return };
    for profile in sources.iter().filter(|source| source.starts_with(&folder)) {
        let _ = profiles::renew_places(profile);
    }
}

fn stopped(options: &Options) -> Result<()> {
    match options.cancel.load(Ordering::Relaxed) {
        true => Err(interrupted()),
        false => Ok(()),
    }
}

fn interrupted() -> Error {
    let why = "laying files was interrupted: each is whole, in its old or its new place; start it \
               again to go on";
    Error::new(ErrorKind::Interrupted, why)
}

fn nothing(sources: &[PathBuf]) -> Error {
    let names: Vec<String> = sources.iter().map(|path| path.display().to_string()).collect();
    let message = format!(
        "{} names nothing to lay: no reads, faults or loads of files that are here, below the \
         folders given",
        names.join(", ")
    );
    Error::new(ErrorKind::Missing, message)
}

#[cfg(test)]
mod tests;
