//! Makes files with a trace's names and sizes, and content that deflates to about 0.55 of itself,
//! so that a trace whose files are elsewhere can still be packed and compared.

mod content;
mod make;
mod place;
#[cfg(test)]
mod tests;

pub use content::Content;

use crate::error::{Error, ErrorKind, Result};
use crate::roots::Roots;
use place::Plan;
use seekless_trace::{FileList, Loads};
use serde::Serialize;
use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A file to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// As a trace writes it; an absolute path is placed below the folder without its leading `/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
}

/// How to make files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether files of another size are replaced; without it they are an error.
    pub force: bool,
    /// Set it from elsewhere to stop: files that were begun are ended or removed.
    pub cancel: Arc<AtomicBool>,
}

/// What a synthesis would do, or did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Summary {
    /// Files of the trace or list.
    pub files: u64,
    /// Their sizes together.
    pub bytes: u64,
    /// Files made.
    pub made: u64,
    /// Their sizes together.
    pub made_bytes: u64,
    /// Files that were there with the right size and left as they are.
    pub kept: u64,
    /// Of those made, files that replaced one of another size.
    pub replaced: u64,
}

/// Reads what to make from a trace (its loads, else what it read) or a list `path,size`, compressed
/// or not; files are made where `roots` say they are now.
///
/// # Errors
/// `path` is neither, or a list without sizes.
pub fn files_of(path: &Path, roots: &Roots) -> Result<Vec<File>> {
    let mut files = read(path)?;
    for file in &mut files {
        if let Cow::Owned(moved) = roots.apply(&file.path) {
            file.path = moved;
        }
    }
    Ok(files)
}

fn read(path: &Path) -> Result<Vec<File>> {
    match Loads::read(&[path.to_owned()]) {
        Ok(loads) => Ok(of_loads(&loads)),
        Err(not_a_trace) => match FileList::read(path) {
            Ok(list) if list.bytes.iter().any(Option::is_some) => of_list(path, list),
            _ => {
                let why = format!(
                    "cannot read files from {}; give a trace, or a CSV with the columns path,size",
                    path.display()
                );
                Err(Error::because(ErrorKind::Trace, why, not_a_trace))
            }
        },
    }
}

fn of_loads(loads: &Loads) -> Vec<File> {
    let mut loaded = vec![false; loads.names.len()];
    loads.runs.iter().flatten().for_each(|load| loaded[load.file as usize] = true);
    let files = loads.names.iter().zip(&loads.bytes).zip(loaded).filter(|(_, loaded)| *loaded);
    files.map(|((path, &bytes), _)| File { path: path.clone(), bytes }).collect()
}

fn of_list(path: &Path, list: FileList) -> Result<Vec<File>> {
    let files = list.paths.into_iter().zip(list.bytes);
    let sized = files.map(|(name, bytes)| match bytes {
        Some(bytes) => Ok(File { path: name, bytes }),
        None => Err(Error::new(
            ErrorKind::Invalid,
            format!("{} gives no size for {name:?}; add it", path.display()),
        )),
    });
    sized.collect()
}

/// Makes `files` below `dir`, which is created if need be. Everything is checked before the first
/// file is written. `progress` hears of bytes.
///
/// # Errors
/// A path that has `..` or needs a file to be a folder; a file or folder in `dir` that is in the
/// way, such as a link or, without `force`, a file of another size; too little room on the disk;
/// whatever writing fails with.
pub fn synth(
    dir: &Path,
    files: &[File],
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Summary> {
    let plan = Plan::new(dir, files, options.force)?;
    plan.check_room()?;
    make::make(&plan, &options.cancel, progress)?;
    Ok(plan.summary)
}
