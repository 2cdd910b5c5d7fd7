//! The three rivals as workloads that take turns.

use super::plan::Plan;
use super::{Options, loose, packed};
use crate::error::{Error, ErrorKind, Result};
use seekless_engine::Counters;
use seekless_measure::{
    BoxError, Checksum, Coldness, Dropping, Figures, Trial, Workload, alternate_with_progress, make_cold,
};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What the tables call them.
pub(crate) const NAMES: [&str; 3] = ["loose files, on demand", "pack, on demand", "pack, list known"];

/// Runs the three in turn; the loose files are the baseline.
pub(crate) fn alternate(
    plan: &Plan,
    pack: &Path,
    options: &Options,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Vec<Figures>> {
    let names = plan.names();
    let dropping = options.dropping();
    let [loose_name, demand_name, known_name] = NAMES;
    let mut loose = Rival {
        name: loose_name,
        files: plan.paths(),
        dropping,
        load: Box::new(|| loose::load_all(plan, options.device)),
    };
    let packed = |name, load| Rival { name, files: vec![pack.to_path_buf()], dropping, load };
    let mut demand = packed(
        demand_name,
        Box::new(|| packed::load_on_demand(pack, plan, options)) as Box<dyn FnMut() -> _>,
    );
    let mut known = packed(known_name, Box::new(|| packed::load_known(pack, &names, options)));
    let rounds = options.rounds as usize;
    alternate_with_progress(&mut [&mut loose, &mut demand, &mut known], rounds, progress)
        .map_err(|error| Error::because(ErrorKind::Measure, "the comparison ended early", error))
}

/// One way to load the plan: what it reads, and how.
struct Rival<'a> {
    name: &'static str,
    files: Vec<PathBuf>,
    dropping: Dropping,
    load: Box<dyn FnMut() -> Result<(Checksum, Counters)> + 'a>,
}

impl Workload for Rival<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn make_cold(&mut self) -> std::result::Result<Coldness, BoxError> {
        Ok(make_cold(&self.files, self.dropping)?)
    }

    fn run(&mut self) -> std::result::Result<Trial, BoxError> {
        let clock = Instant::now();
        let (delivered, counters) = (self.load)()?;
        let trial = Trial::ended(clock.elapsed(), delivered);
        Ok(if counters.exact { trial.served(counters.requests, counters.bytes) } else { trial })
    }
}
