//! Finds which files name which others, and learns from runs how likely a named file is to be
//! loaded.
//!
//! A run says nothing of a file that no run has loaded. But such a file seldom comes unannounced: a
//! map names its models, a model its textures, a page its pictures. [`scan_folder`] reads the files
//! of a folder and finds the names of others in their content. [`learn`] compares the mentions with
//! the runs: of the files that a kind of mention names, how many did a run load afterwards? Each
//! run is judged by the others, and not on files that all of these have: those come anyway.
//!
//! Nothing here knows a format. A name counts wherever it stands: in text, between NULs, after its
//! length, in UTF-16.

mod learn;
mod mentions;
mod names;
mod scan;
#[cfg(test)]
mod tests;
mod tokens;

pub use learn::{CHANCE_MIN, learn};
pub use mentions::{MENTIONS_MAX, Mentions};
pub use scan::scan_folder;

use seekless_job::Result;
use seekless_policy::eviction::Id;
use seekless_policy::foresight::references::References;
use std::path::Path;
use std::sync::atomic::AtomicBool;

/// The files of a folder. A file is its place in the list.
#[derive(Clone, Copy, Debug)]
pub struct Files<'a> {
    /// Their names below the folder, with `/` between folders.
    pub names: &'a [String],
    /// The size of each, for the progress.
    pub bytes: &'a [u64],
}

/// The references of `files` below `dir`, and how likely each is to come true by `runs`: the files
/// that each has loaded, in order. `progress` gets the bytes that are done, and all.
///
/// # Errors
/// `cancel` was set, or no thread can be started. A file that cannot be read is left out.
pub fn of_folder(
    dir: &Path,
    files: Files<'_>,
    runs: &[&[Id]],
    cancel: &AtomicBool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<References> {
    let mentions = scan_folder(dir, files, cancel, progress)?;
    Ok(learn(&mentions, files.names.len() as u32, runs))
}
