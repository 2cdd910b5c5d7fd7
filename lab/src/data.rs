//! The folder of the real traces. They are not part of the repository.

use anyhow::Context;
use seekless_results::published;
use std::path::{Path, PathBuf};

/// The five recorded starts of 0 A.D., oldest first, in the order of the published figures.
const ZERO_AD_RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];

/// The traces of 0 A.D. and the list of all its files.
pub(crate) struct ZeroAd {
    pub(crate) runs: Vec<PathBuf>,
    pub(crate) files: PathBuf,
}

impl ZeroAd {
    /// The run of this name.
    pub(crate) fn run(&self, name: &str) -> anyhow::Result<&PathBuf> {
        let found = self.runs.iter().find(|run| run_name(run) == name);
        found.with_context(|| format!("there is no run {name}; there are {}", self.names()))
    }

    fn names(&self) -> String {
        self.runs.iter().map(|run| run_name(run)).collect::<Vec<_>>().join(", ")
    }

    /// The runs but for one.
    pub(crate) fn without(&self, held_out: &Path) -> Vec<PathBuf> {
        self.runs.iter().filter(|run| *run != held_out).cloned().collect()
    }
}

/// The name of a run: that of its file, without the endings.
pub(crate) fn run_name(run: &Path) -> String {
    let name = run.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// Finds the five runs in `folder`, or where the data lies otherwise.
pub(crate) fn zero_ad(folder: Option<&Path>) -> anyhow::Result<ZeroAd> {
    let of = |name: &str| published(folder, &format!("0ad/{name}.csv.gz"));
    let runs = ZERO_AD_RUNS.iter().map(|name| of(name)).collect::<anyhow::Result<_>>()?;
    Ok(ZeroAd { runs, files: of("files")? })
}
