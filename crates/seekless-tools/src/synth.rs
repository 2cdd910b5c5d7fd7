//! Makes files with a trace's names and sizes, and content that deflates to about 0.55 of itself,
//! so that a trace whose files are elsewhere can still be packed and compared.

mod content;
mod make;
mod place;
mod source;
#[cfg(test)]
mod tests;

pub use content::Content;
pub use place::Summary;
pub use source::{File, files_of};

use crate::error::Result;
use place::Plan;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How to make files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether files of another size are replaced; without it they are an error.
    pub force: bool,
    /// Set it from elsewhere to stop: files that were begun are ended or removed.
    pub cancel: Arc<AtomicBool>,
}

/// Makes `files` below `dir`, which is created if need be. Everything is checked before the first file is written.
/// `progress` hears of bytes.
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
