//! What a way to load has to do in a trial, and the two that need nothing made ready: loose files
//! and our store.

use crate::wassenberg2006::load::{from_folder, listed, on_demand, timed};
use seekless::device::Costs;
use seekless::io::Store;
use seekless::measure::Trial;
use std::path::{Path, PathBuf};

/// One way to load.
pub(super) trait Way {
    /// Before the caches are dropped.
    fn begin(&mut self) -> anyhow::Result<()> {
        Ok(())
    }

    /// The files that must be cold.
    fn read_from(&self) -> Vec<PathBuf>;

    /// Loads files once, and times that.
    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial>;

    /// After the trial.
    fn end(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}

/// Files of a folder.
pub(super) struct Loose<'a> {
    pub(super) folder: &'a Path,
    pub(super) names: &'a [String],
}

impl Way for Loose<'_> {
    fn read_from(&self) -> Vec<PathBuf> {
        self.names.iter().map(|name| self.folder.join(name)).collect()
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        timed(|sum| from_folder(self.folder, names, sum))
    }
}

/// Our store on a pack.
pub(super) struct Ours<'a> {
    pub(super) pack: &'a Path,
    /// What the store is told of its device.
    pub(super) costs: Option<Costs>,
    pub(super) list_known: bool,
}

impl Way for Ours<'_> {
    fn read_from(&self) -> Vec<PathBuf> {
        vec![self.pack.to_owned()]
    }

    fn load(&mut self, names: &[String]) -> anyhow::Result<Trial> {
        timed(|sum| {
            let mut builder = Store::builder();
            if let Some(costs) = self.costs {
                builder = builder.costs(costs);
            }
            let store = builder.open(self.pack)?;
            let load = if self.list_known { listed } else { on_demand };
            load(&store, names, sum)
        })
    }
}
