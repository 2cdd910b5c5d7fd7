//! Loads that are timed on the real disk: the same names from anywhere, what arrives is checked.

use anyhow::Context;
use seekless::io::Store;
use seekless::job::roots;
use seekless::measure::{Checksum, Trial};
use seekless::tools::synth;
use std::fs;
use std::path::Path;
use std::time::Instant;

/// Files of a start that `--quick` takes.
const SMALL: usize = 60;

/// What a start loads, each file once, in the order of its first loads.
pub(super) fn first_loads(run: &Path, quick: bool) -> anyhow::Result<Vec<synth::File>> {
    let mut files = synth::files_of(run, &roots::Roots::default())?;
    if quick {
        files.truncate(SMALL);
    }
    Ok(files)
}

/// Times `load`, which tells the sum what it delivers.
pub(super) fn timed(
    load: impl FnOnce(&mut Checksum) -> anyhow::Result<()>,
) -> anyhow::Result<Trial> {
    let (mut sum, started) = (Checksum::default(), Instant::now());
    load(&mut sum)?;
    Ok(Trial::ended(started.elapsed(), sum))
}

/// Files of a folder, one after another.
pub(super) fn from_folder(
    folder: &Path,
    names: &[String],
    sum: &mut Checksum,
) -> anyhow::Result<()> {
    for (position, name) in (0..).zip(names) {
        let path = folder.join(name);
        sum.add(position, &fs::read(&path).with_context(|| path.display().to_string())?);
    }
    Ok(())
}

/// Files of a store, one after another.
pub(super) fn on_demand(store: &Store, names: &[String], sum: &mut Checksum) -> anyhow::Result<()> {
    for (position, name) in (0..).zip(names) {
        sum.add(position, &store.load(name)?);
    }
    Ok(())
}

/// Files of a store that knows the whole list.
pub(super) fn listed(store: &Store, names: &[String], sum: &mut Checksum) -> anyhow::Result<()> {
    for (position, content) in store.load_many(names.iter().map(String::as_str)) {
        sum.add(position as u64, &content?);
    }
    Ok(())
}
