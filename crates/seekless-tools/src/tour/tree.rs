//! Writes the sample's files, as `seekless synth` would from their list.

use super::recording::write;
use super::sample::Sample;
use crate::synth::{self, File, synth};
use seekless_job::Result;
use std::fmt::Write;
use std::path::Path;

/// Writes `sample.csv`, and the files that it lists into `sample/`. Calls `progress` with the bytes
/// written and their total.
pub(crate) fn write_tree(
    directory: &Path,
    sample: &Sample,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<()> {
    let mut list = "path,size\n".to_owned();
    let mut files = Vec::with_capacity(sample.paths.len());
    for (path, &bytes) in sample.paths.iter().zip(&sample.bytes) {
        let _ = writeln!(list, "{path},{bytes}");
        files.push(File { path: path.clone(), bytes });
    }
    write(&directory.join("sample.csv"), &list)?;
    synth(&directory.join("sample"), &files, &synth::Options::default(), progress)?;
    Ok(())
}
