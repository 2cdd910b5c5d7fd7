//! The folder of the real traces. They are not part of the repository: without them, made-up ones
//! of their shape stand in.

pub(crate) mod stand_in;

use anyhow::Context;
use seekless_results::{Table, published};
use std::path::{Path, PathBuf};

/// The five recorded starts of 0 A.D., oldest first, in the order of the published figures.
const ZERO_AD_RUNS: [&str; 5] = ["acropolis_bay", "arcadia", "belgian_bog", "sahel", "siwa_oasis"];

/// The traces of 0 A.D. and the list of all its files.
pub(crate) struct ZeroAd {
    pub(crate) runs: Vec<PathBuf>,
    pub(crate) files: PathBuf,
    /// Whether they are made up.
    made_up: bool,
    /// Where the lab may write what it needs for a while.
    pub(crate) scratch: PathBuf,
}

impl ZeroAd {
    /// What stands above figures that are not of the recorded starts.
    pub(crate) fn heading(&self) -> Option<&'static str> {
        self.made_up.then_some(
            "Not the published traces: five made-up starts of their shape, under their names.\n",
        )
    }

    /// The tables with that heading in their conditions.
    pub(crate) fn headed(&self, mut tables: Vec<Table>) -> Vec<Table> {
        if let Some(heading) = self.heading() {
            for conditions in tables.iter_mut().map(|table| &mut table.measured.conditions) {
                *conditions = format!("{heading}{conditions}");
            }
        }
        tables
    }

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

/// Finds the five runs in `folder`, or where the data lies otherwise. Without `folder`, if the
/// data is missing, made-up runs of their shape stand in, which are written to `scratch`.
pub(crate) fn zero_ad(folder: Option<&Path>, scratch: &Path) -> anyhow::Result<ZeroAd> {
    let scratch = scratch.to_path_buf();
    let of = |name: &str| published(folder, &format!("0ad/{name}.csv.gz"));
    let runs = ZERO_AD_RUNS.iter().map(|name| of(name)).collect::<anyhow::Result<Vec<_>>>();
    match runs.and_then(|runs| Ok((runs, of("files")?))) {
        Ok((runs, files)) => Ok(ZeroAd { runs, files, made_up: false, scratch }),
        Err(missing) if folder.is_some() => Err(missing),
        Err(missing) => {
            eprintln!("{missing}");
            let (runs, files) = stand_in::starts(&scratch, &ZERO_AD_RUNS)
                .with_context(|| format!("cannot write made-up starts to {}", scratch.display()))?;
            Ok(ZeroAd { runs, files, made_up: true, scratch })
        }
    }
}
