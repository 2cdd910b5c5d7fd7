//! `seekless synth`: makes files with a trace's names and sizes, whose content deflates to about
//! 0.55 of its size. So a trace can be packed and compared without the original files.

mod content;
mod make;
mod place;
mod source;
#[cfg(test)]
mod tests;

pub use content::Content;
pub use place::Summary;
pub use source::{File, files_of};

use place::Plan;
use seekless_job::Result;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// How to make files.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether to replace files that exist with another size; otherwise they are an error.
    pub force: bool,
    /// Set this from another thread to stop. Files that were begun are finished or removed.
    pub cancel: Arc<AtomicBool>,
}

/// Makes `files` below `dir`, which is created if it does not exist. Everything is checked before
/// the first file is written. Calls `progress` with the bytes written and their total.
///
/// # Errors
/// - A path contains `..`, or needs a file to be a folder.
/// - Something in `dir` is in the way: a link, or, without `force`, a file of another size.
/// - The disk has too little space, or writing fails.
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
